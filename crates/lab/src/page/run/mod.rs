//! The page of one run: what was run, where its cycles, its bytes and its energy went, every counter, and its launches; of a run that
//! has just ended, also its counters over time, by part of the machine, by buffer and by line.

mod counters;
mod launches;

use std::path::Path;

use maud::{Markup, html};
use strata_gpu::machine::Machine;
use strata_gpu::results::By;

use super::colour::{Palette, word};
use super::meanings::Meanings;
use super::run_numbers::{grouped, of_machine, seconds, time, warps};
use super::runs::{self, COLUMNS, quotient};
use super::{
    Origin, Parts, arrays, bandwidth, each, energies, kernel, latencies, levels, queues, roofline, stack,
    tracks,
};
use crate::fresh::Fresh;
use crate::job::{Job, Key};
use crate::record::Record;
use crate::report::number;
use crate::sweep::describe;

pub use launches::{LAUNCHES, pages};

/// The page of a finished job. It lists [`LAUNCHES`] launches, those of `part`, counted from 0; `address` tells where
/// another part is.
#[must_use]
pub fn run(record: &Record, key: &Key, part: usize, address: &dyn Fn(usize) -> String) -> Parts {
    let mut page = Page::of(record, part, address);
    page.facts.push(("Job", key.to_string()));
    page.whole(None)
}

/// The page of a run that has just ended, in one file. It lists the first [`LAUNCHES`] launches.
#[must_use]
pub fn fresh(fresh: &Fresh<'_>, origin: &Origin) -> String {
    let mut page = Page::of(&fresh.record, 0, &|_| "#launches".to_owned());
    let region = &fresh.result.region;
    let launch = |number: Option<u64>| number.map_or("..".to_owned(), |number| number.to_string());
    let region = match region.is_everything() {
        true => String::new(),
        false => format!(
            "launches {} to {}{}{}{}",
            launch(region.from),
            launch(region.to),
            region.kernel.as_ref().map_or_else(String::new, |kernel| format!(", of {kernel} only")),
            fresh.result.began.map_or_else(String::new, |began| format!("; from {began}")),
            fresh.result.ended.map_or_else(String::new, |ended| format!("; until {ended}")),
        ),
    };
    page.facts.extend([
        ("Results", fresh.result.verdict.name().to_owned()),
        ("Stopped", fresh.result.verdict.stopped().unwrap_or_default().to_owned()),
        ("Measured", region),
        ("Job", fresh.key().map_or_else(String::new, |key| key.to_string())),
        ("Made", origin.date.clone()),
        ("Command", origin.command.clone()),
    ]);
    page.whole(Some(fresh)).document()
}

/// Title of the section on issue slots.
const SLOTS: &str = "Where the issue slots went";

/// A page that is being made.
struct Page<'a> {
    record: &'a Record,
    /// The machine, if this simulator can build it.
    machine: Option<Machine>,
    meanings: Meanings,
    palette: Palette,
    facts: Vec<(&'static str, String)>,
    launches: Option<Markup>,
    /// The sections: an anchor, a title and what is in it.
    sections: Vec<(String, String, Markup)>,
}

