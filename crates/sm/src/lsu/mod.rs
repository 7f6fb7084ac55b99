//! The load/store unit: from a warp's addresses to coalesced accesses and back to registers.
//!
//! ```text
//!             address_latency                             latency of the path           writeback_latency
//!   issue ----------------------> first access offered ------------------------> last one ----------------> write-back
//!   cycle t                       t + a, then one a cycle                        complete at c              c + w
//! ```
//!
//! A coalesced load that hits is written back at `t + a + h + w`, where `h` is the L1D's hit latency: from
//! the cycle in which it takes an access to the cycle in which it hands it back. An instruction of n
//! accesses, the L1D idle and every access a hit, takes `n - 1` cycles more. A shared memory instruction of p
//! passes begins at `t + a` (or when the one before has passed) and is complete at `begin + p - 1 + latency`.
//!
//! The unit is a pipeline: it takes an instruction a cycle however long a hit lasts. An instruction stands in its front,
//! which has room for `queue` of them, until every access of it is taken; from then on only its accesses count, `accesses`
//! of them, and what the L1D refuses (MSHRs, merges, write buffer).
//!
//! Global and local accesses, shared memory, the constant cache and the texture unit are four paths: instructions keep
//! their order within each, and none waits for another, but for the L1D's port, which the first and the last share.
//!
//! In a cycle the SM calls, in this order: [`Lsu::tick`], after the L1D and the constant cache have had
//! theirs; [`Lsu::finished`] until there is none or no write port is left; then [`Lsu::issue`] if
//! [`Lsu::can_accept`]. A warp in [`Lsu::waiting_fence`] must not issue memory instructions, fences, barriers
//! or its exit.
//!
//! What this unit does not model: address translation, and replays through the issue stage (an instruction
//! is issued once and stays here until it has finished).

mod address;
mod atomics;
mod coalesce;
mod collective;
mod config;
mod constants;
mod copies;
mod device;
mod entry;
mod fence;
mod instruction;
mod issue;
mod scratchpad;
mod statistics;
mod texels;
mod texture;
mod words;

#[cfg(test)]
mod tests;

use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::L1d;
use strata_memory::read_only::ReadOnly;
use strata_ptx::isa::Scope;

use crate::launch::Launch;

pub use config::{LsuConfig, ScratchpadConfig, Surroundings, TextureConfig};
pub use fence::FenceState;
pub use instruction::{Finished, MemoryInstruction};
pub use statistics::LsuStatistics;

use address::Resolver;
use collective::Ending;
use constants::ConstantPath;
use copies::Copies;
use device::{Accepted, Completed, DevicePath};
use entry::{Entry, Operation, Place, Table};
use fence::Fences;
use scratchpad::Scratchpad;
use texture::TextureUnit;

/// The load/store unit of an SM, its shared memory included.
#[derive(Clone, Debug)]
pub struct Lsu {
    table: Table,
    /// Ways of instructions on which accesses are still to be taken, and the most there may be for another to come.
    front: u32,
    queue: u32,
    device: DevicePath,
    scratchpad: Scratchpad,
    constants: ConstantPath,
    textures: TextureUnit,
    fences: Fences,
    copies: Copies,
    resolver: Resolver,
    /// Instructions that are complete, by the cycle of their write-back.
    done: DelayLine<Place>,
    address_latency: u64,
    writeback_latency: u64,
    statistics: LsuStatistics,
}

