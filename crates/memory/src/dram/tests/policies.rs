//! Schedulers and page policies: golden cycles by hand, and random traffic through every combination.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::registry::SchedulerPolicy;
use super::*;
use crate::policy::{Chosen, PolicyKind};

/// The parameters with keys of the channel before those of its timing.
fn with(keys: &str, more: &str) -> DramParameters {
    let text = GTX480.replace("[timing]", &format!("{keys}\n[timing]"));
    config::parse(Path::new("gtx480.toml"), &format!("{text}{more}")).unwrap()
}

fn scheduler(name: &str) -> String {
    format!("scheduler = {{ value = \"{name}\", source = \"test\" }}")
}

fn page(policy: &str) -> String {
    format!("page = {{ value = {policy}, source = \"test\" }}")
}

#[test]
fn fcfs_serves_in_the_order_of_arrival() {
    for (name, requests, expected) in [
        (
            "no row hit passes an older conflict",
            vec![(0, ROW_0, LOW, false), (5, ROW_1, LOW, false), (6, ROW_0 + 1, LOW, false)],
            // Pre after RAS 28, Act after RP 12, Rd after RCD 12.
            vec![
                (1, Act, 0),
                (13, Rd, 0),
                (29, Pre, 0),
                (41, Act, 0),
                (53, Rd, 0),
                (69, Pre, 0),
                (81, Act, 0),
                (93, Rd, 0),
            ],
        ),
        (
            "no bank is opened before the older request has been served",
            vec![(0, ROW_0, LOW, false), (0, OTHER_GROUP, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (14, Act, 4), (26, Rd, 4)],
        ),
        (
            "all bursts of a request come before the next request",
            vec![(0, ROW_0, ByteMask::ALL, false), (0, OTHER_GROUP, LOW, false)],
            vec![(1, Act, 0), (13, Rd, 0), (16, Rd, 0), (17, Act, 4), (29, Rd, 4)],
        ),
    ] {
        let (channel, _) = play_on(&with(&scheduler("fcfs"), ""), &requests);
        assert_eq!(commands(&channel), expected, "{name}");
    }
}

/// How many row hits, of one that comes every cycle, pass an older request for another row within some cycles.
fn hits_before_conflict(parameters: &DramParameters) -> Option<u32> {
    let mut channel = Channel::new(parameters, ClockRatio::ONE, 1, 2).unwrap();
    channel.ensure(1 << 14);
    let mut hits = 0;
    for now in (0..2000).map(Cycle) {
        channel.tick(now);
        while let Some(done) = channel.port(0).completed(now) {
            if done.tag == 1 {
                return Some(hits);
            }
            hits += 1;
        }
        if now == Cycle(2) {
            channel.port(0).offer(request(ROW_1, LOW, false, 1), now).unwrap();
        }
        let _ = channel.port(0).offer(request(ROW_0 + now.0 % 2, LOW, false, 0), now);
    }
    None
}

#[test]
fn a_cap_bounds_what_passes_an_older_request() {
    // Two were offered before the conflict.
    assert_eq!(hits_before_conflict(&with(&scheduler("fcfs"), "")), Some(2));
    assert_eq!(hits_before_conflict(&with(&scheduler("fr-fcfs-cap"), "")), Some(2 + 32));
    let mut four = with(&scheduler("fr-fcfs-cap"), "");
    four.starvation_bound = Cited::new(4, "test");
    assert_eq!(hits_before_conflict(&four), Some(2 + 4));
    assert_eq!(hits_before_conflict(&with(&scheduler("fr-fcfs"), "")), None, "hits pass for ever");
}

#[test]
fn an_unwanted_row_is_closed_when_the_policy_says() {
    let again = |at| vec![(0, ROW_0, LOW, false), (at, ROW_0 + 1, LOW, false)];
    let opened = [(1, Act, 0), (13, Rd, 0)];
    for (name, policy, at, then) in [
        ("an open row stays", "\"open\"", 500, vec![(501, Rd, 0)]),
        ("closed: after RAS 28", "\"closed\"", 500, vec![(29, Pre, 0), (501, Act, 0), (513, Rd, 0)]),
        ("closed: the request comes in time", "\"closed\"", 28, vec![(29, Rd, 0), (31, Pre, 0)]),
        ("closed: it comes too late, RP 12", "\"closed\"", 29, vec![(29, Pre, 0), (41, Act, 0), (53, Rd, 0)]),
        ("50 cycles after the last read", "{ timeout = { cycles = 50 } }", 62, vec![(63, Rd, 0)]),
        (
            "one cycle more",
            "{ timeout = { cycles = 50 } }",
            63,
            vec![(63, Pre, 0), (75, Act, 0), (87, Rd, 0)],
        ),
    ] {
        let (channel, _) = play_on(&with(&page(policy), ""), &again(at));
        // What falls due after the last request is done when another comes.
        let expected: Vec<_> = opened.into_iter().chain(then).collect();
        let found = commands(&channel);
        assert_eq!(found, expected[..found.len()], "{name}");
        assert!(found.len() >= 3 && found.iter().any(|issued| issued.0 > at), "{name}: {found:?}");
    }
}

#[test]
fn a_row_that_a_request_wants_stays_open_and_is_counted_when_it_is_not() {
    // Two reads of a row and one of another bank at once: nothing is closed between the reads.
    let requests = [
        (0, ROW_0, LOW, false),
        (0, ROW_0 + 1, LOW, false),
        (0, OTHER_GROUP, LOW, false),
        (200, ROW_0, LOW, false),
        (300, ROW_1, LOW, false),
    ];
    let (channel, _) = play_on(&with(&page("\"closed\""), ""), &requests);
    let found = commands(&channel);
    let pairs: Vec<_> = found.iter().map(|(_, command, bank)| (*command, *bank)).collect();
    let expected = [
        (Act, 0),
        (Act, 4),
        (Rd, 0),
        (Rd, 0),
        (Rd, 4),
        (Pre, 0),
        (Pre, 4),
        (Act, 0),
        (Rd, 0),
        (Pre, 0),
        (Act, 0),
        (Rd, 0),
    ];
    assert_eq!(pairs, expected, "{found:?}");
    let groups = channel.statistics();
    let count = |name: &str| groups[1].get(name).unwrap();
    // Row 0 was opened again, then row 1.
    assert_eq!((groups[1].name, count("closed"), count("reopened")), ("dram.rows", 3, 1));
    assert_eq!((channel.requests.statistics.precharges, channel.requests.statistics.row_conflicts), (0, 0));
    assert_eq!(play_on(&parameters(""), &requests).0.statistics().len(), 1, "an open page has no counters");
}

/// The requests at random, so that whatever a controller leaves to its scheduler goes wrong.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Reckless {
    #[serde(default)]
    state: u64,
}

