//! An SM as the rest of the machine knows it: an island that runs one launch after another.

use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Island};
use strata_memory::doors::{L1d, RegisterFile};
use strata_memory::read_only::ReadOnly;
use strata_memory::{ByteMask, Line, LineAddress, WarpRows};

use crate::doors::Doors;
use crate::launch::{Fault, Launch};
use crate::ledger::Accounts;
use crate::livelock::{Watch, Watching};
use crate::micro::Pipeline;
use crate::occupancy::{Demand, Occupancy, occupancy};
use crate::path::SmPath;
use crate::print::Print;
use crate::sm::Sm;
use crate::values_beside::ValuesBeside;

/// An SM, whatever stands behind its doors.
pub trait Multiprocessor: Island {
    /// Prepares an idle SM for a launch that begins at `now`. Returns the kernel's occupancy, which the dispatcher
    /// needs; with 0 CTAs, dispatch nothing.
    ///
    /// # Panics
    /// When the SM is not idle.
    fn prepare(&mut self, launch: Arc<Launch>, now: Cycle) -> Occupancy;

    /// Brings the statistics up to the end of a kernel, excluding cycle `end`.
    fn settle(&mut self, end: Cycle);

    /// Takes the prints since the last call, ordered by CTA and warp, and in program order within a warp.
    fn take_prints(&mut self) -> Vec<Print>;

    /// The fault that stopped this SM and its cycle, if any.
    fn fault(&self) -> Option<(Cycle, &Fault)>;

    /// Counts what its warps have done that others may see, stores included that change no value.
    fn effects(&self) -> u64;

    /// Watches the cycle that has just passed for warps that only go round.
    fn watch(&self, watch: &mut Watch) -> Watching;

    /// Adds to `report` a sentence for each warp of a livelock that a watch has found.
    fn explain_livelock(&self, watch: &Watch, report: &mut Vec<String>);

    /// Reads a line for a host copy between launches: the words that its L1D and its stash own.
    fn peek_line(&mut self, line: LineAddress, below: &mut Line);

    /// Updates what its L1D and its stash hold after a host copy between launches.
    fn poke_line(&mut self, line: LineAddress, bytes: ByteMask, data: &Line);

    /// The counters of the SM, its load/store unit, register file and caches.
    fn statistics(&self) -> Vec<Group>;

    /// Remembers steps for the critical path of the launch that was prepared, where that is asked for. The SM holds so many of its CTAs at
    /// once.
    fn follow_launch(&mut self, now: Cycle, places: u32);

    /// Takes what is remembered for the critical path of the launch; `None` if nothing was.
    fn take_path(&mut self) -> Option<SmPath>;

    /// Takes what was charged to instructions, CTAs and buffers since the launch began, by what accounts are kept of.
    fn take_accounts(&mut self) -> Vec<Accounts>;
}

impl<D: Doors> Multiprocessor for Sm<D> {
    fn prepare(&mut self, launch: Arc<Launch>, now: Cycle) -> Occupancy {
        assert!(self.is_idle(), "SM {} is prepared for a launch while another one runs", self.id.0);
        let occupancy = self.occupancy(&launch);
        self.ctas.prepare(&occupancy, launch.warps_per_cta());
        self.clusters.prepare(&launch);
        self.registers.prepare(&self.warp_rows(&launch, &occupancy));
        self.beside = (!launch.kernel.accesses.is_empty()).then(|| {
            assert!(D::EXTRAS, "an SM of this type has no values beside its register file");
            let warps = self.warps.slots as usize;
            Box::new(ValuesBeside::new(warps, occupancy.rows_per_warp, self.collectors.tickets()))
        });
        let is_new = self.launch.as_ref().is_none_or(|before| !Arc::ptr_eq(&before.kernel, &launch.kernel));
        if is_new {
            let code = &launch.kernel.code;
            let sm = Pipeline {
                kind_of: &|class| self.units.kind_of(class),
                is_subroutine: &|class| self.units.is_subroutine(class),
                collectors: &self.collectors,
                banks: self.registers.banks().map(|banks| &*banks).filter(|_| self.beside.is_none()),
                accesses: &launch.kernel.accesses,
                has_lane_path: self.lsu.has_lane_path(),
            };
            self.micro = launch.micro.get(code, &sm);
            self.units.prepare(code);
        }
        self.fetch.prepare(launch.code_at, launch.kernel.code.len() as u32);
        let is_new_code = self.code_version != launch.code_version;
        if is_new_code {
            self.code_version = launch.code_version;
            self.instructions.invalidate();
        }
        self.constants.invalidate();
        if let Some(second) = &mut self.second {
            second.invalidate(is_new_code);
        }
        self.lsu.prepare(&launch);
        if let (Some(unified), Some(carve_out)) = (&self.unified, occupancy.carve_out) {
            self.l1d.resize(unified.l1d_bytes(carve_out, occupancy.unused_register_bytes));
        }
        let moment = self.moment(now);
        if let Some(throttle) = &mut self.throttle {
            // What the flush at the end of the last kernel told.
            while self.l1d.news().is_some() {}
            throttle.begin(moment);
        }
        self.launch = Some(launch);
        self.count_cycles(self.accounted);
        (self.accounted, self.resident_until) = (now, now);
        self.is_quiet = false;
        (self.memory_due, self.pipeline_due) = (now, now);
        (self.l1d_due, self.constants_due, self.instructions_due) = (now, now, now);
        self.second_due = if self.second.is_some() { now } else { Cycle::NEVER };
        self.mmu_due = if self.mmu.is_some() { now } else { Cycle::NEVER };
        occupancy
    }

