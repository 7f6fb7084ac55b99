//! The exported functions, by subject.

mod array;
mod attributes;
mod capture;
mod configuration;
mod context;
mod copy;
mod device;
mod edges;
mod edit;
mod error;
mod event;
mod executable;
mod function;
mod graph;
pub mod handles;
mod launch;
mod legacy;
mod library;
mod link;
mod look_up;
mod memory;
mod mipmap;
mod module;
mod node;
mod occupancy;
mod operation;
mod pointer;
mod pool;
mod primary;
mod process;
mod reference;
mod set;
mod stream;
mod tables;
mod tensor;
mod texture;
mod unsupported;
mod user_object;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::current::{self, Default};
use crate::log::{self, Level};
use crate::status::{Answer, Status};

/// A function that `cuGetProcAddress` can find.
#[derive(Clone, Copy)]
pub struct Procedure {
    /// Name that clients ask for, without version suffix.
    pub base: &'static str,
    /// First API version in which the name means this function.
    pub since: i32,
    /// What the null stream means to it.
    pub default: Default,
    /// Address of the function.
    pub address: *const (),
}

/// The first API version with per-thread default streams.
pub const PER_THREAD_SINCE: i32 = 7000;

/// Exports functions of the driver API, each with the name and API version under which `cuGetProcAddress`
/// finds it. The name behind `|` means the same function with per-thread default streams. The one behind `/`
/// is that of another version, with the API version that brought it and the same signature.
macro_rules! api {
    ($($(#[$doc:meta])* $name:ident $(| $thread:ident)? $(/ $old:ident $before:literal)?
        = $base:literal $since:literal ($($arguments:tt)*) $body:block)*) => {
        $($crate::api::api!(@all [$(#[$doc])*] [$name $($old)?] [$($thread)?] ($($arguments)*) $body);)*
        /// The functions that this file exports.
        pub const PROCEDURES: &[$crate::api::Procedure] = &[$(
            $crate::api::api!(@procedure $base $since Legacy $name),
            $($crate::api::api!(@procedure $base $before Legacy $old),)?
            $($crate::api::api!(@procedure $base {
                if $since < $crate::api::PER_THREAD_SINCE { $crate::api::PER_THREAD_SINCE } else { $since }
            } PerThread $thread),)?
        )*];
    };
    (@all $docs:tt [$($name:ident)*] [$($thread:ident)*] $arguments:tt $body:block) => {
        $($crate::api::api!(@one Legacy $docs $name $arguments $body);)*
        $($crate::api::api!(@one PerThread $docs $thread $arguments $body);)*
    };
    (@one $default:ident [$(#[$doc:meta])*] $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the driver API's name")]
        #[allow(unsafe_code, reason = "exported under its own name, which nothing else here has")]
        #[allow(clippy::too_many_arguments, reason = "the driver API's arguments")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::status::Status {
            let default = $crate::current::Default::$default;
            $crate::api::answer(stringify!($name), default, move || -> $crate::status::Answer { $body })
        }
    };
    (@procedure $base:literal $since:tt $default:ident $name:ident) => {
        $crate::api::Procedure {
            base: $base,
            since: $since,
            default: $crate::current::Default::$default,
            address: $name as *const (),
        }
    };
}
use api;

/// All functions that `cuGetProcAddress` can find.
fn procedures() -> impl Iterator<Item = &'static Procedure> {
    [
        array::PROCEDURES,
        mipmap::PROCEDURES,
        attributes::PROCEDURES,
        user_object::PROCEDURES,
        node::PROCEDURES,
        occupancy::PROCEDURES,
        graph::PROCEDURES,
        executable::PROCEDURES,
        capture::PROCEDURES,
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
        look_up::PROCEDURES,
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
        unsupported::PROCEDURES,
    ]
    .into_iter()
    .flatten()
}

/// Runs a call and converts its result. Panics do not unwind into the client.
fn answer(name: &str, default: Default, call: impl FnOnce() -> Answer) -> Status {
    let status = match current::with_default(default, || catch_unwind(AssertUnwindSafe(call))) {
        Ok(Ok(())) => Status::Success,
        Ok(Err(status)) => status,
        Err(_) => Status::Unknown,
    };
    log::say(Level::Calls, || format!("{name}: {}", status.name().to_string_lossy()));
    status
}
