//! The CTA dispatcher: an island that distributes the CTAs of grids over the SMs.
//!
//! Programs' grids run one after another on the first SMs. Other SMs may have a resident grid, which lives across those and
//! does not keep them from ending; the rest have none.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Window};

/// A message from the dispatcher to an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start the CTA with this linear index in the grid; the SM has room for it.
    StartCta(u64),
    /// Write back and invalidate the L1D; no CTA follows.
    Flush,
}

/// A message from an SM to the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A CTA has finished and released its resources.
    CtaDone,
    /// The L1D has been flushed.
    Flushed,
}

/// The dispatcher's ends of the links to one SM. Each link needs one credit more than the SM has CTA slots.
pub struct SmLinks {
    /// Link to the SM.
    pub commands: Outlet<Command>,
    /// Link from the SM.
    pub notices: Inlet<Notice>,
}

struct Sm {
    links: SmLinks,
    /// CTAs that still fit on the SM.
    room: u32,
    flush: Flush,
}

/// A grid and the SMs that it runs on.
#[derive(Default)]
struct Grid {
    sms: Range<usize>,
    /// When its first CTA may start.
    from: Cycle,
    /// Number of its CTAs.
    ctas: u64,
    /// CTAs that go to an SM together: clusters follow each other.
    cluster: u32,
    next: u64,
    done: u64,
    /// The SM that receives the next CTA if it has room, counted from the first.
    turn: usize,
}

impl Grid {
    /// Whether the first CTA of the next one's cluster has gone to an SM.
    fn is_within_cluster(&self) -> bool {
        !self.next.is_multiple_of(self.cluster.max(1).into())
    }

    /// Room that an SM must have for the next CTA.
    fn room_needed(&self) -> u32 {
        if self.is_within_cluster() { 1 } else { self.cluster.max(1) }
    }

    /// Sends CTAs to SMs with room, at most one each. Returns how many.
    fn hand_out(&mut self, sms: &mut [Sm], now: Cycle) -> u64 {
        if now < self.from {
            return 0;
        }
        let sms = &mut sms[self.sms.clone()];
        let (count, first, before) = (sms.len(), self.turn, self.next);
        for step in 0..count {
            if self.next == self.ctas {
                break;
            }
            let index = (first + step) % count;
            let sm = &mut sms[index];
            // The rest of a cluster goes where its first CTA went.
            let is_begun = self.is_within_cluster();
            if sm.room >= self.room_needed()
                && sm.links.commands.send(Command::StartCta(self.next), 1, now).is_ok()
            {
                sm.room -= 1;
                self.next += 1;
                if self.is_within_cluster() {
                    self.turn = index;
                    break;
                }
                self.turn = (index + 1) % count;
            } else if is_begun {
                break;
            }
        }
        self.next - before
    }

    /// When a CTA can start, if one waits and an SM has room for it.
    fn next_start(&self, sms: &[Sm], now: Cycle) -> Cycle {
        let needed = self.room_needed();
        let can_start = self.next < self.ctas && sms[self.sms.clone()].iter().any(|sm| sm.room >= needed);
        if can_start { self.from.max(now) } else { Cycle::NEVER }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    ToSend,
    Sent,
    Done,
}

/// Starts CTAs in grid order, round robin over a grid's SMs, at most one per SM and cycle. Once all CTAs of a program's grid
/// have finished, it has the L1Ds of its SMs flushed.
pub struct Dispatcher {
    sms: Vec<Sm>,
    /// The program's grid.
    grid: Grid,
    /// The grid that lives on other SMs.
    resident: Grid,
    flushed: usize,
    finished_at: Option<Cycle>,
    progress: u64,
    /// Progress for observers: how many CTAs have finished.
    meter: Arc<AtomicU64>,
}

impl Dispatcher {
    /// A dispatcher with no grid, connected to these SMs, which are all for programs.
    pub fn new(links: Vec<SmLinks>) -> Self {
        let sms: Vec<Sm> = links.into_iter().map(|links| Sm { links, room: 0, flush: Flush::Done }).collect();
        Dispatcher {
            grid: Grid { sms: 0..sms.len(), ..Grid::default() },
            sms,
            resident: Grid::default(),
            flushed: 0,
            finished_at: None,
            progress: 0,
            meter: Arc::default(),
        }
    }

