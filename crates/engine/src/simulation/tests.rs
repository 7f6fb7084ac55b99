use super::*;
use crate::link::{Inlet, Outlet, link};

/// Passes a growing number around a ring of islands, working `busy` cycles on each visit.
struct Runner {
    inlet: Inlet<u64>,
    outlet: Outlet<u64>,
    held: Option<(Cycle, u64)>,
    end: u64,
    ticks: u64,
    log: Vec<(Cycle, u64)>,
}

impl Island for Runner {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlet.hang(bell);
        self.outlet.hang(bell);
    }
    fn collect(&mut self, window: Window) {
        self.inlet.collect(window);
        self.outlet.collect(window);
    }
    fn tick(&mut self, now: Cycle) {
        self.ticks += 1;
        if let Some((ready, value)) = self.held
            && ready <= now
            && value < self.end
            && self.outlet.send(value + 1, 1, now).is_ok()
        {
            self.held = None;
        }
        if self.held.is_none()
            && let Some(value) = self.inlet.receive(now)
        {
            self.inlet.release(1, now);
            self.log.push((now, value));
            self.held = Some((now + value % 7, value));
        }
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        match self.held {
            Some((_, value)) if value >= self.end => Cycle::NEVER,
            Some((ready, _)) => ready.max(now),
            None => self.inlet.next_arrival(),
        }
    }
    fn flush(&mut self, window: Window) -> Cycle {
        self.outlet.flush(window).min(self.inlet.flush(window))
    }
    fn progress(&self) -> u64 {
        self.log.len() as u64
    }
    fn waits(&self, report: &mut Vec<String>) {
        report.push(format!("holds {:?}", self.held));
    }
}

fn circle(count: usize, latency: u64) -> Simulation<Runner> {
    let mut ends: Vec<_> = (0..count).map(|_| link(latency, 1)).collect();
    let (first_out, first_in) = ends.remove(0);
    let (mut outs, mut ins): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    outs.push(first_out);
    ins.insert(0, first_in);
    let mut runners: Vec<_> = ins
        .into_iter()
        .zip(outs)
        .map(|(inlet, outlet)| Runner { inlet, outlet, held: None, end: 500, ticks: 0, log: vec![] })
        .collect();
    runners[0].held = Some((Cycle(3), 0));
    Simulation::new(runners)
}

#[test]
fn threads_and_windows_never_change_a_number() {
    let logs = |threads, saves_threads, window| {
        let mut simulation = circle(5, 6);
        let options = RunOptions {
            threads,
            saves_threads,
            window,
            patience_cycles: 10_000,
            limit: Cycle::NEVER,
            interrupt: None,
        };
        let stop = simulation.run(options, &mut |_| {});
        let logs: Vec<_> = simulation.islands_mut().map(|runner| runner.log.clone()).collect();
        (stop, logs)
    };
    let expected = logs(1, false, 1);
    assert!(matches!(expected.0, Stop::Quiet { .. }), "{:?}", expected.0);
    for threads in [1, 2, 3, 5] {
        for window in [1, 2, 5, 6] {
            for saves in [false, true] {
                assert_eq!(
                    logs(threads, saves, window),
                    expected,
                    "{threads} threads, {saves}, window {window}"
                );
            }
        }
    }
}

#[test]
fn idle_cycles_are_not_ticked() {
    let mut simulation = circle(2, 1000);
    let options = RunOptions {
        threads: 1,
        saves_threads: false,
        window: 1000,
        patience_cycles: 10_000,
        limit: Cycle::NEVER,
        interrupt: None,
    };
    simulation.run(options, &mut |_| {});
    let ticks: u64 = simulation.islands_mut().map(|runner| runner.ticks).sum();
    assert!(ticks < 5000, "{ticks} ticks for 500 messages");
}

#[test]
fn skipped_cycles_change_nothing() {
    let run = |every_cycle| {
        let mut simulation = circle(3, 9);
        if every_cycle {
            simulation.tick_every_cycle();
        }
        let options = RunOptions {
            threads: 1,
            saves_threads: false,
            window: 4,
            patience_cycles: 10_000,
            limit: Cycle::NEVER,
            interrupt: None,
        };
        let stop = simulation.run(options, &mut |_| {});
        let logs: Vec<_> = simulation.islands_mut().map(|runner| runner.log.clone()).collect();
        let ticks: u64 = simulation.islands_mut().map(|runner| runner.ticks).sum();
        ((stop, simulation.now(), logs), ticks)
    };
    let (skipping, ticking) = (run(false), run(true));
    assert_eq!(skipping.0, ticking.0);
    assert!(ticking.1 > 3 * ticking.0.1.0, "every island in every cycle: {} ticks", ticking.1);
}

#[test]
fn pauses_change_nothing() {
    let run = |every: Option<u64>, threads| {
        let mut simulation = circle(4, 9);
        let options = RunOptions {
            threads,
            saves_threads: false,
            window: 9,
            patience_cycles: 300,
            limit: Cycle::NEVER,
            interrupt: None,
        };
        let (mut pauses, mut pause) = (0, Cycle(every.unwrap_or(0)));
        let stop = loop {
            let Some(every) = every else { break simulation.run(options, &mut |_| {}) };
            match simulation.run_until(pause, options, &mut |_| {}) {
                Stop::Paused => assert_eq!(simulation.now(), pause, "exactly there"),
                stop => break stop,
            }
            (pauses, pause) = (pauses + 1, pause + every);
        };
        let logs: Vec<_> = simulation.islands_mut().map(|runner| runner.log.clone()).collect();
        ((stop, simulation.now(), logs), pauses)
    };
    let (expected, _) = run(None, 1);
    for (every, threads) in [(1, 1), (2, 3), (7, 1), (100, 2)] {
        let (paused, pauses) = run(Some(every), threads);
        assert_eq!(paused, expected, "every {every} cycles on {threads} threads");
        assert!(pauses > 40, "{pauses} pauses");
    }
}

/// An island that makes no progress and never finishes.
struct Spinner;

impl Island for Spinner {
    fn hang(&mut self, _: &Doorbell) {}
    fn collect(&mut self, _: Window) {}
    fn tick(&mut self, _: Cycle) {}
    fn next_event(&self, now: Cycle) -> Cycle {
        now
    }
    fn flush(&mut self, _: Window) -> Cycle {
        Cycle::NEVER
    }
    fn progress(&self) -> u64 {
        0
    }
    fn waits(&self, _: &mut Vec<String>) {}
}

#[test]
fn the_watchdog_counts_over_pauses() {
    let mut simulation = Simulation::new(vec![Spinner]);
    let options = RunOptions {
        threads: 1,
        saves_threads: false,
        window: 1,
        patience_cycles: 1000,
        limit: Cycle::NEVER,
        interrupt: None,
    };
    let mut pause = Cycle(10);
    while simulation.run_until(pause, options, &mut |_| {}) == Stop::Paused {
        pause += 10;
        assert!(pause < Cycle(2000), "nothing moves, and nobody notices");
    }
    assert!(simulation.now() > Cycle(1000));
}

#[test]
fn a_limit_stops_the_run() {
    let mut simulation = circle(2, 10);
    let options = RunOptions {
        threads: 2,
        saves_threads: false,
        window: 10,
        patience_cycles: 10_000,
        limit: Cycle(100),
        interrupt: None,
    };
    assert_eq!(simulation.run(options, &mut |_| {}), Stop::CycleLimit);
    assert!(simulation.now() >= Cycle(100));
}
