//! What the dynamic linker calls.
#![allow(unsafe_code, reason = "the dynamic linker's interface is C")]

use std::ffi::{CStr, c_char, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::folder::Folder;
use crate::record::Record;

/// The flag of a name as the program gave it; other flags mean paths that the linker made of it.
const LA_SER_ORIG: c_uint = 1;

/// The start of `struct link_map`, which is public.
#[repr(C)]
pub struct LinkMap {
    address: usize,
    name: *const c_char,
}

/// What is known in this process.
struct Audit {
    folder: Mutex<Folder>,
    record: Option<Record>,
}

fn audit() -> Option<&'static Audit> {
    static AUDIT: OnceLock<Option<Audit>> = OnceLock::new();
    let make = || {
        let folder = Folder::open(std::env::var_os("STRATA_AUDIT")?.into());
        Some(Audit {
            folder: Mutex::new(folder),
            record: std::env::var_os("STRATA_AUDIT_LOG").map(|path| Record(path.into())),
        })
    };
    AUDIT.get_or_init(make).as_ref()
}

/// Takes part with the linker's version of the interface: of what has changed between versions, nothing is used.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    if audit().is_some() { version } else { 0 }
}

/// Says where the linker is to search for a name: for the name, or for a library of the folder.
///
/// # Safety
/// The linker passes a string; what it gets lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(
    name: *const c_char,
    _cookie: *mut usize,
    flag: c_uint,
) -> *const c_char {
    let Some(audit) = audit().filter(|_| flag == LA_SER_ORIG && !name.is_null()) else { return name };
    // SAFETY: not null, so a string of the linker's.
    let asked = unsafe { CStr::from_ptr(name) };
    let instead = audit.folder.lock().unwrap_or_else(PoisonError::into_inner).instead(asked);
    let Some(instead) = instead else { return name };
    if let Some(record) = &audit.record {
        record.replaced(asked.to_bytes(), instead.to_bytes());
    }
    instead.as_ptr()
}

/// Hears of a library that has been loaded. Of its symbols it wants to hear nothing.
///
/// # Safety
/// The linker passes a map, whose name is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objopen(map: *const LinkMap, _namespace: isize, _cookie: *mut usize) -> c_uint {
    let Some(audit) = audit().filter(|_| !map.is_null()) else { return 0 };
    // SAFETY: not null, so a map of the linker's.
    let name = unsafe { (*map).name };
    if !name.is_null() {
        // SAFETY: not null, so a string of the linker's.
        let path = unsafe { CStr::from_ptr(name) };
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
        audit.folder.lock().unwrap_or_else(PoisonError::into_inner).loaded(path);
        if let Some(record) = &audit.record {
            record.loaded(path);
        }
    }
    0
}
