//! Kernels with what is charged to each of their lines.

use std::collections::BTreeMap;

use strata_gpu::results::{Breakdown, Counted};

/// What a column is called, and the counters that are added up in it.
type Column = (&'static str, &'static [&'static str]);

/// The columns, of which a kernel has those in which something is counted.
const COLUMNS: [Column; 10] = [
    ("issued", &["sm.issued"]),
    ("memory", &["sm.stall_memory"]),
    ("execution", &["sm.stall_execution"]),
    ("barrier", &["sm.stall_barrier"]),
    ("fetch", &["sm.stall_fetch"]),
    ("awaited", &["awaited.memory", "awaited.execution"]),
    ("L1D", &["served.l1d"]),
    ("LLC", &["served.llc", "served.extended", "served.owner"]),
    ("DRAM", &["served.memory"]),
    (
        "cycles",
        &[
            "served.l1d_cycles",
            "served.llc_cycles",
            "served.extended_cycles",
            "served.owner_cycles",
            "served.memory_cycles",
        ],
    ),
];

/// Accesses that the column of cycles is a mean over.
const SERVED: [&str; 5] = ["served.l1d", "served.llc", "served.extended", "served.owner", "served.memory"];

/// The counters of a line, by `GROUP.COUNTER`.
fn sum(line: &Counted, paths: &[&str]) -> u64 {
    let of = |path: &&str| {
        let (group, counter) = path.split_once('.')?;
        line.groups.iter().find(|found| found.name == group)?.get(counter)
    };
    paths.iter().filter_map(of).sum()
}

/// Lines of text that are shown before and behind one that is charged something.
const AROUND: usize = 3;

/// Widest text of a line that has its instruction beside it.
const WIDEST: usize = 56;

/// Each kernel that ran: its text, beside each line its share of the issue slots and what is charged to it, and the instruction that it has
/// become; if these are several, below it, each with what is charged to it.
pub fn text(lines: &Breakdown, instructions: &Breakdown, ptx: &str) -> String {
    let texts: Vec<String> = ptx.lines().map(|line| line.trim_end().replace('\t', "  ")).collect();
    let mut kernels = kernels(lines);
    for part in &instructions.parts {
        let Some((line, text)) = part.name.split_once(" #") else { continue };
        let Some((name, line)) = named(line) else { continue };
        let Some((_, text)) = text.split_once(' ') else { continue };
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == name) {
            kernel.instructions.entry(line).or_default().push((text, part));
        }
    }
    kernels.iter().map(|kernel| kernel.text(&texts)).collect()
}

/// The lines that are charged something.
struct Kernel<'a> {
    name: &'a str,
    lines: BTreeMap<usize, &'a Counted>,
    /// What each has become: texts of instructions, and what is charged to them.
    instructions: BTreeMap<usize, Vec<(&'a str, &'a Counted)>>,
}

/// Kernel and line in the name of a part.
fn named(part: &str) -> Option<(&str, usize)> {
    let (name, line) = part.rsplit_once(':')?;
    Some((name, line.parse().ok()?))
}

/// The kernels, in the order in which they ran first.
fn kernels(breakdown: &Breakdown) -> Vec<Kernel<'_>> {
    let mut kernels: Vec<Kernel<'_>> = Vec::new();
    for part in &breakdown.parts {
        let Some((name, line)) = named(&part.name) else { continue };
        match kernels.iter_mut().find(|kernel| kernel.name == name) {
            Some(kernel) => _ = kernel.lines.insert(line, part),
            None => kernels.push(Kernel {
                name,
                lines: BTreeMap::from([(line, part)]),
                instructions: BTreeMap::new(),
            }),
        }
    }
    kernels
}

impl Kernel<'_> {
    fn text(&self, texts: &[String]) -> String {
        let slots = |line: &Counted| sum(line, &["sm.issue_slots"]);
        let all: u64 = self.lines.values().map(|line| slots(line)).sum();
        let has_some = |(_, paths): &&Column| self.lines.values().any(|line| sum(line, paths) > 0);
        let columns: Vec<Column> = COLUMNS.iter().filter(has_some).copied().collect();
        let heads: String = columns.iter().map(|(name, _)| format!(" {name:>9}")).collect();
        let mut text = format!("\n{}: {all} issue slots\n{:>7}{heads}  line\n", self.name, "slots");
        // What is linked in has a text of its own, which is not at hand.
        let texts = if self.name.contains(' ') { &[] } else { texts };
        let widths = texts.iter().map(|text| text.chars().count()).filter(|width| *width <= WIDEST);
        let width = widths.max().unwrap_or_default();
        let mut shown = 0;
        for number in self.numbers() {
            if shown > 0 && number > shown + 1 {
                text += "    ...\n";
            }
            shown = number;
            let row = |charged: Option<&Counted>| match charged {
                Some(of) => {
                    let share = 100.0 * slots(of) as f64 / all.max(1) as f64;
                    format!("{share:>5.1} %{}", cells(of, &columns))
                }
                None => " ".repeat(7 + 10 * columns.len()),
            };
            let source = texts.get(number - 1).map_or("", String::as_str);
            let first = row(self.lines.get(&number).copied());
            let instructions = self.instructions.get(&number).map_or([].as_slice(), Vec::as_slice);
            let beside = if let [(one, _)] = instructions { one } else { "" };
            text += format!("{first}  {number:>4} {source:<width$}  {beside}").trim_end();
            text += "\n";
            for (one, charged) in instructions.iter().filter(|_| instructions.len() > 1) {
                text += &format!("{}       {:<width$}  {one}\n", row(Some(charged)), "");
            }
        }
        text
    }

    /// The numbers of the lines that are shown: those that are charged something, and a few around them.
    fn numbers(&self) -> Vec<usize> {
        let (Some(first), Some(last)) = (self.lines.keys().next(), self.lines.keys().next_back()) else {
            return Vec::new();
        };
        let is_near = |number: &usize| {
            let around = number.saturating_sub(AROUND)..=number + AROUND;
            self.lines.range(around).next().is_some()
        };
        (*first..=*last).filter(is_near).collect()
    }
}

/// A line's values, those that are not 0.
fn cells(line: &Counted, columns: &[Column]) -> String {
    let cell = |(name, paths): &Column| {
        let value = match *name {
            "cycles" => sum(line, paths).checked_div(sum(line, &SERVED)).unwrap_or_default(),
            _ => sum(line, paths),
        };
        if value == 0 { " ".repeat(10) } else { format!(" {value:>9}") }
    };
    columns.iter().map(cell).collect()
}
