//! The runtime as a whole, and the driver beneath it.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver;
use crate::error::Error;
use crate::log;

api! {
    /// Writes the version of the driver API that the driver supports.
    cudaDriverGetVersion(version: Out<i32>) {
        driver::get()?.cuDriverGetVersion(version)
    }

    /// Passed on to the driver.
    cudaProfilerStart() {
        context::ready()?.cuProfilerStart()
    }

    /// Passed on to the driver.
    cudaProfilerStop() {
        context::ready()?.cuProfilerStop()
    }

    /// Fails: none of the undocumented function tables exist.
    cudaGetExportTable(table: Out<u64>, _name: Bytes) {
        table.put(0)?;
        log::once("cudaGetExportTable is not supported");
        Err(Error::NotSupported)
    }
}