impl Reckless {
    fn draw(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }
}

impl Scheduler for Reckless {
    const BURSTS_FIRST: bool = false;

    fn pick(&mut self, bank: &BankView<'_>) -> Pick {
        assert_eq!(bank.hits().count() > 0, bank.has_hit());
        let all: Vec<_> = bank.requests().collect();
        let any = self.draw() as usize % all.len();
        match self.draw() % 4 {
            0 => Pick::OldestHit,
            1 => Pick::Request(Slot(self.draw() as usize % 70)),
            _ => Pick::Request(all[any].0),
        }
    }

    fn rank(&mut self, _request: &Queued) -> u64 {
        self.draw() % 3 * (u64::MAX / 2)
    }

    fn served(&mut self, _request: &Queued, _at: u64) -> bool {
        self.draw().is_multiple_of(2)
    }
}

/// Checks commands, bytes, laws and independence of skipping under random traffic.
fn check(parameters: &DramParameters, name: &str) -> Channel {
    let (finished, channel) = random_traffic(parameters, Ticks::WithCommands, 2000);
    assert_eq!(violation(parameters, channel.trace()), None, "{name}");
    assert_eq!(channel.requests.statistics.broken_law(), None, "{name}: {:?}", channel.requests.statistics);
    for ticks in [Ticks::InEveryCycle, Ticks::Late] {
        let (ticked, other) = random_traffic(parameters, ticks, 2000);
        assert_eq!(finished, ticked, "{name}: skipping equals ticking {ticks:?}");
        assert_eq!(channel.trace(), other.trace(), "{name}, {ticks:?}");
    }
    channel
}

