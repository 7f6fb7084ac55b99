//! Figures whose numbers are known by hand, and a small run.

use strata_gpu::machine::Machine;
use strata_workloads::micro::{Figure, Reading, Span};

use super::facts::Levels;
use super::*;

fn span(launch: usize, pair: u64, pairs: u64) -> Span {
    Span { launch, pair, pairs }
}

fn figure(reading: Reading, work: f64, short: Option<Span>, long: Span) -> Figure {
    Figure { case: "c".into(), parameters: vec![], quantity: "q", unit: "u", reading, work, short, long }
}

#[test]
fn a_figure_is_what_the_longer_span_has_more() {
    // Two warps: the first span lasts from 100 to 160, the second from 200 to 500.
    let clocks = [100, 150, 110, 160, 210, 480, 200, 500];
    let times = [40.0, 100.0];
    let (short, long) = (span(0, 0, 2), span(1, 2, 2));
    let value = |reading, short| read(&figure(reading, 60.0, short, long), &clocks, &times);
    assert_eq!(value(Reading::CyclesPerWork, Some(short)), Ok(4.0));
    assert_eq!(value(Reading::CyclesPerWork, None), Ok(5.0));
    assert_eq!(value(Reading::WorkPerCycle, Some(short)), Ok(0.25));
    assert_eq!(value(Reading::TimePerWork, Some(short)), Ok(1.0));
    assert_eq!(value(Reading::WorkPerTime, None), Ok(0.6));
    // 240 cycles in 60 ns.
    assert_eq!(value(Reading::CyclesPerTime, Some(short)), Ok(4000.0));
    assert_eq!(
        read(&figure(Reading::CyclesPerWork, 1.0, Some(long), short), &clocks, &times),
        Err(Unreadable)
    );
}

#[test]
fn quantiles_are_of_single_pairs() {
    let clocks: Vec<u64> = [40, 10, 30, 20].iter().flat_map(|cycles| [1000, 1000 + cycles]).collect();
    let value = |percent| read(&figure(Reading::Quantile(percent), 1.0, None, span(0, 0, 4)), &clocks, &[]);
    for (percent, expected) in
        [(0, 10.0), (25, 10.0), (26, 20.0), (50, 20.0), (75, 30.0), (99, 40.0), (100, 40.0)]
    {
        assert_eq!(value(percent), Ok(expected), "{percent} percent");
    }
}

fn of_space(space: &str, footprint: u64, case: &str) -> Figure {
    let parameters = vec![
        ("space", space.to_owned()),
        ("footprint", footprint.to_string()),
        ("stride", "128".into()),
        ("order", "random".into()),
    ];
    let quantity = "load latency";
    Figure {
        case: case.into(),
        parameters,
        quantity,
        unit: "cycles",
        ..figure(Reading::CyclesPerWork, 1.0, None, span(0, 0, 1))
    }
}

const LEVELS: Levels = Levels { l2_bytes: 6 << 20 };

#[test]
fn every_cards_data_can_be_read() {
    for card in cards() {
        let hardware = Hardware::of(card).unwrap();
        assert!(!hardware.facts.is_empty(), "{}", card.name);
        for fact in &hardware.facts {
            assert!(fact.low > 0.0 && fact.low <= fact.high && !fact.source.is_empty(), "{fact:?}");
        }
    }
    assert!(
        Hardware::named("gtx481")
            .unwrap_err()
            .contains("found `gtx481`, expected one of h200, h100, a100, v100")
    );
    assert_eq!(own_card("volta-fuse").unwrap().name, "v100");
    assert!(own_card("stash-apu").is_none());
}

#[test]
fn a_counterpart_is_the_case_or_lies_between_or_is_the_levels() {
    let v100 = Hardware::named("v100").unwrap();
    // A footprint that nobody measured: the L1D's.
    let between = v100.counterpart("latency", &of_space("global", 5000, "none"), LEVELS).unwrap();
    assert!((27.0..29.0).contains(&between.low), "{between:?}");
    // The walk past the L1D has no curve, but a level.
    let level = v100.counterpart("latency", &of_space("global-cg", 1 << 20, "none"), LEVELS).unwrap();
    assert_eq!((level.low, level.high), (193.0, 220.0));
    // What nobody has read before comes from memory. Of more than the L2 holds, a part does.
    let mut swept = of_space("global-cg", 1 << 18, "none");
    swept.parameters.push(("read_before_by", "none".to_owned()));
    let memory = v100.counterpart("latency", &swept, LEVELS).unwrap();
    assert_eq!(memory.low, 427.0);
    // Others walk round through so much that no cache holds any of it: TLBs do not cover it either.
    let mut beyond = of_space("global", 64 << 20, "none");
    beyond.parameters.push(("read_before_by", "none".to_owned()));
    let slower = v100.counterpart("latency", &beyond, LEVELS).unwrap();
    assert!(429.5 < slower.low && slower.high < 430.5, "{slower:?}");
    for space in ["global", "global-cg"] {
        assert_eq!(v100.counterpart("latency", &of_space(space, 24 << 20, "none"), LEVELS), None);
    }
    // A stream past four times the L2 is as fast as memory is.
    let stream = |bytes: u64| Figure {
        quantity: "bandwidth",
        unit: "GB/s",
        parameters: [
            ("operation", "read".to_owned()),
            ("footprint", bytes.to_string()),
            ("threads_per_sm", "2048".to_owned()),
        ]
        .into(),
        ..of_space("global", bytes, "none")
    };
    let memory = v100.counterpart("bandwidth", &stream(24 << 20), LEVELS).unwrap();
    assert_eq!(memory.low, 867.0);
    assert!(v100.counterpart("bandwidth", &stream(2 << 20), LEVELS).unwrap().low > 2000.0);
    assert_eq!(v100.counterpart("bandwidth", &stream(8 << 20), LEVELS), None);
    assert_eq!(v100.counterpart("latency", &of_space("global-cg", 8 << 20, "none"), LEVELS), None);
    assert_eq!(v100.counterpart("latency", &of_space("local", 4096, "none"), LEVELS), None);
    // The case itself goes before all else.
    let h200 = Hardware::named("h200").unwrap();
    let same = h200.counterpart("latency", &of_space("global", 1 << 20, "global-random-128-1048576"), LEVELS);
    assert!((265.0..285.0).contains(&same.unwrap().low));
}

