//! Hand-built instructions, and an SM connected to fakes, for tests.

use std::path::Path;
use std::sync::Arc;

use strata_designs::baseline::{SramRegisterFile, SramRegisterFileConfig};
use strata_engine::{Cited, Cycle, Inlet, Island, Outlet, Window, link};
use strata_memory::doors::{Access, Action, L1d, Policy, Scratchpad};
use strata_memory::policy::Chosen;
use strata_memory::{Address, ByteMask, Line, LineAddress, Packet, Tray};
use strata_ptx::ir::LaunchBounds;
use strata_ptx::isa::*;
use strata_ptx::lanes::Row;
use strata_ptx::program::Kernel;

use crate::config::{Scheduling, SmConfig};
use crate::dispatch::{Command, Notice};
use crate::doors::{Doors, Memories};
use crate::fakes::{self, FakeL1d, FakeReadOnly, Memory};
use crate::launch::Launch;
use crate::lsu::{Lsu, LsuConfig, Surroundings};
use crate::multiprocessor::Multiprocessor;
use crate::owners::OwnerLinks;
use crate::scheduler::TwoLevel;
use crate::sm::{Sm, SmId, SmParts};
use crate::tests::mapped::registry::Registry;

/// The configuration of a GTX480-like SM.
pub fn config() -> SmConfig {
    strata_engine::config::parse(Path::new("sm.toml"), include_str!("tests/sm.toml")).unwrap()
}

/// The scheduling of a name, without numbers.
pub fn named(name: &str) -> Scheduling {
    Chosen::named(name).unwrap()
}

/// Two-level scheduling.
pub fn two_level(active: u32) -> Scheduling {
    Chosen::of("two-level", Arc::new(TwoLevel::of(active)))
}

/// A register file with as many banks as the GTX480's; each answers within a cycle.
fn register_file() -> SramRegisterFileConfig {
    SramRegisterFileConfig {
        banks: Cited::new(16, "GPGPU-Sim 4, SM2_GTX480: -gpgpu_num_reg_banks"),
        read_latency_cycles: Cited::new(1, "ASSUMED: an SRAM bank answers within its cycle"),
        area_um2: None,
    }
}

/// An instruction with these destinations and sources; each register is one row.
pub fn instruction(op: Op, class: Class, dst: &[Dst], src: &[Src]) -> Instruction {
    let mut out = Instruction { class, ..Instruction::new(op) };
    for (slot, source) in src.iter().enumerate() {
        out.src[slot] = *source;
        match *source {
            Src::Reg(register) => {
                out.row_of[slot] = out.reads.push(register) as u8;
                out.read_set.insert(register);
            }
            Src::Pred(register, _) => out.pred_reads |= 1 << register.0,
            Src::None | Src::Const(_) | Src::PredConst(_) => {}
        }
    }
    for (slot, destination) in dst.iter().enumerate() {
        out.dst[slot] = *destination;
        match *destination {
            Dst::Reg(register) => {
                out.writes.push(register);
                out.write_set.insert(register);
            }
            Dst::Pred(register) => out.pred_writes |= 1 << register.0,
            Dst::None => {}
        }
    }
    out
}

/// Integer addition: `dst = source + source`; missing sources are constant row 0.
pub fn alu(dst: u8, src: &[u8]) -> Instruction {
    let source = |n: usize| src.get(n).map_or(Src::Const(0), |register| Src::Reg(Reg(*register)));
    let op = Op::Int(IntOp::Add, Ty::U32);
    instruction(op, Class::IntAdd, &[Dst::Reg(Reg(dst))], &[source(0), source(1)])
}

/// Integer addition: `dst = source + constant`, with the constant row's index.
pub fn add_constant(dst: u8, source: u8, constant: u16) -> Instruction {
    let op = Op::Int(IntOp::Add, Ty::U32);
    instruction(op, Class::IntAdd, &[Dst::Reg(Reg(dst))], &[Src::Reg(Reg(source)), Src::Const(constant)])
}

/// A move: `dst = constant`, with the constant row's index.
pub fn set(dst: u8, constant: u16) -> Instruction {
    instruction(Op::Mov(Ty::U32), Class::IntAdd, &[Dst::Reg(Reg(dst))], &[Src::Const(constant)])
}

/// A read of a special register: `dst = special register`.
pub fn special(dst: u8, special: Special) -> Instruction {
    instruction(Op::ReadSpecial(special), Class::IntAdd, &[Dst::Reg(Reg(dst))], &[])
}

