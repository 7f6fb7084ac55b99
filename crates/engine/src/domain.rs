//! Islands with a clock of their own.

use crate::island::{Island, Ran, Span};
use crate::link::{Doorbell, Rung, Window};
use crate::time::{ClockRatio, Cycle};

/// An island with a clock that is not the reference clock.
///
/// The island within knows no other clock: every cycle that it is given, and every cycle of its link ends
/// ([`link_between`](crate::link::link_between)), is one of its own. Its cycle k is simulated in the reference cycle in
/// which it has begun ([`ClockRatio::reference`]): of a faster clock several in one, of a slower clock none in some.
#[derive(Debug)]
pub struct Domain<I> {
    clock: ClockRatio,
    island: I,
}

impl<I> Domain<I> {
    /// Gives `island` a clock.
    pub fn new(clock: ClockRatio, island: I) -> Domain<I> {
        Domain { clock, island }
    }

    /// The island within.
    pub fn island(&self) -> &I {
        &self.island
    }

    /// The island within, to set up or read between runs.
    pub fn island_mut(&mut self) -> &mut I {
        &mut self.island
    }

    /// The clock, by its ratio to the reference clock.
    pub fn clock(&self) -> ClockRatio {
        self.clock
    }

    /// The island's first cycle that is simulated in reference cycle `now` or later.
    #[inline]
    pub fn first(&self, now: Cycle) -> Cycle {
        match now.0.checked_sub(1) {
            Some(before) => Cycle(self.clock.local(Cycle(before)) + 1),
            None => Cycle::ZERO,
        }
    }
}

impl<I: Island> Island for Domain<I> {
    fn hang(&mut self, bell: &Doorbell) {
        self.island.hang(bell);
    }

    fn collect(&mut self, window: Window) {
        self.island.collect(window);
    }

    fn collect_rung(&mut self, window: Window, rung: Rung) {
        self.island.collect_rung(window, rung);
    }

    fn tick(&mut self, now: Cycle) {
        self.run(Span { from: now, until: now.next(), every_cycle: true });
    }

    fn run(&mut self, span: Span) -> Ran {
        let span = Span { from: self.first(span.from), until: self.first(span.until), ..span };
        let Ran { last, due } = self.island.run(span);
        Ran { last: last.map(|last| self.clock.reference(last.0)), due: self.clock.reference(due.0) }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.clock.reference(self.island.next_event(self.first(now)).0).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.island.flush(window)
    }

    fn progress(&self) -> u64 {
        self.island.progress()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.island.waits(report);
    }

    fn failed(&self) -> bool {
        self.island.failed()
    }
}