    /// Leaves only the first `sms` SMs, at least one, to programs.
    pub fn with_programs_on(mut self, sms: usize) -> Self {
        self.grid.sms = 0..sms.clamp(1, self.sms.len());
        self
    }

    /// Publishes the number of finished CTAs of the program's grid in `meter`, for observers. The model never reads it.
    pub fn report_to(&mut self, meter: Arc<AtomicU64>) {
        self.meter = meter;
    }

    /// Starts a program's grid of `ctas` CTAs, the first one not before `from`; each SM holds up to `per_sm` of them at once.
    ///
    /// # Panics
    /// When another one is running, or `per_sm` is 0.
    pub fn begin(&mut self, ctas: u64, per_sm: u32, from: Cycle) {
        self.begin_clusters(ctas, 1, per_sm, from);
    }

    /// As [`Dispatcher::begin`], of clusters of `cluster` CTAs, each of which goes to one SM.
    ///
    /// # Panics
    /// When another one is running, or a cluster does not fit an SM.
    pub fn begin_clusters(&mut self, ctas: u64, cluster: u32, per_sm: u32, from: Cycle) {
        let sms = &mut self.sms[self.grid.sms.clone()];
        assert!(sms.iter().all(|sm| sm.flush == Flush::Done), "grids of programs run one after another");
        assert!(per_sm > 0 && per_sm >= cluster, "a grid is begun when its CTAs fit");
        for sm in sms {
            (sm.room, sm.flush) = (per_sm, Flush::ToSend);
        }
        self.grid = Grid { sms: self.grid.sms.clone(), from, ctas, cluster, ..Grid::default() };
        self.flushed = 0;
        self.finished_at = None;
    }

    /// Starts a grid of `per_sm` CTAs for each of `sms`, SMs that run no programs. It lives until its CTAs end.
    ///
    /// # Panics
    /// When one of the SMs runs programs.
    pub fn begin_resident(&mut self, sms: Range<usize>, per_sm: u32) {
        assert!(sms.start >= self.grid.sms.end, "a resident grid has SMs of its own");
        for sm in &mut self.sms[sms.clone()] {
            sm.room = per_sm;
        }
        self.resident = Grid { ctas: sms.len() as u64 * u64::from(per_sm), sms, ..Grid::default() };
    }

    /// Whether every CTA of the program's grid has finished and every L1D of its SMs is flushed.
    pub fn finished(&self) -> bool {
        self.finished_at.is_some()
    }

    /// The cycle in which the last flush notice arrived; `None` while the program's grid runs.
    pub fn finished_at(&self) -> Option<Cycle> {
        self.finished_at
    }

    fn receive(&mut self, now: Cycle) {
        for (index, sm) in self.sms.iter_mut().enumerate() {
            while let Some(notice) = sm.links.notices.receive(now) {
                sm.links.notices.release(1, now);
                self.progress += 1;
                match notice {
                    Notice::CtaDone if index >= self.grid.sms.end => self.resident.done += 1,
                    Notice::CtaDone => {
                        self.grid.done += 1;
                        self.meter.store(self.grid.done, Ordering::Relaxed);
                        sm.room += 1;
                    }
                    Notice::Flushed => {
                        sm.flush = Flush::Done;
                        self.flushed += 1;
                        if self.flushed == self.grid.sms.len() {
                            self.finished_at = Some(now);
                        }
                    }
                }
            }
        }
    }

    fn flush_all(&mut self, now: Cycle) {
        for sm in &mut self.sms {
            if sm.flush == Flush::ToSend && sm.links.commands.send(Command::Flush, 1, now).is_ok() {
                sm.flush = Flush::Sent;
                self.progress += 1;
            }
        }
    }
}

impl Island for Dispatcher {
    fn hang(&mut self, bell: &Doorbell) {
        for sm in &self.sms {
            sm.links.commands.hang(bell);
            sm.links.notices.hang(bell);
        }
    }