/// A comparison: `predicate = source cmp constant`, with the constant row's index.
pub fn compare(predicate: u8, cmp: Compare, source: u8, constant: u16) -> Instruction {
    let op = Op::Setp { cmp, ty: Ty::U32, combine: None, ftz: false };
    let src = [Src::Reg(Reg(source)), Src::Const(constant)];
    instruction(op, Class::IntAdd, &[Dst::Pred(PredReg(predicate))], &src)
}

const WEAK: MemoryMode = MemoryMode {
    space: Space::Global,
    ty: Ty::U32,
    vector: 1,
    cache: CacheOp::All,
    ordering: Ordering::Weak,
    scope: Scope::Cta,
};

/// A load: `dst = [address]`. `address` is the first register of the pair that holds the address.
pub fn load(dst: u8, address: u8) -> Instruction {
    let pair = [address, address + 1];
    let mut out = instruction(
        Op::Load(WEAK),
        Class::Memory,
        &[Dst::Reg(Reg(dst))],
        &pair.map(|register| Src::Reg(Reg(register))),
    );
    out.src[1] = Src::None;
    out
}

/// A store: `[address] = value`. `address` is the first register of the pair that holds the address.
pub fn store(address: u8, value: u8) -> Instruction {
    let registers = [address, value, address + 1].map(|register| Src::Reg(Reg(register)));
    let mut out = instruction(Op::Store(WEAK), Class::Memory, &[], &registers);
    // The two rows of the address come first, then the value.
    out.reads = RegList::EMPTY;
    for register in [address, address + 1, value] {
        out.reads.push(Reg(register));
    }
    out.row_of = [0; MAX_SRC];
    out.row_of[1] = 2;
    out.src[2] = Src::None;
    out
}

/// A control instruction without operands.
pub fn control(op: Op) -> Instruction {
    instruction(op, Class::Control, &[], &[])
}

/// A barrier instruction, with its number in constant row `number`.
pub fn barrier(form: Barrier, dst: &[Dst], number: u16, threads: Src, predicate: Src) -> Instruction {
    instruction(Op::Barrier(form), Class::Control, dst, &[Src::Const(number), threads, predicate])
}

/// A branch to `target` whose lanes reconverge at `reconverge`.
pub fn branch(target: Pc, reconverge: Pc) -> Instruction {
    Instruction { target, reconverge, ..control(Op::Branch { uniform: false }) }
}

/// The same instruction, executed under a guard.
pub fn guarded(guard: Guard, instruction: Instruction) -> Instruction {
    let predicate = match guard {
        Guard::Always => 0,
        Guard::If(register) | Guard::IfNot(register) => 1 << register.0,
    };
    Instruction { guard, pred_reads: instruction.pred_reads | predicate, ..instruction }
}

/// Device address of the code.
const CODE_AT: u64 = 0x1_0000;
/// First address of the fake memory, used as the heap.
pub const HEAP: u64 = fakes::BASE;

/// A launch of hand-built code; constant row n holds `constants[n]` in every lane.
pub fn launch(code: Vec<Instruction>, constants: &[u32], grid: u32, block: u32) -> Launch {
    let code = code.into_iter().zip(1..).map(|(instruction, line)| Instruction { line, ..instruction });
    let kernel = Kernel {
        name: "k".into(),
        code: code.collect(),
        constants: Vec::new(),
        accesses: Vec::new(),
        branch_tables: Vec::new(),
        addresses: Vec::new(),
        params: Vec::new(),
        param_bytes: 0,
        registers: 20,
        reuses_registers: true,
        predicates: 7,
        shared_bytes: 0,
        local_bytes: 0,
        spill_bytes: 0,
        stack_bytes: 0,
        barriers: 1,
        launch_bounds: LaunchBounds::default(),
        formats: vec![strata_ptx::ir::PrintFormat { text: "thread %d\n".into(), arguments: vec![Ty::B32] }],
        assertions: Vec::new(),
        sources: Vec::new(),
        undefined: Vec::new(),
        cooperative: false,
    };
    Launch {
        kernel: Arc::new(kernel),
        constants: constants.iter().map(|value| Row::splat(*value)).collect(),
        params: Vec::new(),
        params_at: Address(0),
        code_at: Address(CODE_AT),
        code_version: 0,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        local_at: Address(0),
        allocations: vec![(HEAP, HEAP + fakes::BYTES as u64)],
        registers: None,
        headers: std::sync::Arc::default(),
        number: 0,
        micro: crate::micro::MicroCode::default(),
    }
}

/// Caches that answer by themselves, and the conventional register file.
pub struct Fakes;

impl Doors for Fakes {
    type Registers = SramRegisterFile;
    type L1d = FakeL1d;
    type ReadOnly = FakeReadOnly;
    const EXTRAS: bool = true;
}

