//! Types that cross a C interface: client pointers, and the structures of the CUDA driver API behind them. Also how libraries
//! on the driver call it.
//!
//! The pointer types appear in the signatures of exported functions and have the layout of one pointer. They
//! come from a client's call, or point to a library's own memory. They rest on the contract of the CUDA APIs:
//! a pointer is null, or valid for what the function is documented to access, for as long as the call lasts.
//! This crate checks for null and, for bulk memory, that the process has mapped the pages; any other dangling
//! pointer is the client's fault, as with any driver. The methods of these types are not marked `unsafe`
//! although they rely on that contract: otherwise every exported function would be, and the mark would
//! distinguish nothing.
//!
//! Each type is generic over `E`, the error of its interface.
#![allow(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod bytes;
pub mod driver;
mod library;
mod text;
mod value;

pub use bytes::{Bytes, PAGE};
/// For [`driver_functions`], which loads the driver.
#[doc(hidden)]
pub use libloading;
pub use library::DRIVER;
pub use text::{StaticText, Text};
pub use value::{In, Out, Place};

/// The error type of an interface.
pub trait Refusal: Copy {
    /// The error for an argument that is null or out of range.
    const INVALID_VALUE: Self;
}

/// Marks types whose every bit pattern is a value, so that a client's bytes can be read as one.
///
/// # Safety
/// Every bit pattern is a value of the type.
pub unsafe trait Plain: Copy {}

// SAFETY: integers take every bit pattern.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}
// SAFETY: floats take every bit pattern.
unsafe impl Plain for f32 {}
// SAFETY: every bit pattern of the elements is a value.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: a transparent pointer, never followed unless checked.
unsafe impl<E: Copy> Plain for Bytes<E> {}

/// Declares C structures made only of integers, floats, pointers and such structures. Padding is never read.
#[macro_export]
macro_rules! plain_structs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }
        // SAFETY: each field takes every bit pattern.
        unsafe impl $crate::Plain for $name where $($ty: $crate::Plain),* {}
    )*};
}
