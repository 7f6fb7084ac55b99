//! CTAs of a cluster: they run in turn, reach one another's shared memory, and meet at the cluster's barrier.

use super::cta::Cta;
use super::fault::FaultKind;
use super::launch::Launch;
use super::warp::AtCluster;
use super::world::{Stop, World};
use crate::isa::Op;

/// Runs every ready warp of the cluster's CTAs for up to `quantum` instructions.
///
/// # Errors
/// What stops the kernel; a deadlock when no warp is ready.
pub(super) fn run(
    ctas: &mut [Cta],
    launch: &Launch<'_>,
    world: &mut World<'_>,
    quantum: u32,
) -> Result<(), Stop> {
    let mut progress = false;
    for number in 0..ctas.len() {
        progress |= run_one(ctas, number, launch, world, quantum)?;
    }
    if progress {
        return Ok(());
    }
    Err((FaultKind::Deadlock { warps: ctas.iter().flat_map(|cta| cta.places(launch)).collect() }, None))
}

/// Runs one CTA of the cluster, if it has not ended. Returns whether a warp of it was ready.
///
/// # Errors
/// What stops the kernel.
pub(super) fn run_one(
    ctas: &mut [Cta],
    number: usize,
    launch: &Launch<'_>,
    world: &mut World<'_>,
    quantum: u32,
) -> Result<bool, Stop> {
    if ctas[number].is_done() {
        return Ok(false);
    }
    if ctas.len() == 1 {
        let progress = ctas[0].run(launch, world, quantum)?;
        settle(ctas, launch, world);
        return Ok(progress);
    }
    let mut peers: Vec<Vec<u8>> = std::mem::take(&mut world.peers);
    peers.resize_with(ctas.len(), Vec::new);
    for (peer, cta) in peers.iter_mut().zip(ctas.iter_mut()) {
        if cta.rank != number {
            std::mem::swap(peer, &mut cta.shared);
        }
    }
    world.peers = peers;
    let progress = ctas[number].run(launch, world, quantum);
    for (peer, cta) in world.peers.iter_mut().zip(ctas.iter_mut()) {
        if cta.rank != number {
            std::mem::swap(peer, &mut cta.shared);
        }
    }
    settle(ctas, launch, world);
    progress
}

/// Opens the cluster's barrier when every warp that has not ended has arrived.
fn settle(ctas: &mut [Cta], launch: &Launch<'_>, world: &mut World<'_>) {
    let mut any = false;
    for warp in ctas.iter().flat_map(|cta| &cta.warps).filter(|warp| !warp.stack.is_done()) {
        match warp.at_cluster {
            AtCluster::Away | AtCluster::Passed => return,
            AtCluster::Arrived | AtCluster::Waits => any = true,
        }
    }
    if !any {
        return;
    }
    world.changes += 1;
    for warp in ctas.iter_mut().flat_map(|cta| &mut cta.warps).filter(|warp| !warp.stack.is_done()) {
        if warp.at_cluster == AtCluster::Waits {
            debug_assert!(matches!(launch.kernel.code[warp.stack.pc() as usize].op, Op::ClusterWait));
            warp.at_cluster = AtCluster::Away;
            warp.waiting = false;
            warp.stack.advance();
        } else {
            warp.at_cluster = AtCluster::Passed;
        }
    }
}
