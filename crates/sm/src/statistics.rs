//! Counters of an SM, and the reasons why a scheduler issues nothing.

use strata_ptx::isa::Class;

/// Why a scheduler issued nothing in a cycle. When its warps wait for different things, the stall counts for the one
/// closest to issue: the first in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// An instruction for the load/store unit is ready, but the unit and its collectors are full.
    LsuFull,
    /// An instruction is ready, but no operand collector for its unit is free.
    CollectorFull,
    /// An instruction is ready, but its warp is outside the active set of a two-level scheduler, or the throttle holds it back.
    Inactive,
    /// The next instruction waits for a value from memory.
    Memory,
    /// The next instruction waits for a value from an execution unit or for a pending register read.
    Execution,
    /// A control instruction waits for its register operands.
    Control,
    /// A warp waits at a barrier.
    Barrier,
    /// A warp waits for a fence.
    Fence,
    /// A warp waits for groups of asynchronous copies.
    Copies,
    /// The next instruction has not been fetched yet.
    Fetch,
    /// A warp sleeps in `nanosleep`.
    Sleep,
    /// All lanes have exited, but outstanding instructions or other warps of the CTA still hold the slot.
    Drained,
    /// The scheduler has no resident warp.
    #[default]
    NoWarp,
}

impl Stall {
    /// Number of causes.
    pub const COUNT: usize = Stall::NoWarp as usize + 1;

    /// Every cause, in declaration order.
    pub const ALL: [Stall; Stall::COUNT] = [
        Stall::LsuFull,
        Stall::CollectorFull,
        Stall::Inactive,
        Stall::Memory,
        Stall::Execution,
        Stall::Control,
        Stall::Barrier,
        Stall::Fence,
        Stall::Copies,
        Stall::Fetch,
        Stall::Sleep,
        Stall::Drained,
        Stall::NoWarp,
    ];
}

