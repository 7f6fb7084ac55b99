//! Error reporting: each thread's last error, and what error codes mean.

use crate::api::plain_api;
use crate::client::StaticText;
use crate::error::{self, Error};

/// Text for unknown error codes.
const UNRECOGNISED: &std::ffi::CStr = c"unrecognized error code";

plain_api! {
    /// Returns the thread's last error and clears it, unless it is sticky.
    cudaGetLastError() -> Error | Error::Unknown; {
        error::take()
    }

    /// Returns the thread's last error and keeps it.
    cudaPeekAtLastError() -> Error | Error::Unknown; {
        error::peek()
    }

    /// Returns the name of an error code.
    cudaGetErrorName(code: u32) -> StaticText | StaticText::of(UNRECOGNISED); {
        StaticText::of(Error::of(code).map_or(UNRECOGNISED, Error::name))
    }

    /// Returns the description of an error code.
    cudaGetErrorString(code: u32) -> StaticText | StaticText::of(UNRECOGNISED); {
        StaticText::of(Error::of(code).map_or(UNRECOGNISED, Error::text))
    }
}
