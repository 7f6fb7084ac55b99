//! The runs behind a page: what was run, and where its cycles, its traffic and its energy went.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::arrays;
use super::chart::px;
use super::colour::{Palette, word};
use super::{Address, table};
use crate::claims::Measurement;
use crate::job::{Job, Key, Kind};
use crate::paper::Paper;
use crate::question::{Answers, Cell};
use crate::record::Record;
use crate::report::number;
use crate::store::Store;

/// Runs by the system that was run, and which of them each claim is measured by.
pub struct Runs<'a> {
    groups: Vec<(String, Vec<Run>)>,
    /// System of each run.
    systems: BTreeMap<Key, String>,
    /// The systems that each claim's measurement needs, with how many runs of each.
    claims: BTreeMap<&'a str, BTreeMap<String, usize>>,
    address: Option<Address>,
}

struct Run {
    key: Key,
    record: Record,
}

impl<'a> Runs<'a> {
    /// The runs of some jobs that a store has, each linked to where `address` says, if anywhere.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn of(jobs: &[Job], store: &Store, address: Option<Address>) -> Result<Self, String> {
        let mut groups: Vec<(String, Vec<Run>)> = Vec::new();
        let mut systems = BTreeMap::new();
        for job in jobs {
            let Some(key) = store.find(job) else { continue };
            let Some(record) = store.get(&key)? else { continue };
            let system = if job.kind == Kind::Profile { "reference executor" } else { &job.variant };
            if systems.insert(key.clone(), system.to_owned()).is_some() {
                continue;
            }
            let run = Run { key, record };
            match groups.iter_mut().find(|(name, _)| name == system) {
                Some((_, runs)) => runs.push(run),
                None => groups.push((system.to_owned(), vec![run])),
            }
        }
        groups.sort_by(|one, other| one.0.cmp(&other.0));
        for (_, runs) in &mut groups {
            runs.sort_by(|one, other| one.record.job.workload.cmp(&other.record.job.workload));
        }
        Ok(Runs { groups, systems, claims: BTreeMap::new(), address })
    }

    /// Versions of the simulator that ran them.
    pub fn simulators(&self) -> BTreeSet<String> {
        let runs = self.groups.iter().flat_map(|(_, runs)| runs);
        runs.map(|run| run.record.job.simulator.clone()).collect()
    }

    /// Notes which runs a claim is measured by.
    ///
    /// # Errors
    /// A measurement whose names are unknown.
    pub fn note_claim(
        &mut self,
        paper: &'a Paper,
        id: &'a str,
        store: &Store,
        answers: &mut Answers<'_>,
    ) -> Result<(), String> {
        let Some(text) = paper.measured.get(id) else { return Ok(()) };
        let mut keys = BTreeSet::new();
        for wanted in Measurement::new(paper, text)?.jobs() {
            if !wanted.is_needed(answers) {
                continue;
            }
            let job = answers.job(wanted.kind, wanted.workload, &wanted.variant);
            keys.extend(job.ok().and_then(|job| store.find(&job)));
        }
        let mut counts = BTreeMap::new();
        for system in keys.iter().filter_map(|key| self.systems.get(key)) {
            *counts.entry(system.clone()).or_insert(0) += 1;
        }
        self.claims.insert(id, counts);
        Ok(())
    }

    /// Links from a claim to its runs.
    pub fn of_claim(&self, id: &str) -> Markup {
        let counts = self.claims.get(id).filter(|counts| !counts.is_empty());
        html! {
            @if let Some(counts) = counts {
                p.note.runs {
                    "Runs: "
                    @for (place, (system, count)) in counts.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href=(format!("#{}", anchor(system))) { (system) } " (" (count) ")"
                    }
                }
            }
        }
    }

    /// The runs' records, each with the system that was run.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.groups.iter().flat_map(|(system, runs)| runs.iter().map(|run| (system.as_str(), &run.record)))
    }

    /// The machines of the runs.
    pub fn machines(&self) -> BTreeSet<String> {
        let runs = self.groups.iter().flat_map(|(_, runs)| runs);
        runs.filter_map(|run| machine(&run.record.job)).collect()
    }

    /// All runs, folded up by system.
    pub fn markup(&self, palette: &mut Palette) -> Markup {
        let count: usize = self.groups.iter().map(|(_, runs)| runs.len()).sum();
        html! {
            @if count > 0 {
                h2 id="runs" { "Runs" }
                p.note { (count) " runs stand behind this page." }
                (legend("Issue slots", SLOTS, palette))
                (legend("Energy", ENERGY, palette))
                @for (system, runs) in &self.groups {
                    details.system id=(anchor(system)) {
                        summary { (system) " " span.note { "(" (runs.len()) ")" } }
                        (rows(system, runs, self.address, palette))
                        @for run in runs { (arrays::of_run(system, &run.record)) }
                    }
                }
            }
        }
    }
}

fn anchor(system: &str) -> String {
    format!("runs-{}", word(system))
}

pub fn machine(job: &Job) -> Option<String> {
    Some(job.machine.as_ref()?.get("name")?.as_str()?.to_owned())
}

/// The columns of numbers: a title and a counter or a quotient of sums of counters.
pub const COLUMNS: &[(&str, f64, &[&str], &[&str])] = &[
    ("cycles", 1.0, &["run.cycles"], &[]),
    ("IPC", 1.0, &["run.thread_instructions"], &["run.cycles"]),
    (
        "L1D miss %",
        100.0,
        &["l1d.load_misses", "l1d.load_partial_hits", "l1d.store_misses", "l1d.store_partial_hits"],
        &["l1d.loads", "l1d.stores"],
    ),
    ("L2 hit %", 100.0, &["l2.read_hits", "l2.write_hits", "l2.atomic_hits"], &["l2.requests"]),
    ("DRAM requests", 1.0, &["dram.reads", "dram.writes"], &[]),
    ("DRAM row hit %", 100.0, &["dram.row_hits"], &["dram.reads", "dram.writes"]),
    ("energy mJ", 1e-9, &["energy.total_pj"], &[]),
];

