//! The streaming multiprocessor: its parts, its cycle, its life between launches.

use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Ring, Window, typed_id};
use strata_memory::Packet;
use strata_memory::doors::{L1d, RegisterFile};
use strata_memory::read_only::ReadOnly;
use strata_ptx::isa::MAX_ROWS;
use strata_ptx::lanes::Row;

use crate::barriers::Barriers;
use crate::collector::Collectors;
use crate::config::{SmConfig, UnitKind};
use crate::cta::Ctas;
use crate::dispatch::{Command, Notice};
use crate::execute::Units;
use crate::fetch::Fetch;
use crate::inject::Injector;
use crate::issue::Quiet;
use crate::launch::{Fault, Launch};
use crate::lsu::Lsu;
use crate::occupancy::{Demand, Occupancy, occupancy};
use crate::print::Print;
use crate::scheduler::Scheduler;
use crate::scoreboard::Scoreboard;
use crate::statistics::SmStatistics;
use crate::warps::Warps;

typed_id! {
    /// A streaming multiprocessor.
    SmId, u16
}

/// What an SM is built from.
pub struct SmParts {
    /// Its number.
    pub id: SmId,
    /// SMs of the GPU (`%nsmid`).
    pub sms: u32,
    /// Core clock in MHz, for `%globaltimer` and `nanosleep`.
    pub clock_mhz: u32,
    /// Bytes of a flit: the unit of the links to and from the network.
    pub flit_bytes: u32,
    /// The register file.
    pub registers: Box<dyn RegisterFile>,
    /// The load/store unit.
    pub lsu: Lsu,
    /// The L1 data cache.
    pub l1d: Box<dyn L1d>,
    /// The instruction cache.
    pub instructions: Box<dyn ReadOnly>,
    /// The constant cache.
    pub constants: Box<dyn ReadOnly>,
    /// To the request network, in flits.
    pub requests: Outlet<Packet>,
    /// From the reply network, in flits.
    pub replies: Inlet<Packet>,
    /// From the CTA dispatcher.
    pub commands: Inlet<Command>,
    /// To the CTA dispatcher.
    pub notices: Outlet<Notice>,
}

/// A streaming multiprocessor with its private memories.
///
/// The parts are public within this crate only: each stage of the pipeline is an `impl Sm` of its own file.
pub struct Sm {
    pub(crate) id: SmId,
    pub(crate) sms: u32,
    pub(crate) clock_mhz: u64,
    flit_bytes: u32,
    limits: crate::occupancy::Limits,
    pub(crate) launch: Option<Arc<Launch>>,

    pub(crate) warps: Warps,
    pub(crate) ctas: Ctas,
    pub(crate) barriers: Barriers,
    pub(crate) fetch: Fetch,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) schedulers: Vec<Scheduler>,
    /// The warp slots of each scheduler.
    pub(crate) shares: Vec<u64>,
    /// Warps whose next instruction needs a collector of each pool.
    pub(crate) needs_pool: Vec<u64>,
    /// Warps whose next instruction is for the load/store unit.
    pub(crate) needs_lsu: u64,
    /// By warp: memory instructions in collectors.
    pub(crate) collecting_memory: Vec<u8>,
    pub(crate) collectors: Collectors,
    pub(crate) registers: Box<dyn RegisterFile>,
    pub(crate) units: Units,
    pub(crate) lsu: Lsu,
    pub(crate) l1d: Box<dyn L1d>,
    pub(crate) constants: Box<dyn ReadOnly>,
    pub(crate) instructions: Box<dyn ReadOnly>,
    injector: Injector,
    replies: Inlet<Packet>,
    commands: Inlet<Command>,
    notices: Outlet<Notice>,
    /// Notices that wait for credit.
    pub(crate) pending_notices: Ring<Notice>,

    /// Warps that a barrier has released in this cycle.
    pub(crate) released: u64,
    /// Rows of the control instruction that is being resolved.
    pub(crate) control_rows: [Row; MAX_ROWS],
    pub(crate) prints: Vec<Print>,
    pub(crate) fault: Option<Fault>,
    /// The cycle of the fault.
    failed_at: Cycle,
    /// Every cycle before this one is in the statistics.
    pub(crate) accounted: Cycle,
    /// When memories and load/store unit, and when the pipeline, have something to do by themselves.
    memory_due: Cycle,
    /// The pipeline has given the load/store unit something since then.
    pub(crate) gave_to_memory: bool,
    pipeline_due: Cycle,
    /// The issue stage issued nothing when it last looked, and would not now.
    pub(crate) quiet: Option<Quiet>,
    pub(crate) statistics: SmStatistics,
}

