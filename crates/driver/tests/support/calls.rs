//! Helpers for calling a C library.

use std::ffi::{CString, c_void};

use libloading::Library;

/// A handle or a pointer.
pub type Any = *mut c_void;

/// A null pointer.
pub fn none() -> Any {
    std::ptr::null_mut()
}

/// A pointer that a call writes through.
pub fn to<T>(value: &mut T) -> Any {
    std::ptr::from_mut(value).cast()
}

/// A pointer that a call reads through.
pub fn of<T>(value: &T) -> Any {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// A number passed as a pointer.
pub fn number(value: u64) -> Any {
    std::ptr::without_provenance_mut(value as usize)
}

/// A C string with this text.
pub fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// Calls a function whose arguments each fit a register, as pointers and integers do.
macro_rules! call {
    ($exports:expr, $name:literal $(, $arg:expr)* $(,)?) => {{
        let function = $exports.function::<unsafe extern "C" fn($(call!(@ $arg)),*) -> u32>($name);
        // SAFETY: the arguments are those of the API's function, each of which fits a register.
        unsafe { function($(($arg) as $crate::support::Any),*) }
    }};
    (@ $arg:expr) => { $crate::support::Any };
}
pub(crate) use call;

/// Loads a library that was built with the tests, from the test's folder or its parent.
pub fn load(name: &str) -> Library {
    let test = std::env::current_exe().unwrap();
    let mut places = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let path = places.find(|path| path.exists());
    let path = path.unwrap_or_else(|| panic!("{name}: cargo builds it before its tests"));
    // SAFETY: the libraries do nothing when they are loaded.
    unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
