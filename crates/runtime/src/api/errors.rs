//! Errors: the last one of a thread, and what codes mean.

use crate::api::plain_api;
use crate::client::StaticText;
use crate::error::{self, Error};

/// Codes that are none.
const UNRECOGNISED: &std::ffi::CStr = c"unrecognized error code";

plain_api! {
    /// Forgotten unless it sticks.
    cudaGetLastError() -> Error | Error::Unknown; {
        error::take()
    }

    /// Kept.
    cudaPeekAtLastError() -> Error | Error::Unknown; {
        error::peek()
    }

    /// Of any code.
    cudaGetErrorName(code: u32) -> StaticText | StaticText::of(UNRECOGNISED); {
        StaticText::of(Error::of(code).map_or(UNRECOGNISED, Error::name))
    }

    /// Of any code.
    cudaGetErrorString(code: u32) -> StaticText | StaticText::of(UNRECOGNISED); {
        StaticText::of(Error::of(code).map_or(UNRECOGNISED, Error::text))
    }
}
