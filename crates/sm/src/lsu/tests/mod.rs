//! Tests of the load/store unit between fakes: an L1D and a constant cache of fixed latency over plain bytes.

mod behind;
mod collective;
mod cost;
mod faults;
mod fences;
mod lanes;
mod model;
mod prefetches;
mod tables;
mod textures;
mod timelines;

use std::collections::VecDeque;
use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle};
use strata_memory::doors::{Access, Completion, L1d, Refusal};
use strata_memory::{Address, Packet};
use strata_ptx::exec::Operands;
use strata_ptx::ir::LaunchBounds;
use strata_ptx::isa::{CacheOp, Instruction, MemoryMode, Op, Ordering, PredReg, Scope, Space, Ty};
use strata_ptx::lanes::{LaneMask, Row};
use strata_ptx::program::Kernel;

use super::*;
use crate::fakes::{BASE, FakeL1d, FakeReadOnly, Memory};
use crate::launch::{Fault, Launch};

/// Size of the program's part of the memory in bytes; parameters and local memory follow it.
pub const HEAP_BYTES: u64 = 1 << 14;
pub const PARAMS_AT: u64 = BASE + HEAP_BYTES;
pub const LOCAL_AT: u64 = PARAMS_AT + 0x1000;
pub const LOCAL_BYTES: u32 = 64;
pub const SHARED_BASE: u32 = 256;
pub const SHARED_BYTES: u32 = 8192;

/// The source operands of an instruction: two words each.
#[derive(Clone, Default)]
pub struct Sources(pub [[Row; 2]; 9]);

impl Sources {
    /// Operands whose source 0 holds each lane's address.
    pub fn at(address: impl Fn(u64) -> u64) -> Sources {
        let mut sources = Sources::default();
        sources.set(0, address);
        sources
    }

    pub fn set(&mut self, slot: usize, mut value: impl FnMut(u64) -> u64) {
        for lane in 0..32 {
            let value = value(lane as u64);
            self.0[slot][0].0[lane] = value as u32;
            self.0[slot][1].0[lane] = (value >> 32) as u32;
        }
    }

    pub fn with(mut self, slot: usize, value: impl Fn(u64) -> u64) -> Sources {
        self.set(slot, value);
        self
    }
}

impl Operands for Sources {
    fn source(&self, slot: usize, half: usize) -> &Row {
        &self.0[slot][half]
    }
    fn write(&mut self, _: usize, _: usize, _: LaneMask, _: &Row) {
        unreachable!("the load/store unit hands its results over");
    }
    fn predicate(&self, _: PredReg) -> LaneMask {
        unreachable!("guards are applied before")
    }
    fn write_predicate(&mut self, _: PredReg, _: LaneMask, _: LaneMask) {
        unreachable!("the load/store unit writes no predicates");
    }
}

pub const WEAK: MemoryMode = MemoryMode {
    space: Space::Global,
    ty: Ty::U32,
    vector: 1,
    cache: CacheOp::All,
    ordering: Ordering::Weak,
    scope: Scope::Cta,
};

pub fn mode(space: Space, ty: Ty, vector: u8) -> MemoryMode {
    MemoryMode { space, ty, vector, ..WEAK }
}

pub fn instruction(op: Op) -> Instruction {
    Instruction { target: 0, line: 7, ..Instruction::new(op) }
}

pub fn launch() -> Launch {
    let kernel = Kernel {
        name: "k".into(),
        code: Vec::new(),
        constants: Vec::new(),
        accesses: Vec::new(),
        branch_tables: Vec::new(),
        addresses: Vec::new(),
        params: Vec::new(),
        param_bytes: 256,
        registers: 8,
        reuses_registers: true,
        predicates: 1,
        shared_bytes: SHARED_BYTES,
        local_bytes: LOCAL_BYTES,
        spill_bytes: 0,
        stack_bytes: 0,
        barriers: 0,
        launch_bounds: LaunchBounds::default(),
        formats: Vec::new(),
        assertions: Vec::new(),
        sources: Vec::new(),
        undefined: Vec::new(),
        cooperative: false,
    };
    Launch {
        kernel: Arc::new(kernel),
        constants: Vec::new(),
        params: vec![0; 256],
        params_at: Address(PARAMS_AT),
        code_at: Address(0),
        code_version: 0,
        grid: [4, 1, 1],
        block: [16, 4, 1],
        cluster: None,
        dynamic_shared: 0,
        local_at: Address(LOCAL_AT),
        allocations: vec![(BASE, BASE + HEAP_BYTES / 2), (BASE + HEAP_BYTES / 2, BASE + HEAP_BYTES)],
        registers: None,
        headers: Arc::default(),
        number: 0,
        micro: crate::micro::MicroCode::default(),
    }
}

