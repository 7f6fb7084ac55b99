//! The part of the NVIDIA Management Library that CUDA programs ask when they start: a `libnvidia-ml.so.1`.
//!
//! It knows nothing of a machine: every answer comes from the `libcuda.so.1` of the process (`cuda`), so both always agree.
//! What no modelled GPU has, such as temperatures, fans and processes of others, is not supported, and each such function is
//! named once on standard error.
#![deny(unsafe_op_in_unsafe_fn)]

mod cuda;
mod device;
mod status;
mod system;
mod unsupported;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{Answer, Status};

/// Exports functions. Names behind `|` are older or newer versions with the same signature.
macro_rules! api {
    ($($(#[$doc:meta])* $name:ident $(| $other:ident)* ($($arguments:tt)*) $body:block)*) => {$(
        $crate::api!(@all [$(#[$doc])*] [$name $($other)*] ($($arguments)*) $body);
    )*};
    (@all $docs:tt [$($name:ident)*] $arguments:tt $body:block) => {
        $($crate::api!(@one $docs $name $arguments $body);)*
    };
    (@one [$(#[$doc:meta])*] $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the library's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::status::Status {
            $crate::answer(move || -> $crate::status::Answer { $body })
        }
    };
}
use api;

/// Runs a call and converts its result. Panics do not unwind into the client.
fn answer(call: impl FnOnce() -> Answer) -> Status {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Status::Success,
        Ok(Err(status)) => status,
        Err(_) => Status::Unknown,
    }
}
