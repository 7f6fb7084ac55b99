//! The CTA dispatcher: an island that distributes a grid's CTAs over the SMs.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    ToSend,
    Sent,
    Done,
}

/// Starts CTAs in grid order, round robin over the SMs, at most one per SM and cycle. Once all CTAs have finished, it
/// has every L1D flushed.
pub struct Dispatcher {
    sms: Vec<Sm>,
    /// Number of CTAs in the grid.
    ctas: u64,
    next: u64,
    done: u64,
    /// The SM that receives the next CTA if it has room.
    turn: usize,
    flushed: usize,
    finished_at: Option<Cycle>,
    progress: u64,
    /// Progress for observers: how many CTAs have finished.
    meter: Arc<AtomicU64>,
}

impl Dispatcher {
    /// A dispatcher with no grid, connected to these SMs.
    pub fn new(links: Vec<SmLinks>) -> Self {
        let sms = links.into_iter().map(|links| Sm { links, room: 0, flush: Flush::Done }).collect();
        Dispatcher {
            sms,
            ctas: 0,
            next: 0,
            done: 0,
            turn: 0,
            flushed: 0,
            finished_at: None,
            progress: 0,
            meter: Arc::default(),
        }
    }

    /// Publishes the number of finished CTAs in `meter`, for observers. The model never reads it.
    pub fn report_to(&mut self, meter: Arc<AtomicU64>) {
        self.meter = meter;
    }

    /// Starts a grid of `ctas` CTAs; each SM holds up to `per_sm` of them at once.
    ///
    /// # Panics
    /// When another grid is running, or `per_sm` is 0.
    pub fn begin(&mut self, ctas: u64, per_sm: u32) {
        assert!(self.sms.iter().all(|sm| sm.flush == Flush::Done), "grids run one after another");
        assert!(per_sm > 0, "a grid is begun when its CTAs fit");
        for sm in &mut self.sms {
            (sm.room, sm.flush) = (per_sm, Flush::ToSend);
        }
        (self.ctas, self.next, self.done, self.turn, self.flushed) = (ctas, 0, 0, 0, 0);
        self.finished_at = None;
    }

    /// Whether every CTA has finished and every L1D is flushed.
    pub fn finished(&self) -> bool {
        self.finished_at.is_some()
    }

    /// The cycle in which the last flush notice arrived; `None` while the grid runs.
    pub fn finished_at(&self) -> Option<Cycle> {
        self.finished_at
    }

    fn receive(&mut self, now: Cycle) {
        let count = self.sms.len();
        for sm in &mut self.sms {
            while let Some(notice) = sm.links.notices.receive(now) {
                sm.links.notices.release(1, now);
                self.progress += 1;
                match notice {
                    Notice::CtaDone => {
                        self.done += 1;
                        self.meter.store(self.done, Ordering::Relaxed);
                        sm.room += 1;
                    }
                    Notice::Flushed => {
                        sm.flush = Flush::Done;
                        self.flushed += 1;
                        if self.flushed == count {
                            self.finished_at = Some(now);
                        }
                    }
                }
            }
        }
    }

    fn hand_out(&mut self, now: Cycle) {
        let count = self.sms.len();
        let first = self.turn;
        for step in 0..count {
            if self.next == self.ctas {
                return;
            }
            let index = (first + step) % count;
            let sm = &mut self.sms[index];
            if sm.room > 0 && sm.links.commands.send(Command::StartCta(self.next), 1, now).is_ok() {
                sm.room -= 1;
                self.next += 1;
                self.turn = (index + 1) % count;
                self.progress += 1;
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
        self.hand_out(now);
        if self.done == self.ctas {
            self.flush_all(now);
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let arrival = self.sms.iter().map(|sm| sm.links.notices.next_arrival()).min().unwrap_or(Cycle::NEVER);
        let can_hand_out = self.next < self.ctas && self.sms.iter().any(|sm| sm.room > 0);
        let can_flush = self.done == self.ctas && self.sms.iter().any(|sm| sm.flush == Flush::ToSend);
        if can_hand_out || can_flush { now } else { arrival.max(now) }
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
        if self.done < self.ctas {
            let running = self.next - self.done;
            report.push(format!(
                "dispatcher: {} of {} CTAs have ended, {running} run, {} wait for room",
                self.done,
                self.ctas,
                self.ctas - self.next
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
        dispatcher.begin(5, 2);
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
    fn an_sm_without_room_is_passed_over() {
        let (mut dispatcher, _sms) = machine(3);
        dispatcher.begin(100, 1);
        dispatcher.tick(Cycle(0));
        dispatcher.tick(Cycle(1));
        assert_eq!(dispatcher.next, 3);
        assert_eq!(dispatcher.next_event(Cycle(2)), Cycle::NEVER);
        let mut report = Vec::new();
        dispatcher.waits(&mut report);
        assert_eq!(report, ["dispatcher: 0 of 100 CTAs have ended, 3 run, 97 wait for room"]);
    }
}
