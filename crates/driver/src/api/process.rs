//! The driver as a whole: initialisation, version and function look-up.

use crate::api::{api, procedures, tables};
use crate::client::{Bytes, Out, Text};
use crate::state;
use crate::status::Status;

/// The API version of the newest runtime that is supported, 1000 times major plus 10 times minor: a runtime refuses older
/// drivers.
pub const VERSION: i32 = 13050;

/// Results of a look-up: `CUdriverProcAddressQueryResult`.
mod found {
    pub const SUCCESS: u32 = 0;
    pub const SYMBOL_NOT_FOUND: u32 = 1;
    pub const VERSION_NOT_SUFFICIENT: u32 = 2;
}

/// The newest function of a name that a client of `version` may call, or the look-up result that says why
/// there is none.
fn look_up(name: &str, version: i32) -> Result<*const (), u32> {
    let all = || procedures().filter(|procedure| procedure.base == name);
    let newest = all().filter(|procedure| procedure.since <= version).max_by_key(|procedure| procedure.since);
    match newest {
        Some(procedure) => Ok(procedure.address),
        None if all().next().is_some() => Err(found::VERSION_NOT_SUFFICIENT),
        None => Err(found::SYMBOL_NOT_FOUND),
    }
}

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

    /// Looks up a function. The flags choose between default streams, which are all the same here.
    cuGetProcAddress_v2 = "cuGetProcAddress" 12000 (
        name: Text, function: Out<*const ()>, version: i32, _flags: u64, status: Out<u32>,
    ) {
        let place = function.place()?;
        match look_up(name.get()?, version) {
            Ok(address) => {
                place.put(address);
                status.put_if_wanted(found::SUCCESS);
                Ok(())
            }
            Err(why) => {
                place.put(std::ptr::null());
                status.put_if_wanted(why);
                Err(Status::NotFound)
            }
        }
    }

    /// Looks up a function, without writing the result of the look-up.
    cuGetProcAddress = "cuGetProcAddress" 11030 (
        name: Text, function: Out<*const ()>, version: i32, _flags: u64,
    ) {
        let place = function.place()?;
        let found = look_up(name.get()?, version);
        place.put(found.unwrap_or(std::ptr::null()));
        found.map(|_| ()).map_err(|_| Status::NotFound)
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
