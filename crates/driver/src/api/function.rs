//! Attributes of kernels, and how many of their CTAs fit on an SM.

use std::ffi::c_char;

use strata_fatbin::Target;
use strata_gpu::device::Entry;
use strata_workloads::Shape;

use crate::api::configuration::configured;
use crate::api::{api, library};
use crate::client::{BlockToShared, Bytes, Out};
use crate::objects::{Context, Function, Kernel, Module};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::{Handle, Object};
use crate::work::launch::{NON_PORTABLE_CLUSTER, cluster_ctas, clustered, most_of_cluster};

/// Resolves a handle that is a function, or a library's kernel passed as one, to its function in the context.
pub fn resolve(
    state: &mut State,
    context: Handle<Context>,
    function: Handle<Function>,
) -> Answer<Handle<Function>> {
    if state.functions.has(function) {
        return Ok(function);
    }
    let kernel = Handle::<Kernel>::from_bits(function.bits());
    if state.kernels.has(kernel) {
        return library::function(state, kernel, context);
    }
    Err(Function::MISSING)
}

/// Function attributes: values of `CUfunction_attribute`.
mod number {
    pub const MAX_DYNAMIC_SHARED: u32 = 8;
    pub const CARVE_OUT: u32 = 9;
    pub const CLUSTER_MUST_BE_SET: u32 = 10;
    pub const CLUSTER_WIDTH: u32 = 11;
    pub const CLUSTER_DEPTH: u32 = 13;
    pub const CLUSTER_POLICY: u32 = 15;
    pub const LAST: u32 = 17;
}

/// Maximum number of threads in a CTA that can be launched.
fn max_threads(state: &State, entry: &Entry) -> u32 {
    let kernel = &entry.kernel;
    let bound = kernel.launch_bounds.max_threads.unwrap_or(1024).min(1024);
    let bound = kernel.launch_bounds.required.map_or(bound, |block| block.iter().product::<u32>().min(bound));
    let fits = |threads: &u32| ctas(state, entry, *threads, 0) > 0;
    // Try whole warps, from the most downwards; the last warp may be partial.
    (1..=bound.div_ceil(32)).rev().map(|warps| (32 * warps).min(bound)).find(fits).unwrap_or(0)
}

/// Number of a kernel's CTAs that fit on an SM together.
fn ctas(state: &State, entry: &Entry, threads: u32, dynamic_shared: u64) -> u32 {
    let shared = u64::from(entry.kernel.shared_bytes) + dynamic_shared;
    let shared = u32::try_from(shared).unwrap_or(u32::MAX);
    state.settings.machine.resident_ctas(&entry.kernel, threads, shared)
}

fn attribute(state: &mut State, function: Handle<Function>, number: u32) -> Answer<i32> {
    let entry = &state.entry(function)?;
    let Function { attributes, .. } = state.functions.get(function)?;
    let kernel = &entry.kernel;
    let shared = *state.settings.machine.file().sm.shared_bytes;
    let set = |default: i32| attributes.get(&number).copied().unwrap_or(default);
    let capability = state.settings.capability.target() as i32;
    Ok(match number {
        0 => max_threads(state, entry) as i32,
        1 => kernel.shared_bytes as i32,
        2 => {
            let (entry, card) = (entry.clone(), state.card()?);
            let program = card.program(entry.module).ok_or(Status::InvalidHandle)?;
            let constants = program.variables().iter().filter(|variable| variable.constant);
            constants.map(|variable| variable.bytes).sum::<u64>() as i32
        }
        3 => kernel.local_bytes as i32,
        4 => kernel.registers as i32,
        // What the text was compiled for, by which a program chooses among versions of its own, and what it is
        // translated for.
        5 => {
            let (entry, card) = (entry.clone(), state.card()?);
            let program = card.program(entry.module).ok_or(Status::InvalidHandle)?;
            Target::parse(program.version_and_target().1).map_or(capability, |target| target.number as i32)
        }
        6 => capability,
        number::MAX_DYNAMIC_SHARED => set(shared.saturating_sub(kernel.shared_bytes) as i32),
        number::CARVE_OUT => set(-1),
        number::CLUSTER_MUST_BE_SET => i32::from(kernel.launch_bounds.explicit_cluster),
        number::CLUSTER_WIDTH..=number::CLUSTER_DEPTH => {
            let axis = (number - number::CLUSTER_WIDTH) as usize;
            kernel.launch_bounds.cluster.map_or(set(0), |cluster| cluster[axis] as i32)
        }
        7 | 10..=number::LAST => set(0),
        _ => return Err(Status::InvalidValue),
    })
}

