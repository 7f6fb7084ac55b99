//! Strings of C: a client's, and our own as results.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use crate::Refusal;

/// A client's NUL-terminated string.
#[repr(transparent)]
pub struct Text<E>(*const c_char, PhantomData<E>);

impl<E> Clone for Text<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Text<E> {}

impl<E: Refusal> Text<E> {
    pub(crate) fn new(from: *const c_char) -> Self {
        Text(from, PhantomData)
    }

    /// Our own string, for another library to read.
    pub fn of(text: &CStr) -> Self {
        Text::new(text.as_ptr())
    }

    /// The string's contents.
    ///
    /// # Errors
    /// If the pointer is null or the text is not UTF-8.
    pub fn get<'a>(self) -> Result<&'a str, E> {
        if self.0.is_null() {
            return Err(E::INVALID_VALUE);
        }
        // SAFETY: not null, so NUL-terminated and valid as long as the call lasts (see the crate).
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| E::INVALID_VALUE)
    }

    /// The string's contents; `None` if the pointer is null.
    ///
    /// # Errors
    /// If the text is not UTF-8.
    pub fn if_given<'a>(self) -> Result<Option<&'a str>, E> {
        if self.0.is_null() { Ok(None) } else { self.get().map(Some) }
    }
}

/// A static string returned to a client.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StaticText(*const c_char);

impl StaticText {
    /// Wraps a static string.
    pub fn of(text: &'static CStr) -> StaticText {
        StaticText(text.as_ptr())
    }
}
