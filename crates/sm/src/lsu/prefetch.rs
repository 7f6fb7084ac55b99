//! Prefetches (`prefetch`, `prefetchu`, `applypriority`): lines that the program wishes for.
//!
//! Lanes are coalesced into lines as those of a load are, and the lines offered to the L1D's door in the order of the accesses.
//! The instruction is complete when the last is: no register waits, and no fence waits for the bytes. An address that names no
//! line is passed over. The ISA says so of shared memory, and of constant, local and shared memory in `prefetchu`; of an address
//! beyond every allocation it says nothing (ASSUMED: a hint does not fault). What `prefetch.tensormap` brings is with the launch
//! already: maps are in its parameters.

use strata_engine::Cycle;
use strata_memory::doors::{HintLevel, LaneAction, Policy};
use strata_ptx::exec::Operands;
use strata_ptx::isa::{Prefetch, PrefetchTo, Ty};

use super::Lsu;
use super::coalesce::Shape;
use super::entry::Operation;
use super::instruction::MemoryInstruction;
use crate::launch::Launch;

impl Lsu {
    /// Accepts a prefetch.
    #[inline(never)]
    pub(super) fn issue_prefetch<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        Prefetch { space, to }: Prefetch,
        now: Cycle,
    ) {
        self.statistics.instructions += 1;
        self.statistics.prefetches += 1;
        let entry = self.table.vacant();
        let places = self.resolver.resolve_hint(memory, operands, launch, space, &mut entry.addresses);
        let (level, lanes) = match to {
            PrefetchTo::L1 => (HintLevel::L1d, places.global | places.local),
            PrefetchTo::Uniform => (HintLevel::L1d, places.global),
            PrefetchTo::L2 => (HintLevel::Llc, places.global | places.local),
            PrefetchTo::TensorMap => (HintLevel::L1d, 0),
        };
        self.statistics.hints_nowhere += u64::from((memory.lanes & !lanes).count_ones());
        if lanes == 0 {
            return self.pass_through(memory, now);
        }
        entry.operation = Operation::Prefetch(level);
        (entry.ty, entry.vector, entry.width, entry.shape) = (Ty::U8, 0, 1, Shape::Any);
        entry.begin(memory);
        (entry.policy, entry.lane_action) = (Policy::Cached, LaneAction::Pass);
        (entry.lanes, entry.issued, entry.local_left) = (lanes, now, lanes);
        (entry.global, entry.local, entry.local_word, entry.shared, entry.constant) = (0, 0, 0, 0, 0);
        let place = self.table.claim();
        self.start(place, now);
    }
}
