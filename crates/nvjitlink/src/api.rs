//! The functions that stand before nvJitLink's, each under its own name and under the names that headers of 12.0 to 13.9 give it.
#![allow(unsafe_code, reason = "nvJitLink's interface is C")]
#![allow(non_snake_case, reason = "nvJitLink's names")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::link::{Link, Options, is_device_runtime, text};
use crate::real::{Handle, JitLink, Result, jit_link};

/// `NVJITLINK_ERROR_INVALID_INPUT`.
const INVALID_INPUT: Result = 3;
/// `NVJITLINK_ERROR_PTX_COMPILE`.
const PTX_COMPILE: Result = 4;
/// `NVJITLINK_ERROR_INTERNAL`.
const INTERNAL: Result = 6;

/// `NVJITLINK_INPUT_PTX`.
const PTX: c_int = 2;
/// `NVJITLINK_INPUT_LIBRARY`.
const LIBRARY: c_int = 6;
/// `NVJITLINK_INPUT_ANY`.
const ANY: c_int = 10;

/// Links to PTX that were to be links to machine code. nvJitLink's own handles name them.
fn links() -> MutexGuard<'static, BTreeMap<Handle, Link>> {
    static LINKS: Mutex<BTreeMap<Handle, Link>> = Mutex::new(BTreeMap::new());
    LINKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exports functions under their names and the names that headers give them.
