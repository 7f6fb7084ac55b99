//! The streaming multiprocessor: its parts, its cycle, and its state between launches.

use std::sync::Arc;

use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Ran, Ring, Slab, Span, Window, typed_id};
use strata_memory::Packet;
use strata_memory::doors::{L1d, LaneEvent, RegisterFile};
use strata_memory::read_only::{ReadOnly, SecondLevel};
use strata_memory::translation::Mmu;
use strata_ptx::isa::{MAX_ROWS, Reg};
use strata_ptx::lanes::Row;

use crate::barrier_unit::BarrierUnit;
use crate::barriers::{Barriers, Release};
use crate::clusters::Clusters;
use crate::collector::Collectors;
use crate::config::{SmConfig, UnifiedStorage};
use crate::cta::Ctas;
use crate::demands::Demands;
use crate::dispatch::{Command, Notice};
use crate::doors::{Doors, Memories};
use crate::execute::Units;
use crate::fetch::Fetch;
use crate::inject::Injector;
use crate::launch::{Fault, Launch};
use crate::lsu::Lsu;
use crate::micro::MicroOp;
use crate::occupancy::Limits;
use crate::owners::OwnerLinks;
use crate::print::Print;
use crate::quiet::Quiet;
use crate::scheduler::{Moment, Scheduler, SchedulerSite, Throttle};
use crate::scoreboard::Scoreboard;
use crate::slots::Slots;
use crate::statistics::{SmStatistics, Tally};
use crate::target::{SubCores, Target};
use crate::values_beside::ValuesBeside;
use crate::warps::Warps;

typed_id! {
    /// Index of a streaming multiprocessor in the GPU.
    SmId, u16
}

/// The parts from which an SM is built, beside its [`Memories`].
pub struct SmParts {
    /// Index of the SM in the GPU.
    pub id: SmId,
    /// Number of SMs in the GPU (`%nsmid`).
    pub sms: u32,
    /// Core clock in MHz, for `%globaltimer` and `nanosleep`.
    pub clock_mhz: u32,
    /// Bytes per flit, the credit unit of the network links.
    pub flit_bytes: u32,
    /// The load/store unit, including shared memory.
    pub lsu: Lsu,
    /// Storage that the L1D shares with shared memory; `None` if its capacity is fixed.
    pub unified: Option<UnifiedStorage>,
    /// Link to the request network; credits are flits.
    pub requests: Outlet<Packet>,
    /// Link from the reply network; credits are flits.
    pub replies: Inlet<Packet>,
    /// Links to and from the network of owners; `None` in machines whose words have no owners.
    pub owners: Option<OwnerLinks>,
    /// The MMU; `None` where addresses are not translated.
    pub mmu: Option<Mmu>,
    /// Link from the CTA dispatcher.
    pub commands: Inlet<Command>,
    /// Link to the CTA dispatcher.
    pub notices: Outlet<Notice>,
}

impl SmParts {
    /// Whether the SM has what few machines have: a network of owners, a path in front of its lanes, a part behind the banks of
    /// shared memory, an MMU, a throttle, schedulers that look at warps in a long wait, arithmetic by subroutines, or a ledger.
    pub fn has_extras(&self, config: &SmConfig) -> bool {
        let scheduling = &config.scheduling;
        let throttles = scheduling.throttle(&SchedulerSite { number: 0, schedulers: 1, warps: 1 }).is_some();
        let has_subroutines = config.timing.iter().any(|(_, _, timing)| timing.is_subroutine());
        self.owners.is_some()
            || self.mmu.is_some()
            || self.lsu.has_extras()
            || throttles
            || scheduling.looks_at_waiting()
            || has_subroutines
    }
}

/// What waits until the lane path is done with an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LaneWait {
    /// The warps that wait at a barrier.
    Release(Release),
    /// The end of the CTA in a slot.
    CtaEnd(usize),
}

