//! A launch of a kernel, and what cooperative ones need.

use std::sync::Arc;

use strata_gpu::device::Entry;
use strata_ptx::reference::MAX_CLUSTER;
use strata_workloads::Shape;

use crate::engine::Launched;
use crate::graph::parts::Launch;
use crate::objects::{Attributes, Event, Function};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Launch attributes that change the meaning of a launch.
pub mod attribute {
    /// None.
    pub const IGNORE: u32 = 0;
    /// All CTAs are resident together.
    pub const COOPERATIVE: u32 = 2;
    /// Events that the launch records, when its CTAs say so or have begun. It is complete then.
    pub const EVENTS: [u32; 2] = [7, 12];
    /// A graph's node that kernels may change.
    pub const DEVICE_UPDATABLE: u32 = 13;
    /// Sides of a cluster.
    pub const CLUSTER: u32 = 4;
    /// One more than the last number (13.5).
    pub const LAST: u32 = 19;
}

/// The event that an attribute names.
pub fn event(value: &[u8; 64]) -> Handle<Event> {
    Handle::from_bits(value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
}

/// Word `n` of an attribute's value.
pub fn word(value: &[u8; 64], n: usize) -> u32 {
    value[4 * n..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Runs a kernel to completion; returns what it printed.
pub fn run(state: &mut State, launch: &Launch) -> Answer<String> {
    let Launch { function, block, .. } = launch;
    let shape = &clustered(launch.shape, &launch.attributes);
    let events = attribute::EVENTS.into_iter().filter_map(|number| launch.attributes.get(&number)).map(event);
    let events: Vec<Handle<Event>> = events.collect();
    events.iter().try_for_each(|event| state.events.get(*event).map(|_| ()))?;
    let entry = &state.entry(*function)?;
    state.has_run(entry, *function)?;
    let threads = shape.block.iter().try_fold(1_u32, |all, side| all.checked_mul(*side));
    let shared = entry.kernel.shared_bytes.saturating_add(shape.dynamic_shared);
    let mut own = None;
    if let Some(threads @ 1..=1024) = threads {
        let resident = state.settings.machine.resident_ctas(&entry.kernel, threads, shared);
        let cluster = cluster_ctas(entry, *shape);
        if cluster > most_of_cluster(state, *function)? {
            return Err(Status::InvalidClusterSize);
        }
        if resident < cluster.max(1) {
            return Err(Status::LaunchOutOfResources);
        }
        if launch.attributes.get(&attribute::COOPERATIVE).is_some_and(|value| word(value, 0) != 0) {
            own = Some(cooperative(state, entry, *shape, resident)?);
        }
    }
    let entry = own.as_ref().unwrap_or(entry);
    state.mirror_to_device()?;
    let launched = state.execute(entry, *shape, block)?;
    state.mirror_to_host()?;
    for event in events {
        state.record(event)?;
    }
    Ok(match launched {
        Launched::Timed(result) => result.printed.concat(),
        Launched::Functional(summary) => summary.printed,
    })
}

/// Most CTAs of a cluster without the attribute that allows more (CUDA C++ Programming Guide, "Thread Block Clusters").
const PORTABLE_CLUSTER: u32 = 8;

/// The attribute of functions that allows larger clusters.
pub const NON_PORTABLE_CLUSTER: u32 = 14;

/// A shape with the clusters that attributes ask for.
pub fn clustered(shape: Shape, attributes: &Attributes) -> Shape {
    match attributes.get(&attribute::CLUSTER) {
        Some(value) => shape.with_cluster([0, 1, 2].map(|axis| word(value, axis))),
        None => shape,
    }
}

/// CTAs of a cluster of a launch: 1 without clusters, 0 of clusters that cannot be.
pub fn cluster_ctas(entry: &Entry, shape: Shape) -> u32 {
    let cluster = entry.kernel.launch_bounds.cluster.or(shape.cluster).unwrap_or([1; 3]);
    cluster.iter().fold(1_u32, |all, side| all.saturating_mul(*side))
}

/// Most CTAs that a cluster of this function may have.
pub fn most_of_cluster(state: &State, function: Handle<Function>) -> Answer<u32> {
    let attributes = &state.functions.get(function)?.attributes;
    let allows_more = attributes.get(&NON_PORTABLE_CLUSTER).is_some_and(|value| *value != 0);
    Ok(if allows_more { MAX_CLUSTER } else { PORTABLE_CLUSTER })
}

/// The kernel of a cooperative launch: all CTAs must fit on the device together, `resident` to an SM.
fn cooperative(state: &mut State, entry: &Entry, shape: Shape, resident: u32) -> Answer<Entry> {
    let sms = state.settings.machine.file().gpu.compute_sms().len() as u64;
    let ctas = shape.grid.iter().try_fold(1_u64, |all, side| all.checked_mul(u64::from(*side)));
    if ctas.is_none_or(|ctas| ctas > sms * u64::from(resident)) {
        return Err(Status::CooperativeLaunchTooLarge);
    }
    let workspace = state.grid_workspace()?;
    let kernel = entry.kernel.as_ref().clone().with_grid_workspace(workspace);
    Ok(Entry { kernel: Arc::new(kernel), ..entry.clone() })
}

impl State {
    /// Address of the workspace of grid barriers, which is made at the first cooperative launch and cleared before each.
    fn grid_workspace(&mut self) -> Answer<u64> {
        /// What cooperative groups keep there, with room to spare.
        const BYTES: usize = 256;
        let known = self.workspace;
        let card = self.card()?;
        let made = match known {
            Some(workspace) => workspace,
            None => card.alloc("grid workspace", BYTES as u64).map_err(|_| Status::OutOfMemory)?,
        };
        card.write(made, &[0; BYTES]).map_err(|_| Status::Unknown)?;
        self.workspace = Some(made);
        Ok(made.0)
    }
}
