//! Attributes of kernels, each named by the host function that stands for it.

use crate::api::{api, launch};
use crate::client::{Bytes, In, LaunchConfig, Out};
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
    /// Sets an attribute of a kernel. Numbers are the driver API's.
    cudaFuncSetAttribute(function: Bytes, number: u32, value: i32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetAttribute(kernel, number, value)
    }

    /// Sets an attribute of a kernel given by handle.
    cudaKernelSetAttributeForDevice(function: Bytes, number: u32, value: i32, device: i32) {
        context::check(device)?;
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetAttribute(kernel, number, value)
    }

    /// Stores the cache preference, without effect: the machine fixes the sizes of L1D and shared memory.
    cudaFuncSetCacheConfig(function: Bytes, config: u32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetCacheConfig(kernel, config)
    }

    /// Stores the bank width preference, without effect: the machine fixes the banks.
    cudaFuncSetSharedMemConfig(function: Bytes, config: u32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuFuncSetSharedMemConfig(kernel, config)
    }

    /// Writes the kernel's name in PTX.
    cudaFuncGetName(name: Out<u64>, function: Bytes) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetName(name, kernel)
    }

    /// Writes the number of a kernel's parameters.
    cudaFuncGetParamCount(function: Bytes, count: Out<u64>) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetParamCount(kernel, count)
    }

    /// Writes the offset and size of a parameter.
    cudaFuncGetParamInfo(function: Bytes, index: u64, offset: Out<u64>, bytes: Out<u64>) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetParamInfo(kernel, index, offset, bytes)
    }

    /// Writes the driver API's `CUfunction` of a kernel.
    cudaGetFuncBySymbol(to: Out<u64>, function: Bytes) {
        let (driver, kernel) = kernel(function)?;
        driver.cuKernelGetFunction(to, kernel)
    }

    /// Writes a handle of a kernel that is valid in every context.
    cudaGetKernel(to: Out<Kernel>, function: Bytes) {
        let place = to.place()?;
        place.put(kernel(function)?.1);
        Ok(())
    }

    /// Writes the number of CTAs that fit on an SM.
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        ctas: Out<i32>, function: Bytes, threads: i32, dynamic_shared: u64,
    ) {
        occupancy(ctas, function, threads, dynamic_shared, 0)
    }

    /// Writes the number of CTAs that fit on an SM. `flags` are the driver API's.
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        ctas: Out<i32>, function: Bytes, threads: i32, dynamic_shared: u64, flags: u32,
    ) {
        occupancy(ctas, function, threads, dynamic_shared, flags)
    }

    /// Writes the most dynamic shared memory with which so many CTAs fit on an SM.
    cudaOccupancyAvailableDynamicSMemPerBlock(bytes: Out<u64>, function: Bytes, ctas: i32, threads: i32) {
        let (driver, kernel) = kernel(function)?;
        driver.cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, ctas, threads)
    }

    /// Writes how many clusters of a launch configuration are resident on the device together.
    cudaOccupancyMaxActiveClusters(clusters: Out<i32>, function: Bytes, config: In<LaunchConfig>) {
        let (driver, kernel) = kernel(function)?;
        driver.cuOccupancyMaxActiveClusters(clusters, kernel, &launch::configuration(config.get()?)?)
    }

    /// Writes the largest size of a cluster with which a launch configuration can run.
    cudaOccupancyMaxPotentialClusterSize(size: Out<i32>, function: Bytes, config: In<LaunchConfig>) {
        let (driver, kernel) = kernel(function)?;
        driver.cuOccupancyMaxPotentialClusterSize(size, kernel, &launch::configuration(config.get()?)?)
    }

    /// Succeeds without effect: devices compute in double precision, so no argument is converted.
    cudaSetDoubleForDevice(_value: Bytes) {
        Ok(())
    }

    /// Succeeds without effect: devices compute in double precision, so no result is converted.
    cudaSetDoubleForHost(_value: Bytes) {
        Ok(())
    }
}
