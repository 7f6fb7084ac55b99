//! The unit between fakes: an L1D and a constant cache of fixed latency over plain bytes.

mod collective;
mod cost;
mod faults;
mod fences;
mod model;
mod tables;
mod textures;
mod timelines;

use std::collections::VecDeque;
use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle};
use strata_memory::doors::{Access, Action, Completion, L1d, Policy, Refusal};
use strata_memory::{Address, LINE_BYTES, Line, LineAddress, Packet};
use strata_ptx::exec::Operands;
use strata_ptx::ir::LaunchBounds;
use strata_ptx::isa::{
    CacheOp, Class, Dst, Guard, Instruction, MAX_DST, MAX_SRC, MemoryMode, Op, Ordering, PC_NONE, PredReg,
    RegList, RegSet, Scope, Space, Src, Ty,
};
use strata_ptx::lanes::{LaneMask, Row};
use strata_ptx::program::Kernel;

use super::*;
use crate::launch::{Fault, Launch};

/// Where the fake memory begins; it is one allocation.
pub const BASE: u64 = 0x10_0000;
pub const MEMORY_BYTES: usize = 1 << 16;
/// Bytes of it that are the program's; parameters and local memory follow.
pub const HEAP_BYTES: u64 = 1 << 14;
pub const PARAMS_AT: u64 = BASE + HEAP_BYTES;
pub const LOCAL_AT: u64 = PARAMS_AT + 0x1000;
pub const LOCAL_BYTES: u32 = 64;
pub const SHARED_BASE: u32 = 256;
pub const SHARED_BYTES: u32 = 8192;

/// Plain bytes from [`BASE`] on.
#[derive(Clone)]
pub struct Memory(pub Vec<u8>);

impl Memory {
    pub fn numbered() -> Memory {
        Memory((0..MEMORY_BYTES).map(|at| (at * 7 + at / 256 * 13) as u8).collect())
    }

    pub fn line(&self, line: LineAddress) -> Line {
        let at = (line.base().0 - BASE) as usize;
        Line(self.0[at..at + LINE_BYTES].try_into().unwrap())
    }

    pub fn set_line(&mut self, line: LineAddress, bytes: &Line) {
        let at = (line.base().0 - BASE) as usize;
        self.0[at..at + LINE_BYTES].copy_from_slice(&bytes.0);
    }
}

/// An L1D that performs an access when it takes it and answers after `latency` cycles.
pub struct FakeL1d {
    pub memory: Memory,
    pub latency: u64,
    pub flush_latency: u64,
    /// Refuses in these cycles.
    pub refuse: Vec<u64>,
    pub log: Vec<String>,
    answers: VecDeque<(Cycle, Completion)>,
    pub flushed_at: Option<Cycle>,
    now: Cycle,
}

impl FakeL1d {
    pub fn new(latency: u64) -> FakeL1d {
        FakeL1d {
            memory: Memory::numbered(),
            latency,
            flush_latency: 10,
            refuse: Vec::new(),
            log: Vec::new(),
            answers: VecDeque::new(),
            flushed_at: None,
            now: Cycle::ZERO,
        }
    }
}

impl L1d for FakeL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if !self.is_flushed() {
            return Err((access, Refusal::Flush));
        }
        if self.refuse.contains(&now.0) {
            return Err((access, Refusal::Mshr));
        }
        let mut line = self.memory.line(access.line);
        let (name, action) = match access.action {
            Action::Load(mut tray) => {
                // Bytes that were not asked for are no one's business.
                *tray = Line([0xee; LINE_BYTES]);
                tray.merge(access.bytes, &line);
                ("load", Action::Load(tray))
            }
            Action::Store(tray) => {
                line.merge(access.bytes, &tray);
                ("store", Action::Store(tray))
            }
            Action::Atomic(mut batch) => {
                batch.perform(&mut line);
                ("atomic", Action::Atomic(batch))
            }
        };
        self.memory.set_line(access.line, &line);
        let past = if access.policy == Policy::Bypass { " bypass" } else { "" };
        let offset = access.line.base().0 - BASE;
        self.log.push(format!("{now}: {name} {offset:#x} {} bytes{past}", access.bytes.count()));
        self.answers.push_back((now + self.latency, Completion { token: access.token, action }));
        Ok(())
    }

    fn accept(&mut self, _: Packet, _: Cycle) {
        unreachable!("there is no network");
    }

    fn tick(&mut self, now: Cycle) {
        self.now = now;
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        let due = self.answers.front()?.0 <= now;
        if due { self.answers.pop_front().map(|(_, completion)| completion) } else { None }
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        None
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        None
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        assert!(self.is_flushed() && invalidate);
        self.log.push(format!("{now}: flush"));
        self.flushed_at = Some(now + self.flush_latency);
    }

    fn is_flushed(&self) -> bool {
        self.flushed_at.is_none_or(|at| at <= self.now)
    }

    fn outstanding(&self) -> usize {
        self.answers.len()
    }

    fn next_event(&self, _: Cycle) -> Cycle {
        let answer = self.answers.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let flush = self.flushed_at.filter(|at| *at > self.now).unwrap_or(Cycle::NEVER);
        answer.min(flush)
    }

    fn waits(&self, _: &mut Vec<String>) {}

    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// A constant cache over the same bytes.