impl Sm {
    /// An idle SM. An error names the parameter that is wrong.
    pub fn new(config: &SmConfig, parts: SmParts) -> Result<Sm, String> {
        config.check()?;
        let warps = *config.warp_slots as usize;
        let ctas = *config.cta_slots as usize;
        let schedulers = *config.schedulers as usize;
        let collectors = Collectors::new(&config.collectors);
        let shares = (0..schedulers)
            .map(|scheduler| (scheduler..warps).step_by(schedulers).fold(0, |share, warp| share | 1 << warp))
            .collect();
        Ok(Sm {
            id: parts.id,
            sms: parts.sms,
            clock_mhz: u64::from(parts.clock_mhz.max(1)),
            flit_bytes: parts.flit_bytes.max(1),
            limits: config.limits(),
            launch: None,
            warps: Warps::new(warps),
            ctas: Ctas::new(ctas),
            barriers: Barriers::new(ctas),
            fetch: Fetch::new(warps, *config.instruction_buffer),
            scoreboard: Scoreboard::new(warps),
            schedulers: (0..schedulers).map(|_| Scheduler::new(*config.scheduling)).collect(),
            shares,
            needs_pool: vec![0; collectors.pools()],
            needs_lsu: 0,
            collecting_memory: vec![0; warps],
            collectors,
            registers: parts.registers,
            units: Units::new(config),
            lsu: parts.lsu,
            l1d: parts.l1d,
            constants: parts.constants,
            instructions: parts.instructions,
            injector: Injector::new(parts.requests, parts.flit_bytes.max(1)),
            replies: parts.replies,
            commands: parts.commands,
            notices: parts.notices,
            pending_notices: Ring::new(ctas + 1),
            released: 0,
            control_rows: [Row::ZERO; MAX_ROWS],
            prints: Vec::new(),
            fault: None,
            failed_at: Cycle::NEVER,
            accounted: Cycle::ZERO,
            memory_due: Cycle::ZERO,
            gave_to_memory: false,
            pipeline_due: Cycle::ZERO,
            quiet: None,
            statistics: SmStatistics::default(),
        })
    }

    /// How a kernel would fill this SM.
    pub fn occupancy(&self, launch: &Launch) -> Occupancy {
        let demand = Demand {
            warps: launch.warps_per_cta(),
            registers: launch.kernel.registers,
            shared_bytes: launch.shared_per_cta(),
            barriers: launch.kernel.barriers,
        };
        occupancy(&self.limits, &demand)
    }

    /// Makes ready for a launch that begins at `now`; the SM must be idle. Returns how the kernel fills it,
    /// which the dispatcher needs; with 0 CTAs nothing must be dispatched.
    pub fn prepare(&mut self, launch: Arc<Launch>, now: Cycle) -> Occupancy {
        assert!(self.is_idle(), "SM {} is prepared for a launch while another one runs", self.id.0);
        let occupancy = self.occupancy(&launch);
        self.ctas.prepare(&occupancy, launch.warps_per_cta());
        self.registers.prepare(occupancy.rows_per_warp);
        self.fetch.prepare(launch.code_at, launch.kernel.code.len() as u32);
        self.instructions.invalidate();
        self.constants.invalidate();
        self.lsu.prepare(&launch);
        self.launch = Some(launch);
        self.accounted = now;
        self.quiet = None;
        (self.memory_due, self.pipeline_due) = (now, now);
        occupancy
    }

