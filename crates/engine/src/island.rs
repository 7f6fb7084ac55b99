//! Islands: parts of the machine that share no state and communicate over links.
//!
//! An island counts cycles of its own clock: the reference clock, or that of the [`Domain`](crate::domain::Domain)
//! around it, which translates.

use crate::link::{Doorbell, Rung, Window};
use crate::time::Cycle;

/// The cycles of a window that an island is to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub until: Cycle,
    /// Whether cycles in which nothing changes are simulated too.
    pub every_cycle: bool,
}

/// What became of a [`Span`].
#[derive(Clone, Copy, Debug)]
pub struct Ran {
    /// The last cycle that was due, if any was.
    pub last: Option<Cycle>,
    /// [`Island::next_event`] at the end.
    pub due: Cycle,
}

/// What an island has done in a window.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// What became of its cycles.
    pub ran: Ran,
    /// [`Island::flush`].
    pub sent: Cycle,
    /// [`Island::progress`].
    pub progress: u64,
    /// [`Island::failed`].
    pub failed: bool,
}

/// A part of the machine that simulates a whole window on its own.
pub trait Island: Send {
    /// Hangs a bell on every link end that the island holds. An island is skipped for whole windows while its
    /// bell is silent and its [`Island::next_event`] lies ahead.
    fn hang(&mut self, bell: &Doorbell);

    /// Takes what its links delivered in the previous window.
    fn collect(&mut self, window: Window);

    /// Does the same, told which ends have rung: all that delivered anything. For islands with many links.
    fn collect_rung(&mut self, window: Window, rung: Rung) {
        let _ = rung;
        self.collect(window);
    }

    /// Simulates one cycle. Cycles in which [`Island::next_event`] promised that nothing changes are skipped;
    /// the island accounts for the gap at its next tick.
    fn tick(&mut self, now: Cycle);

    /// Simulates a window: ticks in each cycle that is due. An island whose cycle has costs that a window can share
    /// may do the same in its own way.
    fn run(&mut self, span: Span) -> Ran {
        let mut due = self.next_event(span.from).max(span.from);
        let mut cycle = if span.every_cycle { span.from } else { due };
        let mut last = None;
        while cycle < span.until {
            if cycle >= due {
                last = Some(cycle);
            }
            self.tick(cycle);
            due = self.next_event(cycle.next()).max(cycle.next());
            cycle = if span.every_cycle { cycle.next() } else { due };
        }
        Ran { last, due }
    }

    /// Goes through a window: takes what was delivered, simulates the cycles, and hands over what it sends.
    fn simulate(&mut self, window: Window, span: Span, rung: Rung) -> Done {
        if !rung.is_silent() {
            self.collect_rung(window, rung);
        }
        let ran = self.run(span);
        let sent = self.flush(window);
        Done { ran, sent, progress: self.progress(), failed: self.failed() }
    }

    /// The earliest cycle at which a tick could change anything, judged by the island's own state: after
    /// `now`, or `now` itself if it has not been ticked yet. It must never be later than the true cycle; an
    /// earlier one only costs host time.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Hands over what was sent in this window. Returns the earliest cycle, of the reference clock, at which any of
    /// it takes effect elsewhere.
    fn flush(&mut self, window: Window) -> Cycle;

    /// A count that rises whenever useful work is done; the watchdog monitors it.
    fn progress(&self) -> u64;

    /// Adds one sentence to `report` for each wait. Called only when the simulation is stuck.
    fn waits(&self, report: &mut Vec<String>);

    /// Whether the island must stop the run because of a program error. Checked after each window; the run ends with the
    /// next.
    fn failed(&self) -> bool {
        false
    }
}

impl<I: Island + ?Sized> Island for Box<I> {
    fn hang(&mut self, bell: &Doorbell) {
        (**self).hang(bell);
    }
    fn collect(&mut self, window: Window) {
        (**self).collect(window);
    }
    fn collect_rung(&mut self, window: Window, rung: Rung) {
        (**self).collect_rung(window, rung);
    }
    fn simulate(&mut self, window: Window, span: Span, rung: Rung) -> Done {
        (**self).simulate(window, span, rung)
    }
    fn tick(&mut self, now: Cycle) {
        (**self).tick(now);
    }
    fn run(&mut self, span: Span) -> Ran {
        (**self).run(span)
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        (**self).next_event(now)
    }
    fn flush(&mut self, window: Window) -> Cycle {
        (**self).flush(window)
    }
    fn progress(&self) -> u64 {
        (**self).progress()
    }
    fn waits(&self, report: &mut Vec<String>) {
        (**self).waits(report);
    }
    fn failed(&self) -> bool {
        (**self).failed()
    }
}