    fn collect(&mut self, window: Window) {
        for sm in &mut self.sms {
            sm.links.commands.collect(window);
            sm.links.notices.collect(window);
        }
    }

    fn tick(&mut self, now: Cycle) {
        self.receive(now);
        self.progress += self.grid.hand_out(&mut self.sms, now);
        self.progress += self.resident.hand_out(&mut self.sms, now);
        if self.grid.done == self.grid.ctas {
            self.flush_all(now);
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let arrival = self.sms.iter().map(|sm| sm.links.notices.next_arrival()).min().unwrap_or(Cycle::NEVER);
        let start = self.grid.next_start(&self.sms, now).min(self.resident.next_start(&self.sms, now));
        let can_flush =
            self.grid.done == self.grid.ctas && self.sms.iter().any(|sm| sm.flush == Flush::ToSend);
        if can_flush { now } else { arrival.max(now).min(start) }
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.sms
            .iter_mut()
            .map(|sm| sm.links.commands.flush(window).min(sm.links.notices.flush(window)))
            .min()
            .unwrap_or(Cycle::NEVER)
    }

    fn progress(&self) -> u64 {
        self.progress
    }

    fn waits(&self, report: &mut Vec<String>) {
        let Grid { ctas, next, done, .. } = self.grid;
        if done < ctas {
            let (running, waiting) = (next - done, ctas - next);
            report.push(format!(
                "dispatcher: {done} of {ctas} CTAs have ended, {running} run, {waiting} wait for room"
            ));
        }
        for (index, sm) in self.sms.iter().enumerate() {
            if sm.flush == Flush::Sent {
                report.push(format!("dispatcher: waits for SM {index} to flush its L1D"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::link;

    use super::*;

    type SmEnds = (Inlet<Command>, Outlet<Notice>);

    /// A dispatcher for `count` SMs and the SMs' ends of the links, all with latency 1.
    fn machine(count: usize) -> (Dispatcher, Vec<SmEnds>) {
        let (ours, theirs) = (0..count)
            .map(|_| {
                let (commands, command_inlet) = link(1, 9);
                let (notice_outlet, notices) = link(1, 9);
                (SmLinks { commands, notices }, (command_inlet, notice_outlet))
            })
            .unzip();
        (Dispatcher::new(ours), theirs)
    }

    #[test]
    fn ctas_go_to_the_sms_in_turn_and_end_in_a_flush() {
        let (mut dispatcher, mut sms) = machine(2);
        dispatcher.begin(5, 2, Cycle::ZERO);
        let mut log = Vec::new();
        // Every CTA finishes as soon as it arrives.
        for cycle in 0..12 {
            let window = Window(cycle);
            dispatcher.collect(window);
            for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
                commands.collect(window);
                notices.collect(window);
                while let Some(command) = commands.receive(Cycle(cycle)) {
                    commands.release(1, Cycle(cycle));
                    log.push((cycle, sm, command));
                    let notice = if command == Command::Flush { Notice::Flushed } else { Notice::CtaDone };
                    notices.send(notice, 1, Cycle(cycle)).unwrap();
                }
                notices.flush(window);
                commands.flush(window);
            }
            dispatcher.tick(Cycle(cycle));
            dispatcher.flush(window);
        }
        // The CTAs are sent in cycles 0, 1 and 2 (the first notices arrive in 2). The last CTA's notice, sent in
        // cycle 3, arrives in 4; the flush reaches the SMs in 5 and their replies arrive in 6.
        let start = Command::StartCta;
        assert_eq!(
            log,
            [
                (1, 0, start(0)),
                (1, 1, start(1)),
                (2, 0, start(2)),
                (2, 1, start(3)),
                (3, 0, start(4)),
                (5, 0, Command::Flush),
                (5, 1, Command::Flush),
            ]
        );
        assert_eq!(dispatcher.finished_at(), Some(Cycle(6)));
        assert_eq!(dispatcher.next_event(Cycle(12)), Cycle::NEVER);
    }

    #[test]
    fn a_resident_grid_keeps_no_program_from_ending() {
        let (dispatcher, mut sms) = machine(4);
        let mut dispatcher = dispatcher.with_programs_on(2);
        dispatcher.begin_resident(2..3, 2);
        let mut log = Vec::new();
        for cycle in 0..24 {
            if cycle % 12 == 0 {
                dispatcher.begin(2, 1, Cycle::ZERO);
            }
            let window = Window(cycle);
            dispatcher.collect(window);
            for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
                commands.collect(window);
                notices.collect(window);
                while let Some(command) = commands.receive(Cycle(cycle)) {
                    commands.release(1, Cycle(cycle));
                    log.push((cycle, sm, command));
                    let notice = if command == Command::Flush { Notice::Flushed } else { Notice::CtaDone };
                    // The resident CTA never ends.
                    if sm < 2 {
                        notices.send(notice, 1, Cycle(cycle)).unwrap();
                    }
                }
                notices.flush(window);
                commands.flush(window);
            }
            dispatcher.tick(Cycle(cycle));
            dispatcher.flush(window);
        }
        // SM 2 gets its two CTAs once, SM 3 nothing; each program ends five cycles after it began.
        let start = Command::StartCta;
        let round = |at: u64| {
            [
                (at + 1, 0, start(0)),
                (at + 1, 1, start(1)),
                (at + 3, 0, Command::Flush),
                (at + 3, 1, Command::Flush),
            ]
        };
        let mut expected = [round(0), round(12)].concat();
        expected.insert(2, (1, 2, start(0)));
        expected.insert(3, (2, 2, start(1)));
        assert_eq!((log, dispatcher.finished_at()), (expected, Some(Cycle(16))));
    }

    #[test]
    fn a_grid_may_begin_later() {
        let (mut dispatcher, _sms) = machine(2);
        dispatcher.begin(4, 1, Cycle(7));
        for cycle in 0..7 {
            dispatcher.tick(Cycle(cycle));
            assert_eq!((dispatcher.grid.next, dispatcher.next_event(Cycle(cycle))), (0, Cycle(7)));
        }
        dispatcher.tick(Cycle(7));
        assert_eq!((dispatcher.grid.next, dispatcher.next_event(Cycle(8))), (2, Cycle::NEVER));
    }

    #[test]
    fn the_ctas_of_a_cluster_go_to_one_sm() {
        let (mut dispatcher, mut sms) = machine(3);
        // Three clusters of three; an SM has room for one and two CTAs more.
        dispatcher.begin_clusters(9, 3, 5, Cycle::ZERO);
        let mut log = Vec::new();
        for cycle in 0..14 {
            let window = Window(cycle);
            dispatcher.collect(window);
            for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
                commands.collect(window);
                notices.collect(window);
                while let Some(command) = commands.receive(Cycle(cycle)) {
                    commands.release(1, Cycle(cycle));
                    log.push((cycle, sm, command));
                }
                commands.flush(window);
            }
            dispatcher.tick(Cycle(cycle));
            dispatcher.flush(window);
        }
        // One a cycle and SM; the next cluster begins in the cycle of the last one's end.
        let wanted = (0..9).map(|cta| (1 + cta - cta / 3, cta as usize / 3, Command::StartCta(cta)));
        assert_eq!(log, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn an_sm_without_room_is_passed_over() {
        let (mut dispatcher, _sms) = machine(3);
        dispatcher.begin(100, 1, Cycle::ZERO);
        dispatcher.tick(Cycle(0));
        dispatcher.tick(Cycle(1));
        assert_eq!(dispatcher.grid.next, 3);
        assert_eq!(dispatcher.next_event(Cycle(2)), Cycle::NEVER);
        let mut report = Vec::new();
        dispatcher.waits(&mut report);
        assert_eq!(report, ["dispatcher: 0 of 100 CTAs have ended, 3 run, 97 wait for room"]);
    }
}