fn set_attribute(state: &mut State, function: Handle<Function>, number: u32, value: i32) -> Answer {
    let shared = *state.settings.machine.file().sm.shared_bytes as i32;
    let function = state.functions.get_mut(function)?;
    let least = function.entry.kernel.shared_bytes as i32;
    match number {
        number::MAX_DYNAMIC_SHARED if (0..=shared.saturating_sub(least)).contains(&value) => {}
        number::CARVE_OUT if (-1..=100).contains(&value) => {}
        NON_PORTABLE_CLUSTER if (0..=1).contains(&value) => {}
        number::CLUSTER_POLICY if (0..=2).contains(&value) => {}
        _ => return Err(Status::InvalidValue),
    }
    function.attributes.insert(number, value);
    Ok(())
}

/// CTAs of a launch configuration that fit on an SM together, and those that it puts into a cluster.
fn of_cluster(state: &State, function: Handle<Function>, shape: Shape) -> Answer<(u32, u32)> {
    let entry = &state.functions.get(function)?.entry;
    let threads = shape.block.iter().try_fold(1_u32, |all, n| all.checked_mul(*n)).filter(|all| *all > 0);
    let threads = threads.ok_or(Status::InvalidValue)?;
    let fit = if threads > 1024 { 0 } else { ctas(state, entry, threads, shape.dynamic_shared.into()) };
    Ok((fit, cluster_ctas(entry, shape)))
}

fn occupancy(ctas_out: Out<i32>, function: Handle<Function>, threads: i32, dynamic_shared: usize) -> Answer {
    state::with_current(|state, context| {
        let place = ctas_out.place()?;
        let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0);
        let threads = threads.ok_or(Status::InvalidValue)?;
        let function = resolve(state, context, function)?;
        let entry = &state.functions.get(function)?.entry;
        let most = max_threads(state, entry);
        let fit = if threads > most { 0 } else { ctas(state, entry, threads, dynamic_shared as u64) };
        place.put(fit as i32);
        Ok(())
    })
}

/// The most dynamic shared memory with which `count` of a kernel's CTAs fit on an SM together.
fn available_shared(state: &State, entry: &Entry, count: u32, threads: u32) -> Answer<u64> {
    let fits = |dynamic| ctas(state, entry, threads, dynamic) >= count;
    if threads > max_threads(state, entry) || !fits(0) {
        return Err(Status::InvalidValue);
    }
    // `least` fits, and what lies above `most` does not: it is more than an SM has.
    let (mut least, mut most) = (0, u64::from(*state.settings.machine.file().sm.shared_bytes));
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if fits(middle) { least = middle } else { most = middle - 1 }
    }
    Ok(least)
}

/// The smallest grid that fills the device, and the block size that makes most threads resident; of equal
/// ones, the largest.
fn best_block(
    (grid, block): (Out<i32>, Out<i32>),
    function: Handle<Function>,
    shared_of: BlockToShared,
    dynamic_shared: usize,
    limit: i32,
) -> Answer {
    let (grid, block) = (grid.place()?, block.place()?);
    let (entry, most) = state::with_current(|state, context| {
        let function = resolve(state, context, function)?;
        let entry = state.functions.get(function)?.entry.clone();
        let most = max_threads(state, &entry);
        Ok((entry, most))
    })?;
    let most = match u32::try_from(limit) {
        Ok(0) | Err(_) => most,
        Ok(limit) => most.min(limit),
    };
    let mut best = (0, 0, 0);
    for warps in 1..=most.div_ceil(32) {
        let threads = (32 * warps).min(most);
        // Call the client's function without holding the lock.
        let shared = shared_of.of(threads).unwrap_or(dynamic_shared);
        let fit = state::with(|state| Ok(ctas(state, &entry, threads, shared as u64)))?;
        best = best.max((fit * threads, threads, fit));
    }
    let (_, threads, fit) = best;
    let sms = state::with(|state| Ok(u32::from(*state.settings.machine.file().gpu.sms)))?;
    block.put(threads as i32);
    grid.put((fit * sms) as i32);
    Ok(())
}

