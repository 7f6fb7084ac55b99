//! The load/store unit: from a warp's addresses to coalesced accesses and back to registers.
//!
//! ```text
//!             address_latency                             latency of the path           writeback_latency
//!   issue ----------------------> first access offered ------------------------> last one ----------------> write-back
//!   cycle t                       t + a, then the next ones                      complete at c              c + w
//! ```
//!
//! A coalesced load that hits is written back at `t + a + h + w`, where `h` is the L1D's hit latency, counted from
//! the cycle in which the L1D accepts an access to the cycle in which it returns it. An L1D takes one access a cycle, or as many
//! as it has banks until one of them is busy, in order. With an idle L1D of one and only hits, an instruction of n accesses takes
//! `n - 1` more cycles. A shared memory instruction of p passes begins at `t + a`,
//! or once the previous instruction's passes are done, and completes at `begin + p - 1 + latency`.
//!
//! The unit is fully pipelined: it accepts one instruction per cycle regardless of the hit latency. An instruction
//! occupies one of the `queue` entries of the front until its last access is accepted. After that it is limited only
//! by the number of accesses in flight (`accesses`) and by the L1D's own resources (MSHRs, merges, write buffer).
//!
//! There are four paths: global and local accesses, shared memory, the constant cache and the texture unit. Each path
//! is in order and independent of the others, except that global, local and texture accesses share the L1D's port.
//!
//! Each cycle, the SM calls [`Lsu::complete`] after ticking the L1D, unless the L1D has nothing due; [`Lsu::tick`]; then
//! [`Lsu::finished`] until it returns `None` or the write ports run out; then [`Lsu::issue`] if [`Lsu::can_accept`] is
//! true. A warp in [`Lsu::waiting_fence`] must not issue memory instructions, fences, barriers or its exit.
//!
//! The unit models neither address translation nor replays through the issue stage: an instruction is issued once and
//! stays here until it finishes.

mod address;
mod atomics;
mod banks;
mod behind;
mod bulk;
mod charge;
mod coalesce;
mod collective;
mod config;
mod constants;
mod copies;
mod device;
mod ending;
mod entry;
mod fence;
mod instruction;
mod issue;
mod lanes;
pub(crate) mod moved;
mod pending;
mod prefetch;
mod report;
mod scratchpad;
mod statistics;
mod texels;
mod texture;
mod tick;
mod words;

#[cfg(test)]
mod tests;

use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::L1d;
use strata_ptx::isa::Scope;

use crate::launch::Launch;
use crate::ledger::Ledger;

pub use behind::WrongAccess;
pub use config::{LsuConfig, ReadOnlyWay, ScratchpadConfig, Surroundings, TextureConfig};
pub use fence::FenceState;
pub use instruction::{Finished, MemoryInstruction};
pub(crate) use moved::Moved;
pub use statistics::LsuStatistics;
pub use tick::Asked;

use address::Resolver;
use behind::Behind;
use bulk::Bulk;
use constants::{ConstantPath, Destination};
use copies::Copies;
use device::DevicePath;
use entry::{Place, Table};
use fence::Fences;
use lanes::Lanes;
use scratchpad::Scratchpad;
use texture::TextureUnit;

/// The load/store unit of an SM, including its shared memory.
pub struct Lsu {
    table: Table,
    /// Occupied and total entries of the front. An instruction takes one entry per path on which it still has
    /// accesses to be accepted. There are none while a transfer of a tile blocks memory instructions.
    front: u32,
    queue: u32,
    /// What lanes pass before the other paths, in machines that have it.
    lanes: Option<Box<Lanes>>,
    /// What stands behind the banks of shared memory, in machines that have it.
    behind: Option<Box<Behind>>,
    device: DevicePath,
    scratchpad: Scratchpad,
    constants: ConstantPath,
    read_only: Destination,
    textures: TextureUnit,
    fences: Fences,
    copies: Copies,
    bulk: Bulk,
    resolver: Resolver,
    /// When shared memory, the requests for constants or the results of fetches have something to do next.
    due: Cycle,
    /// Completed instructions, ordered by the cycle of their write-back.
    done: DelayLine<Place>,
    address_latency: u64,
    writeback_latency: u64,
    /// Accesses that the L1D may take in a cycle.
    accesses_per_cycle: u32,
    statistics: LsuStatistics,
    /// What the SM counts by instruction, CTA or buffer, where that is asked for.
    ledger: Option<Box<Ledger>>,
    /// The same, while nothing of the launch concerns it any more.
    resting: Option<Box<Ledger>>,
}

