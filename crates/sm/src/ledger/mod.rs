//! What an SM counts by instruction, by CTA and by buffer, beside its totals.
//!
//! Whatever is counted while a ledger is kept is charged to one account of each kind: that of the instruction or the CTA behind it, that of the
//! buffer that an access goes to, or the account of what belongs to none. So the accounts of a kind add up to the SM's totals.
//!
//! A lost issue slot is charged to one of the warps that wait for the cause that it counts for. If several do, the cycle in which they all began
//! to wait says which.

mod account;
mod accounts;
mod event;
mod key;
mod latency;
mod lost;
mod served;

use std::sync::Arc;

use strata_engine::statistics::Statistics;
use strata_engine::{Cycle, Gauge};
use strata_memory::bits::members;
use strata_memory::{Level, LineAddress};
use strata_ptx::isa::{Class, Instruction, Pc};

pub use account::Account;
pub use accounts::Accounts;
pub(crate) use event::{At, Offered};
pub use key::Key;
pub use latency::Latencies;
pub(crate) use lost::{Loss, Lost, Waiting};
pub use served::ServedStatistics;

use crate::collector::PREDICATES;
use crate::launch::Launch;
use crate::lsu::{LsuStatistics, Moved};
use crate::path::PathRecorder;
use crate::quiet::SCHEDULERS;
use crate::record::{Recorder, SmEvent, SmLog, Waits};
use crate::scoreboard::Awaited;
use crate::slots::Slots;
use crate::statistics::Stall;
use accounts::Table;
use served::{Answers, InFlight};

/// Registers that an instruction can name.
const REGISTERS: usize = 256;

/// What a warp has done last.
#[derive(Clone, Debug)]
struct Warp {
    /// Linear index of its CTA.
    cta: u64,
    /// The instruction that it issued last.
    last: Pc,
    /// By register: the instruction that wrote it last,
    writers: [Pc; REGISTERS],
    /// and by predicate.
    predicate_writers: [Pc; PREDICATES],
}

/// The accounts of an SM during a launch.
#[derive(Debug)]
pub struct Ledger {
    tables: Vec<Table>,
    warps: Box<Slots<Warp>>,
    /// What the load/store unit had counted when the launch began.
    begun: LsuStatistics,
    answers: Answers,
    /// By scheduler: what it loses its slots for.
    lost: [Lost; SCHEDULERS],
    /// What events are recorded with, where a trace is asked for.
    recorder: Option<Recorder>,
    /// What steps are remembered with, where the critical path is asked for.
    path: Option<Box<PathRecorder>>,
    /// What instructions in the front of the load/store unit are counted with, where that is asked for.
    queue: Option<Arc<Gauge>>,
}

impl Ledger {
    /// A ledger with accounts of these kinds.
    pub fn new(keys: &[Key]) -> Ledger {
        let warp = || Warp { cta: 0, last: 0, writers: [0; REGISTERS], predicate_writers: [0; PREDICATES] };
        Ledger {
            tables: keys.iter().map(|key| Table::new(*key)).collect(),
            warps: Box::new(Slots::new(warp)),
            begun: LsuStatistics::default(),
            answers: Answers::default(),
            lost: Default::default(),
            recorder: None,
            path: None,
            queue: None,
        }
    }

    /// The ledger of an SM that also records its events. `warps`: the slots of those whose instructions and waits are among them.
    #[must_use]
    pub fn with_record(self, log: Arc<SmLog>, warps: u64) -> Ledger {
        Ledger { recorder: Some(Recorder::new(log, warps)), ..self }
    }

    /// The ledger of an SM that also remembers at most so many steps at a time for the critical path. `log` is that of its L1D's packets.
    #[must_use]
    pub fn with_path(self, log: Arc<SmLog>, most: usize) -> Ledger {
        Ledger { path: Some(Box::new(PathRecorder::new(log, most))), ..self }
    }

    /// The ledger of an SM that also counts the instructions in the front of its load/store unit.
    #[must_use]
    pub fn with_queue(self, queue: Arc<Gauge>) -> Ledger {
        Ledger { queue: Some(queue), ..self }
    }