fn rows(system: &str, runs: &[Run], address: Option<Address>, palette: &mut Palette) -> Markup {
    let timed = runs.iter().any(|run| run.record.job.kind == Kind::Timing);
    html! {
        div.scroll tabindex="0" role="group" aria-label=(format!("runs of {system}")) {
            table.sort data-title=(format!("runs of {system}")) {
                thead {
                    tr {
                        th { "workload" }
                        @if timed {
                            th { "machine" }
                            @for (title, ..) in COLUMNS { th { (title) } }
                            th.words { "issue slots" } th.words { "energy" }
                        } @else { th { "warp instructions" } }
                        th.words { "simulator" } th.words { "record" }
                    }
                }
                tbody {
                    @for run in runs {
                        tr {
                            td {
                                @match address {
                                    Some(address) => a href=(address(&run.key)) { (run.record.job.workload) },
                                    None => (run.record.job.workload),
                                }
                            }
                            @if timed {
                                td.words { (machine(&run.record.job).unwrap_or_default()) }
                                @for (_, scale, above, below) in COLUMNS { (table::cell(&quotient(&run.record, *scale, above, below))) }
                                td.words { (share_bar(&slots(&run.record), SLOTS, palette)) }
                                td.words { (share_bar(&energy(&run.record), ENERGY, palette)) }
                            } @else { (table::cell(&sum(&run.record, &["run.warp_instructions"]))) }
                            td.words { code { (run.record.job.simulator) } }
                            td.words { code title=(run.key) { (run.key.to_string().get(..8).unwrap_or_default()) } }
                        }
                    }
                }
            }
        }
    }
}

fn sum(record: &Record, counters: &[&str]) -> Cell {
    let value = |name: &&str| {
        let (group, counter) = name.split_once('.').expect("a group and a counter");
        record.get(group, counter).map(|value| value.as_f64()).ok_or_else(|| format!("there is no {name}"))
    };
    counters.iter().map(value).sum()
}

pub fn quotient(record: &Record, scale: f64, above: &[&str], below: &[&str]) -> Cell {
    let below = if below.is_empty() { Ok(1.0) } else { sum(record, below) };
    crate::grid::divide(Ok(scale * sum(record, above)?), &below)
}

/// What is shown of a whole: a name, the place of its colour and the counters in it.
pub type Shares = [(&'static str, usize, &'static [&'static str])];

/// What issue slots went to.
pub const SLOTS: &Shares = &[
    ("issued", 2, &["issued"]),
    ("memory", 0, &["stall_memory"]),
    ("load/store unit full", 1, &["stall_lsu_full"]),
    ("execution", 4, &["stall_execution"]),
    ("no warp", 3, &["stall_no_warp"]),
    ("other", 7, &[]),
];

/// What took energy.
pub const ENERGY: &Shares = &[
    ("L1D", 0, &["l1d_pj"]),
    ("network", 1, &["network_requests_pj", "network_replies_pj"]),
    ("L2", 4, &["l2_pj"]),
    ("DRAM", 6, &["dram_pj"]),
    ("register file", 2, &["register_file_pj"]),
    ("rest", 3, &["rest_pj"]),
    ("other", 7, &[]),
];

/// Values of the shares of a whole. `other` is what the rest of them leave.
fn values(record: &Record, group: &str, whole: Option<f64>, shares: &Shares) -> Vec<f64> {
    let of = |counter: &&str| record.get(group, counter).map_or(0.0, |value| value.as_f64());
    let mut values: Vec<f64> = shares.iter().map(|(_, _, counters)| counters.iter().map(of).sum()).collect();
    let known: f64 = values.iter().sum();
    if let Some(other) = values.last_mut() {
        *other = (whole.unwrap_or(known) - known).max(0.0);
    }
    values
}

pub fn slots(record: &Record) -> Vec<f64> {
    let whole = record.get("sm", "issue_slots").map(|value| value.as_f64());
    values(record, "sm", whole, SLOTS)
}

pub fn energy(record: &Record) -> Vec<f64> {
    let whole = record.get("energy", "total_pj").map(|value| value.as_f64());
    values(record, "energy", whole, ENERGY)
}

/// Names and colours of shares.
pub fn legend(title: &str, shares: &Shares, palette: &mut Palette) -> Markup {
    html! {
        div.legend {
            span.key.plain { (title) }
            @for (name, place, _) in shares {
                span.key { i class=(palette.part(*place)) {} (name) }
            }
        }
    }
}

/// Parts of a whole on one line.
pub fn share_bar(values: &[f64], shares: &Shares, palette: &mut Palette) -> Markup {
    const WIDTH: f64 = 132.0;
    let whole: f64 = values.iter().sum();
    let mut left = 0.0;
    html! {
        @if whole > 0.0 {
            svg.share width=(px(WIDTH)) height="12" viewBox=(format!("0 0 {} 12", px(WIDTH))) preserveAspectRatio="none" {
                @for ((name, place, _), value) in shares.iter().zip(values) {
                    @let width = WIDTH * value / whole;
                    @if width >= 0.05 {
                        rect class=(palette.part(*place)) x=(px(left)) width=(format!("{width:.2}")) height="12" {
                            title { (name) ": " (number(100.0 * value / whole)) " %" }
                        }
                    }
                    @let () = left += width;
                }
            }
        }
    }
}
