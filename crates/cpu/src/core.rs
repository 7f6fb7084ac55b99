//! The core: its parts and its cycle.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Window, typed_id};
use strata_memory::doors::L1d;
use strata_memory::{ByteMask, Line, LineAddress, Packet};
use strata_ptx::exec::{Routine, WarpContext, guarded};
use strata_ptx::isa::{Executor, Op};
use strata_ptx::simt::SimtStack;
use strata_sm::launch::{Fault, FaultKind, Launch};
use strata_sm::lsu::{Lsu, Surroundings};
use strata_sm::owners::OwnerLinks;
use strata_sm::print::Print;

use crate::config::CpuConfig;
use crate::operands::{CoreFamily, LANE, Registers};
use crate::state::State;
use crate::statistics::CpuStatistics;

typed_id! {
    /// Index of a CPU core in the machine.
    CoreId, u16
}

/// The fault of an operation that a core does not have. Who launches kernels refuses those with one.
pub(crate) const UNSUPPORTED: FaultKind = FaultKind::Unsupported { what: "this operation on a CPU core" };

/// The parts from which a core is built.
pub struct CoreParts {
    /// Index of the core in the machine.
    pub id: CoreId,
    /// Bytes per flit, the credit unit of the network links.
    pub flit_bytes: u32,
    /// The L1 data cache, one of the designs.
    pub l1d: Box<dyn L1d>,
    /// Link to the request network; credits are flits.
    pub requests: Outlet<Packet>,
    /// Link from the reply network; credits are flits.
    pub replies: Inlet<Packet>,
    /// Links to and from the network of owners; `None` in machines whose words have no owners.
    pub owners: Option<OwnerLinks>,
}

/// A CPU core with its L1D.
///
/// Fields are visible within this crate only: the parts of a cycle are each an `impl Core` in a file of its own.
pub struct Core {
    pub(crate) id: CoreId,
    /// Number of cores in the machine.
    pub(crate) cores: u16,
    pub(crate) clock_mhz: u64,
    pub(crate) flit_bytes: u32,
    pub(crate) launch: Option<Arc<Launch>>,
    /// By code index, for the kernel of the phase: what computes the instruction.
    pub(crate) routines: Vec<Routine<CoreFamily>>,
    /// Number of the thread that runs.
    pub(crate) thread: u64,
    pub(crate) registers: Registers,
    pub(crate) stack: SimtStack,
    pub(crate) context: WarpContext,
    pub(crate) state: State,
    pub(crate) lsu: Lsu,
    pub(crate) l1d: Box<dyn L1d>,
    pub(crate) requests: Outlet<Packet>,
    pub(crate) replies: Inlet<Packet>,
    pub(crate) owners: Option<Box<OwnerLinks>>,
    /// Before this cycle the L1D has nothing to do and nothing to give, unless it is asked for something.
    pub(crate) l1d_due: Cycle,
    /// Every cycle before this one has been counted.
    pub(crate) accounted: Cycle,
    pub(crate) prints: Vec<Print>,
    pub(crate) ended_at: Option<Cycle>,
    pub(crate) fault: Option<Fault>,
    failed_at: Cycle,
    pub(crate) statistics: CpuStatistics,
    /// Progress for observers: how many threads have ended.
    pub(crate) meter: Arc<AtomicU64>,
}

impl Core {
    /// Builds an idle core.
    ///
    /// # Errors
    /// Names the first bad parameter ([`CpuConfig::check`]).
    pub fn new(config: &CpuConfig, parts: CoreParts) -> Result<Core, String> {
        config.check()?;
        let first_warp = u64::from(parts.id.0);
        let surroundings = Surroundings { warp_slots: 1, first_warp, shared_bytes: 0 };
        let lsu = Lsu::new(&config.lsu(), surroundings)?.without_constant_cache();
        Ok(Core {
            id: parts.id,
            cores: *config.cores,
            clock_mhz: u64::from(*config.clock_mhz),
            flit_bytes: parts.flit_bytes.max(1),
            launch: None,
            routines: Vec::new(),
            thread: 0,
            registers: Registers::default(),
            stack: SimtStack::new(0),
            context: WarpContext::default(),
            state: State::Idle,
            lsu,
            l1d: parts.l1d,
            requests: parts.requests,
            replies: parts.replies,
            owners: parts.owners.map(Box::new),
            l1d_due: Cycle::ZERO,
            accounted: Cycle::ZERO,
            prints: Vec::new(),
            ended_at: None,
            fault: None,
            failed_at: Cycle::NEVER,
            statistics: CpuStatistics::default(),
            meter: Arc::default(),
        })
    }

    /// Publishes the number of ended threads of a phase in `meter`, for observers. The model never reads it.
    pub fn report_to(&mut self, meter: Arc<AtomicU64>) {
        self.meter = meter;
    }

    /// Whether the core has no thread and its L1D has been flushed. A core stopped by a fault is never idle again.
    pub fn is_idle(&self) -> bool {
        self.fault.is_none() && self.state == State::Idle
    }

    /// The cycle in which its last phase ended: all its threads had ended, and its L1D was flushed. `None` while the phase
    /// runs, and if the core had no thread of it.
    pub fn ended_at(&self) -> Option<Cycle> {
        self.ended_at
    }