    fn settle(&mut self, end: Cycle) {
        self.account_gap(end);
        self.count_cycles(end);
        // An SM that has failed offers nothing any more.
        let end = if self.fault.is_some() { self.failed_at.next() } else { end };
        self.lsu.settle(&mut *self.l1d, end);
    }

    fn take_prints(&mut self) -> Vec<Print> {
        let mut prints = std::mem::take(&mut self.prints);
        prints.sort_by_key(|print| (print.cta, print.warp));
        prints
    }

    fn fault(&self) -> Option<(Cycle, &Fault)> {
        self.fault.as_ref().map(|fault| (self.failed_at, fault))
    }

    fn effects(&self) -> u64 {
        Sm::effects(self)
    }

    fn watch(&self, watch: &mut Watch) -> Watching {
        self.watch_cycle(watch)
    }

    fn explain_livelock(&self, watch: &Watch, report: &mut Vec<String>) {
        Sm::explain_livelock(self, watch, report);
    }

    fn peek_line(&mut self, line: LineAddress, below: &mut Line) {
        self.l1d.peek(line, below);
        if let Some(part) = self.lsu.client() {
            part.peek(line, below);
        }
    }

    fn poke_line(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.l1d.poke(line, bytes, data);
        if let Some(part) = self.lsu.client() {
            part.poke(line, bytes, data);
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut statistics = self.statistics;
        self.tally.add_to(&mut statistics);
        let mut groups = vec![statistics.report(), self.lsu.statistics().report()];
        groups.extend(self.throttle.iter().flat_map(|throttle| throttle.statistics()));
        groups.extend(self.registers.statistics());
        groups.extend(self.lsu.lane_statistics());
        groups.extend(self.lsu.scratchpad_statistics());
        groups.extend(self.l1d.statistics());
        groups.extend(self.instructions.statistics());
        groups.extend(self.constants.statistics());
        groups.extend(self.second.iter().flat_map(|second| second.statistics()));
        groups.extend(self.mmu.iter().flat_map(|mmu| mmu.statistics()));
        groups
    }

    fn follow_launch(&mut self, now: Cycle, places: u32) {
        let cluster = self.launch.as_ref().map_or(1, |launch| launch.cluster_ctas());
        self.follow(|path| path.begin(now, (places as usize, cluster as usize)));
    }

    fn take_path(&mut self) -> Option<SmPath> {
        self.lsu.path()?.take()
    }

    fn take_accounts(&mut self) -> Vec<Accounts> {
        self.lsu.take_accounts()
    }
}

impl<D: Doors> Sm<D> {
    /// Register rows of a warp whose threads have so many registers.
    fn rows_of(&self, registers: u32) -> u32 {
        (registers * 32).next_multiple_of(self.limits.register_unit) / 32
    }

    fn rows_spared(&self, launch: &Launch) -> u32 {
        let Some(registers) = &launch.registers else { return 0 };
        let most = self.rows_of(launch.kernel.registers);
        registers.iter().map(|registers| most - self.rows_of(*registers)).sum()
    }

    /// The rows of each warp slot.
    fn warp_rows(&self, launch: &Launch, occupancy: &Occupancy) -> WarpRows {
        match &launch.registers {
            None => WarpRows::even(occupancy.rows_per_warp),
            Some(registers) => WarpRows::of(|slot| self.rows_of(registers[slot % registers.len()])),
        }
    }

    /// Computes how many CTAs of a launch fit on this SM, and what limits them. Of storage that it shares with the L1D,
    /// shared memory takes the smallest carve-out that holds them.
    pub(crate) fn occupancy(&self, launch: &Launch) -> Occupancy {
        let demand = Demand {
            warps: launch.warps_per_cta(),
            registers: launch.kernel.registers,
            rows_spared: self.rows_spared(launch),
            shared_bytes: launch.shared_per_cta(),
            barriers: launch.kernel.barriers,
        };
        let occupancy = occupancy(&self.limits, &demand);
        let shared_bytes = occupancy.ctas * occupancy.shared_per_cta;
        let carve_out = self.unified.as_ref().map(|unified| unified.carve_out(shared_bytes));
        Occupancy { carve_out, ..occupancy }
    }

    /// Whether no CTA is resident and nothing is in flight. An SM stopped by a fault is never idle again.
    pub(crate) fn is_idle(&self) -> bool {
        self.fault.is_none()
            && self.warps.resident == 0
            && self.collectors.is_empty()
            && self.units.is_idle()
            && self.lsu.is_idle()
            && self.pending_notices.is_empty()
    }
}
