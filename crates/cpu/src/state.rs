//! What a core does between its instructions, and the cycles that it spends on it.

use strata_engine::Cycle;
use strata_ptx::isa::Pc;

use crate::statistics::CpuStatistics;

/// What a core does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has no thread.
    Idle,
    /// It executes the next instruction.
    Running,
    /// It waits for the value of the load or atomic at `pc`.
    Memory {
        /// Index of the instruction in the kernel's code.
        pc: Pc,
    },
    /// Its next instruction waits for room in the store buffer.
    Full,
    /// It waits for a fence.
    Fence,
    /// It sleeps until a cycle.
    Asleep {
        /// The first cycle in which it is awake.
        until: Cycle,
    },
    /// Its threads have ended, and its L1D is being flushed.
    Flushing,
}

impl State {
    /// Counts `cycles` cycles in this state in which no instruction was executed.
    pub fn count(self, cycles: u64, statistics: &mut CpuStatistics) {
        let stall = match self {
            // A core executes an instruction in every cycle in which it runs.
            State::Idle | State::Running => return,
            State::Memory { .. } => &mut statistics.stall_memory,
            State::Full => &mut statistics.stall_store,
            State::Fence => &mut statistics.stall_fence,
            State::Asleep { .. } => &mut statistics.stall_sleep,
            State::Flushing => &mut statistics.stall_flush,
        };
        *stall += cycles;
        statistics.cycles += cycles;
    }

    /// What it waits for, for the deadlock report; `None` if it waits for nothing.
    pub fn wait(self) -> Option<&'static str> {
        match self {
            State::Idle | State::Running => None,
            State::Memory { .. } => Some("waits for a value from memory"),
            State::Full => Some("waits for room in the store buffer"),
            State::Fence => Some("is at a fence"),
            State::Asleep { .. } => Some("sleeps"),
            State::Flushing => Some("waits for the flush of its L1D"),
        }
    }
}