/// A streaming multiprocessor with its private memories.
///
/// Fields are visible within this crate only: each pipeline stage is an `impl Sm` in its own file.
pub struct Sm<D: Doors> {
    pub(crate) id: SmId,
    pub(crate) sms: u32,
    pub(crate) clock_mhz: u64,
    pub(crate) flit_bytes: u32,
    pub(crate) limits: Limits,
    pub(crate) launch: Option<Arc<Launch>>,

    pub(crate) warps: Warps,
    pub(crate) ctas: Ctas,
    pub(crate) barriers: Barriers,
    pub(crate) barrier_unit: BarrierUnit,
    pub(crate) fetch: Fetch,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) schedulers: Vec<Scheduler>,
    /// What holds loads back, beside the schedulers.
    pub(crate) throttle: Option<Box<dyn Throttle>>,
    /// Per scheduler: mask of its warp slots.
    pub(crate) shares: Vec<u64>,
    pub(crate) demands: Demands,
    /// The code of the kernel that runs.
    pub(crate) micro: Arc<[MicroOp]>,
    /// Per warp: memory instructions in collectors.
    pub(crate) collecting_memory: Slots<u8>,
    pub(crate) sub_cores: SubCores,
    pub(crate) collectors: Collectors,
    pub(crate) registers: Box<D::Registers>,
    /// Values of registers, where the kernel's accesses of the register file are not those of rows.
    pub(crate) beside: Option<Box<ValuesBeside>>,
    pub(crate) units: Units,
    pub(crate) lsu: Lsu,
    pub(crate) l1d: Box<D::L1d>,
    pub(crate) unified: Option<UnifiedStorage>,
    pub(crate) constants: D::ReadOnly,
    pub(crate) instructions: D::ReadOnly,
    /// Behind both, in machines that have it.
    pub(crate) second: Option<Box<SecondLevel>>,
    pub(crate) injector: Injector,
    pub(crate) replies: Inlet<Packet>,
    pub(crate) owners: Option<Box<OwnerLinks>>,
    /// Between the L1D and the network, where addresses are translated.
    pub(crate) mmu: Option<Box<Mmu>>,
    commands: Inlet<Command>,
    notices: Outlet<Notice>,
    /// Notices waiting for credits.
    pub(crate) pending_notices: Ring<Notice>,

    /// What waits for the lane path, by the number of its event.
    waiting_for_lanes: Slab<LaneWait>,
    /// Warps that a barrier released in this cycle.
    pub(crate) released: u64,
    /// The barriers of clusters.
    pub(crate) clusters: Clusters,
    /// Operand rows of the control instruction being resolved.
    pub(crate) control_rows: [Row; MAX_ROWS],
    pub(crate) prints: Vec<Print>,
    /// That of the code in the instruction cache.
    pub(crate) code_version: u64,
    pub(crate) fault: Option<Fault>,
    /// Cycle of the fault.
    pub(crate) failed_at: Cycle,
    /// The issue slots of every cycle before this one have been counted,
    pub(crate) accounted: Cycle,
    /// and of every cycle before this one its resident warps.
    pub(crate) resident_until: Cycle,
    /// Next cycle in which the memories but the instruction cache, or the load/store unit change on their own, or a reply or command arrives.
    pub(crate) memory_due: Cycle,
    /// Before this cycle the L1D has nothing to do and nothing to give, unless it is asked for something.
    pub(crate) l1d_due: Cycle,
    /// The same of the constant cache,
    pub(crate) constants_due: Cycle,
    /// of what stands behind it and the instruction cache,
    pub(crate) second_due: Cycle,
    /// of the MMU,
    pub(crate) mmu_due: Cycle,
    /// and of the instruction cache, which concerns only fetch.
    pub(crate) instructions_due: Cycle,
    /// Whether the load/store unit took instructions when the pipeline last ran.
    pub(crate) lsu_accepts: bool,
    /// Whether the pipeline has passed work to the load/store unit since `memory_due` was computed.
    pub(crate) gave_to_memory: bool,
    pub(crate) pipeline_due: Cycle,
    /// Whether the issue stage issued nothing and would still issue nothing; then,
    pub(crate) is_quiet: bool,
    /// what it found.
    pub(crate) quiet: Quiet,
    /// Whether schedulers look at warps in a long wait.
    pub(crate) looks_at_waiting: bool,
    /// All counters but those of `tally`.
    pub(crate) statistics: SmStatistics,
    pub(crate) tally: Tally,
}