strata_engine::statistics! {
    /// Counters of an SM's pipeline.
    pub struct SmStatistics: "sm" {
        /// Core cycles that the SM spent on kernels.
        cycles: "cycles",
        /// Cycles with at least one resident warp.
        cycles_active: "cycles",
        /// Issue slots: one per scheduler and cycle.
        issue_slots: "slots",
        /// Issue slots used, including those spent on a barrier that is deferred until other lanes have run.
        issued: "slots",
        /// Issue slots lost because the load/store unit was full.
        stall_lsu_full: "slots",
        /// Issue slots lost because no operand collector was free.
        stall_collector_full: "slots",
        /// Issue slots lost because the warps that could issue were outside the active set of a two-level scheduler, or had
        /// loads that the scheduling held back.
        stall_inactive: "slots",
        /// Issue slots lost waiting for values from memory.
        stall_memory: "slots",
        /// Issue slots lost waiting for values from execution units or for pending register reads.
        stall_execution: "slots",
        /// Issue slots lost waiting for the register operands of control instructions, or turning to other lanes at a
        /// barrier.
        stall_control: "slots",
        /// Issue slots lost waiting at barriers.
        stall_barrier: "slots",
        /// Issue slots lost waiting for fences.
        stall_fence: "slots",
        /// Issue slots lost waiting for asynchronous copies.
        stall_copies: "slots",
        /// Issue slots lost waiting for instruction fetch.
        stall_fetch: "slots",
        /// Issue slots lost because warps slept in nanosleep.
        stall_sleep: "slots",
        /// Issue slots lost because warps had exited but still held their slots.
        stall_drained: "slots",
        /// Issue slots lost because no warp was resident.
        stall_no_warp: "slots",
        /// Instructions issued, counted once per warp.
        warp_instructions: "instructions" [energy],
        /// Instructions issued, counted once per lane that executed them.
        thread_instructions: "instructions",
        /// Lanes active at issue, including those whose guard was false.
        active_lanes: "lanes",
        /// Integer additions, logic operations, shifts and moves issued.
        issued_int_add: "instructions",
        /// Integer minimum and maximum instructions issued.
        issued_int_min_max: "instructions",
        /// Integer multiplications issued, excluding multiply-adds.
        issued_int_mul: "instructions",
        /// Integer multiply-add (mad) instructions issued.
        issued_int_mad: "instructions",
        /// Integer divisions and remainders issued.
        issued_int_div: "instructions",
        /// f32 additions and comparisons issued.
        issued_f32_add: "instructions",
        /// f32 minimum and maximum instructions issued.
        issued_f32_min_max: "instructions",
        /// f32 multiplications issued, excluding multiply-adds.
        issued_f32_mul: "instructions",
        /// f32 multiply-add (fma) instructions issued.
        issued_f32_fma: "instructions",
        /// f32 divisions, reciprocals and square roots issued.
        issued_f32_div: "instructions",
        /// f64 additions and comparisons issued.
        issued_f64_add: "instructions",
        /// f64 minimum and maximum instructions issued.
        issued_f64_min_max: "instructions",
        /// f64 multiplications issued, excluding multiply-adds.
        issued_f64_mul: "instructions",
        /// f64 multiply-add (fma) instructions issued.
        issued_f64_fma: "instructions",
        /// f64 divisions, reciprocals and square roots issued.
        issued_f64_div: "instructions",
        /// Approximate functions and bit counts issued.
        issued_sfu: "instructions",
        /// Type conversions (cvt) issued.
        issued_convert: "instructions",
        /// Votes, shuffles, matches and warp reductions issued.
        issued_warp: "instructions",
        /// Matrix multiply-accumulate instructions issued.
        issued_matrix: "instructions",
        /// Loads, stores and atomics issued, including those on textures and surfaces.
        issued_memory: "instructions",
        /// Branches, exits, barriers and fences issued.
        issued_control: "instructions",
        /// Lanes that executed integer additions, logic operations, shifts, moves, minima and maxima.
        lanes_int: "lanes" [energy],
        /// Lanes that executed integer multiplications and multiply-adds.
        lanes_int_mul: "lanes" [energy],
        /// Lanes that executed integer divisions and remainders.
        lanes_int_div: "lanes" [energy],
        /// Lanes that executed f32 additions, comparisons, minima and maxima.
        lanes_f32_add: "lanes" [energy],
        /// Lanes that executed f32 multiplications and multiply-adds.
        lanes_f32_mul: "lanes" [energy],
        /// Lanes that executed f32 divisions, reciprocals and square roots.
        lanes_f32_div: "lanes" [energy],
        /// Lanes that executed f64 instructions other than divisions, reciprocals and square roots.
        lanes_f64: "lanes" [energy],
        /// Lanes that executed f64 divisions, reciprocals and square roots.
        lanes_f64_div: "lanes" [energy],
        /// Lanes that executed approximate functions and bit counts.
        lanes_sfu: "lanes" [energy],
        /// Lanes that executed type conversions.
        lanes_convert: "lanes" [energy],
        /// Lanes that executed votes, shuffles, matches and warp reductions.
        lanes_warp: "lanes" [energy],
        /// Lanes that executed matrix multiply-accumulate instructions.
        lanes_matrix: "lanes",
        /// Multiply-adds of matrix products on f16, bf16 and 8-bit floating-point operands.
        products_half: "products" [energy],
        /// Multiply-adds of matrix products on tf32 operands.
        products_tf32: "products" [energy],
        /// Multiply-adds of matrix products on integer and single-bit operands, counted as 8-bit operands.
        products_int: "products" [energy],
        /// Multiply-adds of matrix products on f64 operands.
        products_f64: "products" [energy],
        /// Lanes that executed loads, stores and atomics, including those on textures and surfaces.
        lanes_memory: "lanes" [energy],
        /// Lanes that executed branches, exits, barriers and fences.
        lanes_control: "lanes" [energy],
        /// Branches whose lanes took different paths.
        divergent_branches: "branches",
        /// Number of resident warps, summed over cycles.
        resident_warp_cycles: "warp-cycles",
        /// CTAs that ran to completion.
        ctas: "CTAs",
    }
    laws {
        "issue_slots = issued + all stalls": |s| s.issue_slots == s.issued + s.stalls(),
        "warp_instructions = issued": |s| s.warp_instructions == s.issued,
        "warp_instructions = sum over classes": |s| s.warp_instructions == s.by_class(),
        "thread_instructions = sum of lanes": |s| s.thread_instructions == s.lanes(),
        "thread_instructions <= active_lanes <= 32 warp_instructions": |s|
            s.thread_instructions <= s.active_lanes && s.active_lanes <= 32 * s.warp_instructions,
        "cycles_active <= cycles": |s| s.cycles_active <= s.cycles,
        "cycles_active <= resident_warp_cycles <= 64 cycles_active": |s|
            s.cycles_active <= s.resident_warp_cycles && s.resident_warp_cycles <= 64 * s.cycles_active,
    }
}

