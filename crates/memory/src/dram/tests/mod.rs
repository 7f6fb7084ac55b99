//! Golden cycles by hand, and an independent checker over random traffic.

use std::path::Path;
use std::sync::Arc;

use strata_engine::seed::Stream;
use strata_engine::statistics::Statistics;
use strata_engine::{Cited, ClockRatio, Cycle, config};

mod policies;
mod rules;
mod unlimited;

use super::controller::{Control, Issued};
use super::registry::AnyController;
use super::rules::constraints;
use super::*;
use crate::address::LineAddress;
use crate::doors::{DramPort, DramRequest};
use crate::line::{ByteMask, Line};
use Command::{Act, Pre, Rd, Ref, RefBank, Wr};

const GTX480: &str = r#"
    banks = { value = 16, source = "peers" }
    bank_groups = { value = 4, source = "peers" }
    address_pattern = { value = "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS", source = "peers" }
    atom_bytes = { value = 64, source = "peers" }
    burst_cycles = { value = 2, source = "peers" }
    queue_entries = { value = 64, source = "peers" }
    return_entries = { value = 116, source = "peers" }
    starvation_bound = { value = 32, source = "test" }
    controller_latency_cycles = { value = 100, source = "peers" }
    [timing]
    ccd = { value = 2, source = "peers" }
    ccd_l = { value = 3, source = "peers" }
    rrd = { value = 6, source = "peers" }
    rcd = { value = 12, source = "peers" }
    ras = { value = 28, source = "peers" }
    rp = { value = 12, source = "peers" }
    rc = { value = 40, source = "peers" }
    cl = { value = 12, source = "peers" }
    wl = { value = 4, source = "peers" }
    cdlr = { value = 5, source = "peers" }
    wr = { value = 12, source = "peers" }
    rtp = { value = 2, source = "peers" }
    turnaround = { value = 2, source = "peers" }
"#;

const REFRESH: &str = r#"
    [refresh]
    refi = { value = 1000, source = "test" }
    rfc = { value = 70, source = "test" }
"#;

fn parameters(more: &str) -> DramParameters {
    config::parse(Path::new("gtx480.toml"), &format!("{GTX480}{more}")).unwrap()
}

fn gtx480(clock: ClockRatio) -> Channel {
    let mut channel = Channel::new(&parameters(""), clock, 1, 2).unwrap();
    channel.ensure(1 << 14);
    channel
}

impl Channel {
    /// Every command that was issued.
    fn trace(&self) -> &[Issued] {
        match &self.controller {
            AnyController::Usual(controller) => controller.trace(),
            AnyController::Other(controller) => controller.trace(),
        }
    }
}

fn request(line: u64, bytes: ByteMask, write: bool, tag: u32) -> DramRequest {
    DramRequest { line: LineAddress(line), bytes, write, tag, tray: Box::new(Line([tag as u8; 128])) }
}

const LOW: ByteMask = ByteMask::range(0, 64);
/// Lines in bank 0 (row 0, then row 1), in bank 4 (of another group) and in bank 2 (of the same group).
const ROW_0: u64 = 0;
const ROW_1: u64 = 512;
const OTHER_GROUP: u64 = 128;
const OTHER_BANK: u64 = 64;

/// Offers requests at the cycles of a clock of ratio 1; the commands, and when each request was finished.
fn play(requests: &[(u64, u64, ByteMask, bool)]) -> (Vec<(u64, Command, usize)>, Vec<u64>) {
    let (channel, finished) = play_on(&parameters(""), requests);
    (commands(&channel), finished)
}

fn commands(channel: &Channel) -> Vec<(u64, Command, usize)> {
    channel.trace().iter().map(|issued| (issued.at, issued.command, issued.bank)).collect()
}