impl<D: Doors> Sm<D> {
    /// Builds an idle SM.
    ///
    /// # Errors
    /// Returns a sentence that names the first bad parameter ([`SmConfig::check`]).
    pub fn new(config: &SmConfig, memories: Memories<D>, parts: SmParts) -> Result<Sm<D>, String> {
        config.check()?;
        assert!(D::EXTRAS || !parts.has_extras(config), "an SM of this type has no extras");
        let Memories { registers, mut l1d, instructions, constants, second } = memories;
        assert!(D::EXTRAS || second.is_none(), "an SM of this type has no second level");
        let warps = *config.warp_slots as usize;
        let ctas = *config.cta_slots as usize;
        let schedulers = *config.schedulers as usize;
        let collectors = Collectors::new(config);
        let shares = (0..schedulers)
            .map(|scheduler| (scheduler..warps).step_by(schedulers).fold(0, |share, warp| share | 1 << warp))
            .collect();
        let site = |number| SchedulerSite { number, schedulers, warps };
        if config.scheduling.hears_l1d() {
            l1d.tell_news();
        }
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
            barrier_unit: BarrierUnit::new(config.barrier_timing.as_ref()),
            fetch: Fetch::new(*config.instruction_buffer, config.instruction_bytes(), config.fetches()),
            scoreboard: Scoreboard::new(),
            schedulers: (0..schedulers).map(|number| config.scheduling.scheduler(&site(number))).collect(),
            throttle: config.scheduling.throttle(&site(0)),
            shares,
            demands: Demands::new(),
            micro: Arc::new([]),
            collecting_memory: Slots::new(|| 0),
            sub_cores: SubCores::new(config),
            collectors,
            registers,
            beside: None,
            units: Units::new(config),
            lsu: parts.lsu.with_accesses_per_cycle(l1d.accesses_per_cycle()),
            injector: Injector::new(parts.requests, parts.flit_bytes.max(1))
                .with_packets(l1d.packets_per_cycle()),
            l1d,
            unified: parts.unified,
            constants,
            instructions,
            second: second.map(Box::new),
            replies: parts.replies,
            owners: parts.owners.map(Box::new),
            mmu: parts.mmu.map(Box::new),
            commands: parts.commands,
            notices: parts.notices,
            pending_notices: Ring::new(ctas + 1),
            waiting_for_lanes: Slab::new(warps + ctas),
            released: 0,
            clusters: Clusters::default(),
            control_rows: [Row::ZERO; MAX_ROWS],
            prints: Vec::new(),
            code_version: 0,
            fault: None,
            failed_at: Cycle::NEVER,
            accounted: Cycle::ZERO,
            resident_until: Cycle::ZERO,
            memory_due: Cycle::ZERO,
            l1d_due: Cycle::ZERO,
            constants_due: Cycle::ZERO,
            second_due: Cycle::NEVER,
            mmu_due: Cycle::NEVER,
            instructions_due: Cycle::ZERO,
            lsu_accepts: true,
            gave_to_memory: false,
            pipeline_due: Cycle::ZERO,
            is_quiet: false,
            quiet: Quiet::default(),
            looks_at_waiting: config.scheduling.looks_at_waiting(),
            statistics: SmStatistics::default(),
            tally: Tally::default(),
        })
    }

    /// Receives and executes at most one command per cycle. Returns whether there was one.
    fn command(&mut self, launch: &Launch, now: Cycle) -> bool {
        let Some(command) = self.commands.receive(now) else { return false };
        self.commands.release(1, now);
        match command {
            Command::StartCta(index) => self.start_cta(launch, index, now),
            Command::Flush => {
                self.follow(|path| path.flush_begins(now));
                self.lsu.flush_for_kernel_end();
            }
        }
        true
    }

    /// Tells the lane path of an event, and what goes on once it is over.
    pub(crate) fn wait_for_lanes(&mut self, event: LaneEvent, wait: LaneWait, now: Cycle) {
        let number =
            self.waiting_for_lanes.insert(wait).expect("a warp and a CTA wait for one thing at a time");
        self.lsu.order(event, Some(number), now);
        self.gave_to_memory = true;
    }

    /// Goes on with what waited for the lane path.
    pub(crate) fn resume(&mut self, launch: &Launch, number: u32, now: Cycle) {
        match self.waiting_for_lanes.remove(number) {
            LaneWait::Release(release) => self.release_in_time(launch, release, now),
            LaneWait::CtaEnd(slot) => self.end_cta(slot, now),
        }
    }

    /// A register's value, when nothing that was written to it is under way.
    pub(crate) fn peek_register(&self, warp: u8, register: Reg) -> Row {
        match &self.beside {
            Some(beside) => *beside.peek(warp, register),
            None => self.registers.peek(warp, register),
        }
    }

    /// A moment of this SM, for its throttle.
    pub(crate) fn moment(&self, now: Cycle) -> Moment {
        Moment { now, issued: self.statistics.issued }
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

    /// Counts the cycles before `until` that are not counted, with the warps now resident: call it before those
    /// change.
    pub(crate) fn count_cycles(&mut self, until: Cycle) {
        let cycles = until.since(self.resident_until);
        self.resident_until = until;
        let resident = u64::from(self.warps.resident.count_ones());
        self.statistics.cycles += cycles;
        self.statistics.cycles_active += if resident > 0 { cycles } else { 0 };
        self.statistics.resident_warp_cycles += resident * cycles;
        self.statistics.issue_slots += cycles * self.schedulers.len() as u64;
    }
}

