//! Turns a host's launch arguments into a kernel's parameter block.

use strata_ptx::program::Kernel;
use strata_ptx::reference::check_cluster;
use strata_workloads::{Arg, DeviceError, Shape};

/// Lays out launch arguments as the kernel declares its parameters.
///
/// # Errors
/// What is wrong with the shape, or else the first argument that does not fit.
pub fn parameter_block(kernel: &Kernel, shape: Shape, args: &[Arg]) -> Result<Vec<u8>, DeviceError> {
    let bad = |reason| DeviceError::BadLaunch { kernel: kernel.name.clone(), reason };
    check_shape(kernel, shape).map_err(bad)?;
    lay_out(kernel, args).map_err(bad)
}

fn lay_out(kernel: &Kernel, args: &[Arg]) -> Result<Vec<u8>, String> {
    if args.len() != kernel.params.len() {
        return Err(format!(
            "{} arguments given, the kernel has {} parameters",
            args.len(),
            kernel.params.len()
        ));
    }
    let mut block = vec![0; kernel.param_bytes as usize];
    for (place, (arg, param)) in args.iter().zip(&kernel.params).enumerate() {
        let (bytes, size) = arg.to_bytes();
        if size != param.bytes as usize {
            return Err(format!(
                "argument {place} has {size} bytes, parameter `{}` has {}",
                param.name, param.bytes
            ));
        }
        block[param.offset as usize..][..size].copy_from_slice(&bytes[..size]);
    }
    Ok(block)
}

/// Checks a grid and block against the limits of CUDA and of the kernel.
///
/// # Errors
/// The limit that is exceeded.
pub fn check_shape(kernel: &Kernel, shape: Shape) -> Result<(), String> {
    let Shape { grid, block, cluster, .. } = shape;
    if grid.contains(&0) || block.contains(&0) {
        return Err(format!("grid {grid:?} and block {block:?} must not be empty"));
    }
    let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
    if threads > 1024 || block[2] > 64 {
        return Err(format!(
            "a block of {block:?} has {threads} threads, at most 1024 (64 in z) are allowed"
        ));
    }
    if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("a grid of {grid:?} is larger than 2147483647 x 65535 x 65535"));
    }
    check_cluster(&kernel.launch_bounds, grid, cluster)?;
    if let Some(required) = kernel.launch_bounds.required
        && required != block
    {
        return Err(format!("a block of {block:?}, the kernel requires {required:?}"));
    }
    if let Some(most) = kernel.launch_bounds.max_threads
        && threads > u64::from(most)
    {
        return Err(format!("a block of {threads} threads, the kernel allows at most {most}"));
    }
    Ok(())
}
