//! The driver as a whole: initialisation and version.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::log;
use crate::state;
use crate::status::Status;

/// The supported API version: 1000 times major plus 10 times minor.
const VERSION: i32 = 13000;

api! {
    /// Initialises the driver from the environment.
    cuInit = "cuInit" 2000 (flags: u32) {
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        state::initialise()
    }

    /// Writes the driver's API version. Works before `cuInit` too.
    cuDriverGetVersion = "cuDriverGetVersion" 2020 (version: Out<i32>) {
        version.put(VERSION)
    }

    /// Fails: none of the undocumented function tables exist.
    cuGetExportTable = "cuGetExportTable" 3000 (table: Out<*const ()>, _name: Bytes) {
        table.put(std::ptr::null())?;
        log::once("cuGetExportTable is not supported: programs that link the CUDA runtime statically need it".into());
        Err(Status::NotFound)
    }

    /// Accepted without effect: there is no profiler.
    cuProfilerStart = "cuProfilerStart" 4000 () {
        Ok(())
    }

    /// Accepted without effect: there is no profiler.
    cuProfilerStop = "cuProfilerStop" 4000 () {
        Ok(())
    }
}