impl<D: Doors> Island for Sm<D> {
    fn hang(&mut self, bell: &Doorbell) {
        self.injector.requests.hang(bell);
        self.replies.hang(bell);
        self.commands.hang(bell);
        self.notices.hang(bell);
        self.owners.iter().for_each(|links| links.hang(bell));
        self.mmu.iter().for_each(|mmu| mmu.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.injector.requests.collect(window);
        self.replies.collect(window);
        self.commands.collect(window);
        self.notices.collect(window);
        self.owners.iter_mut().for_each(|links| links.collect(window));
        self.mmu.iter_mut().for_each(|mmu| mmu.collect(window));
    }

    fn tick(&mut self, now: Cycle) {
        self.run(Span { from: now, until: now.next(), every_cycle: true });
    }

    fn run(&mut self, span: Span) -> Ran {
        // Taken out so that stages can read it while they change the rest.
        let launch = if self.fault.is_none() { self.launch.take() } else { None };
        let Some(launch) = launch else { return Ran { last: None, due: Cycle::NEVER } };
        if D::EXTRAS {
            // Cycles in which nothing issued may still be to be counted.
            self.lsu.rest_ledger(span.from.min(self.accounted));
        }
        self.memory_due = self.memory_due.min(self.arrival());
        let mut due = self.due().max(span.from);
        let mut cycle = if span.every_cycle { span.from } else { due };
        let mut last = None;
        while cycle < span.until {
            if cycle >= due {
                last = Some(cycle);
            }
            self.cycle(&launch, cycle);
            if self.fault.is_some() {
                self.failed_at = cycle;
                due = Cycle::NEVER;
                break;
            }
            due = self.due().max(cycle.next());
            cycle = if span.every_cycle { cycle.next() } else { due };
        }
        self.launch = Some(launch);
        Ran { last, due }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.fault.is_some() || self.launch.is_none() {
            return Cycle::NEVER;
        }
        self.due().min(self.arrival()).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let owners = self.owners.as_mut().map_or(Cycle::NEVER, |links| links.flush(window));
        let mmu = self.mmu.as_mut().map_or(Cycle::NEVER, |mmu| mmu.flush(window));
        self.injector
            .requests
            .flush(window)
            .min(owners)
            .min(mmu)
            .min(self.replies.flush(window))
            .min(self.commands.flush(window))
            .min(self.notices.flush(window))
    }

    fn progress(&self) -> u64 {
        // Instructions alone are not enough: the flush at the end of a kernel takes long and issues none.
        self.statistics.issued + self.statistics.ctas + self.injector.sent
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.explain(report);
    }

    fn failed(&self) -> bool {
        self.fault.is_some()
    }
}

impl<D: Doors> Sm<D> {
    /// Simulates a cycle. Inline in the loop over a window's cycles, of which many do little.
    #[inline(always)]
    fn cycle(&mut self, launch: &Launch, now: Cycle) {
        if !self.is_quiet && self.accounted < now {
            self.account_gap(now);
        }
        let moved = self.memory_due <= now;
        let mut runs = self.pipeline_due <= now;
        if moved {
            runs |= self.command(launch, now);
            runs |= self.memory(launch, now);
        }
        let fetches = self.instructions_due <= now;
        if fetches && !runs {
            runs = self.fetch.is_waiting() && self.instructions.next_event(now) <= now;
        }
        let mut memory_changes = moved;
        if runs {
            self.write_back(launch, now);
            if self.collectors.any_ready() {
                self.dispatch(launch, now);
            }
            self.collect_operands(now);
            self.issue(launch, now);
            memory_changes |= self.gave_to_memory;
            self.gave_to_memory = false;
            if self.fetch.tick(&mut self.instructions, &mut self.warps.dirty, now) {
                self.instructions_due = now;
            }
            self.lsu_accepts = self.lsu.can_accept();
            self.pipeline_due = self.next_of_pipeline(now.next());
        }
        // A packet that becomes ready to leave counts as an event of its memory.
        if moved || fetches {
            memory_changes |= D::EXTRAS && self.second.is_some() && self.ask_second(now);
            memory_changes |= D::EXTRAS && self.mmu.is_some() && self.translate(now);
            self.inject(now);
            if D::EXTRAS && self.owners.is_some() {
                self.answer(now);
            }
        }
        if self.instructions_due <= now {
            self.instructions_due = self.instructions.next_event(now.next());
        }
        if !self.pending_notices.is_empty() {
            self.send_notices(now);
            memory_changes = true;
        }
        if memory_changes {
            self.memory_due = self.next_of_memory(now.next());
            if D::EXTRAS {
                self.lsu.gauge_front(now);
            }
        }
    }