impl Lsu {
    /// For an SM; an error names the parameter that is wrong.
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
            device: DevicePath::new(instructions, accesses, *config.segment_bytes as usize),
            scratchpad: Scratchpad::new(&config.shared, sm.shared_bytes, instructions),
            constants: ConstantPath::new(instructions),
            textures: TextureUnit::new(&config.texture, instructions),
            fences: Fences::new(sm.warp_slots),
            copies: Copies::new(sm.warp_slots),
            resolver: Resolver::new(sm.first_warp),
            done: DelayLine::growing(instructions),
            address_latency: u64::from(*config.address_latency_cycles),
            writeback_latency: u64::from(*config.writeback_latency_cycles),
            statistics: LsuStatistics::default(),
        })
    }

    /// Makes ready for a launch.
    pub fn prepare(&mut self, launch: &Launch) {
        self.textures.prepare(launch);
    }

    /// Whether [`Lsu::issue`] may be called.
    #[inline]
    pub fn can_accept(&self) -> bool {
        self.front < self.queue && self.table.has_room()
    }

    /// One cycle of all paths: takes what is complete, moves fences on, offers the next accesses.
    pub fn tick(&mut self, l1d: &mut dyn L1d, constants: &mut dyn ReadOnly, now: Cycle) {
        self.complete(l1d, constants, now);
        if self.fences.is_active() {
            self.step_fences(l1d, now);
        }
        self.offer(l1d, constants, now);
    }

    fn complete(&mut self, l1d: &mut dyn L1d, constants: &mut dyn ReadOnly, now: Cycle) {
        while let Some(completed) = self.device.complete(&mut self.table, &mut self.textures, l1d, now) {
            self.statistics.completions += 1;
            match completed {
                Completed::Of(place) => self.close(place, now),
                Completed::Detached(warp) => self.fences.close(warp),
            }
        }
        while let Some(place) = self.constants.complete(&mut self.table, constants, now) {
            self.close(place, now);
        }
        while let Some(place) = self.scratchpad.complete(now) {
            self.close(place, now);
        }
        while let Some(place) = self.textures.filtering.pop(now) {
            let entry = self.table.get_mut(place);
            self.textures.results(place, entry.lanes, &mut entry.image.words);
            self.end(place, now);
        }
    }

    fn step_fences(&mut self, l1d: &mut dyn L1d, now: Cycle) {
        let mut done = self.fences.step(l1d, now, &mut self.statistics);
        while done != 0 {
            let warp = done.trailing_zeros() as u8;
            done &= done - 1;
            if let Some(place) = self.fences.finish(warp, now, &mut self.statistics) {
                self.start(place, now);
            }
        }
    }

    fn offer(&mut self, l1d: &mut dyn L1d, constants: &mut dyn ReadOnly, now: Cycle) {
        if let Some(place) = self.scratchpad.begin(now) {
            self.front -= 1;
            let entry = self.table.get_mut(place);
            self.scratchpad.perform(place, entry, now, &mut self.statistics);
        }
        if let Some(place) = self.constants.offer(&mut self.table, constants, now, &mut self.statistics) {
            self.front -= 1;
            self.close(place, now);
        }
        if let Some(accepted) =
            self.device.offer(&mut self.table, &mut self.textures, l1d, now, &mut self.statistics)
        {
            let Accepted { entry: place, detached, last } = accepted;
            if detached {
                self.fences.open(self.table.get(place).warp);
                self.close(place, now);
            }
            if last {
                self.front -= 1;
                self.close(place, now);
            }
        }
    }

    /// Something that an instruction waited for is done; with the last it is complete.
    #[inline]
    fn close(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        entry.open -= 1;
        if entry.open == 0 && entry.operation == Operation::Texture {
            self.textures.filter(place, now);
        } else if entry.open == 0 {
            self.end(place, now);
        }
    }

    /// An instruction is complete.
    #[inline]
    fn end(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        let mut is_ordered = true;
        if entry.operation == Operation::Load {
            words::extend(entry.ty, entry.vector, &mut entry.image);
        } else if entry.operation.is_collective() {
            match self.end_collective(place, now) {
                Ending::Goes { ordered } => is_ordered = ordered,
                Ending::Stays => return,
            }
        }
        let entry = self.table.get_mut(place);
        if is_ordered {
            self.fences.close(entry.warp);
        }
        self.statistics.finished += 1;
        self.statistics.latency_cycles += now.since(entry.issued);
        self.done
            .push(now + self.writeback_latency, place)
            .expect("there is room for every instruction in flight");
    }

    /// The next finished instruction whose write-back is due. Its place is free afterwards.
    #[inline]
    pub fn finished(&mut self, now: Cycle) -> Option<Finished<'_>> {
        let place = self.done.pop(now)?;
        self.table.release(place);
        let entry = self.table.get(place);
        let Entry { warp, pc, lanes, result_rows, ref image, .. } = *entry;
        Some(Finished { warp, pc, lanes, rows: &image.words[..usize::from(result_rows)] })
    }

    /// Begins a fence of a warp: it stands in [`Lsu::waiting_fence`] until the fence is done.
    pub fn fence(&mut self, warp: u8, scope: Scope, now: Cycle) {
        self.fences.begin(warp, scope, None, now);
    }

    /// Warps that wait for a fence, or for one that an acquire or release operation implies.
    #[inline]
    pub fn waiting_fence(&self) -> u64 {
        self.fences.waiting()
    }

    /// Where a warp's fence stands.
    pub fn fence_state(&self, warp: u8) -> FenceState {
        self.fences.state(warp)
    }

    /// Asks that the L1D be written back and its copies dropped, once every access is performed: at the end
    /// of a kernel, when no warp is left.
    pub fn flush_for_kernel_end(&mut self) {
        self.fences.end_kernel();
    }

    /// Whether that flush is done; true once.
    pub fn kernel_end_flushed(&mut self) -> bool {
        self.fences.kernel_ended()
    }

    /// Instructions of a warp that are not finished, and reductions that are not answered.
    pub fn pending(&self, warp: u8) -> u32 {
        self.fences.unperformed(warp)
    }

    /// Whether nothing is in flight and no fence waits.
    pub fn is_idle(&self) -> bool {
        self.table.len() == 0 && self.device.outstanding() == 0 && self.fences.waiting() == 0
    }

    /// Sets the shared memory of a CTA to zero, before it starts.
    ///
    /// # Panics
    /// When the range lies outside the scratchpad.
    pub fn clear_shared(&mut self, base: u32, bytes: u32) {
        self.scratchpad.clear(base, bytes);
    }

    /// Earliest cycle from `now` on in which a tick does anything, leaving out completions that the L1D and
    /// the constant cache announce themselves.
    pub fn next_event(&self, l1d: &dyn L1d, now: Cycle) -> Cycle {
        self.device
            .next_event(l1d, &self.textures, now)
            .min(self.textures.filtering.next_ready())
            .min(self.scratchpad.next_event())
            .min(self.constants.next_event())
            .min(self.fences.next_event(l1d, now))
            .min(self.done.next_ready())
    }

    /// A sentence for each warp that waits.
    pub fn waits(&self, report: &mut Vec<String>) {
        for entry in self.table.iter() {
            let Entry { warp, line, pc, open, global, local_left, shared, constant, .. } = entry;
            report.push(format!(
                "warp {warp}: memory instruction at line {line} (pc {pc}), issued in cycle {}, waits for {open} \
                 parts; lanes not offered yet: global {global:#x}, local {local_left:#x}, constant \
                 {constant:#x}; lanes in shared memory {shared:#x}",
                entry.issued
            ));
        }
        if let Some((place, line)) = self.device.held() {
            report.push(format!("the L1D refuses line {line} of warp {}", self.table.get(place).warp));
        }
        let mut waiting = self.fences.waiting();
        while waiting != 0 {
            let warp = waiting.trailing_zeros() as u8;
            waiting &= waiting - 1;
            report.push(format!(
                "warp {warp}: its fence is {:?}, {} of its accesses are not performed",
                self.fences.state(warp),
                self.fences.unperformed(warp)
            ));
        }
    }

    /// What was counted.
    pub fn statistics(&self) -> &LsuStatistics {
        &self.statistics
    }
}