    /// From a cycle on so many instructions are in the front of the load/store unit.
    #[inline]
    pub(crate) fn queued(&self, instructions: u32, now: Cycle) {
        if let Some(queue) = &self.queue {
            queue.set(instructions.into(), now);
        }
    }

    /// Whether steps are remembered.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.path.is_some()
    }

    /// What steps are remembered with, where they are.
    #[inline]
    pub(crate) fn path(&mut self) -> Option<&mut PathRecorder> {
        self.path.as_deref_mut()
    }

    /// Whether anything is charged.
    #[inline]
    pub(crate) fn has_accounts(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Whether nothing that happens from this cycle of the launch on is charged, recorded or remembered.
    #[inline]
    pub(crate) fn is_over(&self, now: Cycle) -> bool {
        !self.has_accounts()
            && self.path.is_none()
            && self.queue.is_none()
            && self.recorder.as_ref().is_none_or(|recorder| recorder.is_over(now))
    }

    /// Begins the accounts of a launch.
    pub(crate) fn begin(&mut self, launch: &Launch, counted: &LsuStatistics) {
        self.begun = *counted;
        self.answers = Answers::default();
        self.recorder.iter_mut().for_each(Recorder::begin);
        for table in &mut self.tables {
            table.begin(launch);
        }
    }

    /// The accounts since the launch began. What the load/store unit has counted beside them belongs to none.
    pub(crate) fn take(&mut self, counted: &LsuStatistics) -> Vec<Accounts> {
        for scheduler in 0..SCHEDULERS {
            if let Some(loss) = self.lost[scheduler].take() {
                self.charge_loss(loss);
            }
        }
        let counted = counted.since(&self.begun);
        self.tables.iter_mut().map(|table| table.take(&counted)).collect()
    }

    /// A CTA starts in these warp slots.
    pub(crate) fn start_cta(&mut self, cta: u64, warps: std::ops::Range<usize>) {
        for warp in warps {
            (self.warps[warp].cta, self.warps[warp].last) = (cta, 0);
        }
    }

    /// The CTA in these warp slots ends.
    pub(crate) fn end_cta(&mut self, warps: std::ops::Range<usize>, now: Cycle) {
        if let Some(recorder) = &mut self.recorder {
            warps.for_each(|warp| recorder.leaves(warp, now));
        }
    }

    /// An instruction of a warp.
    pub(crate) fn at(&self, warp: usize, pc: Pc) -> At {
        At { pc, cta: self.warps[warp].cta }
    }

    /// The instruction that a warp issued last.
    pub(crate) fn last(&self, warp: usize) -> At {
        self.at(warp, self.warps[warp].last)
    }

    /// A warp of a scheduler issues an instruction, which lanes execute.
    #[inline(always)]
    pub(crate) fn issued(
        &mut self,
        scheduler: usize,
        (warp, pc): (usize, Pc),
        (instruction, class): (&Instruction, Class),
        (active, lanes): (u32, u32),
        now: Cycle,
    ) {
        let cta = self.warps[warp].cta;
        if let Some(recorder) = &self.recorder {
            let warp = warp as u8;
            recorder.record_of(warp, now, SmEvent::Issued { warp, pc, cta, lanes });
        }
        if !self.has_accounts() {
            return;
        }
        self.lost[scheduler % SCHEDULERS].end();
        let of = &mut self.warps[warp];
        of.last = pc;
        for (word, bits) in instruction.write_set.0.iter().enumerate() {
            members(*bits).for_each(|bit| of.writers[64 * word + bit] = pc);
        }
        members(instruction.pred_writes.into()).for_each(|predicate| of.predicate_writers[predicate] = pc);
        self.charge(Some(At { pc, cta }), |account| account.issue((instruction, class), active, lanes));
    }

    /// The instruction of a warp that writes what another one waits for.
    pub(crate) fn writer(&self, warp: usize, awaited: Awaited) -> At {
        let of = &self.warps[warp];
        let pc = match awaited {
            Awaited::Register(register) => of.writers[register],
            Awaited::Predicate(predicate) => of.predicate_writers[predicate],
        };
        At { pc, cta: of.cta }
    }

    /// The warp that a scheduler's slots are charged to from a cycle on, of those that wait for a cause.
    #[inline(always)]
    pub(crate) fn choose(&mut self, scheduler: usize, stalled: (Stall, u64), from: Cycle) -> Option<usize> {
        self.lost[scheduler % SCHEDULERS].choose(stalled, from.0)
    }

    /// Charges a scheduler's slots to the warp that was chosen, where it waits for a cause now.
    #[inline(always)]
    pub(crate) fn lose(&mut self, scheduler: usize, cause: Stall, waiting: Option<Waiting>, slots: u64) {
        if let Some(loss) = self.lost[scheduler % SCHEDULERS].lose(cause, waiting, slots) {
            self.charge_loss(loss);
        }
    }

    /// Charges a scheduler's slots in cycles in which nothing has changed since.
    #[inline]
    pub(crate) fn lose_quietly(&mut self, scheduler: usize, slots: u64) {
        self.lost[scheduler % SCHEDULERS].lose_more(slots);
    }

    /// Charges slots that were lost for a cause.
    #[inline(never)]
    pub(crate) fn charge_loss(&mut self, Loss { cause, waiting, slots }: Loss) {
        self.charge(waiting.map(|waiting| waiting.at), |account| account.stall(cause, slots));
        if let Some(Waiting { producer: Some(producer), .. }) = waiting {
            self.charge(Some(producer), |account| account.held_up(cause, slots));
        }
    }

    /// The load/store unit has counted something for an instruction, and for the buffer of a line.
    #[inline(always)]
    pub(crate) fn add<const N: usize>(
        &mut self,
        (at, line): (At, Option<LineAddress>),
        counters: impl Moved<N>,
        moved: &[u64; N],
    ) {
        for table in &mut self.tables {
            if let Some(account) = table.of_access(at, line) {
                let counters = counters(&mut account.lsu);
                counters.into_iter().zip(moved).for_each(|(counter, more)| *counter += more);
            }
        }
    }

    /// The L1D has taken an access of an instruction that came to the load/store unit in cycle `issued`.
    #[inline(always)]
    pub(crate) fn accepted(&mut self, offered: Offered, issued: Cycle, now: Cycle) {
        let at = self.at(offered.warp.into(), offered.pc);
        let Offered { token, pc, warp, line, bytes, waits } = offered;
        self.record(now, SmEvent::Access { token, warp, pc, line, bytes, waits, issued });
        if !self.has_accounts() {
            return;
        }
        self.answers.accepted(token, InFlight { at, line, bytes, since: now, waits });
    }

    /// Bytes of a line have come to the L1D.
    pub(crate) fn answered(&mut self, line: LineAddress, level: Level, now: Cycle) {
        if self.has_accounts() {
            self.answers.answered(line, level, now);
        }
    }

    /// The L1D has completed an access, which the load/store unit has counted.
    #[inline(always)]
    pub(crate) fn completed(&mut self, token: u32, now: Cycle) {
        self.record(now, SmEvent::Completed { token });
        if !self.has_accounts() {
            return;
        }
        let access = self.answers.completed(token);
        let served = access.waits.then(|| (self.answers.source(&access), now.since(access.since)));
        self.tables.iter_mut().for_each(|table| table.complete(&access, served));
    }

    /// What a scheduler's warps wait for from now on, where that is recorded.
    pub(crate) fn waits(&mut self, waits: &Waits, now: Cycle) {
        if let Some(recorder) = &mut self.recorder {
            recorder.waits(waits, now);
        }
    }

    /// Whether events are recorded.
    pub(crate) fn records(&self) -> bool {
        self.recorder.is_some()
    }

    /// Records an event, where events are recorded.
    pub(crate) fn record(&self, now: Cycle, event: SmEvent) {
        if let Some(recorder) = &self.recorder {
            recorder.record(now, event);
        }
    }

    #[inline(always)]
    fn charge(&mut self, at: Option<At>, mut what: impl FnMut(&mut Account)) {
        for table in &mut self.tables {
            if let Some(account) = table.of_event(at) {
                what(account);
            }
        }
    }
}