    /// Earliest cycle in which anything changes, as far as the last window knew; it may have passed.
    #[inline]
    fn due(&self) -> Cycle {
        self.memory_due.min(self.pipeline_due).min(self.instructions_due)
    }

    /// Arrival cycle of the next reply, packet of an owner, page or command.
    #[inline]
    pub(crate) fn arrival(&self) -> Cycle {
        let replies = self.replies.next_arrival().min(OwnerLinks::arrival(&self.owners));
        let pages = if D::EXTRAS {
            self.mmu.as_ref().map_or(Cycle::NEVER, |mmu| mmu.arrival())
        } else {
            Cycle::NEVER
        };
        replies.min(self.commands.next_arrival()).min(pages)
    }

    /// Earliest cycle from `now` on in which a stage from fetch to write-back changes on its own.
    fn next_of_pipeline(&self, now: Cycle) -> Cycle {
        if self.can_issue_or_fetch() || self.warps.barrier_results_due != 0 {
            return now;
        }
        let units = self.next_dispatch(now).min(self.units.next_event(now));
        let due = units.min(self.registers.next_event(now)).min(self.fetch.due());
        due.min(self.warps.next_wake()).min(self.barrier_unit.next()).max(now)
    }

    /// Earliest cycle in which an instruction in a collector can be dispatched.
    fn next_dispatch(&self, now: Cycle) -> Cycle {
        let ready = self.collectors.ready_targets();
        if Target::CONTROL.is_in(ready) {
            return now;
        }
        let mut next = Cycle::NEVER;
        for target in Target::members(ready) {
            // A full load/store unit announces when it has finished an instruction.
            if target != Target::MEMORY || self.lsu.can_accept() {
                next = next.min(self.units.next_available(target, now));
            }
        }
        next
    }
}
