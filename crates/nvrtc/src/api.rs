//! The functions that stand before NVRTC's.
#![allow(unsafe_code, reason = "NVRTC's interface is C")]
#![allow(non_snake_case, reason = "NVRTC's names")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::architecture::virtualised;
use crate::real::{Program, Result, nvrtc};

/// `NVRTC_ERROR_INTERNAL_ERROR`.
const INTERNAL_ERROR: Result = 11;

/// Programs that were to be compiled for a real architecture.
fn for_real() -> MutexGuard<'static, BTreeSet<Program>> {
    static PROGRAMS: Mutex<BTreeSet<Program>> = Mutex::new(BTreeSet::new());
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size of the PTX of a program that was to be compiled for a real architecture, NUL included; none if it has none.
fn ptx_size(program: Program) -> Option<usize> {
    if !for_real().contains(&program) {
        return None;
    }
    let mut size = 0;
    // SAFETY: the program is NVRTC's, and the size is ours.
    let found = unsafe { (nvrtc()?.ptx_size)(program, &mut size) };
    // What was compiled for link-time optimisation has an empty text.
    (found == 0 && size > 1).then_some(size)
}

/// Compiles for a virtual architecture.
///
/// # Safety
/// As NVRTC documents it: `options` are `count` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCompileProgram(
    program: Program,
    count: c_int,
    options: *const *const c_char,
) -> Result {
    let Some(nvrtc) = nvrtc() else { return INTERNAL_ERROR };
    for_real().remove(&program);
    // SAFETY: the client's options, as many as it says.
    let given = unsafe { words(count, options) };
    let Some(changed) = given.as_deref().and_then(virtualised) else {
        // SAFETY: the client's call as it is.
        return unsafe { (nvrtc.compile)(program, count, options) };
    };
    let changed: Vec<CString> = changed.into_iter().filter_map(|word| CString::new(word).ok()).collect();
    let pointers: Vec<*const c_char> = changed.iter().map(|word| word.as_ptr()).collect();
    for_real().insert(program);
    // SAFETY: as many strings as there were, which live until the call returns.
    unsafe { (nvrtc.compile)(program, count, pointers.as_ptr()) }
}

/// The options; none where they are not all texts.
///
/// # Safety
/// `options` are `count` strings, or there are none.
unsafe fn words<'a>(count: c_int, options: *const *const c_char) -> Option<Vec<&'a str>> {
    let count = usize::try_from(count).ok().filter(|_| !options.is_null())?;
    // SAFETY: not null, so as many pointers as the client says.
    let options = unsafe { std::slice::from_raw_parts(options, count) };
    let text = |option: &*const c_char| {
        // SAFETY: not null, so a string of the client's.
        (!option.is_null()).then(|| unsafe { CStr::from_ptr(*option) })?.to_str().ok()
    };
    options.iter().map(text).collect()
}

/// Destroys a program.
///
/// # Safety
/// As NVRTC documents it: `program` is null or points to a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcDestroyProgram(program: *mut Program) -> Result {
    let Some(nvrtc) = nvrtc() else { return INTERNAL_ERROR };
    if !program.is_null() {
        // SAFETY: not null, so a place of the client's.
        for_real().remove(unsafe { &*program });
    }
    // SAFETY: the client's call as it is.
    unsafe { (nvrtc.destroy)(program) }
}

/// Writes the size of what [`nvrtcGetCUBIN`] writes.
///
/// # Safety
/// As NVRTC documents it: `size` is null or a place for a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: Program, size: *mut usize) -> Result {
    let Some(nvrtc) = nvrtc() else { return INTERNAL_ERROR };
    match ptx_size(program) {
        Some(bytes) if !size.is_null() => {
            // SAFETY: not null, so a place of the client's.
            unsafe { size.write(bytes) };
            0
        }
        // SAFETY: the client's call as it is.
        _ => unsafe { (nvrtc.cubin_size)(program, size) },
    }
}

/// Writes the PTX of a program that was to be compiled for a real architecture.
///
/// # Safety
/// As NVRTC documents it: `cubin` has room for as many bytes as [`nvrtcGetCUBINSize`] said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: Program, cubin: *mut c_char) -> Result {
    let Some(nvrtc) = nvrtc() else { return INTERNAL_ERROR };
    let get = if ptx_size(program).is_some() { nvrtc.ptx } else { nvrtc.cubin };
    // SAFETY: the client's call, with room for what is written.
    unsafe { get(program, cubin) }
}
