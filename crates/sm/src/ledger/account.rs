//! The counters of one instruction, CTA or buffer.

use std::sync::LazyLock;

use strata_engine::statistics::{Definition, Group, Statistics};
use strata_ptx::isa::{Class, Instruction};

use super::key::Key;
use super::served::{ServedStatistics, Source};
use crate::lsu::LsuStatistics;
use crate::statistics::{SmStatistics, Stall, Tally};

strata_engine::statistics! {
    /// Issue slots that were lost while warps waited for an instruction's result.
    pub struct AwaitedStatistics: "awaited" {
        /// Slots lost waiting for values that it reads from memory: of `stall_memory`, those of the instructions that use them.
        memory: "slots",
        /// Slots lost waiting for values that it computes: of `stall_execution`.
        execution: "slots",
    }
    laws {}
}

strata_engine::statistics! {
    /// Rows of registers that instructions name.
    pub struct OperandStatistics: "operands" {
        /// Rows that they read.
        rows_read: "rows",
        /// Rows that they write.
        rows_written: "rows",
    }
    laws {}
}

/// Counters of an SM that belong to no instruction: of cycles and of CTAs; and what is not charged.
const OF_NONE: [&str; 5] = ["cycles", "cycles_active", "resident_warp_cycles", "ctas", "divergent_branches"];

/// Counters of the load/store unit that an access has, whatever instruction is behind it.
const OF_ACCESSES: [&str; 18] = [
    "hints",
    "hints_taken",
    "hints_ignored",
    "hints_dropped",
    "accesses",
    "completions",
    "lane_addresses",
    "bytes_requested",
    "bytes_accessed",
    "path_accesses",
    "path_bytes",
    "refused_port",
    "refused_mshr",
    "refused_merge",
    "refused_ways",
    "refused_network",
    "refused_bank",
    "refused_flush",
];

static OF_SM: LazyLock<Part> =
    LazyLock::new(|| Part::of(SmStatistics::DEFINITIONS, |name| !OF_NONE.contains(&name)));

static OF_BUFFER: LazyLock<Part> =
    LazyLock::new(|| Part::of(LsuStatistics::DEFINITIONS, |name| OF_ACCESSES.contains(&name)));

/// Some counters of a group.
struct Part {
    places: Vec<usize>,
    definitions: Vec<Definition>,
}

impl Part {
    fn of(all: &[Definition], has: impl Fn(&str) -> bool) -> Part {
        let places: Vec<usize> = (0..all.len()).filter(|place| has(all[*place].name)).collect();
        Part { definitions: places.iter().map(|place| all[*place]).collect(), places }
    }

    /// The group with these of its counters.
    fn only(&'static self, group: Group) -> Group {
        let values = self.places.iter().map(|place| group.values[*place]).collect();
        Group { values, definitions: &self.definitions, laws: Vec::new(), ..group }
    }
}

/// What is charged to one instruction, CTA or buffer.
#[derive(Clone, Debug, Default)]
pub struct Account {
    active_lanes: u64,
    tally: Tally,
    awaited: AwaitedStatistics,
    operands: OperandStatistics,
    pub(super) lsu: LsuStatistics,
    served: ServedStatistics,
}

impl Account {
    pub(super) fn issue(&mut self, (instruction, class): (&Instruction, Class), active: u32, lanes: u32) {
        self.active_lanes += u64::from(active);
        self.tally.issue(class, lanes);
        self.operands.rows_read += instruction.reads.as_slice().len() as u64;
        self.operands.rows_written += instruction.writes.as_slice().len() as u64;
    }

    pub(super) fn stall(&mut self, cause: Stall, slots: u64) {
        self.tally.stall(cause, slots);
    }

    /// Others have lost slots for its result.
    pub(super) fn held_up(&mut self, cause: Stall, slots: u64) {
        *match cause {
            Stall::Memory => &mut self.awaited.memory,
            _ => &mut self.awaited.execution,
        } += slots;
    }

    /// An access is complete, and who served it after how many cycles, if somebody did.
    pub(super) fn complete(&mut self, bytes: u32, served: Option<(Source, u64)>) {
        self.lsu.completions += 1;
        if let Some((source, cycles)) = served {
            self.served.count(source, bytes, cycles);
        }
    }

    /// What was served of its accesses, by level.
    pub fn served(&self) -> &ServedStatistics {
        &self.served
    }

    /// Adds another account of the same instruction, CTA or buffer.
    pub fn merge(&mut self, other: &Account) {
        self.active_lanes += other.active_lanes;
        self.tally.merge(&other.tally);
        self.awaited.merge(&other.awaited);
        self.operands.merge(&other.operands);
        self.lsu.merge(&other.lsu);
        self.served.merge(&other.served);
    }

    /// Its counters, those that accounts of this kind have. They bear the names of the SM's.
    pub fn groups(&self, key: Key) -> Vec<Group> {
        let lsu = Group { broken: None, ..self.lsu.report() };
        if key == Key::Buffer {
            return vec![OF_BUFFER.only(lsu), self.served.report()];
        }
        let mut sm = SmStatistics { active_lanes: self.active_lanes, ..SmStatistics::default() };
        self.tally.add_to(&mut sm);
        sm.issued = sm.warp_instructions;
        sm.issue_slots = sm.issued + sm.stalls();
        let sm = Group { broken: None, ..sm.report() };
        vec![OF_SM.only(sm), self.awaited.report(), self.operands.report(), lsu, self.served.report()]
    }
}
