//! Prefetches in bulk (`cp.async.bulk.prefetch`): blocks and boxes of global memory that a program wishes for in the last-level cache.
//!
//! The engine takes them at the pace of a copy, up to 32 pieces of 16 bytes a cycle, and they end when the last line has been
//! offered to the L1D's door. What lies beyond every allocation is passed over, as what no map describes is: a hint does not fault.

use strata_engine::Cycle;
use strata_memory::doors::{HintLevel, LaneAction, Policy};
use strata_ptx::exec::Operands;
use strata_ptx::isa::{BulkPrefetch, BulkWay, Ty};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};
use strata_ptx::tensor::tile;

use super::block::map_at;
use super::{Job, Stage};
use crate::launch::Launch;
use crate::lsu::Lsu;
use crate::lsu::coalesce::Shape;
use crate::lsu::entry::Operation;
use crate::lsu::instruction::MemoryInstruction;

/// Bytes of a piece.
const UNIT: u64 = 16;

impl Lsu {
    /// Accepts a prefetch in bulk.
    #[inline(never)]
    pub(in crate::lsu) fn issue_bulk_prefetch<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        prefetch: BulkPrefetch,
        now: Cycle,
    ) {
        self.statistics.instructions += 1;
        self.statistics.prefetches += 1;
        let mut job = self.bulk.spare.pop().unwrap_or(Job::EMPTY);
        for lane in lanes_of(memory.lanes) {
            let before = job.wishes.len();
            let row = |slot: usize, half: usize| operands.source(slot, half).0[lane];
            let base = u64::from(row(0, 1)) << 32 | u64::from(row(0, 0));
            let base = base.wrapping_add_signed(memory.instruction.offset);
            if prefetch.dimensions == 0 {
                add_allocated(launch, base, u64::from(row(1, 0)), &mut job.wishes);
            } else {
                let coordinates = std::array::from_fn(|n| {
                    if n < usize::from(prefetch.dimensions) { row(1 + n, 0).cast_signed() } else { 0 }
                });
                self.add_box(launch, (base, prefetch.dimensions), coordinates, &mut job.wishes);
            }
            self.statistics.hints_nowhere += u64::from(job.wishes.len() == before);
        }
        if job.wishes.is_empty() {
            self.bulk.spare.push(job.emptied());
            return self.pass_through(memory, now);
        }
        let entry = self.table.vacant();
        entry.operation = Operation::Bulk;
        (entry.ty, entry.vector, entry.width) = (Ty::U32, 0, 0);
        entry.begin(memory);
        (entry.lanes, entry.issued, entry.open) = (memory.lanes, now, 0);
        (entry.global, entry.local, entry.local_left, entry.shared, entry.constant) = (0, 0, 0, 0, 0);
        (job.place, job.warp, job.way) = (self.table.claim(), memory.warp, BulkWay::Load);
        self.bulk.jobs.push(job);
    }

    /// Adds what is allocated of the box at some coordinates of the tensor whose map is at an address.
    fn add_box(
        &mut self,
        launch: &Launch,
        (map, dimensions): (u64, u8),
        coordinates: [i32; 5],
        wishes: &mut Vec<(u64, u64)>,
    ) {
        let Ok(map) = map_at(map, launch) else { return };
        if map.rank != u32::from(dimensions) || map.check_start(coordinates, false).is_err() {
            return;
        }
        let mut pieces = std::mem::take(&mut self.bulk.pieces);
        tile(&map, coordinates, 0, &mut pieces);
        for piece in pieces.drain(..) {
            if let Some(address) = piece.global {
                add_allocated(launch, address, piece.bytes.into(), wishes);
            }
        }
        self.bulk.pieces = pieces;
    }

    /// Sends the next pieces of a prefetch to the L1D's door. There must be room for an instruction.
    pub(super) fn send_wishes(&mut self, job: &mut Job, now: Cycle) {
        let parent = self.table.get(job.place);
        let (pc, line, cta) = (parent.pc, parent.line, parent.cta);
        let entry = self.table.vacant();
        (entry.pc, entry.line, entry.cta, entry.warp) = (pc, line, cta, job.warp);
        (entry.parent, entry.result_rows, entry.issued) = (job.place, 0, now);
        entry.operation = Operation::Prefetch(HintLevel::Llc);
        (entry.ty, entry.vector, entry.width, entry.shape) = (Ty::U8, 0, UNIT as u8, Shape::Any);
        (entry.policy, entry.lane_action) = (Policy::Cached, LaneAction::Pass);
        (entry.open, entry.stage) = (1, Stage::Last);
        let mut pieces = 0;
        while pieces < WARP_LANES
            && let Some((at, end)) = job.wishes.get_mut(job.sent)
        {
            entry.addresses[pieces] = *at;
            pieces += 1;
            *at += UNIT;
            job.sent += usize::from(*at >= *end);
        }
        entry.lanes = LaneMask::MAX >> (WARP_LANES - pieces);
        (entry.local_left, entry.local_word) = (entry.lanes, 0);
        (entry.global, entry.local, entry.shared, entry.constant) = (0, 0, 0, 0);
        job.open += 1;
        let place = self.table.claim();
        self.front += 1;
        self.enter_device(place, now + self.address_latency);
    }
}

/// Adds what is allocated of some bytes, by whole pieces; what follows the last one makes one with it.
fn add_allocated(launch: &Launch, start: u64, bytes: u64, wishes: &mut Vec<(u64, u64)>) {
    let end = start.saturating_add(bytes);
    if bytes == 0 {
        return;
    }
    let first = launch.allocations.partition_point(|(_, stop)| *stop <= start);
    for (low, high) in launch.allocations[first..].iter().take_while(|(low, _)| *low < end) {
        let (from, to) = (start.max(*low) / UNIT * UNIT, end.min(*high));
        match wishes.last_mut() {
            Some((_, last)) if *last == from => *last = to,
            _ => wishes.push((from, to)),
        }
    }
}
