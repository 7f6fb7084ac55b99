use std::path::Path;

use strata_engine::statistics::Statistics;

use super::*;
use crate::machine::builtin;

strata_engine::statistics! {
    /// Counters of an array of the test.
    pub struct ArrayStatistics: "array" {
        /// Writes to any line.
        array_writes: "writes",
        /// Writes of the line written most.
        hottest_line_writes: "writes" [maximum],
        /// Writes of the bank written most.
        hottest_bank_writes: "writes" [maximum],
    }
    laws {
        "hottest_line_writes <= array_writes": |s| s.hottest_line_writes <= s.array_writes,
    }
}

strata_engine::statistics! {
    /// Counters of something else.
    pub struct OtherStatistics: "other" {
        /// Accesses of any kind.
        accesses: "accesses",
    }
    laws {}
}

fn machine(section: &str) -> Result<Machine, String> {
    let text = format!("{}\n{section}", builtin()[0].text);
    Machine::parse(Path::new("m.toml"), &text, &[]).map_err(|error| error.to_string())
}

const SECTION: &str = r#"
[endurance.l1d]
counts = "array"
writes = "array_writes"
hottest = "hottest_line_writes"
per = "sm"
lines = { value = 512, source = "test" }
cell_writes = { value = 1e12, source = "test" }
"#;

/// Counts of 15 SMs: 1000 writes each, with 7, 8, 9, ... of them to the most-written line, and 70, 80, 90, ... to
/// the most-written bank.
fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for sm in 0..15 {
        let counted = ArrayStatistics {
            array_writes: 1000,
            hottest_line_writes: 7 + sm,
            hottest_bank_writes: 70 + 10 * sm,
        };
        crate::results::merge_groups(&mut groups, vec![counted.report()]);
    }
    groups
}

/// Seconds until the cells of each reading wear out.
fn seconds(lifetime: &Lifetime) -> Vec<(&'static str, f64)> {
    lifetime.readings.iter().map(|reading| (reading.wear.name(), lifetime.seconds(*reading))).collect()
}

#[test]
fn the_hottest_line_wears_out_first() {
    let machine = machine(SECTION).unwrap();
    // 700 cycles at 700 MHz are a microsecond.
    let lifetime = lifetimes(&machine, &groups(), 700).unwrap().remove(0);
    assert_eq!((lifetime.writes, lifetime.cell_writes, lifetime.run_seconds), (15_000, 1e12, 1e-6));
    let hottest = lifetime.reading(Wear::Hottest).unwrap();
    assert_eq!(hottest.writes, 21.0);
    assert_eq!(lifetime.reading(Wear::Levelled).unwrap().writes, 15_000.0 / (15.0 * 512.0));
    assert_eq!(lifetime.reading(Wear::Bank), None);
    // At 21 writes per microsecond, 1e12 writes take 47,619 seconds.
    let seconds = seconds(&lifetime);
    assert!((seconds[0].1 - 1e6 / 21.0).abs() < 1e-6, "{lifetime:?}");
    assert!((seconds[1].1 - 1e6 * 15.0 * 512.0 / 15_000.0).abs() < 1e-6, "{lifetime:?}");
    assert_eq!(lifetime.arithmetic(hottest), "1e12 / (21 writes / 1.000e-6 s) = 13.2 hours");
}

const BANKS: &str = r#"
hottest_bank = "hottest_bank_writes"
entries = { value = 4, source = "test" }
"#;

#[test]
fn the_most_written_bank_may_be_taken_as_written_evenly_and_lines_left_out() {
    let lines = "lines = { value = 512, source = \"test\" }";
    let machine = machine(&SECTION.replace(lines, BANKS)).unwrap();
    let lifetime = lifetimes(&machine, &groups(), 700).unwrap().remove(0);
    // 210 writes to a bank of 4 entries.
    let bank = lifetime.reading(Wear::Bank).unwrap();
    assert_eq!(bank.writes, 52.5);
    let [hottest, (name, seconds)] = seconds(&lifetime)[..] else { panic!("two readings: {lifetime:?}") };
    assert_eq!((hottest.0, name), ("hottest", "bank"));
    assert!((seconds - 1e6 / 52.5).abs() < 1e-6, "{lifetime:?}");
    assert_eq!(lifetime.arithmetic(bank), "1e12 / (52.500 writes / 1.000e-6 s) = 5.3 hours");
}

#[test]
fn what_is_not_written_lasts_for_ever() {
    assert_eq!(lifetime_seconds(0.0, 1.0, 1e12), f64::INFINITY);
    assert_eq!(lifetime_seconds(2.0, 1.0, 1e12), 5e11);
    assert_eq!(arithmetic(0.0, 1.0, 1e12), "without end: no writes");
}

#[test]
fn times_have_the_unit_that_suits_them() {
    for (seconds, text) in [
        (11.0 * MONTH, "11.0 months"),
        (23.0 * MONTH, "23.0 months"),
        (30.0 * MONTH, "2.5 years"),
        (12e8 * MONTH, "1.000e8 years"),
        (86_400.0, "1.0 days"),
        (90.0, "1.5 minutes"),
        (0.0, "0.0 seconds"),
    ] {
        assert_eq!(in_words(seconds), text);
    }
}

#[test]
fn mistakes_are_named() {
    for (found, replaced, message) in [
        (
            "counts = \"array\"",
            "counts = \"other\"",
            "writes: found `array_writes`, expected a counter of `other`",
        ),
        ("\"array_writes\"", "\"writes\"", "writes: found `writes`, expected a counter of `array`"),
        (
            "\"hottest_line_writes\"",
            "\"array_writes\"",
            "hottest: found `array_writes`, expected a counter marked as a maximum of `array`",
        ),
    ] {
        let machine = machine(&SECTION.replace(found, replaced)).unwrap();
        let mut groups = groups();
        groups.push(OtherStatistics::default().report());
        let error = lifetimes(&machine, &groups, 700).unwrap_err();
        assert_eq!(error, format!("m.toml: endurance.l1d.{message}"));
    }
    let error = machine(&SECTION.replace("512", "0")).unwrap_err();
    assert!(error.ends_with(": endurance.l1d.lines: found 0, expected at least 1"), "{error}");
    for (left_out, message) in [
        ("hottest_bank", "hottest_bank: found nothing, expected it beside `entries`"),
        ("entries", "entries: found nothing, expected it beside `hottest_bank`"),
    ] {
        let banks: Vec<&str> = BANKS.lines().filter(|line| !line.starts_with(left_out)).collect();
        let error = machine(&format!("{SECTION}{}", banks.join("\n"))).unwrap_err();
        assert!(error.ends_with(&format!(": endurance.l1d.{message}")), "{error}");
    }
    let sum = format!("{SECTION}{}", BANKS.replace("hottest_bank_writes", "array_writes"));
    let error = lifetimes(&machine(&sum).unwrap(), &groups(), 700).unwrap_err();
    assert!(error.contains("hottest_bank: found `array_writes`, expected a counter marked as a maximum"));
    let error = machine(&SECTION.replace("1e12", "-1.0")).unwrap_err();
    assert!(error.ends_with(": endurance.l1d.cell_writes: found -1, expected at least 1"), "{error}");
}
