//! What is known of a kernel, by the host function that stands for it.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::{Driver, Kernel};
use crate::error::Answer;
use crate::registry;

fn kernel(function: Bytes) -> Answer<(&'static Driver, Kernel)> {
    let driver = context::ready()?;
    Ok((driver, registry::kernel(driver, function)?))
}

fn occupancy(ctas: Out<i32>, function: Bytes, threads: i32, dynamic_shared: u64, flags: u32) -> Answer {
    let (driver, kernel) = kernel(function)?;
    driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, kernel, threads, dynamic_shared, flags)
}

api! {
    /// Numbers are the driver API's.
    cudaFuncSetAttribute(function: Bytes, number: u32, value: i32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetAttribute(kernel, number, value)
    }

    /// Of a handle.
    cudaKernelSetAttributeForDevice(function: Bytes, number: u32, value: i32, device: i32) {
        context::check(device)?;
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetAttribute(kernel, number, value)
    }

    /// L1D and shared memory are what the machine says.
    cudaFuncSetCacheConfig(function: Bytes, config: u32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetCacheConfig(kernel, config)
    }

    /// Banks are what the machine says.
    cudaFuncSetSharedMemConfig(function: Bytes, config: u32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetSharedMemConfig(kernel, config)
    }

    /// As the PTX has it.
    cudaFuncGetName(name: Out<u64>, function: Bytes) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetName(name, kernel)
    }

    /// Offset and size of a parameter.
    cudaFuncGetParamInfo(function: Bytes, index: u64, offset: Out<u64>, bytes: Out<u64>) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetParamInfo(kernel, index, offset, bytes)
    }

    /// The driver API's function.
    cudaGetFuncBySymbol(to: Out<u64>, function: Bytes) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetFunction(to, kernel)
    }

    /// A handle that is independent of contexts.
    cudaGetKernel(to: Out<Kernel>, function: Bytes) {
        let place = to.place()?;
        place.put(kernel(function)?.1);
        Ok(())
    }

    /// CTAs on a multiprocessor.
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        ctas: Out<i32>, function: Bytes, threads: i32, dynamic_shared: u64,
    ) {
        occupancy(ctas, function, threads, dynamic_shared, 0)
    }

    /// CTAs on a multiprocessor.
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        ctas: Out<i32>, function: Bytes, threads: i32, dynamic_shared: u64, flags: u32,
    ) {
        occupancy(ctas, function, threads, dynamic_shared, flags)
    }
}