macro_rules! api {
    ($($(#[$doc:meta])* $name:ident($real:ident $(, $arg:ident: $ty:ty)*) $body:block)*) => {$(
        $(#[$doc])*
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = "As nvJitLink documents it."]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> Result {
            let Some($real) = jit_link() else { return INTERNAL };
            $body
        }

        api!(@named $name ($($arg: $ty),*)
            "_12_0" "_12_1" "_12_2" "_12_3" "_12_4" "_12_5" "_12_6" "_12_7" "_12_8" "_12_9"
            "_13_0" "_13_1" "_13_2" "_13_3" "_13_4" "_13_5" "_13_6" "_13_7" "_13_8" "_13_9");
    )*};
    (@named $name:ident $args:tt $($version:literal)*) => {$( api!(@one $name $args $version); )*};
    (@one $name:ident ($($arg:ident: $ty:ty),*) $version:literal) => {
        const _: () = {
            #[unsafe(export_name = concat!("__", stringify!($name), $version))]
            unsafe extern "C" fn named($($arg: $ty),*) -> Result {
                // SAFETY: the client's call as it is.
                unsafe { $name($($arg),*) }
            }
        };
    };
}

api! {
    /// Creates a link.
    nvJitLinkCreate(real, handle: *mut Handle, count: u32, options: *const *const c_char) {
        if handle.is_null() || count > 0 && options.is_null() {
            return INVALID_INPUT;
        }
        let option = |index: usize| {
            // SAFETY: as many strings as the client says.
            unsafe { CStr::from_ptr(*options.add(index)) }.to_owned()
        };
        let options = Options::read((0..count as usize).map(option).collect());
        match real.create(&options.real) {
            Ok(made) => {
                if !options.is_plain {
                    links().insert(made, Link::new(options.registers));
                }
                // SAFETY: not null, so a place of the client's.
                unsafe { handle.write(made) };
                0
            }
            Err(result) => result,
        }
    }

    /// Destroys a link.
    nvJitLinkDestroy(real, handle: *mut Handle) {
        if !handle.is_null() {
            // SAFETY: not null, so a place of the client's.
            links().remove(unsafe { &*handle });
        }
        // SAFETY: the client's call as it is.
        unsafe { (real.destroy)(handle) }
    }

    /// Adds an input: a PTX text here, the device runtime nowhere, all else to nvJitLink.
    nvJitLinkAddData(real, handle: Handle, kind: c_int, data: *const c_void, size: usize, name: *const c_char) {
        let mut links = links();
        let Some(link) = links.get_mut(&handle) else {
            // SAFETY: the client's call as it is.
            return unsafe { (real.add_data)(handle, kind, data, size, name) };
        };
        if data.is_null() || size == 0 {
            return INVALID_INPUT;
        }
        // SAFETY: not null, so as many bytes as the client says.
        let input = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
        match (kind, text(input)) {
            (PTX | ANY, Some(text)) => {
                // SAFETY: null or a string of the client's.
                let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
                link.add(name.as_deref().unwrap_or("input.ptx"), text);
                0
            }
            (PTX, None) => INVALID_INPUT,
            (LIBRARY | ANY, None) if is_device_runtime(input) => 0,
            // SAFETY: the client's call as it is.
            _ => noted(link, unsafe { (real.add_data)(handle, kind, data, size, name) }),
        }
    }

    /// Adds a file: a PTX text here, the device runtime nowhere, all else to nvJitLink.
    nvJitLinkAddFile(real, handle: Handle, kind: c_int, path: *const c_char) {
        let mut links = links();
        let link = links.get_mut(&handle).filter(|_| !path.is_null());
        let Some(link) = link else {
            // SAFETY: the client's call as it is.
            return unsafe { (real.add_file)(handle, kind, path) };
        };
        // SAFETY: not null, so a string of the client's.
        let name = unsafe { CStr::from_ptr(path) }.to_string_lossy();
        let input = if matches!(kind, PTX | LIBRARY | ANY) { std::fs::read(&*name).unwrap_or_default() } else { Vec::new() };
        match text(&input) {
            None if is_device_runtime(&input) => 0,
            Some(text) => {
                link.add(&name, text);
                0
            }
            // SAFETY: the client's call as it is.
            None => noted(link, unsafe { (real.add_file)(handle, kind, path) }),
        }
    }

    /// Links what nvJitLink has, if anything, and its result with the texts.
    nvJitLinkComplete(real, handle: Handle) {
        let mut links = links();
        let Some(link) = links.get_mut(&handle) else {
            // SAFETY: the client's call as it is.
            return unsafe { (real.complete)(handle) };
        };
        let of_real = match link.is_real.then(|| complete(real, handle)).transpose() {
            Ok(text) => text,
            Err(result) => return result,
        };
        match link.complete(of_real) {
            Ok(()) => 0,
            Err(wrong) => {
                link.log = Some(format!("ERROR: {wrong}\n"));
                PTX_COMPILE
            }
        }
    }

    /// Writes the size of what [`nvJitLinkGetLinkedCubin`] writes.
    nvJitLinkGetLinkedCubinSize(real, handle: Handle, size: *mut usize) {
        match links().get(&handle).and_then(|link| link.image.as_ref()) {
            // SAFETY: not null, so a place of the client's.
            Some(image) if !size.is_null() => unsafe { size.write(image.len()); 0 },
            // SAFETY: the client's call as it is.
            _ => unsafe { (real.cubin_size)(handle, size) },
        }
    }

    /// Writes the linked PTX, in the place of machine code.
    nvJitLinkGetLinkedCubin(real, handle: Handle, cubin: *mut c_void) {
        match links().get(&handle).and_then(|link| link.image.as_ref()) {
            Some(image) if !cubin.is_null() => {
                // SAFETY: not null, so room for as many bytes as were said.
                unsafe { cubin.cast::<u8>().copy_from_nonoverlapping(image.as_ptr(), image.len()) };
                0
            }
            // SAFETY: the client's call as it is.
            _ => unsafe { (real.cubin)(handle, cubin) },
        }
    }

    /// Writes the size of what [`nvJitLinkGetErrorLog`] writes.
    nvJitLinkGetErrorLogSize(real, handle: Handle, size: *mut usize) {
        match links().get(&handle).and_then(|link| link.log.as_ref()) {
            // SAFETY: not null, so a place of the client's.
            Some(log) if !size.is_null() => unsafe { size.write(log.len() + 1); 0 },
            // SAFETY: the client's call as it is.
            _ => unsafe { (real.error_size)(handle, size) },
        }
    }

    /// Writes what was wrong with the texts, or what nvJitLink has to say.
    nvJitLinkGetErrorLog(real, handle: Handle, log: *mut c_char) {
        match links().get(&handle).and_then(|link| link.log.clone()).and_then(|text| CString::new(text).ok()) {
            Some(text) if !log.is_null() => {
                // SAFETY: not null, so room for as many bytes as were said.
                unsafe { log.copy_from_nonoverlapping(text.as_ptr(), text.as_bytes_with_nul().len()) };
                0
            }
            // SAFETY: the client's call as it is.
            _ => unsafe { (real.error)(handle, log) },
        }
    }
}

/// Notes that nvJitLink has taken an input.
fn noted(link: &mut Link, result: Result) -> Result {
    link.is_real |= result == 0;
    result
}

/// Has nvJitLink link what it was given to PTX.
fn complete(real: &JitLink, handle: Handle) -> std::result::Result<String, Result> {
    // SAFETY: the client's handle.
    match unsafe { (real.complete)(handle) } {
        0 => real.ptx(handle),
        result => Err(result),
    }
}