    /// The fault that stopped this core and its cycle, if any.
    pub fn fault(&self) -> Option<(Cycle, &Fault)> {
        self.fault.as_ref().map(|fault| (self.failed_at, fault))
    }

    /// Reads a line for a host copy between phases: the words that its L1D owns.
    pub fn peek_line(&self, line: LineAddress, below: &mut Line) {
        self.l1d.peek(line, below);
    }

    /// Updates what its L1D holds after a host copy between phases.
    pub fn poke_line(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.l1d.poke(line, bytes, data);
    }

    /// Takes the prints since the last call, in program order.
    pub fn take_prints(&mut self) -> Vec<Print> {
        std::mem::take(&mut self.prints)
    }

    /// Completes the counters for all cycles before `end`.
    pub fn settle(&mut self, end: Cycle) {
        // A core that has failed offers nothing any more.
        let end = if self.fault.is_some() { self.failed_at.next() } else { end };
        self.lsu.settle(&mut *self.l1d, end);
    }

    /// The counters of the core, its load/store unit and its L1D.
    pub fn statistics(&self) -> Vec<Group> {
        let mut groups = vec![self.statistics.report(), self.lsu.statistics().report()];
        groups.extend(self.l1d.statistics());
        groups
    }

    /// Executes the thread's next instruction, if it can.
    fn step(&mut self, launch: &Launch, now: Cycle) {
        let pc = self.stack.pc();
        let Some(instruction) = launch.kernel.code.get(pc as usize) else {
            // Falling off the end is an exit.
            return self.end_thread(launch);
        };
        let mut operands = self.registers.operands(instruction, &launch.constants);
        let takes = guarded(instruction.guard, LANE, &operands) != 0;
        match instruction.executor {
            Executor::Control => self.control(launch, instruction, takes, now),
            _ if !takes => self.stack.advance(),
            Executor::Lanes => {
                if matches!(instruction.op, Op::ReadSpecial(_)) {
                    self.context.clock = now.0;
                    self.context.nanoseconds = (u128::from(now.0) * 1000 / u128::from(self.clock_mhz)) as u64;
                }
                self.routines[pc as usize](instruction, &mut operands, LANE, &self.context);
                self.stack.advance();
            }
            // A hint changes no value; a core takes none.
            Executor::Memory if matches!(instruction.op, Op::Prefetch(_) | Op::BulkPrefetch(_)) => {
                self.stack.advance();
            }
            Executor::Memory => {
                if !self.access(launch, instruction, now) {
                    return;
                }
            }
            Executor::Texels => self.fail(launch, instruction.line, UNSUPPORTED),
        }
        self.statistics.instructions += 1;
        self.statistics.cycles += 1;
        self.accounted = now.next();
    }

    /// Earliest cycle from `now` on in which anything changes.
    fn due(&self, now: Cycle) -> Cycle {
        let own = match self.state {
            State::Running => now,
            State::Asleep { until } => until,
            _ => Cycle::NEVER,
        };
        let arrival = self.replies.next_arrival().min(OwnerLinks::arrival(&self.owners));
        let memory = self.l1d_due.min(self.lsu.next_event(&*self.l1d, now)).min(arrival);
        own.min(memory).max(now)
    }
}

impl Island for Core {
    fn hang(&mut self, bell: &Doorbell) {
        self.requests.hang(bell);
        self.replies.hang(bell);
        self.owners.iter().for_each(|links| links.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.requests.collect(window);
        self.replies.collect(window);
        self.owners.iter_mut().for_each(|links| links.collect(window));
    }

    fn tick(&mut self, now: Cycle) {
        if self.fault.is_some() {
            return;
        }
        self.state.count(now.since(self.accounted), &mut self.statistics);
        self.accounted = now;
        self.memory(now);
        if self.state == State::Running
            && let Some(launch) = self.launch.take()
        {
            self.step(&launch, now);
            self.launch = Some(launch);
        }
        if self.l1d_due <= now {
            self.inject(now);
            self.l1d_due = self.l1d.next_event(now.next());
        }
        if self.fault.is_some() {
            self.failed_at = now;
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.fault.is_some() { Cycle::NEVER } else { self.due(now) }
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let owners = self.owners.as_mut().map_or(Cycle::NEVER, |links| links.flush(window));
        self.requests.flush(window).min(self.replies.flush(window)).min(owners)
    }

    fn progress(&self) -> u64 {
        self.statistics.instructions + self.statistics.packets
    }

    fn waits(&self, report: &mut Vec<String>) {
        let Some((wait, launch)) = self.state.wait().zip(self.launch.as_ref()) else { return };
        let line = launch.kernel.code.get(self.stack.pc() as usize).map_or(0, |instruction| instruction.line);
        report.push(format!("CPU core {}: thread {}, before line {line}, {wait}", self.id.0, self.thread));
        let first = report.len();
        self.lsu.waits(report);
        self.l1d.waits(report);
        for sentence in &mut report[first..] {
            *sentence = format!("CPU core {}: {sentence}", self.id.0);
        }
    }

    fn failed(&self) -> bool {
        self.fault.is_some()
    }
}