/// Address generation 3, write-back 2, shared memory 5: all different, so that mixing two up shows.
pub fn config() -> LsuConfig {
    let cited = |value| Cited::new(value, "test");
    LsuConfig {
        queue: cited(8),
        accesses: cited(64),
        address_latency_cycles: cited(3),
        writeback_latency_cycles: cited(2),
        segment_bytes: cited(128),
        atomic_combining_lanes: None,
        global_in_banks: None,
        read_only: None,
        shared: ScratchpadConfig {
            banks: cited(32),
            bank_bytes: cited(4),
            latency_cycles: cited(5),
            pairs_together: None,
            conflict_free: None,
            remote_latency_cycles: None,
        },
        texture: TextureConfig {
            lanes_per_cycle: cited(4),
            texels_per_cycle: cited(4),
            filter_latency_cycles: cited(7),
            point_latency_cycles: None,
        },
    }
}

/// The unit connected to its fakes, and a clock.
pub struct Bench {
    pub lsu: Lsu,
    pub l1d: FakeL1d,
    pub constants: FakeReadOnly,
    pub launch: Launch,
    pub now: Cycle,
    /// `cycle: warp w pc p` for every write-back.
    pub finished: Vec<String>,
    /// Result rows of the last write-back.
    pub rows: Vec<Row>,
}

impl Bench {
    pub fn new(config: &LsuConfig) -> Bench {
        Bench {
            lsu: Lsu::new(config, Surroundings { warp_slots: 8, first_warp: 0, shared_bytes: 16384 })
                .unwrap(),
            l1d: FakeL1d::new(Memory::numbered(), 20),
            constants: FakeReadOnly::new(Memory::numbered(), 4),
            launch: launch(),
            now: Cycle::ZERO,
            finished: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub fn try_issue(&mut self, warp: u8, lanes: LaneMask, op: Op, sources: &Sources) -> Result<(), Fault> {
        let instruction = instruction(op);
        let memory = MemoryInstruction {
            instruction: &instruction,
            pc: 40 + u32::from(warp),
            warp,
            lanes,
            shared_base: SHARED_BASE,
            cta_slot: 0,
            cta: [3, 0, 0],
            warp_in_cta: u32::from(warp % 2),
        };
        self.lsu.issue(memory, sources, &self.launch, self.now)
    }

    pub fn issue(&mut self, warp: u8, op: Op, sources: &Sources) {
        self.try_issue(warp, LaneMask::MAX, op, sources).unwrap();
    }

    /// Runs the current cycle, then advances the clock.
    pub fn cycle(&mut self) {
        self.l1d.tick(self.now);
        self.lsu.complete(&mut self.l1d, self.now);
        self.lsu.tick(&mut self.l1d, &mut self.constants, self.now);
        while let Some(Finished { warp, pc, rows, .. }) = self.lsu.finished(self.now) {
            self.finished.push(format!("{}: warp {warp} pc {pc}", self.now));
            self.rows = rows.to_vec();
        }
        self.now = self.now.next();
    }

    /// Runs until nothing is in flight.
    pub fn drain(&mut self) {
        let limit = self.now + 10_000;
        while !self.lsu.is_idle() {
            assert!(self.now < limit, "the unit does not come to rest");
            self.cycle();
        }
        assert_eq!(self.lsu.statistics().broken_law(), None);
    }
}