    /// Completes the statistics up to, not including, cycle `end`: the end of a kernel.
    pub fn settle(&mut self, end: Cycle) {
        self.account_gap(end);
    }

    /// What was printed since the last call, by CTA and warp, and within a warp in program order.
    pub fn take_prints(&mut self) -> Vec<Print> {
        let mut prints = std::mem::take(&mut self.prints);
        prints.sort_by_key(|print| (print.cta, print.warp));
        prints
    }

    /// The program error that stopped this SM, if any, and its cycle.
    pub fn fault(&self) -> Option<(Cycle, &Fault)> {
        self.fault.as_ref().map(|fault| (self.failed_at, fault))
    }

    /// Whether no CTA is resident and nothing is under way. A fault leaves an SM that is never idle again.
    pub fn is_idle(&self) -> bool {
        self.fault.is_none()
            && self.warps.resident == 0
            && self.collectors.is_empty()
            && self.units.is_idle()
            && self.lsu.is_idle()
            && self.pending_notices.is_empty()
    }

    /// What was counted by the SM and everything in it.
    pub fn statistics(&self) -> Vec<Group> {
        let mut groups = vec![self.statistics.report(), self.lsu.statistics().report()];
        groups.extend(self.registers.statistics());
        groups.extend(self.l1d.statistics());
        groups.extend(self.instructions.statistics());
        groups.extend(self.constants.statistics());
        groups
    }

    /// Takes one command.
    fn command(&mut self, launch: &Launch, now: Cycle) {
        let Some(command) = self.commands.receive(now) else { return };
        self.commands.release(1, now);
        match command {
            Command::StartCta(index) => self.start_cta(launch, index),
            Command::Flush => self.lsu.flush_for_kernel_end(),
        }
    }

    /// Memories and load/store unit, and what they have finished.
    fn memory(&mut self, launch: &Launch, now: Cycle) {
        while let Some(packet) = self.replies.receive(now) {
            self.replies.release(packet.wire_bytes().div_ceil(self.flit_bytes), now);
            match packet.client {
                strata_memory::Client::L1d => self.l1d.accept(packet, now),
                strata_memory::Client::Constant => self.constants.accept(packet, now),
                strata_memory::Client::Instruction => self.instructions.accept(packet, now),
            }
        }
        self.l1d.tick(now);
        self.lsu.tick(&mut *self.l1d, &mut *self.constants, now);
        self.warps.at_fence = self.lsu.waiting_fence();
        self.warps.at_copies = self.lsu.waiting_copies();
        while self.units.has_place()
            && let Some(finished) = self.lsu.finished(now)
        {
            let instruction = &launch.kernel.code[finished.pc as usize];
            self.units.finish_memory(instruction, finished);
        }
        if self.lsu.kernel_end_flushed() {
            self.notify(Notice::Flushed);
        }
    }

    pub(crate) fn notify(&mut self, notice: Notice) {
        self.pending_notices.push(notice).expect("there is room for every CTA's notice and the flush's");
    }

    fn send_notices(&mut self, now: Cycle) {
        while let Some(notice) = self.pending_notices.front() {
            if self.notices.send(*notice, 1, now).is_err() {
                return;
            }
            self.pending_notices.pop();
        }
    }

    /// Counts cycles and their chances to issue.
    pub(crate) fn count_cycles(&mut self, cycles: u64) {
        self.count_cycles_of(self.warps.resident, cycles);
    }

    /// As [`Sm::count_cycles`], for cycles in which these warps were resident.
    pub(crate) fn count_cycles_of(&mut self, resident: u64, cycles: u64) {
        let resident = u64::from(resident.count_ones());
        self.statistics.cycles += cycles;
        self.statistics.cycles_active += if resident > 0 { cycles } else { 0 };
        self.statistics.resident_warp_cycles += resident * cycles;
        self.statistics.issue_slots += cycles * self.schedulers.len() as u64;
    }
}

impl Island for Sm {
    fn hang(&mut self, bell: &Doorbell) {
        self.injector.requests.hang(bell);
        self.replies.hang(bell);
        self.commands.hang(bell);
        self.notices.hang(bell);
    }