/// An SM and the dispatcher's ends of its links, all with latency 1.
pub struct Bench {
    pub sm: Sm<Fakes>,
    pub now: Cycle,
    window: u64,
    commands: Outlet<Command>,
    notices: Inlet<Notice>,
    network: (Inlet<Packet>, Outlet<Packet>),
    /// That of owners.
    owners: (Inlet<Packet>, Outlet<Packet>),
    /// What stands at the other end of the network port, if anything does.
    pub registry: Option<Registry>,
    /// Notices from the SM and the cycles in which they arrived.
    pub told: Vec<(Cycle, Notice)>,
    /// Number of times the SM was ticked.
    pub ticks: u64,
    /// Whether to skip cycles without events.
    pub skip: bool,
}

impl Bench {
    /// An SM prepared for the launch in cycle 0, whose L1D answers after `latency` cycles.
    pub fn new(config: &SmConfig, launch: Launch, latency: u64) -> Bench {
        Bench::with(config, launch, latency, None)
    }

    /// The same, with a part behind the banks of shared memory.
    pub fn with(
        config: &SmConfig,
        launch: Launch,
        latency: u64,
        scratchpad: Option<Box<dyn Scratchpad>>,
    ) -> Bench {
        let lsu: LsuConfig =
            strata_engine::config::parse(Path::new("lsu.toml"), include_str!("tests/lsu.toml")).unwrap();
        let surroundings = Surroundings {
            warp_slots: *config.warp_slots as usize,
            first_warp: 0,
            shared_bytes: *config.shared_bytes,
        };
        let (requests, network_in) = link(1, 64);
        let (network_out, replies) = link(1, 64);
        let (answers, owners_in) = link(1, 64);
        let (owners_out, arrivals) = link(1, 64);
        let owners = scratchpad.is_some().then_some(OwnerLinks { answers, arrivals, flit_bytes: 32 });
        let (commands, command_inlet) = link(1, *config.cta_slots + 1);
        let (notice_outlet, notices) = link(1, *config.cta_slots + 1);
        let mut l1d = FakeL1d::new(Memory::low_bytes(), latency);
        l1d.flush_latency = 30;
        let parts = SmParts {
            id: SmId(0),
            sms: 1,
            clock_mhz: 500,
            flit_bytes: 32,
            lsu: Lsu::new(&lsu, surroundings).unwrap().with_scratchpad(scratchpad),
            unified: None,
            requests,
            replies,
            owners,
            mmu: None,
            commands: command_inlet,
            notices: notice_outlet,
        };
        let memories = Memories {
            registers: Box::new(
                SramRegisterFile::new(&register_file(), config.register_file_site(0)).unwrap(),
            ),
            l1d: Box::new(l1d),
            instructions: FakeReadOnly::new(Memory::low_bytes(), 1),
            constants: FakeReadOnly::new(Memory::low_bytes(), 1),
            second: None,
        };
        let mut sm = Sm::new(config, memories, parts).unwrap();
        assert!(sm.prepare(Arc::new(launch), Cycle::ZERO).ctas > 0, "the kernel fits");
        let network = (network_in, network_out);
        Bench {
            sm,
            now: Cycle::ZERO,
            window: 0,
            commands,
            notices,
            network,
            owners: (owners_in, owners_out),
            registry: None,
            told: vec![],
            ticks: 0,
            skip: true,
        }
    }

    /// Sends a command now, to arrive in the next cycle.
    pub fn send(&mut self, command: Command) {
        self.commands.send(command, 1, self.now).unwrap();
    }

    /// Runs one cycle, in a window of its own.
    pub fn cycle(&mut self) {
        let window = Window(self.window);
        self.commands.collect(window);
        self.notices.collect(window);
        while let Some(notice) = self.notices.receive(self.now) {
            self.notices.release(1, self.now);
            self.told.push((self.now, notice));
        }
        self.sm.collect(window);
        if let Some(registry) = &mut self.registry {
            registry.cycle((&mut self.network, &mut self.owners), self.now, window);
        }
        if !self.skip || self.sm.next_event(self.now) <= self.now {
            self.ticks += 1;
            self.sm.tick(self.now);
        }
        self.sm.flush(window);
        self.commands.flush(window);
        self.notices.flush(window);
        self.window += 1;
        self.now = self.now.next();
    }

