//! The driver as a whole: initialisation and version.

use crate::api::{api, tables};
use crate::client::{Bytes, Out};
use crate::state;
use crate::status::Status;

/// The API version of the newest runtime that is supported, 1000 times major plus 10 times minor: a runtime refuses older
/// drivers.
pub const VERSION: i32 = 13050;

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

    /// Writes a table of functions that are not documented, by its UUID.
    cuGetExportTable = "cuGetExportTable" 3000 (table: Out<*const ()>, name: Bytes) {
        let place = table.place()?;
        let found = tables::find(name.values::<[u8; 16]>().get()?);
        place.put(found.unwrap_or(std::ptr::null()));
        found.map(|_| ()).ok_or(Status::NotFound)
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