#[test]
fn every_combination_keeps_the_rules_and_the_bytes() {
    let per_bank =
        REFRESH.replace("[refresh]", "[refresh]\npolicy = { value = \"per-bank\", source = \"test\" }");
    let faw = "faw = { value = 40, source = \"test\" }\nrrd_l = { value = 8, source = \"test\" }\n";
    for scheduler_name in SchedulerPolicy::family().names() {
        for policy in ["\"open\"", "\"closed\"", "{ timeout = { cycles = 30 } }"] {
            for refresh in ["", REFRESH, per_bank.as_str()] {
                let keys = format!("{}\n{}", scheduler(scheduler_name), page(policy));
                let name = format!("{scheduler_name}, {policy}, {refresh}");
                let channel = check(&with(&keys, &format!("{faw}{refresh}")), &name);
                let is_refreshed = channel.requests.statistics.refreshes > 0;
                // The ideal one has no upkeep.
                assert_eq!(is_refreshed, !refresh.is_empty() && scheduler_name != "unlimited", "{name}");
            }
        }
    }
}

#[test]
fn no_scheduler_can_break_the_order_of_a_line_or_stop_the_others() {
    for (policy, refresh) in [("\"open\"", ""), ("\"closed\"", REFRESH)] {
        let mut parameters = with(&page(policy), refresh);
        let reckless = Arc::new(SchedulerPolicy::new(Reckless { state: 1 }));
        parameters.scheduler = Some(Cited::new(Chosen::of("reckless", reckless), "test"));
        check(&parameters, "reckless");
    }
}

#[test]
fn what_no_policy_is_called_is_refused_with_its_line() {
    type Read = Result<DramParameters, strata_engine::config::ConfigError>;
    let read = |keys: &str| -> Read {
        let text = GTX480.replace("[timing]", &format!("{keys}\n[timing]"));
        config::parse(Path::new("m.toml"), &text)
    };
    for (keys, expected) in [
        (
            "scheduler = { value = \"fr-fcsf\", source = \"x\" }",
            "m.toml:11:27: unknown variant `fr-fcsf` (did you mean `fr-fcfs`, `fr-fcfs-cap`?), expected one of `fcfs`, `fr-fcfs`, `fr-fcfs-cap`, `unlimited`",
        ),
        ("page = { value = \"timeout\", source = \"x\" }", "m.toml:11:22: `timeout`: missing field `cycles`"),
        (
            "page = { value = { timeout = { cycles = 5, ways = 3 } }, source = \"x\" }",
            "m.toml:11:22: `timeout`: unknown field `ways`, expected `cycles`",
        ),
        (
            "page = { value = { closed = {}, open = {} }, source = \"x\" }",
            "m.toml:11:22: found `closed` and `open`, expected one policy",
        ),
    ] {
        assert_eq!(read(keys).unwrap_err().to_string(), expected, "{keys}");
    }
    let short = REFRESH.replace("[refresh]", "[refresh]\npolicy = { value = \"per-bank\", source = \"x\" }");
    let error = with("", &short.replace("1000", "800")).check().unwrap_err().to_string();
    assert_eq!(
        error,
        "refresh: found a refresh every 50 cycles, expected more than RC + RP, 52, so that requests are served"
    );
}