impl Lsu {
    /// Builds an idle unit for an SM.
    ///
    /// # Errors
    /// Returns a sentence that names the first parameter out of range ([`LsuConfig::check`]), or `warp_slots` when it
    /// exceeds 64.
    pub fn new(config: &LsuConfig, sm: Surroundings) -> Result<Lsu, String> {
        config.check()?;
        if sm.warp_slots > 64 {
            return Err(format!("warp_slots is {}, expected at most 64", sm.warp_slots));
        }
        let (queue, accesses) = (*config.queue, *config.accesses as usize);
        let instructions = config.most_instructions();
        Ok(Lsu {
            table: Table::new(instructions),
            front: 0,
            queue,
            lanes: None,
            behind: None,
            device: DevicePath::new(
                instructions,
                accesses,
                *config.segment_bytes as usize,
                config.combining_lanes(),
                config.global_banks(),
            ),
            scratchpad: Scratchpad::new(&config.shared, sm.shared_bytes, instructions),
            constants: ConstantPath::new(instructions),
            read_only: if config.loads_read_only_as_global() {
                Destination::Global
            } else {
                Destination::ConstantCache
            },
            textures: TextureUnit::new(&config.texture, instructions),
            fences: Fences::new(sm.warp_slots),
            copies: Copies::new(sm.warp_slots),
            bulk: Bulk::new(sm.warp_slots),
            resolver: Resolver::new(sm.first_warp),
            due: Cycle::NEVER,
            done: DelayLine::growing(instructions),
            address_latency: u64::from(*config.address_latency_cycles),
            writeback_latency: u64::from(*config.writeback_latency_cycles),
            accesses_per_cycle: 1,
            statistics: LsuStatistics::default(),
            ledger: None,
            resting: None,
        })
    }

    /// The unit in front of an L1D that may take `accesses` accesses a cycle ([`L1d::accesses_per_cycle`]).
    #[must_use]
    pub fn with_accesses_per_cycle(self, accesses: u32) -> Lsu {
        Lsu { accesses_per_cycle: accesses, ..self }
    }

    /// The unit of a processor without a constant cache, whose instructions have one lane: constants and parameters are
    /// loaded through the L1D.
    #[must_use]
    pub fn without_constant_cache(self) -> Lsu {
        Lsu { read_only: Destination::L1d, ..self }
    }

    /// Loads the launch's texture and surface headers; call before the launch's first instruction.
    pub fn prepare(&mut self, launch: &Launch) {
        self.textures.prepare(launch);
        self.begin_accounts(launch);
    }

    /// Whether the front and the instruction table have room, so that [`Lsu::issue`] may be called.
    #[inline]
    pub fn can_accept(&self) -> bool {
        self.front < self.queue && self.table.has_room()
    }

    /// Occupied entries of the front.
    pub(crate) fn queued(&self) -> u32 {
        self.front
    }

    /// Counts the instructions in the front from a cycle on, where that is asked for.
    #[inline]
    pub(crate) fn gauge_front(&self, now: Cycle) {
        if let Some(ledger) = &self.ledger {
            ledger.queued(self.front, now);
        }
    }

    /// Starts a fence. The warp stays in [`Lsu::waiting_fence`] until the fence completes.
    ///
    /// # Panics
    /// When the warp already waits for a fence.
    pub fn fence(&mut self, warp: u8, scope: Scope, now: Cycle) {
        self.fences.begin(warp, scope, None, now);
    }

    /// Mask of warps that wait for an explicit fence or for one implied by an acquire or release operation.
    #[inline]
    pub fn waiting_fence(&self) -> u64 {
        self.fences.waiting()
    }

    /// The state of a warp's fence, for the deadlock report.
    pub fn fence_state(&self, warp: u8) -> FenceState {
        self.fences.state(warp)
    }

    /// Requests an L1D flush (write back and invalidate) once every access has been performed. Call at the end of a
    /// kernel, when no warp is resident.
    pub fn flush_for_kernel_end(&mut self) {
        self.fences.end_kernel();
    }

    /// Whether the flush requested by [`Lsu::flush_for_kernel_end`] is done; returns true once per request.
    pub fn kernel_end_flushed(&mut self, now: Cycle) -> bool {
        self.fences.has_ended_kernel() && self.has_ended_behind(now) && self.fences.kernel_ended()
    }

    /// A warp's unfinished instructions plus its unanswered reductions.
    pub fn pending(&self, warp: u8) -> u32 {
        self.fences.unperformed(warp)
    }

    /// Whether no instruction, access or fence is in flight.
    pub fn is_idle(&self) -> bool {
        let lanes = self.lanes.as_ref().is_none_or(|lanes| lanes.is_idle());
        let behind = self.behind.as_ref().is_none_or(|behind| behind.part.is_idle());
        self.table.len() == 0
            && self.device.outstanding() == 0
            && self.fences.waiting() == 0
            && lanes
            && behind
    }

    /// A CTA starts in a slot: its cluster, its number in it, and where its shared memory begins.
    pub fn start_cta(&mut self, slot: u8, of: (u64, u32), base: u32) {
        self.resolver.start_cta(slot, of, base);
    }

    /// Zeroes `bytes` bytes of shared memory from `base` on, before a CTA starts.
    ///
    /// # Panics
    /// When the range lies outside the SM's shared memory.
    pub fn clear_shared(&mut self, base: u32, bytes: u32) {
        self.scratchpad.clear(base, bytes);
    }

    /// Completes its and the L1D's counters of refusals for all cycles before `end`, where the L1D counts refusals by the cycle.
    pub fn settle(&mut self, l1d: &mut (impl L1d + ?Sized), end: Cycle) {
        self.device.settle(l1d, end, &mut self.statistics);
    }

    /// Atomics that have changed memory and returned what was there, per access or lane: more come of more changes.
    pub fn changed_atomics(&self) -> u64 {
        self.device.changed() + self.scratchpad.changed()
    }

    /// The counters since construction.
    pub fn statistics(&self) -> &LsuStatistics {
        &self.statistics
    }
}
