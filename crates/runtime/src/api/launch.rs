//! Kernel launches. A launch is complete when its call returns.

use crate::api::api;
use crate::client::{Bytes, Dim3, In, LaunchConfig};
use crate::context::{self, DEVICE};
use crate::driver::{self, Driver, Kernel, Pass, Stream};
use crate::error::{Answer, Error};
use crate::registry;

/// Everything that makes up a launch besides the kernel and its arguments.
struct Shape {
    grid: Dim3,
    block: Dim3,
    shared: u32,
}

/// Device attributes that bound a launch.
mod limit {
    pub const THREADS: u32 = 1;
    pub const BLOCK: [u32; 3] = [2, 3, 4];
    pub const GRID: [u32; 3] = [5, 6, 7];
}

fn sides(size: Dim3) -> [u32; 3] {
    [size.x, size.y, size.z]
}

/// Refuses grids and blocks that are empty or exceed the device's limits, with `InvalidConfiguration`.
fn check(driver: &Driver, grid: Dim3, block: Dim3, shared: u64) -> Answer<Shape> {
    let most = |number| {
        let mut value = 0;
        driver.cuDeviceGetAttribute(&mut value, number, DEVICE).map(|()| u64::from(value.unsigned_abs()))
    };
    let sides_and_limits =
        sides(grid).into_iter().zip(limit::GRID).chain(sides(block).into_iter().zip(limit::BLOCK));
    for (side, number) in sides_and_limits {
        if side == 0 || u64::from(side) > most(number)? {
            return Err(Error::InvalidConfiguration);
        }
    }
    // The product cannot overflow, because each side is within its limit.
    if sides(block).into_iter().map(u64::from).product::<u64>() > most(limit::THREADS)? {
        return Err(Error::InvalidConfiguration);
    }
    let shared = u32::try_from(shared).map_err(|_| Error::InvalidValue)?;
    Ok(Shape { grid, block, shared })
}

fn launch(kernel: Bytes, grid: Dim3, block: Dim3, arguments: Bytes, shared: u64, on: Stream) -> Answer {
    let driver = context::ready()?;
    let kernel = registry::kernel(driver, kernel)?;
    let Shape { grid, block, shared } = check(driver, grid, block, shared)?;
    registry::around_launch(driver, on, || {
        let extra = Bytes::NULL;
        driver.cuLaunchKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, on, arguments, extra,
        )
    })
}

/// The driver's form of a launch configuration, whose grid and block may be any.
pub fn configuration(config: LaunchConfig) -> Answer<driver::LaunchConfig> {
    Ok(driver::LaunchConfig {
        grid: sides(config.grid),
        block: sides(config.block),
        shared: u32::try_from(config.shared).map_err(|_| Error::InvalidValue)?,
        stream: Stream(config.stream).pass(),
        attributes: Bytes::at(config.attributes),
        count: config.count,
    })
}

api! {
    /// Launches a kernel given by its host function or its handle. Returns when the launch is complete.
    cudaLaunchKernel | cudaLaunchKernel_ptsz (
        function: Bytes, grid: Dim3, block: Dim3, arguments: Bytes, shared: u64, stream: Stream,
    ) {
        launch(function, grid, block, arguments, shared, stream)
    }

    /// Launches a kernel given by its handle.
    __cudaLaunchKernel | __cudaLaunchKernel_ptsz (
        kernel: Bytes, grid: Dim3, block: Dim3, arguments: Bytes, shared: u64, stream: Stream,
    ) {
        launch(kernel, grid, block, arguments, shared, stream)
    }

    /// Launches a kernel with attributes, which are the driver API's.
    cudaLaunchKernelExC | cudaLaunchKernelExC_ptsz (config: In<LaunchConfig>, function: Bytes, arguments: Bytes) {
        let config = config.get()?;
        let driver = context::ready()?;
        let kernel = registry::kernel(driver, function)?;
        check(driver, config.grid, config.block, config.shared)?;
        let stream = Stream(config.stream);
        let config = configuration(config)?;
        registry::around_launch(driver, stream, || driver.cuLaunchKernelEx(&config, kernel, arguments, Bytes::NULL))
    }

    /// Launches a kernel whose CTAs are all resident together, so that the grid can synchronise.
    cudaLaunchCooperativeKernel | cudaLaunchCooperativeKernel_ptsz (
        function: Bytes, grid: Dim3, block: Dim3, arguments: Bytes, shared: u64, stream: Stream,
    ) {
        let driver = context::ready()?;
        let kernel: Kernel = registry::kernel(driver, function)?;
        let Shape { grid, block, shared } = check(driver, grid, block, shared)?;
        registry::around_launch(driver, stream, || {
            driver.cuLaunchCooperativeKernel(
                kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments,
            )
        })
    }
}
