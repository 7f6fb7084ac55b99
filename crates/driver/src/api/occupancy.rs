//! How many CTAs and clusters of a kernel are resident together, and what that leaves.

use strata_gpu::device::Entry;
use strata_workloads::Shape;

use crate::api::api;
use crate::api::configuration::configured;
use crate::api::function::resolve;
use crate::client::{BlockToShared, Bytes, Out};
use crate::objects::Function;
use crate::resident::{ctas, max_threads};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work::launch::{cluster_ctas, clustered, most_of_cluster};

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
