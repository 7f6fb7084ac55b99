//! The driver's library, as libraries on it call it.

/// File name of the driver on every system.
pub const DRIVER: &str = "libcuda.so.1";

/// Declares `Driver`, whose methods are functions of the driver API that `Driver::load` looks up in [`DRIVER`]. The library is
/// never unloaded. `answer` makes a result of a status, and `pass` is applied to each argument. An argument is a plain value,
/// a client's pointer that is passed on unchanged, or a reference to data of the caller's.
#[macro_export]
macro_rules! driver_functions {
    (answer: $answer:path => $result:ty; pass: $pass:path; $($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        /// The driver's functions, as methods.
        #[allow(non_snake_case, reason = "the driver API's names")]
        pub struct Driver { $($name: unsafe extern "C" fn($($ty),*) -> u32,)* }

        impl Driver {
            fn load() -> Result<Driver, String> {
                // SAFETY: loading a driver runs no code that could cause harm.
                let object = unsafe { $crate::libloading::Library::new($crate::DRIVER) };
                let object = object.map_err(|error| error.to_string())?;
                let found = Driver {
                    // SAFETY: the type is that of the driver API's function.
                    $($name: *unsafe { object.get(stringify!($name)) }.map_err(|error| error.to_string())?,)*
                };
                std::mem::forget(object);
                Ok(found)
            }

            $(
                #[allow(missing_docs, reason = "as the driver API has it")]
                #[allow(non_snake_case, reason = "the driver API's name")]
                #[allow(clippy::too_many_arguments, reason = "the driver API's arguments")]
                pub fn $name(&self, $($arg: $ty),*) -> $result {
                    // SAFETY: the function has this name and type; pointers are the client's, null or valid, or are
                    // references.
                    $answer(unsafe { (self.$name)($($pass($arg)),*) })
                }
            )*
        }
    };
}
