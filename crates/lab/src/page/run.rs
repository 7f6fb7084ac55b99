//! The page of one run: what was run, where its cycles and its energy went, every counter, and its launches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use maud::{Markup, html};
use strata_engine::statistics::Array;
use strata_gpu::catalogue;
use strata_gpu::machine::{self, Machine};

use super::colour::{Palette, word};
use super::runs::{self, COLUMNS, ENERGY, SLOTS, Shares, energy, quotient, share_bar, slots};
use super::{Parts, arrays};
use crate::job::{Job, Key};
use crate::profile;
use crate::record::{COUNTERS_OF_RUN, Record, Row, Value};
use crate::report::number;
use crate::sweep::describe;

/// Most launches that a page lists.
pub const LAUNCHES: usize = 100;

/// The page of a finished job. It lists [`LAUNCHES`] launches, those of `part`, counted from 0; `address` tells where
/// another part is.
#[must_use]
pub fn run(record: &Record, key: &Key, part: usize, address: &dyn Fn(usize) -> String) -> Parts {
    let mut palette = Palette::default();
    let meanings = meanings(&record.job);
    let groups = record.groups();
    let groups: Vec<(String, &str, Markup)> = groups
        .into_iter()
        .filter_map(|group| {
            Some((format!("group-{}", word(group)), group, counters(record, group, &meanings)?))
        })
        .collect();
    let launches = launches(record, part, address);
    let breakdowns = html! {
        (breakdown("Issue slots", &slots(record), SLOTS, &mut palette))
        (breakdown("Energy", &energy(record), ENERGY, &mut palette))
    };
    let mut links: Vec<(String, String)> = Vec::new();
    if launches.is_some() {
        links.push(("launches".into(), "Launches".into()));
    }
    links.extend(groups.iter().map(|(anchor, name, _)| (anchor.clone(), name.replace('_', " "))));
    links.push(("job".into(), "Job".into()));
    let body = html! {
        section { (figures(record)) (breakdowns) }
        @if let Some(launches) = &launches { section id="launches" { h2 { "Launches" } (launches) } }
        @for (anchor, name, counters) in &groups { section id=(anchor) { h2 { (name.replace('_', " ")) } (counters) } }
        @let arrays = arrays::of_run(&record.job.variant, record);
        @if !arrays.0.is_empty() { section { h2 { "Arrays of counters" } (arrays) } }
        section id="job" { h2 { "Job" } (job(&record.job)) }
    };
    let facts = vec![
        ("Machine", runs::machine(&record.job).unwrap_or_default()),
        ("System", record.job.system.clone().unwrap_or_default()),
        ("Overrides", record.job.overrides.join(" ")),
        ("Simulator", record.job.simulator.clone()),
        ("Job", key.to_string()),
    ];
    Parts { title: describe(&record.job), facts, links, body, colours: palette.css() }
}

/// The numbers that sum up a run.
fn figures(record: &Record) -> Markup {
    let number_of = |scale: f64, above: &[&str], below: &[&str]| quotient(record, scale, above, below).ok();
    html! {
        dl.figures {
            @for (title, scale, above, below) in COLUMNS {
                @if let Some(value) = number_of(*scale, above, below) { div { dt { (title) } dd { (number(value)) } } }
            }
        }
    }
}

/// Parts of a whole, with their names and percentages.
fn breakdown(title: &str, values: &[f64], shares: &Shares, palette: &mut Palette) -> Markup {
    let whole: f64 = values.iter().sum();
    html! {
        @if whole > 0.0 {
            div.breakdown {
                h2 { (title) }
                (share_bar(values, shares, palette))
                div.legend {
                    @for ((name, place, _), value) in shares.iter().zip(values).filter(|(_, value)| **value > 0.0) {
                        span.key { i class=(palette.part(*place)) {} (name) " " b { (number(100.0 * value / whole)) " %" } }
                    }
                }
            }
        }
    }
}

