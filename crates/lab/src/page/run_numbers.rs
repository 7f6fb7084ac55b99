//! Numbers of a record for its page.

use super::bars::percent;
use crate::record::Record;
use crate::report::number;

/// The value of a counter.
pub fn value_of(record: &Record, group: &str, counter: &str) -> Option<f64> {
    record.get(group, counter).map(|value| value.as_f64())
}

/// The sum of those counters of a group that there are; `None` if there is none of them.
pub fn sum_of(record: &Record, group: &str, counters: &[&str]) -> Option<f64> {
    counters.iter().filter_map(|counter| value_of(record, group, counter)).reduce(|one, other| one + other)
}

/// A number of the machine, by its path.
pub fn of_machine(record: &Record, path: &str) -> Option<f64> {
    let (section, key) = path.rsplit_once('.')?;
    value_of(record, &format!("machine.{section}"), key)
}

/// A number of the design behind a door of the machine.
pub fn of_design(record: &Record, door: &str, key: &str) -> Option<f64> {
    let designs = record.job.machine.as_ref()?.get(door)?.as_table()?;
    designs.keys().find_map(|design| of_machine(record, &format!("{door}.{design}.{key}")))
}

/// SMs of the machine that run kernels: not those in cache mode, and not those that rest.
pub fn working_sms(record: &Record) -> Option<f64> {
    let of = |key: &str| of_machine(record, &format!("gpu.{key}"));
    let idle = of("cache_sms").unwrap_or_default() + of("gated_sms").unwrap_or_default();
    of("sms").map(|sms| sms - idle)
}

/// Time of a run in seconds.
pub fn seconds(record: &Record) -> Option<f64> {
    let seconds = value_of(record, "run", "cycles")? / (value_of(record, "run", "core_mhz")? * 1e6);
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds)
}

/// Seconds for readers.
pub fn time(seconds: f64) -> String {
    let scales = [("ns", 1e-9, 1e-6), ("µs", 1e-6, 1e-3), ("ms", 1e-3, 1.0)];
    let found = scales.iter().find(|(.., below)| seconds < *below);
    found.map_or_else(
        || format!("{} s", number(seconds)),
        |(unit, scale, _)| format!("{} {unit}", number(seconds / scale)),
    )
}

/// A count with its digits in groups of three.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Facts about a run's warps: how many were resident, and how many of their lanes worked.
pub fn warps(record: &Record) -> Vec<(&'static str, String)> {
    let of = |counter| value_of(record, "sm", counter);
    let quotient =
        |above: Option<f64>, below: Option<f64>| Some(above? / below.filter(|below| *below > 0.0)?);
    let resident = quotient(of("resident_warp_cycles"), of("cycles_active"));
    let slots = of_machine(record, "sm.warp_slots");
    let lanes = quotient(of("thread_instructions"), of("warp_instructions"));
    let issued = of("issued").zip(of("issue_slots")).filter(|(_, all)| *all > 0.0);
    let mut facts = Vec::new();
    if let Some((issued, all)) = issued {
        facts.push(("slots issued", percent(issued, all)));
    }
    if let Some(resident) = resident {
        let of = slots.map_or_else(String::new, |slots| format!(" of {slots}"));
        facts.push(("resident warps", format!("{resident:.1}{of}")));
    }
    if let Some(lanes) = lanes {
        facts.push(("lanes executing", format!("{lanes:.1} of 32")));
    }
    facts
}