/// What the issue stage counts, by cause and class; [`Tally::add_to`] gives it the names of counters.
#[derive(Clone, Debug)]
pub struct Tally {
    stalls: [u64; Stall::COUNT],
    classes: [Issued; Class::COUNT],
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { stalls: [0; Stall::COUNT], classes: [Issued::default(); Class::COUNT] }
    }
}

/// Instructions of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    instructions: u64,
    lanes: u64,
}

impl Tally {
    /// Counts `slots` issue slots lost to one cause.
    #[inline]
    pub fn stall(&mut self, cause: Stall, slots: u64) {
        self.stalls[cause as usize] += slots;
    }

    /// Counts an instruction of a class, executed by `lanes` lanes.
    #[inline]
    pub fn issue(&mut self, class: Class, lanes: u32) {
        let issued = &mut self.classes[class as usize];
        issued.instructions += 1;
        issued.lanes += u64::from(lanes);
    }

    /// Adds what another one has counted.
    pub fn merge(&mut self, other: &Tally) {
        self.stalls.iter_mut().zip(other.stalls).for_each(|(slots, more)| *slots += more);
        for (issued, more) in self.classes.iter_mut().zip(other.classes) {
            issued.instructions += more.instructions;
            issued.lanes += more.lanes;
        }
    }

    /// Adds everything to the counters.
    pub fn add_to(&self, statistics: &mut SmStatistics) {
        for (cause, slots) in Stall::ALL.into_iter().zip(self.stalls) {
            *statistics.stalled(cause) += slots;
        }
        for (class, issued) in Class::ALL.into_iter().zip(self.classes) {
            statistics.warp_instructions += issued.instructions;
            statistics.thread_instructions += issued.lanes;
            let (instructions, lanes) = statistics.of_class(class);
            *instructions += issued.instructions;
            *lanes += issued.lanes;
            statistics.count_products(class, issued.instructions);
        }
    }
}

impl SmStatistics {
    fn stalled(&mut self, cause: Stall) -> &mut u64 {
        match cause {
            Stall::LsuFull => &mut self.stall_lsu_full,
            Stall::CollectorFull => &mut self.stall_collector_full,
            Stall::Inactive => &mut self.stall_inactive,
            Stall::Memory => &mut self.stall_memory,
            Stall::Execution => &mut self.stall_execution,
            Stall::Control => &mut self.stall_control,
            Stall::Barrier => &mut self.stall_barrier,
            Stall::Fence => &mut self.stall_fence,
            Stall::Copies => &mut self.stall_copies,
            Stall::Fetch => &mut self.stall_fetch,
            Stall::Sleep => &mut self.stall_sleep,
            Stall::Drained => &mut self.stall_drained,
            Stall::NoWarp => &mut self.stall_no_warp,
        }
    }

    /// Instructions of a class, and the lanes that executed them.
    fn of_class(&mut self, class: Class) -> (&mut u64, &mut u64) {
        match class {
            Class::IntAdd => (&mut self.issued_int_add, &mut self.lanes_int),
            Class::IntMinMax => (&mut self.issued_int_min_max, &mut self.lanes_int),
            Class::IntMul => (&mut self.issued_int_mul, &mut self.lanes_int_mul),
            Class::IntMad => (&mut self.issued_int_mad, &mut self.lanes_int_mul),
            Class::IntDiv => (&mut self.issued_int_div, &mut self.lanes_int_div),
            Class::F32Add | Class::F16Add => (&mut self.issued_f32_add, &mut self.lanes_f32_add),
            Class::F32MinMax => (&mut self.issued_f32_min_max, &mut self.lanes_f32_add),
            Class::F32Mul | Class::F16Mul => (&mut self.issued_f32_mul, &mut self.lanes_f32_mul),
            Class::F32Fma | Class::F16Fma => (&mut self.issued_f32_fma, &mut self.lanes_f32_mul),
            Class::F32Div | Class::F32Rcp | Class::F32Sqrt => {
                (&mut self.issued_f32_div, &mut self.lanes_f32_div)
            }
            Class::F64Add => (&mut self.issued_f64_add, &mut self.lanes_f64),
            Class::F64MinMax => (&mut self.issued_f64_min_max, &mut self.lanes_f64),
            Class::F64Mul => (&mut self.issued_f64_mul, &mut self.lanes_f64),
            Class::F64Fma => (&mut self.issued_f64_fma, &mut self.lanes_f64),
            Class::F64Div | Class::F64Rcp | Class::F64Sqrt => {
                (&mut self.issued_f64_div, &mut self.lanes_f64_div)
            }
            Class::Sfu => (&mut self.issued_sfu, &mut self.lanes_sfu),
            Class::Convert => (&mut self.issued_convert, &mut self.lanes_convert),
            Class::Warp | Class::Vote => (&mut self.issued_warp, &mut self.lanes_warp),
            Class::MatrixHalf
            | Class::MatrixHalfDeep
            | Class::MatrixTf32
            | Class::MatrixTf32Deep
            | Class::MatrixInt
            | Class::MatrixIntDeep
            | Class::MatrixF64 => (&mut self.issued_matrix, &mut self.lanes_matrix),
            Class::Memory => (&mut self.issued_memory, &mut self.lanes_memory),
            Class::Control => (&mut self.issued_control, &mut self.lanes_control),
        }
    }