/// Unit and meaning of counters, by group and name.
type Meanings = BTreeMap<(String, String), (&'static str, String)>;

/// Those of programs, and of the machines that come along.
static COMMON: LazyLock<Meanings> = LazyLock::new(|| {
    let of_profiles = profile::counters().into_iter();
    let mut known: Meanings =
        of_profiles.map(|of| ((of.group.to_owned(), of.name), (of.unit, of.meaning))).collect();
    for builtin in machine::builtin() {
        let machine = Machine::load(builtin.name, &[]).expect("a machine that comes along can be built");
        add(&mut known, &machine);
    }
    for (name, unit, meaning) in COUNTERS_OF_RUN {
        known.insert(("run".into(), (*name).to_owned()), (unit, (*meaning).to_owned()));
    }
    known
});

fn add(known: &mut Meanings, machine: &Machine) {
    for group in catalogue::statistics(machine).into_iter().flatten() {
        for of in group.definitions {
            let name = (group.name.to_owned(), of.name.to_owned());
            known.entry(name).or_insert_with(|| (of.unit, of.meaning.to_owned()));
        }
    }
}

/// Unit and meaning of each counter that is known. A machine that this simulator cannot build any more adds none.
fn meanings(job: &Job) -> Meanings {
    let mut known = COMMON.clone();
    let machine = job.machine.as_ref().and_then(|table| {
        let text = toml::to_string(&**table).ok()?;
        Machine::parse(Path::new("the job's machine"), &text, &[]).ok()
    });
    if let Some(machine) = machine {
        add(&mut known, &machine);
    }
    known
}

/// The counters of a group as a table, without those of arrays; `None` if there are none.
fn counters(record: &Record, group: &str, meanings: &Meanings) -> Option<Markup> {
    let names = record.numbers().counters(group);
    let arrays = Array::among(&names);
    let is_of_array =
        |place: usize| arrays.iter().any(|array| (array.first..array.first + array.length).contains(&place));
    let rows: Vec<&Row> =
        record.rows.iter().filter(|row| row.launch.is_none() && row.group == group).collect();
    let single: Vec<&&Row> =
        rows.iter().enumerate().filter(|(place, _)| !is_of_array(*place)).map(|(_, row)| row).collect();
    (!single.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="group" aria-label=(format!("counters of {group}")) {
                table.counters data-title=(format!("counters of {group}")) {
                    thead { tr { th { "counter" } th { "value" } th.words { "unit" } th.words { "meaning" } } }
                    tbody {
                        @for row in single {
                            @let (unit, meaning) = meanings.get(&(row.group.clone(), row.counter.clone()))
                                .map_or(("", ""), |(unit, meaning)| (*unit, meaning.as_str()));
                            tr.zero[row.value.as_f64() == 0.0] {
                                td { (row.counter) }
                                (value(&row.counter, row.value))
                                td.words { (unit) }
                                td.words.meaning { (meaning) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// A value as a cell, with all its digits.
fn value(counter: &str, value: Value) -> Markup {
    html! {
        @match value {
            Value::Count(hash) if counter == "statistics_hash" => { td { code { (format!("{hash:016x}")) } } }
            Value::Count(count) => { td data-value=(count.to_string()) { (grouped(count)) } }
            Value::Real(real) => { td data-value=(real.to_string()) { (number(real)) } }
        }
    }
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

/// The launches of a part as a table; `None` for a run without any.
fn launches(record: &Record, part: usize, address: &dyn Fn(usize) -> String) -> Option<Markup> {
    let rows: Vec<&Row> = record.rows.iter().filter(|row| row.launch.is_some()).collect();
    let all: Vec<&[&Row]> = rows.chunk_by(|one, other| one.launch == other.launch).collect();
    let parts = all.len().div_ceil(LAUNCHES);
    let part = part.min(parts.checked_sub(1)?);
    let shown: Vec<&&[&Row]> = all.iter().skip(part * LAUNCHES).take(LAUNCHES).collect();
    let mut columns: Vec<&str> = Vec::new();
    for row in shown.iter().flat_map(|rows| rows.iter()) {
        if !columns.contains(&row.counter.as_str()) {
            columns.push(&row.counter);
        }
    }
    let cell =
        |rows: &[&Row], column: &str| rows.iter().find(|row| row.counter == column).map(|row| row.value);
    Some(html! {
        div.scroll tabindex="0" role="group" aria-label="launches" {
            table.sort data-title="launches" {
                thead {
                    tr { th { "launch" } th.words { "kernel" } @for column in &columns { th { (column.replace('_', " ")) } } }
                }
                tbody {
                    @for rows in shown {
                        tr {
                            td { (rows[0].launch.unwrap_or_default()) }
                            td.words { (rows[0].group) }
                            @for column in &columns {
                                @match cell(rows, column) { Some(found) => (value(column, found)), None => { td {} } }
                            }
                        }
                    }
                }
            }
        }
        (pages(part, parts, "Launches", address))
    })
}

/// Links to the first, the previous, the next and the last part of a list; nothing if it has one.
#[must_use]
pub fn pages(part: usize, parts: usize, of: &str, address: &dyn Fn(usize) -> String) -> Markup {
    let steps = [
        ("First", 0, part > 0),
        ("Previous", part.saturating_sub(1), part > 0),
        ("Next", part + 1, part + 1 < parts),
        ("Last", parts.saturating_sub(1), part + 1 < parts),
    ];
    html! {
        @if parts > 1 {
            nav.pages aria-label=(format!("{of}, by page")) {
                @for (name, to, goes) in steps {
                    @if goes { a href=(address(to)) { (name) } } @else { span aria-hidden="true" { (name) } }
                }
                span.note { "Page " (part + 1) " of " (parts) }
            }
        }
    }
}

/// What decides the run's numbers, and what asked for it.
fn job(job: &Job) -> Markup {
    let rows = [
        ("Command", job.command.join(" ")),
        ("Launch file", job.launch_file.as_ref().map_or_else(String::new, |path| path.display().to_string())),
        ("Hash of the PTX", job.ptx.clone()),
        ("Hash of the inputs", job.inputs.clone()),
    ];
    html! {
        dl.job {
            @for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { code { (value) } } }
            }
        }
        @if job.machine.is_some() {
            details {
                summary { "Every value of the machine" }
                pre tabindex="0" { (job.canonical_machine()) }
            }
        }
    }
}