    fn collect(&mut self, window: Window) {
        self.injector.requests.collect(window);
        self.replies.collect(window);
        self.commands.collect(window);
        self.notices.collect(window);
    }

    fn tick(&mut self, now: Cycle) {
        if self.fault.is_some() {
            return;
        }
        // Taken out for the cycle, so that the stages can read it while they change the rest.
        let Some(launch) = self.launch.take() else { return };
        if self.quiet.is_none() {
            self.account_gap(now);
        }
        let moved = self.memory_due.min(self.arrival()) <= now;
        if moved {
            self.command(&launch, now);
            self.memory(&launch, now);
        }
        let ran = moved || self.pipeline_due <= now;
        let mut memory_changes = moved;
        if ran {
            self.write_back(&launch, now);
            self.dispatch(&launch, now);
            self.collect_operands(&launch, now);
            self.issue(&launch, now);
            memory_changes |= self.fetch.wants() || self.gave_to_memory;
            self.gave_to_memory = false;
            self.fetch.tick(&mut *self.instructions, &mut self.warps.dirty, now);
            self.pipeline_due = self.next_of_pipeline(now.next());
        }
        // A packet that is ready to leave is an event of its memory's.
        if moved {
            self.injector.tick(&mut *self.l1d, &mut *self.constants, &mut *self.instructions, now);
        }
        if !self.pending_notices.is_empty() {
            self.send_notices(now);
            memory_changes = true;
        }
        if memory_changes {
            self.memory_due = self.next_of_memory(now.next());
        }
        self.launch = Some(launch);
        if self.fault.is_some() {
            self.failed_at = now;
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.fault.is_some() || self.launch.is_none() {
            return Cycle::NEVER;
        }
        self.memory_due.min(self.pipeline_due).min(self.arrival()).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.injector
            .requests
            .flush(window)
            .min(self.replies.flush(window))
            .min(self.commands.flush(window))
            .min(self.notices.flush(window))
    }

    fn progress(&self) -> u64 {
        // Instructions alone would not do: a flush at the end of a kernel takes long and issues nothing.
        self.statistics.issued + self.statistics.ctas + self.injector.sent
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.explain(report);
    }

    fn failed(&self) -> bool {
        self.fault.is_some()
    }
}

impl Sm {
    /// When the next reply or command is here.
    #[inline]
    fn arrival(&self) -> Cycle {
        self.replies.next_arrival().min(self.commands.next_arrival())
    }

    /// Earliest cycle from `now` on at which memories, load/store unit or the ways out of the SM do anything
    /// by themselves.
    fn next_of_memory(&self, now: Cycle) -> Cycle {
        if !self.pending_notices.is_empty() {
            return now;
        }
        let memory = self.lsu.next_event(&*self.l1d, now).min(self.l1d.next_event(now));
        memory.min(self.constants.next_event(now)).min(self.instructions.next_event(now)).max(now)
    }

    /// Earliest cycle from `now` on at which a stage from fetch to write-back does anything by itself.
    fn next_of_pipeline(&self, now: Cycle) -> Cycle {
        if self.can_issue_or_fetch() || self.warps.barrier_results_due != 0 {
            return now;
        }
        let units = self.next_dispatch(now).min(self.units.next_event(now));
        units.min(self.registers.next_event(now)).min(self.warps.next_wake()).max(now)
    }

    /// Earliest cycle at which an instruction in a collector can go on.
    fn next_dispatch(&self, now: Cycle) -> Cycle {
        use crate::collector::Target;
        if !self.collectors.any_ready() {
            return Cycle::NEVER;
        }
        if self.collectors.has_ready(Target::Control) {
            return now;
        }
        let mut next = Cycle::NEVER;
        for kind in UnitKind::ALL {
            if !self.collectors.has_ready(Target::Unit(kind)) {
                continue;
            }
            // A full load/store unit announces itself when it has finished something.
            if kind != UnitKind::Ldst || self.lsu.can_accept() {
                next = next.min(self.units.next_available(kind, now));
            }
        }
        next
    }
}
