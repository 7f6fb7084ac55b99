//! What crosses a C interface: pointers that clients hand over, and the structures of the CUDA driver API behind them.
//!
//! The pointer types stand in the signatures of exported functions, as layouts of one pointer. A client's call makes them;
//! a library makes none but of its own memory. So each rests on what the CUDA APIs ask of their caller: a pointer is null,
//! or valid for what the function is documented to read or write there, as long as the call lasts. Null is checked here, and
//! whether the process has the pages of bulk memory; a pointer that dangles elsewhere is a fault of the client, as with any
//! driver. What a pointer can do is not marked `unsafe`, although it rests on that promise: every exported function would be
//! then, and the mark would tell nothing apart.
//!
//! Each type names the error `E` of the interface it belongs to, which it answers with.
#![allow(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod bytes;
pub mod driver;
mod text;
mod value;

pub use bytes::{Bytes, PAGE};
pub use text::{StaticText, Text};
pub use value::{In, Out, Place};

/// What the calls of an interface answer when they fail.
pub trait Refusal: Copy {
    /// For an argument that is null or out of its range.
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
// SAFETY: as its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: a transparent pointer, never followed unless checked.
unsafe impl<E: Copy> Plain for Bytes<E> {}

/// Declares structures of C that hold nothing but integers, floats, pointers and structures of them. Padding is never
/// looked at.
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