impl<'a> Page<'a> {
    fn of(record: &'a Record, part: usize, address: &dyn Fn(usize) -> String) -> Page<'a> {
        let job = &record.job;
        let machine = job.machine.as_ref().and_then(|table| {
            let text = toml::to_string(&**table).ok()?;
            Machine::parse(Path::new("the job's machine"), &text, &[]).ok()
        });
        let facts = vec![
            ("Machine", runs::machine(job).unwrap_or_default()),
            ("System", job.system.clone().unwrap_or_default()),
            ("Overrides", job.overrides.join(" ")),
            ("Simulator", job.simulator.clone()),
        ];
        Page {
            record,
            meanings: Meanings::of(machine.as_ref()),
            machine,
            palette: Palette::default(),
            facts,
            launches: launches::launches(record, part, address),
            sections: Vec::new(),
        }
    }

    /// Adds a section, if there is something in it.
    fn add(&mut self, anchor: &str, title: &str, body: Option<Markup>) {
        self.sections.extend(body.map(|body| (anchor.to_owned(), title.to_owned(), body)));
    }

    fn whole(mut self, fresh: Option<&Fresh<'_>>) -> Parts {
        let record = self.record;
        let machine = self.machine.take();
        let stack = stack::stack(record, &self.meanings, &mut self.palette);
        self.add("slots", SLOTS, stack);
        let channels = bandwidth::channels(record, machine.as_ref());
        if let Some(fresh) = fresh {
            let mhz = of_machine(record, "clocks.core_mhz").unwrap_or_default();
            let peak = machine.as_ref().map(|machine| machine.facts().dram_bytes_per_second);
            let tracks = tracks::drawing(fresh.timeline, mhz, peak, &mut self.palette);
            self.add("time", "Over time", tracks);
            let instructions = fresh.by(By::Instruction);
            let kernels =
                fresh.by(By::Line).and_then(|lines| kernel::annotated(lines, instructions, fresh.ptx));
            self.add("kernels", "Kernels", kernels);
        }
        let hierarchy = levels::drawing(record, machine.as_ref(), &mut self.palette);
        self.add("memory", "Memory", hierarchy);
        let table = bandwidth::table(record, &channels, &mut self.palette);
        let roofline = roofline::roofline(record, &channels, &mut self.palette);
        let bandwidth = table.map(|table| html! { (table) @if let Some(roofline) = roofline { h3 { "Instruction roofline" } (roofline) } });
        self.add("bandwidth", "Bandwidth", bandwidth);
        if let Some(fresh) = fresh {
            let latencies = fresh.by(By::Level).and_then(latencies::table);
            self.add("latencies", "Latencies of loads", latencies);
            let queues = fresh.by(By::Queue).and_then(queues::tables);
            self.add("queues", "Queues and MSHRs", queues);
            let buffers = fresh.by(By::Buffer).and_then(each::buffers);
            self.add("buffers", "Buffers", buffers);
            for (by, title) in [(By::Sm, "SMs"), (By::Slice, "LLC slices"), (By::Channel, "Channels")] {
                let strips = fresh.by(by).and_then(|breakdown| each::strips(breakdown, &self.meanings));
                self.add(&format!("by-{by}"), title, strips);
            }
        }
        let energy = energies::table(record, &mut self.palette);
        self.add("energy", "Energy", energy);
        let launches = self.launches.take();
        self.add("launches", "Launches", launches);
        let arrays = arrays::of_run(&record.job.variant, record);
        let has_arrays = !arrays.0.is_empty();
        self.add("arrays", "Arrays of counters", has_arrays.then_some(arrays));
        let counters = self.counters();
        self.add("counters", "Counters", counters);
        self.add("job", "Job", Some(job(&record.job)));
        // The first title is a long one.
        let short = |title: &str| if title == SLOTS { "Issue slots".to_owned() } else { title.to_owned() };
        let links = self.sections.iter().map(|(anchor, title, _)| (anchor.clone(), short(title))).collect();
        let body = html! {
            section { (figures(record)) }
            @for (anchor, title, body) in &self.sections { section id=(anchor) { h2 { (title) } (body) } }
        };
        Parts { title: describe(&record.job), facts: self.facts, links, body, colours: self.palette.css() }
    }

    /// Every counter, by group.
    fn counters(&self) -> Option<Markup> {
        let groups = self.record.groups().into_iter();
        let groups =
            groups.filter_map(|group| Some((group, counters::counters(self.record, group, &self.meanings)?)));
        let groups: Vec<(&str, Markup)> = groups.collect();
        (!groups.is_empty()).then(|| {
            html! {
                @for (group, counters) in &groups {
                    details.system id=(format!("group-{}", word(group))) open[*group == "run"] {
                        summary { (group.replace('_', " ")) }
                        (counters)
                    }
                }
            }
        })
    }
}

/// The numbers that sum up a run.
fn figures(record: &Record) -> Markup {
    let number_of = |scale: f64, above: &[&str], below: &[&str]| quotient(record, scale, above, below).ok();
    html! {
        dl.figures {
            @if let Some(seconds) = seconds(record) { div { dt { "time" } dd { (time(seconds)) } } }
            @for (title, scale, above, below) in COLUMNS {
                @if let Some(value) = number_of(*scale, above, below) { div { dt { (title) } dd { (exactly(value)) } } }
            }
            @for (title, value) in warps(record) { div { dt { (title) } dd { (value) } } }
        }
    }
}

/// A number for readers, with all its digits if it is a count.
fn exactly(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e12 { grouped(value as u64) } else { number(value) }
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

#[cfg(test)]
mod tests;
