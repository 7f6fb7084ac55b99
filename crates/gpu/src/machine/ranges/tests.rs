//! Ranges in files, on machines and under overrides.

use std::path::Path;

use super::super::{Machine, MachineValue, System, builtin, system};
use super::*;

/// A machine file that is a GTX 480 but for what it replaces.
fn machine(text: &str) -> Result<Machine, String> {
    let text = format!("base = \"gtx480\"\nname = \"m\"\ndescription = \"d\"\n{text}");
    Machine::parse(Path::new("m.toml"), &text, &[]).map_err(|error| error.to_string())
}

fn value(machine: &Machine, path: &str) -> MachineValue {
    machine.values().into_iter().find(|value| value.path == path).unwrap_or_else(|| panic!("{path}"))
}

fn range(machine: &Machine, path: &str) -> Option<Range> {
    value(machine, path).range
}

/// A key with a range beside its value.
fn with_range(key: &str, value: &str, range: &str) -> String {
    format!(
        "[lsu]\n{key} = {{ value = {value}, source = \"ASSUMED: x\", range = {{ {range}, because = \"y\" }} }}\n"
    )
}

#[test]
fn a_range_stands_beside_its_value_and_is_no_part_of_the_machine() {
    let plain = machine("[lsu]\nqueue = { value = 16, source = \"ASSUMED: x\" }\n").unwrap();
    let ranged = machine(&with_range("queue", "16", "from = 12, to = 48")).unwrap();
    assert_eq!(plain.hash(), ranged.hash());
    let found = range(&ranged, "lsu.queue").unwrap();
    assert_eq!(
        (found.span.to_string(), found.because.as_str(), found.together),
        ("12 to 48".into(), "y", None)
    );
    let key = ranged.keys().into_iter().find(|key| key.path == "lsu.queue").unwrap();
    assert_eq!(key.range, range(&ranged, "lsu.queue"));
    // Read again from what it says of itself.
    let again = Machine::parse(Path::new("n.toml"), &ranged.table().to_string(), &[]).unwrap();
    assert_eq!((again.table(), range(&again, "lsu.queue")), (ranged.table(), range(&ranged, "lsu.queue")));
}

#[test]
fn what_is_set_is_assumed_no_more_and_the_rest_keeps_its_ranges() {
    let sets = ["lsu.queue=20".to_owned(), "lsu.writeback_latency_cycles=9".to_owned()];
    let set = Machine::load("gtx480", &sets).unwrap();
    assert_eq!(range(&set, "lsu.queue"), None);
    assert_eq!(range(&set, "lsu.writeback_latency_cycles"), None);
    let plain = Machine::load("gtx480", &[]).unwrap();
    for path in ["lsu.accesses", "llc.conventional.write_buffer", "energy.dram.pj.dram.written_bytes"] {
        assert!(range(&plain, path).is_some(), "{path}");
        assert_eq!(range(&set, path), range(&plain, path));
    }
}

#[test]
fn a_system_brings_its_ranges_and_the_machines_rules_are_for_its_values_too() {
    let text = "name = \"s\"\ndescription = \"d\"\n[sm]\n\
                load_window = { value = 16, source = \"ASSUMED: x\", range = { any = [0, 16], because = \"y\" } }\n";
    let system = System::parse(Path::new("s.toml"), text).unwrap();
    let over = Machine::build(Path::new("m.toml"), builtin()[0].text, vec![system], &[]).unwrap();
    assert_eq!(range(&over, "sm.load_window").unwrap().span.to_string(), "0 | 16");
    // One that replaces the value with a published one leaves no range of the machine's behind.
    let text = text.replace("ASSUMED: x\", range = { any = [0, 16], because = \"y\" }", "Table I\"");
    let system = System::parse(Path::new("s.toml"), &text).unwrap();
    let over = Machine::build(Path::new("m.toml"), builtin()[0].text, vec![system], &[]).unwrap();
    assert_eq!(range(&over, "sm.load_window"), None);
    let over = Machine::load_with("gtx480", &["dy-fuse"], &[]).unwrap();
    let found = range(&over, "l1d.fuse.write_buffer").unwrap();
    assert_eq!((found.span.to_string(), found.together), ("16 to 64".into(), None));
    let found = range(&over, "energy.l1d.pj.fuse.swap_reads").unwrap();
    assert_eq!((found.span.to_string(), found.together.as_deref()), ("4.5 to 18".into(), Some("energies")));
}