#[test]
fn what_lies_between_two_points_lies_between_them_by_factors() {
    let mut hardware = Hardware::named("v100").unwrap();
    let at = |footprint: u64, cycles| {
        let of = of_space("global", footprint, "none");
        let parameters = of.parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let text = |text: &str| text.to_owned();
        Fact {
            family: text("latency"),
            case: text(""),
            parameters,
            quantity: text("load latency"),
            unit: text("cycles"),
            low: cycles,
            high: cycles,
            source: text("s"),
        }
    };
    hardware.facts = vec![at(4096, 30.0), at(1024, 10.0)];
    let of = |footprint| {
        hardware.counterpart("latency", &of_space("global", footprint, "none"), LEVELS).map(|fact| fact.low)
    };
    assert_eq!([of(1024), of(2048), of(4096)], [Some(10.0), Some(20.0), Some(30.0)]);
    assert_eq!([of(512), of(8192)], [None, None]);
    assert_eq!(hardware.curve("latency", &of_space("global", 1, "none")), [(1024.0, 10.0), (4096.0, 30.0)]);
}

fn small(machine: &Machine, families: &[&str], threads: usize) -> Validation {
    let asked: Vec<_> =
        benchmarks(machine).into_iter().filter(|benchmark| families.contains(&benchmark.family)).collect();
    let measured = measure(machine, &asked, threads, None, &|_, _| ()).unwrap();
    validation(machine, measured, vec![Hardware::named("gtx480").unwrap()])
}

#[test]
fn a_machines_figures_do_not_depend_on_threads_and_say_how_far_off_they_are() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let families = ["clock", "synchronisation"];
    let [one, two] = [1, 2].map(|threads| small(&machine, &families, threads).to_json());
    assert_eq!(one, two);
    let figures = one["figures"].as_array().unwrap();
    // Barriers of more warps take longer.
    let barrier = |warps: u32| {
        let case = format!("bar-sync-w{warps}");
        figures.iter().find(|figure| figure["case"] == case.as_str()).unwrap()["value"].as_f64().unwrap()
    };
    assert!(barrier(1) < barrier(8), "{} {}", barrier(1), barrier(8));
}

/// A launch of v100 spends its latency beside the one before it, and is timed whole all the same.
#[test]
fn a_machines_clock_is_its_files() {
    for name in ["gtx480", "v100"] {
        let machine = Machine::load(name, &[]).unwrap();
        let figures = small(&machine, &["clock"], 1).to_json();
        let (found, expected) =
            (figures["figures"][0]["value"].as_f64(), f64::from(machine.facts().core_mhz));
        assert!(
            found.is_some_and(|found| (found / expected - 1.0).abs() < 0.02),
            "{name}: {found:?} MHz of {expected}"
        );
    }
}

#[test]
fn errors_are_from_the_nearest_number_and_means_of_their_sizes() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let fact = |case: &str, low, high| Fact {
        family: "arithmetic".into(),
        case: case.into(),
        parameters: std::collections::BTreeMap::default(),
        quantity: "q".into(),
        unit: "u".into(),
        low,
        high,
        source: "s".into(),
    };
    let facts = vec![fact("a", 9.0, 11.0), fact("b", 20.0, 20.0), fact("c", 4.0, 5.0)];
    let hardware = Hardware { facts, ..Hardware::named("gtx480").unwrap() };
    let measured = |case: &str, value| Measured {
        family: "arithmetic",
        figure: Figure { case: case.into(), ..figure(Reading::CyclesPerWork, 1.0, None, span(0, 0, 1)) },
        value,
    };
    let lost = Err("no such instruction".to_owned());
    let values = vec![
        measured("a", Ok(10.0)),
        measured("b", Ok(25.0)),
        measured("c", Ok(2.0)),
        measured("b", lost),
        measured("d", Ok(1.0)),
    ];
    let validation = validation(&machine, values, vec![hardware]);
    let errors: Vec<Option<f64>> =
        validation.lines.iter().map(|line| line.beside[0].as_ref().and_then(|beside| beside.error)).collect();
    assert_eq!(errors, [Some(0.0), Some(0.25), Some(-0.5), None, None]);
    let apart = validation.apart(0);
    let of: Vec<(&str, usize, f64)> =
        apart.iter().map(|apart| (apart.of.as_str(), apart.count, apart.mean)).collect();
    assert_eq!(of, [("latencies and intervals", 3, 0.25), ("arithmetic", 3, 0.25)]);
    assert_eq!(validation.shown().count(), 4);
}
