use super::*;
use crate::domain::Domain;
use crate::link::{Inlet, LinkClocks, Outlet, Window, link, link_between};
use crate::time::ClockRatio;

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

/// Runners with these clocks in MHz, of which the first is the reference clock. The latency of a link counts cycles of
/// the runner with the odd number.
fn circle_of_clocks(clocks: &[u64], latency: u64) -> Simulation<Domain<Runner>> {
    let ratio = |runner: usize| ClockRatio::of(clocks[runner % clocks.len()], clocks[0]).unwrap();
    let (mut outs, mut ins): (Vec<_>, Vec<_>) = (0..clocks.len())
        .map(|from| {
            let (sender, receiver) = (ratio(from), ratio(from + 1));
            let of_latency = if from % 2 == 1 { sender } else { receiver };
            link_between(latency, 1, LinkClocks { sender, receiver, latency: of_latency })
        })
        .unzip();
    ins.rotate_right(1);
    let runners = ins.drain(..).zip(outs.drain(..)).enumerate().map(|(number, (inlet, outlet))| {
        let held = (number == 0).then_some((Cycle(3), 0));
        Domain::new(ratio(number), Runner { inlet, outlet, held, end: 500, ticks: 0, log: vec![] })
    });
    Simulation::new(runners.collect())
}

#[test]
fn islands_with_clocks_of_their_own_depend_on_neither_threads_nor_windows_nor_skipping() {
    let logs = |threads, window, every_cycle| {
        let mut simulation = circle_of_clocks(&[1440, 1710, 1380, 2375, 360], 6);
        if every_cycle {
            simulation.tick_every_cycle();
        }
        let options = RunOptions {
            threads,
            saves_threads: false,
            window,
            patience_cycles: 10_000,
            limit: Cycle::NEVER,
            interrupt: None,
        };
        let stop = simulation.run(options, &mut |_| {});
        assert!(matches!(stop, Stop::Quiet { .. }), "{stop:?}");
        simulation.islands_mut().map(|domain| domain.island().log.clone()).collect::<Vec<_>>()
    };
    let expected = logs(1, 1, false);
    assert_eq!(expected.iter().map(Vec::len).sum::<usize>(), 500, "every value has arrived");
    // Six cycles of 2375 MHz are three whole ones of 1440 MHz.
    for (threads, window) in [(1, 2), (1, 3), (2, 1), (2, 3), (5, 3)] {
        assert_eq!(logs(threads, window, false), expected, "{threads} threads, window {window}");
    }
    for window in [1, 3] {
        assert_eq!(logs(1, window, true), expected, "every cycle, window {window}");
    }
}

#[test]
fn a_value_arrives_in_the_receivers_first_cycle_after_the_latency() {
    // The first runner sends at its cycle 3 into the second's link of 6 cycles.
    for (mhz, there, back) in [
        // As fast: the second has it at 9, sends 1 % 7 cycles later, at 10, and the first has it at 16.
        (1000, 9, Some(16)),
        // Half as fast: cycle 3 lies in its second half of a cycle, so it enters with cycle 2 and is there at 8. It is
        // sent back at 8 + 1 = 9, and 6 cycles later, at its cycle 15, the first is at 30.
        (500, 8, Some(30)),
        // Three cycles in two: 3 is 4.5 of its cycles, so it enters with 5 and is there at 11; back at 12 + 6 = 18, which
        // is 12 of the first's.
        (1500, 11, Some(12)),
    ] {
        let mut simulation = circle_of_clocks(&[1000, mhz], 6);
        for link in 0..2 {
            simulation.island_mut(link).island_mut().end = 2;
        }
        let options = RunOptions {
            threads: 1,
            saves_threads: false,
            window: 1,
            patience_cycles: 10_000,
            limit: Cycle::NEVER,
            interrupt: None,
        };
        simulation.run(options, &mut |_| {});
        let log = |runner: usize, simulation: &mut Simulation<Domain<Runner>>| {
            simulation.island_mut(runner).island().log.first().map(|(at, _)| at.0)
        };
        let found = (log(1, &mut simulation), log(0, &mut simulation));
        assert_eq!(found, (Some(there), back), "{mhz} MHz");
    }
}

/// An island with links to several others: sends on what it receives, changed, by turns.
struct Node {
    inlets: Vec<Inlet<u64>>,
    outlets: Vec<Outlet<u64>>,
    held: std::collections::VecDeque<u64>,
    received: u64,
    turn: usize,
    hash: u64,
    fails_at: Option<u64>,
}

impl Node {
    fn new(first: u64) -> Node {
        let held = [first].into();
        Node { inlets: vec![], outlets: vec![], held, received: 0, turn: 0, hash: first, fails_at: None }
    }
}