#[test]
fn the_longest_pattern_counts_and_only_assumed_values_have_ranges() {
    let rule = |name: &str, of: &str, to: u32| {
        format!("[ranges.{name}]\nof = [\"{of}\"]\ntimes = [0.5, {to}]\nbecause = \"{name}\"\n")
    };
    let assumed = "[lsu]\naccesses = { value = 640, source = \"ASSUMED: x\" }\n";
    let text = rule("a", "lsu.*", 2) + &rule("b", "lsu.acc*", 3) + assumed;
    assert_eq!(range(&machine(&text).unwrap(), "lsu.accesses").unwrap().because, "b");
    let cited = Machine::load("gtx480", &[]).unwrap();
    for value in cited.values().iter().filter(|value| value.range.is_some()) {
        assert!(value.source.as_ref().unwrap().contains(ASSUMED), "{value:?}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let queue = |range: &str| with_range("queue", "16", range);
    let at = "m.toml:5:46: `lsu.queue.range`: ";
    for (text, expected) in [
        (queue("from = 17, to = 48"), format!("{at}found 17 to 48, expected values of which 16 is one")),
        (queue("from = 16, to = 16"), format!("{at}from: found 16, expected less than `to`, which is 16")),
        (queue("from = 8.5, to = 48"), format!("{at}found 8.5 to 48, expected whole numbers, as the value")),
        (queue("from = 0, to = 48, scale = \"log\""), format!("{at}from: found 0, expected more than 0 on")),
        (queue("from = 8"), format!("{at}expected `from` and `to`, or `times`, either with a `scale`")),
        (queue("times = [2, 0.5]"), format!("{at}times: found 2 and 0.5, expected the smaller factor")),
        (queue("times = [1.01, 1.02]"), format!("{at}times: found factors that make 16 of 16 both times")),
        (queue("any = [16]"), format!("{at}any: found 1 values, expected two or more")),
        (queue("any = [8, 12]"), format!("{at}found 8 | 12, expected values of which 16 is one")),
        (queue("times = [0.5, 2], why = 3"), format!("{at}unknown field `why`, expected one of")),
        (
            "[lsu]\nqueue = { value = 16, source = \"Table I\", range = { times = [0.5, 2], because = \"y\" } }\n".into(),
            "m.toml:5:43: `lsu.queue.range`: found the range of a value whose source does not say ASSUMED".into(),
        ),
        (
            format!("[ranges.a]\nof = []\ntimes = [0.5, 3]\nbecause = \"y\"\n{}", queue("any = [8, 16]")),
            "m.toml:5:1: `ranges.a.of`: found no pattern, expected one or more".into(),
        ),
        (
            format!("[ranges.a]\nof = [\"lsu.queue\"]\ntimes = [2, 3]\nbecause = \"y\"\n{}", queue("any = [8, 16]")),
            "m.toml:6:1: `ranges.a.times`: found 2 and 3, expected one factor up to 1".into(),
        ),
        ("[ranges]\na = 3\n".into(), "m.toml:5:1: `ranges.a`: ".into()),
    ] {
        let error = machine(&text).map(|_| ()).expect_err(&text);
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn equal_parts_of_a_range_belong_to_equally_likely_values() {
    let at = |span: &Span| [0.0, 0.26, 0.5, 0.74, 1.0].map(|place| span.at(place).to_string()).join(" ");
    let whole = |from, to, scale| Span::Whole { from, to, scale };
    assert_eq!(at(&whole(1, 4, span::Scale::Linear)), "1 2 3 3 4");
    // Up to 15.99: 1, 2.06, 4 and 7.8 on the way, all cut off.
    assert_eq!(at(&whole(1, 15, span::Scale::Log)), "1 2 4 7 15");
    assert_eq!(at(&Span::Real { from: 1.0, to: 16.0, scale: span::Scale::Linear }), "1.0 4.9 8.5 12.1 16.0");
    assert_eq!(Span::Real { from: 1.0, to: 16.0, scale: span::Scale::Log }.at(0.5).as_float(), Some(4.0));
    assert_eq!(at(&Span::Any(vec!["a".into(), "b".into()])), "\"a\" \"a\" \"b\" \"b\" \"b\"");
}

#[test]
fn every_value_of_every_range_that_comes_along_is_one_that_the_machine_takes() {
    for name in ["gtx480", "volta-fuse", "fermi-apu"] {
        let of_its_papers = |paper: Option<&str>| match name {
            "fermi-apu" => paper == Some("tinycache"),
            _ => paper == Some("fuse"),
        };
        let systems = system::builtin().iter().map(|system| system.name);
        let systems =
            systems.filter(|system| of_its_papers(System::load(system).unwrap().about.paper.as_deref()));
        for system in systems {
            let machine = Machine::load_with(name, &[system], &[]).unwrap();
            let ranged: Vec<_> =
                machine.values().into_iter().filter_map(|value| Some((value.path, value.range?))).collect();
            assert!(ranged.len() > 20, "{name} with {system}: {}", ranged.len());
            for (path, range) in ranged.iter().filter(|(path, _)| !path.starts_with("energy.")) {
                for place in [0.0, 0.5, 1.0] {
                    let value = range.span.at(place);
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let set = format!("{path}={value}");
                    Machine::load_with(name, &[system], &[set]).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}

#[test]
fn every_pattern_of_a_rule_that_comes_along_names_values_of_its_file() {
    let files = builtin().iter().chain(system::builtin());
    for file in files {
        let table: Table = file.text.parse().unwrap();
        let paths: Vec<String> = super::super::values::values(&table)
            .into_iter()
            .filter(|value| value.range.is_some())
            .map(|value| value.path)
            .collect();
        for (name, rule) in &Rules::of(&table).0 {
            for pattern in &rule.of {
                let named = paths.iter().any(|path| matches(pattern, path));
                assert!(named, "{}: ranges.{name}: {pattern}", file.name);
            }
        }
    }
}
