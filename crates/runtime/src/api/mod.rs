//! The exported functions, by subject.

mod array;
mod copy;
mod device;
mod errors;
mod event;
mod function;
pub(crate) mod graph;
mod launch;
mod library;
mod memory;
mod mipmap;
mod pool;
mod process;
mod register;
mod set;
mod stream;
mod surface;
mod symbol;
pub(crate) mod texture;
mod unsupported;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::default::{self, Default};
use crate::error::{self, Answer, Error};
use crate::log::{self, Level};

/// Exports functions of the runtime API that return an error code. Further names are aliases for programs
/// compiled with per-thread default streams: the null stream is then that of the calling thread.
#[macro_export]
macro_rules! api {
    ($($(#[$doc:meta])* $name:ident $(| $other:ident)* ($($arguments:tt)*) $body:block)*) => {$(
        $crate::api!(@one Legacy [$(#[$doc])*] $name ($($arguments)*) $body);
        $crate::api!(@all [$(#[$doc])*] [$($other)*] ($($arguments)*) $body);
    )*};
    (@all $docs:tt [$($name:ident)*] $arguments:tt $body:block) => {
        $($crate::api!(@one PerThread $docs $name $arguments $body);)*
    };
    (@one $default:ident [$(#[$doc:meta])*] $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the runtime API's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[allow(clippy::too_many_arguments, reason = "the runtime API's arguments")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::error::Error {
            $crate::answer(stringify!($name), $crate::default::Default::$default, move || -> $crate::error::Answer { $body })
        }
    };
}

/// Exports functions that return something else, and neither take nor set the last error.
#[macro_export]
macro_rules! plain_api {
    ($($(#[$doc:meta])* $name:ident ($($arg:ident: $ty:ty),* $(,)?) -> $result:ty | $fault:expr; $body:block)*) => {$(
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the runtime API's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[allow(clippy::too_many_arguments, reason = "the runtime API's arguments")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $result {
            $crate::plain(stringify!($name), $fault, move || -> $result { $body })
        }
    )*};
}

use api;
use plain_api;

/// Runs a call, converts its result and records it as the thread's last error. Panics do not unwind into the
/// client.
pub fn answer(name: &str, default: Default, call: impl FnOnce() -> Answer) -> Error {
    let error = match default::with(default, || catch_unwind(AssertUnwindSafe(call))) {
        Ok(Ok(())) => Error::Success,
        Ok(Err(error)) => error,
        Err(_) => Error::Unknown,
    };
    log::say(Level::Calls, || format!("{name}: {}", error.name().to_string_lossy()));
    error::note(error);
    error
}

/// Runs a call; returns `fault` if it panics.
pub fn plain<R>(name: &str, fault: R, call: impl FnOnce() -> R) -> R {
    log::say(Level::Calls, || name.to_owned());
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(fault)
}