/// The channel with these parameters after requests, and when each of them was finished.
fn play_on(parameters: &DramParameters, requests: &[(u64, u64, ByteMask, bool)]) -> (Channel, Vec<u64>) {
    let mut channel = Channel::new(parameters, ClockRatio::ONE, 1, 2).unwrap();
    channel.ensure(1 << 14);
    let mut finished = vec![0; requests.len()];
    let last = requests.iter().map(|request| request.0).max().unwrap_or(0);
    for now in (0..last + 600).map(Cycle) {
        channel.tick(now);
        let mut port = channel.port(0);
        while let Some(done) = port.completed(now) {
            finished[done.tag as usize] = now.0;
        }
        for (tag, (_, line, bytes, write)) in
            requests.iter().enumerate().filter(|(_, request)| request.0 == now.0)
        {
            port.offer(request(*line, *bytes, *write, tag as u32), now).unwrap();
        }
    }
    (channel, finished)
}

#[test]
fn golden_cycles() {
    // A request of cycle c is seen in cycle c + 1. A read is finished CL 12 + burst 2 + controller 100 after
    // its last command, a write WL 4 + burst 2.
    for (name, requests, commands, finished) in [
        (
            "closed row: RCD 12",
            vec![(0, ROW_0, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0)],
            vec![13 + 14 + 100],
        ),
        (
            "two bursts of a line: CCDL 3",
            vec![(0, ROW_0, ByteMask::ALL, false)],
            vec![(1, Act, 0), (13, Rd, 0), (16, Rd, 0)],
            vec![130],
        ),
        (
            "one burst for bytes in the upper half",
            vec![(0, ROW_0, ByteMask::range(100, 4), false)],
            vec![(1, Act, 0), (13, Rd, 0)],
            vec![127],
        ),
        (
            "row hit",
            vec![(0, ROW_0, LOW, false), (50, ROW_0 + 1, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (51, Rd, 0)],
            vec![127, 51 + 114],
        ),
        (
            "row conflict: RP 12, RCD 12",
            vec![(0, ROW_0, LOW, false), (40, ROW_1, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (41, Pre, 0), (53, Act, 0), (65, Rd, 0)],
            vec![127, 65 + 114],
        ),
        (
            "early row conflict: RAS 28, RC 40",
            vec![(0, ROW_0, LOW, false), (14, ROW_1, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (29, Pre, 0), (41, Act, 0), (53, Rd, 0)],
            vec![127, 53 + 114],
        ),
        (
            "two banks: RRD 6; then CCD 2 across groups",
            vec![
                (0, ROW_0, LOW, false),
                (0, OTHER_GROUP, LOW, false),
                (100, ROW_0, LOW, false),
                (100, OTHER_GROUP, LOW, false),
            ],
            vec![(1, Act, 0), (7, Act, 4), (13, Rd, 0), (19, Rd, 4), (101, Rd, 0), (103, Rd, 4)],
            vec![127, 133, 215, 217],
        ),
        (
            "two banks of a group: CCDL 3",
            vec![
                (0, ROW_0, LOW, false),
                (0, OTHER_BANK, LOW, false),
                (100, ROW_0, LOW, false),
                (100, OTHER_BANK, LOW, false),
            ],
            vec![(1, Act, 0), (7, Act, 2), (13, Rd, 0), (19, Rd, 2), (101, Rd, 0), (104, Rd, 2)],
            vec![127, 133, 215, 218],
        ),
        (
            "write to read: WL 4 + burst 2 + CDLR 5",
            vec![(0, ROW_0, LOW, true), (0, ROW_0, LOW, false)],
            vec![(1, Act, 0), (13, Wr, 0), (24, Rd, 0)],
            vec![19, 138],
        ),
        (
            "read to write: CL 12 + burst 2 + 2 - WL 4",
            vec![(0, ROW_0, LOW, false), (0, ROW_0, LOW, true)],
            vec![(1, Act, 0), (13, Rd, 0), (25, Wr, 0)],
            vec![127, 31],
        ),
        (
            "write recovery: WL 4 + burst 2 + WR 12",
            vec![(0, ROW_0, LOW, true), (0, ROW_1, LOW, true)],
            vec![(1, Act, 0), (13, Wr, 0), (31, Pre, 0), (43, Act, 0), (55, Wr, 0)],
            vec![19, 61],
        ),
        (
            "a row hit passes an older conflict",
            vec![(0, ROW_0, LOW, false), (5, ROW_1, LOW, false), (6, ROW_0 + 1, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (16, Rd, 0), (29, Pre, 0), (41, Act, 0), (53, Rd, 0)],
            vec![127, 167, 130],
        ),
    ] {
        assert_eq!(play(&requests), (commands, finished), "{name}");
    }
}

/// Replays a trace against the rules, knowing nothing of the scheduler; the first violation.
fn violation(parameters: &DramParameters, trace: &[Issued]) -> Option<String> {
    let rules = constraints(parameters);
    let group = |bank: usize| bank / (*parameters.banks / *parameters.bank_groups);
    let mut open = vec![None; *parameters.banks];
    for (index, issued) in trace.iter().enumerate() {
        for earlier in trace[..index].iter().rev().take_while(|earlier| issued.at - earlier.at < 200) {
            if earlier.at == issued.at {
                return Some(format!("two commands in one cycle: {earlier:?}, {issued:?}"));
            }
            for rule in
                rules.iter().filter(|rule| rule.after == earlier.command && rule.before == issued.command)
            {
                let applies = match rule.level {
                    Level::Bank => earlier.bank == issued.bank,
                    Level::BankGroup => group(earlier.bank) == group(issued.bank),
                    Level::Channel => true,
                };
                if applies && issued.at - earlier.at < rule.cycles {
                    return Some(format!("{rule:?} between {earlier:?} and {issued:?}"));
                }
            }
        }
        let opens = |command| matches!(command, Act | RefBank);
        if let Some(faw) = &parameters.timing.faw
            && opens(issued.command)
            && let Some(fourth) = trace[..index].iter().rev().filter(|earlier| opens(earlier.command)).nth(3)
            && issued.at - fourth.at < **faw
        {
            return Some(format!("{issued:?} is the fifth in a window after {fourth:?}"));
        }
        let row = &mut open[issued.bank];
        let legal = match issued.command {
            Act => row.replace(issued.row).is_none(),
            Pre => row.take().is_some(),
            Rd | Wr => *row == Some(issued.row),
            Ref => open.iter().all(Option::is_none),
            RefBank => row.is_none(),
        };
        if !legal {
            return Some(format!("{issued:?} in the wrong state of its bank"));
        }
    }
    None
}

/// When a channel is ticked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ticks {
    InEveryCycle,
    /// When a command can be issued or a request taken.
    WithCommands,
    /// Before a request is offered, and by the deadline.
    Late,
}

/// Random reads and writes from two slices, checked against a plain memory. When each was finished, and
/// the channel.
fn random_traffic(parameters: &DramParameters, ticks: Ticks, requests: u32) -> (Vec<u64>, Channel) {
    const LINES: u64 = 4096;
    let clock = ClockRatio::of(924, 700).unwrap();
    let mut channel = Channel::new(parameters, clock, 2, 2).unwrap();
    channel.ensure(LINES);
    let mut memory = vec![Line::ZERO; 2 * LINES as usize];
    let mut expected: Vec<Option<(usize, ByteMask, Line)>> = vec![None; requests as usize];
    let mut finished = vec![0; requests as usize];
    let mut random = Stream::new(7, "dram");
    let (mut offered, mut answered) = (0, 0);
    let mut held = None;
    let mut now = Cycle::ZERO;
    while answered < requests {
        assert!(now < Cycle(u64::from(requests) * 200), "progress");
        if ticks == Ticks::InEveryCycle
            || ticks == Ticks::WithCommands && channel.next_event(now) <= now
            || channel.deadline() <= now
        {
            channel.tick(now);
        }
        for slice in 0..2 {
            // A slice that sometimes looks away.
            while !(now.0 / 8 + slice as u64).is_multiple_of(4)
                && let Some(done) = channel.port(slice).completed(now)
            {
                let (owner, bytes, line) = expected[done.tag as usize].take().expect("answered once");
                assert_eq!((owner, bytes), (slice, done.bytes));
                assert_eq!(*done.tray, line, "bytes of request {}", done.tag);
                finished[done.tag as usize] = now.0;
                answered += 1;
            }
        }
        let busy = now.0 / 2000 % 4 != 3;
        if busy && random.below(2) == 0 && (offered < requests || held.is_some()) {
            let (slice, request) = held.take().unwrap_or_else(|| {
                let slice = random.below(2) as usize;
                let hot = random.below(2) == 0;
                let line = random.below(if hot { 40 } else { LINES });
                let bytes = match random.below(3) {
                    0 => ByteMask::ALL,
                    1 => ByteMask::range(random.below(32) as usize * 4, 4),
                    _ => ByteMask(u128::from(random.next()) << random.below(64) | 1),
                };
                let mut request = request(line, bytes, random.below(3) == 0, offered);
                request.tray.0.iter_mut().for_each(|byte| *byte = random.next() as u8);
                offered += 1;
                (slice, request)
            });
            let tag = request.tag as usize;
            let line = request.line.0 as usize * 2 + slice;
            let (bytes, write, tray) = (request.bytes, request.write, request.tray.clone());
            if ticks == Ticks::Late {
                channel.tick(now);
            }
            match channel.port(slice).offer(request, now) {
                Ok(()) if write => {
                    memory[line].merge(bytes, &tray);
                    expected[tag] = Some((slice, bytes, *tray));
                }
                Ok(()) => {
                    // Bytes that were not asked for stay as they are in the tray.
                    let mut reply = *tray;
                    reply.merge(bytes, &memory[line]);
                    expected[tag] = Some((slice, bytes, reply));
                }
                Err(request) => held = Some((slice, request)),
            }
        }
        now = now.next();
    }
    let mut line = Line::ZERO;
    for (number, expected) in memory.iter().enumerate() {
        channel.peek(number % 2, LineAddress(number as u64 / 2), &mut line);
        assert_eq!(line, *expected, "line {number} at the end");
    }
    (finished, channel)
}

#[test]
fn random_traffic_breaks_no_rule_and_answers_everything_once_with_the_right_bytes() {
    for more in ["", REFRESH] {
        let parameters = parameters(more);
        let (finished, channel) = random_traffic(&parameters, Ticks::WithCommands, 6000);
        assert_eq!(violation(&parameters, channel.trace()), None);
        let statistics = &channel.requests.statistics;
        assert_eq!(statistics.broken_law(), None, "{statistics:?}");
        assert!(
            statistics.refused > 0 && statistics.row_hits > 0 && statistics.row_conflicts > 0,
            "{statistics:?}"
        );
        for ticks in [Ticks::InEveryCycle, Ticks::Late] {
            let (finished_ticked, ticked) = random_traffic(&parameters, ticks, 6000);
            assert_eq!(finished, finished_ticked, "skipping equals ticking {ticks:?}");
            assert_eq!(channel.trace(), ticked.trace(), "{ticks:?}");
            assert_eq!(*statistics, ticked.requests.statistics, "{ticks:?}");
        }
        if parameters.refresh.is_some() {
            let last = channel.trace().last().unwrap().at;
            assert!(
                statistics.refreshes.abs_diff(last / 1000) <= 1,
                "{} refreshes by {last}",
                statistics.refreshes
            );
        }
    }
}

#[test]
fn the_checker_sees_a_command_that_is_one_cycle_early() {
    let parameters = parameters("");
    let (_, channel) = random_traffic(&parameters, Ticks::WithCommands, 300);
    let trace = channel.trace();
    // Of every kind of rule, one that is met exactly somewhere: a cycle earlier is a violation.
    let rules = constraints(&parameters);
    let mut tight = 0;
    for rule in &rules {
        let met = (1..trace.len()).find(|later| {
            trace[..*later].iter().any(|earlier| {
                (earlier.command, trace[*later].command, earlier.bank)
                    == (rule.after, rule.before, trace[*later].bank)
                    && trace[*later].at - earlier.at == rule.cycles
            })
        });
        if let Some(later) = met {
            let mut broken = trace.to_vec();
            broken[later].at -= 1;
            assert!(violation(&parameters, &broken[..=later]).is_some(), "{rule:?}");
            tight += 1;
        }
    }
    assert!(tight >= 8, "{tight} of {} rules are met exactly", rules.len());
}

#[test]
fn row_hits_do_not_starve_an_older_request() {
    let mut channel = gtx480(ClockRatio::ONE);
    let mut passed = None;
    let mut hits_before = 0;
    let mut offered = 0;
    for now in (0..2000).map(Cycle) {
        channel.tick(now);
        let mut port = channel.port(0);
        while let Some(done) = port.completed(now) {
            match done.tag {
                1 => passed = passed.or(Some(hits_before)),
                _ => hits_before += 1,
            }
        }
        if now == Cycle(2) {
            port.offer(request(ROW_1, LOW, false, 1), now).unwrap();
        }
        if port.offer(request(ROW_0 + now.0 % 2, LOW, false, 0), now).is_ok() {
            offered += 1;
        }
    }
    // The bound, and the two that were offered before it.
    assert_eq!(passed, Some(32 + 2), "of {offered} offered");
}

#[test]
fn a_full_queue_keeps_room_for_every_slice() {
    let mut channel = Channel::new(&parameters(""), ClockRatio::ONE, 2, 2).unwrap();
    channel.ensure(1 << 14);
    let fill = |channel: &mut Channel, slice: usize| {
        (0..100)
            .take_while(|line| {
                channel.port(slice).offer(request(line * 512, LOW, false, 0), Cycle(0)).is_ok()
            })
            .count()
    };
    assert_eq!((fill(&mut channel, 0), fill(&mut channel, 1)), (48, 16));
    assert_eq!(channel.requests.statistics.refused, 2);
}

#[test]
fn idle_time_is_refreshed_when_a_request_ends_it() {
    let mut channel = Channel::new(&parameters(REFRESH), ClockRatio::ONE, 1, 2).unwrap();
    channel.ensure(2);
    let serve = |channel: &mut Channel, start: u64| {
        channel.port(0).offer(request(0, LOW, false, 0), Cycle(start)).unwrap();
        (start..start + 1000).find(|now| {
            channel.tick(Cycle(*now));
            channel.port(0).completed(Cycle(*now)).is_some()
        })
    };
    assert_eq!(serve(&mut channel, 0), Some(127));
    assert_eq!(channel.next_event(Cycle(128)), Cycle::NEVER, "an idle channel sleeps");
    // Refreshes at 1000 (after a precharge and RP) and every 1000 after; the row is closed since.
    assert_eq!(serve(&mut channel, 10_500), Some(10_500 + 127));
    assert_eq!((channel.requests.statistics.refreshes, channel.requests.statistics.row_misses), (10, 2));
    // Just after a refresh was commanded, activation waits for RFC.
    assert_eq!(serve(&mut channel, 20_010), Some(20_000 + 70 + 12 + 114));
}

#[test]
fn what_cannot_be_built_is_refused() {
    type Change = fn(&mut DramParameters);
    let cases: [(&str, Change); 7] = [
        ("banks", |p| p.banks = Cited::new(12, "test")),
        ("bank_groups", |p| p.bank_groups = Cited::new(32, "test")),
        ("address_pattern", |p| p.banks = Cited::new(8, "test")),
        ("atom_bytes", |p| p.atom_bytes = Cited::new(256, "test")),
        ("burst_cycles", |p| p.burst_cycles = Cited::new(0, "test")),
        ("queue_entries", |p| p.queue_entries = Cited::new(65, "test")),
        ("return_entries", |p| p.return_entries = Cited::new(0, "test")),
    ];
    for (field, change) in cases {
        let mut parameters = parameters("");
        change(&mut parameters);
        assert_eq!(parameters.check().unwrap_err().field, field);
    }
}