api! {
    /// Writes an attribute of a function.
    cuFuncGetAttribute = "cuFuncGetAttribute" 2020 (value: Out<i32>, number: u32, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = value.place()?;
            let function = resolve(state, context, function)?;
            place.put(attribute(state, function, number)?);
            Ok(())
        })
    }

    /// Sets an attribute of a function: the maximum dynamic shared memory or the carve-out.
    cuFuncSetAttribute = "cuFuncSetAttribute" 9000 (function: Handle<Function>, number: u32, value: i32) {
        state::with_current(|state, context| {
            let function = resolve(state, context, function)?;
            set_attribute(state, function, number, value)
        })
    }

    /// Writes an attribute of a library's kernel.
    cuKernelGetAttribute = "cuKernelGetAttribute" 12000 (
        value: Out<i32>, number: u32, kernel: Handle<Kernel>, _device: i32,
    ) {
        state::with_current(|state, context| {
            let place = value.place()?;
            let function = library::function(state, kernel, context)?;
            place.put(attribute(state, function, number)?);
            Ok(())
        })
    }

    /// Sets an attribute of a library's kernel in the current context.
    cuKernelSetAttribute = "cuKernelSetAttribute" 12000 (
        number: u32, value: i32, kernel: Handle<Kernel>, _device: i32,
    ) {
        state::with_current(|state, context| {
            let function = library::function(state, kernel, context)?;
            set_attribute(state, function, number, value)
        })
    }

    /// Accepted without effect: the machine file fixes the sizes of L1D and shared memory.
    cuFuncSetCacheConfig = "cuFuncSetCacheConfig" 3000 (function: Handle<Function>, config: u32) {
        state::with_current(|state, context| {
            resolve(state, context, function)?;
            if config > 3 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Accepted without effect: the machine file fixes the sizes of L1D and shared memory.
    cuKernelSetCacheConfig = "cuKernelSetCacheConfig" 12000 (
        kernel: Handle<Kernel>, config: u32, _device: i32,
    ) {
        state::with(|state| {
            state.kernels.get(kernel)?;
            if config > 3 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Accepted without effect: the machine file fixes the banks.
    cuFuncSetSharedMemConfig = "cuFuncSetSharedMemConfig" 4020 (function: Handle<Function>, config: u32) {
        state::with_current(|state, context| {
            resolve(state, context, function)?;
            if config > 2 { Err(Status::InvalidValue) } else { Ok(()) }
        })
    }

    /// Writes the module of a function.
    cuFuncGetModule = "cuFuncGetModule" 11000 (to: Out<Handle<Module>>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let function = resolve(state, context, function)?;
            place.put(state.functions.get(function)?.module);
            Ok(())
        })
    }

    /// Writes the name of a function.
    cuFuncGetName = "cuFuncGetName" 12030 (to: Out<*const c_char>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let function = resolve(state, context, function)?;
            place.put(library::kept_name(&state.functions.get(function)?.entry.kernel.name)?);
            Ok(())
        })
    }

    /// Writes a function's number of parameters.
    cuFuncGetParamCount = "cuFuncGetParamCount" 13020 (function: Handle<Function>, count: Out<usize>) {
        state::with_current(|state, context| {
            let place = count.place()?;
            let function = resolve(state, context, function)?;
            place.put(state.functions.get(function)?.entry.kernel.params.len());
            Ok(())
        })
    }

    /// Writes a kernel's number of parameters.
    cuKernelGetParamCount = "cuKernelGetParamCount" 13020 (kernel: Handle<Kernel>, count: Out<usize>) {
        state::with_current(|state, context| {
            let place = count.place()?;
            let function = library::function(state, kernel, context)?;
            place.put(state.functions.get(function)?.entry.kernel.params.len());
            Ok(())
        })
    }

    /// Writes 1: every function is loaded.
    cuFuncIsLoaded = "cuFuncIsLoaded" 12040 (loaded: Out<u32>, function: Handle<Function>) {
        state::with_current(|state, context| {
            let place = loaded.place()?;
            resolve(state, context, function)?;
            place.put(1);
            Ok(())
        })
    }

    /// Succeeds: every function is loaded.
    cuFuncLoad = "cuFuncLoad" 12040 (function: Handle<Function>) {
        state::with_current(|state, context| resolve(state, context, function).map(|_| ()))
    }

    /// Writes the offset and size of a function's parameter.
    cuFuncGetParamInfo = "cuFuncGetParamInfo" 12040 (
        function: Handle<Function>, index: usize, offset: Out<usize>, bytes: Out<usize>,
    ) {
        state::with_current(|state, context| {
            let function = resolve(state, context, function)?;
            let entry = &state.functions.get(function)?.entry;
            let param = entry.kernel.params.get(index).ok_or(Status::InvalidValue)?;
            offset.put(param.offset as usize)?;
            bytes.put_if_wanted(param.bytes as usize);
            Ok(())
        })
    }

    /// Writes the offset and size of a kernel's parameter.
    cuKernelGetParamInfo = "cuKernelGetParamInfo" 12040 (
        kernel: Handle<Kernel>, index: usize, offset: Out<usize>, bytes: Out<usize>,
    ) {
        state::with_current(|state, context| {
            let function = library::function(state, kernel, context)?;
            let entry = &state.functions.get(function)?.entry;
            let param = entry.kernel.params.get(index).ok_or(Status::InvalidValue)?;
            offset.put(param.offset as usize)?;
            bytes.put_if_wanted(param.bytes as usize);
            Ok(())
        })
    }

    /// Writes the number of CTAs that fit on an SM, as the machine computes occupancy.
    cuOccupancyMaxActiveBlocksPerMultiprocessor = "cuOccupancyMaxActiveBlocksPerMultiprocessor" 6050 (
        ctas: Out<i32>, function: Handle<Function>, threads: i32, dynamic_shared: usize,
    ) {
        occupancy(ctas, function, threads, dynamic_shared)
    }

    /// Writes the number of CTAs that fit on an SM. The flag concerns caches that depend on occupancy, which
    /// no machine has.
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags =
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" 7000 (
        ctas: Out<i32>, function: Handle<Function>, threads: i32, dynamic_shared: usize, flags: u32,
    ) {
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        occupancy(ctas, function, threads, dynamic_shared)
    }

    /// Writes the most dynamic shared memory with which so many CTAs fit on an SM.
    cuOccupancyAvailableDynamicSMemPerBlock = "cuOccupancyAvailableDynamicSMemPerBlock" 10020 (
        bytes: Out<usize>, function: Handle<Function>, ctas: i32, threads: i32,
    ) {
        state::with_current(|state, context| {
            let place = bytes.place()?;
            let positive = |value: i32| u32::try_from(value).ok().filter(|value| *value > 0);
            let (ctas, threads) = positive(ctas).zip(positive(threads)).ok_or(Status::InvalidValue)?;
            let function = resolve(state, context, function)?;
            let entry = &state.functions.get(function)?.entry;
            place.put(available_shared(state, entry, ctas, threads)? as usize);
            Ok(())
        })
    }

    /// Writes the best grid and block size; see `best_block`.
    cuOccupancyMaxPotentialBlockSize = "cuOccupancyMaxPotentialBlockSize" 6050 (
        grid: Out<i32>, block: Out<i32>, function: Handle<Function>, shared_of: BlockToShared,
        dynamic_shared: usize, limit: i32,
    ) {
        best_block((grid, block), function, shared_of, dynamic_shared, limit)
    }

    /// Writes the best grid and block size; see `best_block`.
    cuOccupancyMaxPotentialBlockSizeWithFlags = "cuOccupancyMaxPotentialBlockSizeWithFlags" 7000 (
        grid: Out<i32>, block: Out<i32>, function: Handle<Function>, shared_of: BlockToShared,
        dynamic_shared: usize, limit: i32, flags: u32,
    ) {
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        best_block((grid, block), function, shared_of, dynamic_shared, limit)
    }

    /// Writes how many clusters of a launch configuration are resident on the device together.
    cuOccupancyMaxActiveClusters = "cuOccupancyMaxActiveClusters" 11070 (
        clusters: Out<i32>, function: Handle<Function>, config: Bytes,
    ) {
        state::with_current(|state, context| {
            let place = clusters.place()?;
            let (shape, _, attributes) = configured(config)?;
            let shape = clustered(shape, &attributes);
            let function = resolve(state, context, function)?;
            let (fit, size) = of_cluster(state, function, shape)?;
            if size == 0 || size > most_of_cluster(state, function)? {
                return Err(Status::InvalidClusterSize);
            }
            let sms = u32::from(*state.settings.machine.file().gpu.sms);
            place.put((fit / size * sms) as i32);
            Ok(())
        })
    }

    /// Writes the largest size of a cluster with which a launch configuration can run.
    cuOccupancyMaxPotentialClusterSize = "cuOccupancyMaxPotentialClusterSize" 11070 (
        size: Out<i32>, function: Handle<Function>, config: Bytes,
    ) {
        state::with_current(|state, context| {
            let place = size.place()?;
            let (shape, _, attributes) = configured(config)?;
            let shape = clustered(shape, &attributes);
            let function = resolve(state, context, function)?;
            let (fit, _) = of_cluster(state, function, shape)?;
            place.put(fit.min(most_of_cluster(state, function)?) as i32);
            Ok(())
        })
    }

}
