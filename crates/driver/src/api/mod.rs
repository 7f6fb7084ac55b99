//! The exported functions, by subject.

mod array;
mod configuration;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod function;
mod handles;
mod launch;
mod legacy;
mod library;
mod link;
mod memory;
mod module;
mod pointer;
mod pool;
mod primary;
mod process;
mod reference;
mod set;
mod stream;
mod tensor;
mod texture;
mod unsupported;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log::{self, Level};
use crate::status::{Answer, Status};

/// A function that `cuGetProcAddress` can find.
#[derive(Clone, Copy)]
pub struct Procedure {
    /// Name that clients ask for, without version suffix.
    pub base: &'static str,
    /// First API version in which the name means this function.
    pub since: i32,
    /// Address of the function.
    pub address: *const (),
}

/// Exports functions of the driver API, each with the name and API version under which `cuGetProcAddress`
/// finds it.
macro_rules! api {
    ($($(#[$doc:meta])* $name:ident = $base:literal $since:literal ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case, reason = "the driver API's name")]
            #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
            #[allow(clippy::too_many_arguments, reason = "the driver API's arguments")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($arg: $ty),*) -> $crate::status::Status {
                $crate::api::answer(stringify!($name), move || -> $crate::status::Answer { $body })
            }
        )*
        /// The functions that this file exports.
        pub const PROCEDURES: &[$crate::api::Procedure] = &[$($crate::api::Procedure {
            base: $base,
            since: $since,
            address: $name as *const (),
        }),*];
    };
}
use api;

/// All functions that `cuGetProcAddress` can find.
fn procedures() -> impl Iterator<Item = &'static Procedure> {
    [
        array::PROCEDURES,
        context::PROCEDURES,
        copy::PROCEDURES,
        device::PROCEDURES,
        error::PROCEDURES,
        event::PROCEDURES,
        function::PROCEDURES,
        launch::PROCEDURES,
        legacy::PROCEDURES,
        library::PROCEDURES,
        link::PROCEDURES,
        memory::PROCEDURES,
        module::PROCEDURES,
        pointer::PROCEDURES,
        pool::PROCEDURES,
        primary::PROCEDURES,
        process::PROCEDURES,
        reference::PROCEDURES,
        set::PROCEDURES,
        stream::PROCEDURES,
        tensor::PROCEDURES,
        texture::PROCEDURES,
    ]
    .into_iter()
    .flatten()
}

/// Runs a call and converts its result. Panics do not unwind into the client.
fn answer(name: &str, call: impl FnOnce() -> Answer) -> Status {
    let status = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Status::Success,
        Ok(Err(status)) => status,
        Err(_) => Status::Unknown,
    };
    log::say(Level::Calls, || format!("{name}: {}", status.name().to_string_lossy()));
    status
}
