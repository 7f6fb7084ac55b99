//! Result codes: `nvmlReturn_t`.

use std::ffi::CStr;

use strata_abi::Refusal;

macro_rules! statuses {
    ($($variant:ident = $code:literal $text:literal;)*) => {
        /// An `nvmlReturn_t`.
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "`text` says what each means")]
        pub enum Status { $($variant = $code,)* }

        /// Description of a code; `None` if this library does not return it.
        pub fn text(code: u32) -> Option<&'static CStr> {
            match code { $($code => Some($text),)* _ => None }
        }
    };
}

statuses! {
    Success = 0 c"success";
    Uninitialized = 1 c"nvmlInit has not been called";
    InvalidArgument = 2 c"an argument is null or out of its range";
    NotSupported = 3 c"not supported";
    NotFound = 6 c"no device has this name or number";
    InsufficientSize = 7 c"there is no room for the result";
    DriverNotLoaded = 9 c"the driver cannot be loaded or initialised";
    Unknown = 999 c"unknown error";
}

impl Refusal for Status {
    const INVALID_VALUE: Status = Status::InvalidArgument;
}

/// Result of a call: a value or a status.
pub type Answer<T = ()> = Result<T, Status>;
/// Untyped memory of the client.
pub type Bytes = strata_abi::Bytes<Status>;
/// A pointer to which a result is written.
pub type Out<T> = strata_abi::Out<T, Status>;
/// A NUL-terminated string of the client.
pub type Text = strata_abi::Text<Status>;
