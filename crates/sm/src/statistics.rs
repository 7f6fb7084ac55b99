//! What an SM counts, and why a scheduler did not issue.

use strata_ptx::isa::Class;

/// Why a scheduler issued nothing in a cycle. When its warps wait for different things, the cause is the
/// one nearest to issue: the first in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// A memory instruction could issue, but the load/store unit is full and so are its collectors.
    LsuFull,
    /// An instruction could issue, but no collector of its unit is free.
    CollectorFull,
    /// The next instruction waits for a value from memory.
    Memory,
    /// The next instruction waits for a value from an execution unit or for a register to be read.
    Execution,
    /// Control flow waits for its registers.
    Control,
    /// At a barrier.
    Barrier,
    /// At a fence.
    Fence,
    /// The next instruction is not here yet.
    Fetch,
    /// In `nanosleep`.
    Sleep,
    /// All lanes have ended; stores and other instructions under way, or other warps of the CTA, hold the slot.
    Drained,
    /// No warp is resident.
    NoWarp,
}

strata_engine::statistics! {
    /// What an SM did.
    pub struct SmStatistics: "sm" {
        /// Cycles that have passed.
        cycles: "cycles",
        /// Cycles in which a warp was resident.
        cycles_active: "cycles",
        /// Scheduler-cycles: chances to issue.
        issue_slots: "slots",
        /// Chances used: for instructions, and for barriers that are put off until other lanes have run.
        issued: "slots",
        /// Chances lost: the load/store unit was full.
        stall_lsu_full: "slots",
        /// Chances lost: no operand collector was free.
        stall_collector_full: "slots",
        /// Chances lost: values from memory were awaited.
        stall_memory: "slots",
        /// Chances lost: values from execution units or operand reads were awaited.
        stall_execution: "slots",
        /// Chances lost: control flow awaited registers.
        stall_control: "slots",
        /// Chances lost: barriers.
        stall_barrier: "slots",
        /// Chances lost: fences.
        stall_fence: "slots",
        /// Chances lost: instructions were awaited.
        stall_fetch: "slots",
        /// Chances lost: warps slept.
        stall_sleep: "slots",
        /// Chances lost: warps had ended and their slots were not free yet.
        stall_drained: "slots",
        /// Chances lost: no warp was resident.
        stall_no_warp: "slots",
        /// Instructions issued, one for each warp.
        warp_instructions: "instructions" [energy],
        /// Instructions issued, one for each lane that executed it.
        thread_instructions: "instructions",
        /// Lanes on the path of issued instructions, those included whose guard was false.
        active_lanes: "lanes",
        /// Integer additions, logic, shifts, moves.
        issued_int_add: "instructions",
        /// Integer minima and maxima.
        issued_int_min_max: "instructions",
        /// Integer multiplications.
        issued_int_mul: "instructions",
        /// Integer multiply-adds.
        issued_int_mad: "instructions",
        /// Integer divisions and remainders.
        issued_int_div: "instructions",
        /// f32 additions and comparisons.
        issued_f32_add: "instructions",
        /// f32 minima and maxima.
        issued_f32_min_max: "instructions",
        /// f32 multiplications.
        issued_f32_mul: "instructions",
        /// f32 multiply-adds.
        issued_f32_fma: "instructions",
        /// f32 divisions and roots.
        issued_f32_div: "instructions",
        /// f64 additions and comparisons.
        issued_f64_add: "instructions",
        /// f64 minima and maxima.
        issued_f64_min_max: "instructions",
        /// f64 multiplications.
        issued_f64_mul: "instructions",
        /// f64 multiply-adds.
        issued_f64_fma: "instructions",
        /// f64 divisions and roots.
        issued_f64_div: "instructions",
        /// Approximate functions and bit counts.
        issued_sfu: "instructions",
        /// Conversions.
        issued_convert: "instructions",
        /// Votes, shuffles, matches, reductions.
        issued_warp: "instructions",
        /// Loads, stores and atomics, textures and surfaces included.
        issued_memory: "instructions",
        /// Branches, exits, barriers, fences.
        issued_control: "instructions",
        /// Lanes that executed integer additions, logic, shifts, moves, minima and maxima.
        lanes_int: "lanes" [energy],
        /// Lanes that executed integer multiplications and multiply-adds.
        lanes_int_mul: "lanes" [energy],
        /// Lanes that executed integer divisions and remainders.
        lanes_int_div: "lanes" [energy],
        /// Lanes that executed f32 additions, comparisons, minima and maxima.
        lanes_f32_add: "lanes" [energy],
        /// Lanes that executed f32 multiplications and multiply-adds.
        lanes_f32_mul: "lanes" [energy],
        /// Lanes that executed f32 divisions and roots.
        lanes_f32_div: "lanes" [energy],
        /// Lanes that executed f64 instructions other than divisions and roots.
        lanes_f64: "lanes" [energy],
        /// Lanes that executed f64 divisions and roots.
        lanes_f64_div: "lanes" [energy],
        /// Lanes that executed approximate functions and bit counts.
        lanes_sfu: "lanes" [energy],
        /// Lanes that executed conversions.
        lanes_convert: "lanes" [energy],
        /// Lanes that executed votes, shuffles, matches, reductions.
        lanes_warp: "lanes" [energy],
        /// Lanes that executed loads, stores and atomics, textures and surfaces included.
        lanes_memory: "lanes" [energy],
        /// Lanes that executed branches, exits, barriers, fences.
        lanes_control: "lanes" [energy],
        /// Branches whose lanes took different ways.
        divergent_branches: "branches",
        /// Resident warps, summed over cycles.
        resident_warp_cycles: "warp-cycles",
        /// CTAs that ended.
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

impl SmStatistics {
    /// Counts chances lost.
    #[inline]
    pub fn stall(&mut self, cause: Stall, slots: u64) {
        *match cause {
            Stall::LsuFull => &mut self.stall_lsu_full,
            Stall::CollectorFull => &mut self.stall_collector_full,
            Stall::Memory => &mut self.stall_memory,
            Stall::Execution => &mut self.stall_execution,
            Stall::Control => &mut self.stall_control,
            Stall::Barrier => &mut self.stall_barrier,
            Stall::Fence => &mut self.stall_fence,
            Stall::Fetch => &mut self.stall_fetch,
            Stall::Sleep => &mut self.stall_sleep,
            Stall::Drained => &mut self.stall_drained,
            Stall::NoWarp => &mut self.stall_no_warp,
        } += slots;
    }

    /// Counts an instruction of a class that `lanes` execute. Not inlined: its forty ways would cost the whole of an SM's
    /// tick registers.
    #[inline(never)]
    pub fn count_class(&mut self, class: Class, lanes: u32) {
        let (issued, executed) = match class {
            Class::IntAdd => (&mut self.issued_int_add, &mut self.lanes_int),
            Class::IntMinMax => (&mut self.issued_int_min_max, &mut self.lanes_int),
            Class::IntMul => (&mut self.issued_int_mul, &mut self.lanes_int_mul),
            Class::IntMad => (&mut self.issued_int_mad, &mut self.lanes_int_mul),
            Class::IntDiv => (&mut self.issued_int_div, &mut self.lanes_int_div),
            Class::F32Add => (&mut self.issued_f32_add, &mut self.lanes_f32_add),
            Class::F32MinMax => (&mut self.issued_f32_min_max, &mut self.lanes_f32_add),
            Class::F32Mul => (&mut self.issued_f32_mul, &mut self.lanes_f32_mul),
            Class::F32Fma => (&mut self.issued_f32_fma, &mut self.lanes_f32_mul),
            Class::F32Div => (&mut self.issued_f32_div, &mut self.lanes_f32_div),
            Class::F64Add => (&mut self.issued_f64_add, &mut self.lanes_f64),
            Class::F64MinMax => (&mut self.issued_f64_min_max, &mut self.lanes_f64),
            Class::F64Mul => (&mut self.issued_f64_mul, &mut self.lanes_f64),
            Class::F64Fma => (&mut self.issued_f64_fma, &mut self.lanes_f64),
            Class::F64Div => (&mut self.issued_f64_div, &mut self.lanes_f64_div),
            Class::Sfu => (&mut self.issued_sfu, &mut self.lanes_sfu),
            Class::Convert => (&mut self.issued_convert, &mut self.lanes_convert),
            Class::Warp => (&mut self.issued_warp, &mut self.lanes_warp),
            Class::Memory => (&mut self.issued_memory, &mut self.lanes_memory),
            Class::Control => (&mut self.issued_control, &mut self.lanes_control),
        };
        *issued += 1;
        *executed += u64::from(lanes);
    }

    fn stalls(&self) -> u64 {
        self.stall_lsu_full
            + self.stall_collector_full
            + self.stall_memory
            + self.stall_execution
            + self.stall_control
            + self.stall_barrier
            + self.stall_fence
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
            + self.lanes_memory
            + self.lanes_control
    }
}
