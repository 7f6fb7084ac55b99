//! The runtime as a whole, and the driver below it.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver;
use crate::error::Error;
use crate::log;

api! {
    /// The driver's.
    cudaDriverGetVersion(version: Out<i32>) {
        driver::get()?.cuDriverGetVersion(version)
    }

    /// The driver's.
    cudaProfilerStart() {
        context::ready()?.cuProfilerStart()
    }

    /// The driver's.
    cudaProfilerStop() {
        context::ready()?.cuProfilerStop()
    }

    /// Tables of functions that are not documented: there are none.
    cudaGetExportTable(table: Out<u64>, _name: Bytes) {
        table.put(0)?;
        log::once("cudaGetExportTable is not supported");
        Err(Error::NotSupported)
    }
}