pub struct FakeConstants {
    pub memory: Memory,
    pub latency: u64,
    pub log: Vec<String>,
    answers: VecDeque<(Cycle, u32, LineAddress)>,
}

impl ConstantCache for FakeConstants {
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.log.push(format!("{now}: constant {:#x}", line.base().0 - BASE));
        self.answers.push_back((now + self.latency, token, line));
        true
    }

    fn arrived(&mut self, now: Cycle, take: &mut impl FnMut(u32, &Line)) -> bool {
        if self.answers.front().is_none_or(|(at, ..)| *at > now) {
            return false;
        }
        let (_, token, line) = self.answers.pop_front().unwrap();
        take(token, &self.memory.line(line));
        true
    }
}

/// Operands of an instruction: two words of each source.
#[derive(Clone, Default)]
pub struct Sources(pub [[Row; 2]; 6]);

impl Sources {
    /// Addresses in source 0.
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
    Instruction {
        op,
        guard: Guard::Always,
        dst: [Dst::None; MAX_DST],
        src: [Src::None; MAX_SRC],
        offset: 0,
        target: 0,
        reconverge: PC_NONE,
        class: Class::Memory,
        line: 7,
        reads: RegList::EMPTY,
        row_of: [0; MAX_SRC],
        writes: RegList::EMPTY,
        read_set: RegSet::EMPTY,
        write_set: RegSet::EMPTY,
        pred_reads: 0,
        pred_writes: 0,
    }
}

pub fn launch() -> Launch {
    let kernel = Kernel {
        name: "k".into(),
        code: Vec::new(),
        constants: Vec::new(),
        branch_tables: Vec::new(),
        addresses: Vec::new(),
        params: Vec::new(),
        param_bytes: 256,
        registers: 8,
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
    };
    Launch {
        kernel: Arc::new(kernel),
        constants: Vec::new(),
        params: vec![0; 256],
        params_at: Address(PARAMS_AT),
        code_at: Address(0),
        grid: [4, 1, 1],
        block: [16, 4, 1],
        dynamic_shared: 0,
        local_at: Address(LOCAL_AT),
        allocations: vec![(BASE, BASE + HEAP_BYTES / 2), (BASE + HEAP_BYTES / 2, BASE + HEAP_BYTES)],
        headers: Arc::default(),
        number: 0,
    }
}

/// Address generation 3, write-back 2, shared memory 5: all different, so that a mix-up shows.
pub fn config() -> LsuConfig {
    let cited = |value| Cited::new(value, "test");
    LsuConfig {
        queue: cited(8),
        accesses: cited(64),
        address_latency_cycles: cited(3),
        writeback_latency_cycles: cited(2),
        segment_bytes: cited(128),
        shared: ScratchpadConfig { banks: cited(32), bank_bytes: cited(4), latency_cycles: cited(5) },
        texture: TextureConfig {
            lanes_per_cycle: cited(4),
            texels_per_cycle: cited(4),
            filter_latency_cycles: cited(7),
        },
    }
}

/// The unit with its neighbours, and a clock.
pub struct Bench {
    pub lsu: Lsu,
    pub l1d: FakeL1d,
    pub constants: FakeConstants,
    pub launch: Launch,
    pub now: Cycle,
    /// `cycle: warp w pc p` of every write-back.
    pub finished: Vec<String>,
    /// Rows of the last write-back.
    pub rows: Vec<Row>,
}

impl Bench {
    pub fn new(config: &LsuConfig) -> Bench {
        let memory = Memory::numbered();
        let constants = FakeConstants { memory, latency: 4, log: Vec::new(), answers: VecDeque::new() };
        Bench {
            lsu: Lsu::new(config, Surroundings { warp_slots: 8, first_warp: 0, shared_bytes: 16384 })
                .unwrap(),
            l1d: FakeL1d::new(20),
            constants,
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
            cta: [3, 0, 0],
            warp_in_cta: u32::from(warp % 2),
        };
        self.lsu.issue(memory, sources, &self.launch, self.now)
    }

    pub fn issue(&mut self, warp: u8, op: Op, sources: &Sources) {
        self.try_issue(warp, LaneMask::MAX, op, sources).unwrap();
    }

    /// One cycle: the current one, then the clock advances.
    pub fn cycle(&mut self) {
        self.l1d.tick(self.now);
        self.lsu.tick(&mut self.l1d, &mut self.constants, self.now);
        while let Some(Finished { warp, pc, rows, .. }) = self.lsu.finished(self.now) {
            self.finished.push(format!("{}: warp {warp} pc {pc}", self.now));
            self.rows = rows.to_vec();
        }
        self.now = self.now.next();
    }

    /// Cycles until nothing is in flight.
    pub fn drain(&mut self) {
        let limit = self.now + 10_000;
        while !self.lsu.is_idle() {
            assert!(self.now < limit, "the unit does not come to rest");
            self.cycle();
        }
        assert_eq!(self.lsu.statistics().broken_law(), None);
    }
}