    /// Runs CTAs `0..ctas`, which must all fit, to completion, flushes, and settles the statistics. Returns the cycle
    /// after the flush notice arrived.
    ///
    /// # Panics
    /// On a fault, a broken law of the statistics, or after 10,000,000 cycles.
    pub fn run(&mut self, ctas: u64) -> Cycle {
        for cta in 0..ctas {
            self.send(Command::StartCta(cta));
        }
        let count =
            |told: &[(Cycle, Notice)], what| told.iter().filter(|(_, notice)| *notice == what).count();
        let mut flushing = false;
        while count(&self.told, Notice::Flushed) == 0 {
            self.cycle();
            if !flushing && count(&self.told, Notice::CtaDone) == ctas as usize {
                self.send(Command::Flush);
                flushing = true;
            }
            if let Some((_, fault)) = self.sm.fault() {
                panic!("{fault}");
            }
            if self.now > Cycle(10_000_000) {
                let mut report = Vec::new();
                self.sm.waits(&mut report);
                panic!("no end: {report:#?}");
            }
        }
        self.sm.settle(self.now);
        for group in self.sm.statistics() {
            assert_eq!(group.broken, None, "{group:?}");
        }
        self.now
    }

    /// As [`Bench::run`], for more CTAs than fit at once: a CTA that ends makes room for the next. The bench can run again
    /// once another launch is prepared.
    ///
    /// # Panics
    /// As [`Bench::run`].
    pub fn run_all(&mut self, ctas: u64) -> Cycle {
        let launch = self.sm.launch.clone().expect("a launch is prepared");
        let fit = u64::from(self.sm.occupancy(&launch).ctas);
        self.told.clear();
        let mut next = fit.min(ctas);
        (0..next).for_each(|cta| self.send(Command::StartCta(cta)));
        let (mut done, mut seen) = (0, 0);
        while self.told.last().is_none_or(|(_, notice)| *notice != Notice::Flushed) {
            self.cycle();
            assert!(self.sm.fault().is_none(), "{}", self.sm.fault().expect("it is there").1);
            assert!(self.now < Cycle(1_000_000), "no end: {:#?}", self.report());
            while seen < self.told.len() && self.told[seen].1 == Notice::CtaDone {
                (seen, done) = (seen + 1, done + 1);
                if next < ctas {
                    self.send(Command::StartCta(next));
                    next += 1;
                } else if done == ctas {
                    self.send(Command::Flush);
                }
            }
        }
        self.sm.settle(self.now);
        for group in self.sm.statistics() {
            assert_eq!(group.broken, None, "{group:?}");
        }
        assert!(self.sm.is_idle(), "{:#?}", self.report());
        self.now
    }

    /// Puts words into the heap, past everything.
    pub fn set_words(&mut self, words: &[u32]) {
        for (line, words) in words.chunks_exact(32).enumerate() {
            let mut tray = Box::new(Line::ZERO);
            for (to, word) in tray.0.chunks_exact_mut(4).zip(words) {
                to.copy_from_slice(&word.to_le_bytes());
            }
            self.line(line, Action::Store(tray));
        }
    }

    /// The first words of the heap.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        let lines = (0..count.div_ceil(32)).map(|line| self.line(line, Action::Load(Box::new(Line::ZERO))));
        let bytes: Vec<u8> = lines.flat_map(|line| line.0).collect();
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        bytes.chunks_exact(4).map(word).take(count).collect()
    }

    /// An access of the whole of a line of the heap to the idle L1D.
    fn line(&mut self, line: usize, action: Action) -> Tray {
        let line = LineAddress(HEAP / 128 + line as u64);
        let (bytes, policy) = (ByteMask::ALL, Policy::Cached);
        let access = Access { line, bytes, action, policy, token: 0, pc: 0, warp: 0, leads: true };
        self.sm.l1d.offer(access, self.now).expect("it is idle");
        match self.sm.l1d.completed(Cycle::NEVER).expect("it performs accesses when it takes them").action {
            Action::Load(tray) | Action::Store(tray) => tray,
            Action::Atomic(_) => unreachable!("nothing atomic was asked"),
        }
    }

    fn report(&self) -> Vec<String> {
        let mut report = Vec::new();
        self.sm.waits(&mut report);
        report
    }

    /// Runs CTAs until the program's fault, and returns that.
    ///
    /// # Panics
    /// Without a fault in 10,000 cycles.
    pub fn fault(&mut self, ctas: u64) -> String {
        (0..ctas).for_each(|cta| self.send(Command::StartCta(cta)));
        while self.now < Cycle(10_000) {
            self.cycle();
            if let Some((_, fault)) = self.sm.fault() {
                return fault.to_string();
            }
        }
        panic!("the program has no fault");
    }

    /// Value of the counter `name` in `group`.
    pub fn count(&self, group: &str, name: &str) -> u64 {
        let groups = self.sm.statistics();
        let group = groups.iter().find(|found| found.name == group).expect("the group exists");
        group.get(name).expect("the counter exists")
    }

    /// Contents of a register, one value per lane.
    pub fn register(&self, warp: u8, register: u8) -> [u32; 32] {
        self.sm.peek_register(warp, Reg(register)).0
    }
}