    /// Counts the multiply-adds of matrix products, at the full shape of its class: 16 by 8 outputs, or 8 by 8 for f64.
    fn count_products(&mut self, class: Class, instructions: u64) {
        let (counter, products) = match class {
            Class::MatrixHalf => (&mut self.products_half, 16 * 8 * 8),
            Class::MatrixHalfDeep => (&mut self.products_half, 16 * 8 * 16),
            Class::MatrixTf32 => (&mut self.products_tf32, 16 * 8 * 4),
            Class::MatrixTf32Deep => (&mut self.products_tf32, 16 * 8 * 8),
            Class::MatrixInt => (&mut self.products_int, 16 * 8 * 16),
            Class::MatrixIntDeep => (&mut self.products_int, 16 * 8 * 32),
            Class::MatrixF64 => (&mut self.products_f64, 8 * 8 * 4),
            _ => return,
        };
        *counter += instructions * products;
    }

    pub(crate) fn stalls(&self) -> u64 {
        self.stall_lsu_full
            + self.stall_collector_full
            + self.stall_inactive
            + self.stall_memory
            + self.stall_execution
            + self.stall_control
            + self.stall_barrier
            + self.stall_fence
            + self.stall_copies
            + self.stall_fetch
            + self.stall_sleep
            + self.stall_drained
            + self.stall_no_warp
    }

    fn by_class(&self) -> u64 {
        self.issued_int_add
            + self.issued_int_min_max
            + self.issued_int_mul
            + self.issued_int_mad
            + self.issued_int_div
            + self.issued_f32_add
            + self.issued_f32_min_max
            + self.issued_f32_mul
            + self.issued_f32_fma
            + self.issued_f32_div
            + self.issued_f64_add
            + self.issued_f64_min_max
            + self.issued_f64_mul
            + self.issued_f64_fma
            + self.issued_f64_div
            + self.issued_sfu
            + self.issued_convert
            + self.issued_warp
            + self.issued_matrix
            + self.issued_memory
            + self.issued_control
    }
    fn lanes(&self) -> u64 {
        self.lanes_int
            + self.lanes_int_mul
            + self.lanes_int_div
            + self.lanes_f32_add
            + self.lanes_f32_mul
            + self.lanes_f32_div
            + self.lanes_f64
            + self.lanes_f64_div
            + self.lanes_sfu
            + self.lanes_convert
            + self.lanes_warp
            + self.lanes_matrix
            + self.lanes_memory
            + self.lanes_control
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_finds_every_counter() {
        assert!((0..Stall::COUNT).all(|cause| Stall::ALL[cause] as usize == cause));
        assert!((0..Class::COUNT).all(|class| Class::ALL[class] as usize == class));
        let mut tally = Tally::default();
        tally.stall(Stall::Fence, 5);
        tally.issue(Class::Sfu, 3);
        tally.issue(Class::MatrixF64, 32);
        tally.issue(Class::MatrixF64, 32);
        let mut statistics = SmStatistics::default();
        tally.add_to(&mut statistics);
        assert_eq!((statistics.stall_fence, statistics.stalls()), (5, 5));
        assert_eq!((statistics.issued_sfu, statistics.lanes_sfu), (1, 3));
        assert_eq!((statistics.issued_matrix, statistics.products_f64), (2, 2 * 8 * 8 * 4));
        assert_eq!((statistics.warp_instructions, statistics.thread_instructions), (3, 67));
    }
}
