//! Names and descriptions of statuses.

use std::ffi::{CStr, c_char};

use crate::api::api;
use crate::client::Out;
use crate::status::{Answer, Status};

fn put(code: u32, text: Out<*const c_char>, of: fn(Status) -> &'static CStr) -> Answer {
    let place = text.place()?;
    let status = Status::of(code);
    place.put(status.map_or(std::ptr::null(), |status| of(status).as_ptr()));
    status.map(|_| ()).ok_or(Status::InvalidValue)
}

api! {
    /// Writes the name of a status, as in `CUDA_SUCCESS`.
    cuGetErrorName = "cuGetErrorName" 6000 (code: u32, name: Out<*const c_char>) {
        put(code, name, Status::name)
    }

    /// Writes the description of a status.
    cuGetErrorString = "cuGetErrorString" 6000 (code: u32, text: Out<*const c_char>) {
        put(code, text, Status::text)
    }
}