impl Island for Node {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlets.iter().for_each(|inlet| inlet.hang(bell));
        self.outlets.iter().for_each(|outlet| outlet.hang(bell));
    }
    fn collect(&mut self, window: Window) {
        self.inlets.iter_mut().for_each(|inlet| inlet.collect(window));
        self.outlets.iter_mut().for_each(|outlet| outlet.collect(window));
    }
    fn tick(&mut self, now: Cycle) {
        for (number, inlet) in (0..).zip(&mut self.inlets) {
            if let Some(value) = inlet.receive(now) {
                inlet.release(1, now);
                self.received += 1;
                self.hash =
                    (self.hash ^ value ^ now.0).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(number);
                if value > 0 {
                    self.held.push_back(value - 1);
                }
            }
        }
        if let Some(value) = self.held.pop_front() {
            let outlets = self.outlets.len();
            match self.outlets[self.turn % outlets].send(value, 1, now) {
                Ok(()) => self.turn += 1,
                Err(value) => self.held.push_front(value),
            }
        }
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        if self.held.is_empty() {
            self.inlets.iter().map(Inlet::next_arrival).min().unwrap_or(Cycle::NEVER)
        } else {
            now
        }
    }
    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.outlets.iter_mut().map(|outlet| outlet.flush(window)).min();
        let back = self.inlets.iter_mut().map(|inlet| inlet.flush(window)).min();
        sent.into_iter().chain(back).min().unwrap_or(Cycle::NEVER)
    }
    fn progress(&self) -> u64 {
        self.received
    }
    fn waits(&self, _: &mut Vec<String>) {}
    fn failed(&self) -> bool {
        self.fails_at.is_some_and(|received| self.received >= received)
    }
}

/// Many islands around two hubs, as SMs and partitions are around two networks.
fn star(leaves: usize, fails_at: Option<u64>) -> Simulation<Node> {
    let mut hubs = [Node::new(300), Node::new(200)];
    let mut nodes: Vec<Node> = (0..leaves as u64).map(|leaf| Node::new(100 + 7 * leaf)).collect();
    for node in &mut nodes {
        for hub in &mut hubs {
            let (there, back) = (link(5, 3), link(7, 2));
            node.outlets.push(there.0);
            hub.inlets.push(there.1);
            hub.outlets.push(back.0);
            node.inlets.push(back.1);
        }
    }
    nodes[leaves / 2].fails_at = fails_at;
    nodes.extend(hubs);
    Simulation::new(nodes)
}

#[test]
fn islands_around_hubs_are_the_same_on_any_number_of_threads() {
    for fails_at in [None, Some(60)] {
        let run = |threads, window| {
            let mut simulation = star(20, fails_at);
            let options = RunOptions {
                threads,
                saves_threads: false,
                window,
                patience_cycles: 10_000,
                limit: Cycle::NEVER,
                interrupt: None,
            };
            let stop = simulation.run(options, &mut |_| {});
            let found: Vec<_> = simulation.islands_mut().map(|node| (node.hash, node.received)).collect();
            (stop, simulation.now(), found)
        };
        let expected = run(1, 5);
        assert_eq!(matches!(expected.0, Stop::Failed { .. }), fails_at.is_some(), "{:?}", expected.0);
        assert!(expected.2.iter().all(|(_, received)| *received > 20), "{:?}", expected.2);
        for threads in [2, 3, 7, 16] {
            for _ in 0..5 {
                assert_eq!(run(threads, 5), expected, "{threads} threads, fails at {fails_at:?}");
            }
        }
        if fails_at.is_none() {
            assert_eq!(run(3, 2).2, expected.2, "a shorter window");
        }
    }
}

#[test]
fn a_failure_ends_the_run_with_the_next_window() {
    let mut simulation = star(4, Some(1));
    let options = RunOptions {
        threads: 2,
        saves_threads: false,
        window: 5,
        patience_cycles: 10_000,
        limit: Cycle::NEVER,
        interrupt: None,
    };
    let Stop::Failed { at } = simulation.run(options, &mut |_| {}) else { panic!("it fails") };
    assert_eq!(simulation.now(), at + 5);
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
    // The second circle's token takes long: nothing happens around the limit.
    for (count, latency, threads) in [(2, 10, 2), (1, 70, 1)] {
        let mut simulation = circle(count, latency);
        let options = RunOptions {
            threads,
            saves_threads: false,
            window: latency,
            patience_cycles: 10_000,
            limit: Cycle(100),
            interrupt: None,
        };
        assert_eq!(simulation.run(options, &mut |_| {}), Stop::CycleLimit);
        assert_eq!(simulation.now(), Cycle(100), "a latency of {latency}");
    }
}

#[test]
fn a_run_that_was_quiet_before_a_pause_ended_before_it() {
    let options = RunOptions {
        threads: 1,
        saves_threads: false,
        window: 6,
        patience_cycles: 10_000,
        limit: Cycle::NEVER,
        interrupt: None,
    };
    let mut at_once = circle(5, 6);
    let stop = at_once.run(options, &mut |_| {});
    let mut paused = circle(5, 6);
    let pause = at_once.now() + 3;
    assert_eq!((paused.run_until(pause, options, &mut |_| {}), paused.now()), (Stop::Paused, pause));
    assert_eq!((paused.run(options, &mut |_| {}), paused.now()), (stop, at_once.now()));
}
