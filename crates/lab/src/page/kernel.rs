//! Kernels with what each of their lines cost, and which line is to blame.

use maud::{Markup, html};
use strata_gpu::results::{Breakdown, Counted};

use super::bars;
use super::run_numbers::grouped;
use crate::annotated::{Column, Kernel, kernels, slots, sum};
use crate::report::number;

/// Depths of a cell's colour.
const DEPTHS: f64 = 8.0;

/// Each kernel that ran, the one with most slots first; `None` if there is none.
pub fn annotated(lines: &Breakdown, instructions: Option<&Breakdown>, ptx: &str) -> Option<Markup> {
    let mut kernels = kernels(lines, instructions);
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.slots()));
    let all: u64 = kernels.iter().map(Kernel::slots).sum();
    (!kernels.is_empty()).then(|| {
        html! {
            @for (place, kernel) in kernels.iter().enumerate() {
                details.system.kernel open[place == 0] {
                    summary {
                        b { (kernel.name) } " "
                        span.note { (grouped(kernel.slots())) " issue slots, " (bars::percent(kernel.slots() as f64, all as f64)) " of all kernels'" }
                    }
                    (of(kernel, ptx))
                }
            }
        }
    })
}

/// Issue slots that were lost at a line.
fn lost(line: &Counted) -> u64 {
    slots(line) - sum(line, &["sm.issued"]).min(slots(line))
}

fn awaited(line: &Counted) -> u64 {
    sum(line, &["awaited.memory", "awaited.execution"])
}

/// The line that has most of something, if any has some; of several, the first.
fn most(kernel: &Kernel<'_>, of: fn(&Counted) -> u64) -> Option<usize> {
    let found = kernel.lines.iter().max_by_key(|(number, line)| (of(line), std::cmp::Reverse(**number)))?;
    (of(found.1) > 0).then_some(*found.0)
}

fn of(kernel: &Kernel<'_>, ptx: &str) -> Markup {
    let (texts, columns, all) = (kernel.texts(ptx), kernel.columns(), kernel.slots());
    let text = |number: usize| texts.get(number - 1).copied().unwrap_or_default();
    let (waits, blamed) = (most(kernel, lost), most(kernel, awaited));
    // Colours are by the greatest number of all lost slots, or of the awaited ones, or of the accesses.
    let greatest = |names: &[&str]| {
        let of = columns.iter().filter(|column| names.contains(&column.name));
        of.flat_map(|column| kernel.lines.values().map(|line| column.of(line))).max().unwrap_or_default()
    };
    const LOST: [&str; 5] = ["memory", "execution", "barrier", "fetch", "awaited"];
    const SERVED: [&str; 3] = ["L1D", "LLC", "DRAM"];
    let (most_lost, most_served) = (greatest(&LOST), greatest(&SERVED));
    let class = |column: &Column, value: u64| match column.name {
        name if LOST.contains(&name) => depth(value, most_lost, "hot"),
        name if SERVED.contains(&name) => depth(value, most_served, "cool"),
        _ => String::new(),
    };
    let mut before = 0;
    html! {
        (verdict(kernel, waits, blamed))
        div.scroll tabindex="0" role="group" aria-label=(format!("lines of {}", kernel.name)) {
            table.sort.code data-title=(format!("lines of {}", kernel.name)) {
                thead {
                    tr {
                        th { "line" } th title="share of the kernel's issue slots, used and lost" { "slots" }
                        th.words { "PTX" }
                        @for column in &columns { th title=(column.meaning) { (column.name) } }
                        @if !kernel.instructions.is_empty() {
                            th.words title="what the assembler has made of the line, with physical registers" { "instructions" }
                        }
                    }
                }
                tbody {
                    @for number in kernel.numbers() {
                        @let line = kernel.lines.get(&number);
                        @let gap = before > 0 && number > before + 1;
                        tr.gap[gap].waits[waits == Some(number)].blamed[blamed == Some(number)].zero[line.is_none()] {
                            td { (number) }
                            @match line {
                                Some(line) => {
                                    td data-value=(slots(line)) {
                                        (bars::share(slots(line) as f64 / all.max(1) as f64, "hot", &bars::percent(slots(line) as f64, all as f64)))
                                    }
                                }
                                None => { td {} }
                            }
                            td.words { (source(text(number))) }
                            @for column in &columns {
                                @match line.map_or(0, |line| column.of(line)) {
                                    0 => { td {} }
                                    value => { td class=(class(column, value)) data-value=(value) { (grouped(value)) } }
                                }
                            }
                            @if !kernel.instructions.is_empty() {
                                td.words { (compiled(kernel.instructions(number))) }
                            }
                        }
                        @let () = before = number;
                    }
                }
            }
        }
    }
}

/// The instructions of a line, one below the other; of several, each with the slots in which it was issued.
fn compiled(instructions: &[(&str, &Counted)]) -> Markup {
    let issued = |of: &Counted| format!("issued in {} slots", grouped(sum(of, &["sm.issued"])));
    html! {
        @for (place, (text, charged)) in instructions.iter().enumerate() {
            @if place > 0 { br; }
            code.ptx title=[(instructions.len() > 1).then(|| issued(charged))] { (text) }
        }
    }
}

/// The class of a cell whose colour is as deep as its part of the greatest value.
fn depth(value: u64, most: u64, kind: &str) -> String {
    let depth = (DEPTHS * (value as f64 / most.max(1) as f64).sqrt()).ceil();
    format!("{kind} d{depth}")
}

/// Which line loses most slots, and which one is waited for.
fn verdict(kernel: &Kernel<'_>, waits: Option<usize>, blamed: Option<usize>) -> Markup {
    let all: u64 = kernel.lines.values().map(|line| lost(line)).sum();
    let waited: u64 = kernel.lines.values().map(|line| awaited(line)).sum();
    html! {
        @if let Some(waits) = waits {
            @let of = lost(kernel.lines[&waits]);
            p.verdict-of-lines {
                "Most slots are lost at " b { "line " (waits) } " (" (bars::percent(of as f64, all as f64)) " of the lost ones)"
                @if let Some(blamed) = blamed {
                    @let line = kernel.lines[&blamed];
                    "; most are lost waiting for " b { "line " (blamed) } " (" (bars::percent(awaited(line) as f64, waited as f64))
                    " of those that wait for a result" (served(line)) ")"
                }
                "."
            }
        }
    }
}

/// Who served a line's accesses, and in how many cycles.
fn served(line: &Counted) -> String {
    let of = |paths: &[&str]| sum(line, paths) as f64;
    let levels = [
        ("the L1D", of(&["served.l1d"])),
        ("the LLC", of(&["served.llc", "served.extended", "served.owner"])),
        ("DRAM", of(&["served.memory"])),
    ];
    let all: f64 = levels.iter().map(|(_, count)| count).sum();
    if all == 0.0 {
        return String::new();
    }
    let cycles = of(&[
        "served.l1d_cycles",
        "served.llc_cycles",
        "served.extended_cycles",
        "served.owner_cycles",
        "served.memory_cycles",
    ]);
    let parts = levels.iter().filter(|(_, count)| *count > 0.0);
    let parts: Vec<String> =
        parts.map(|(name, count)| format!("{} from {name}", bars::percent(*count, all))).collect();
    format!("; its accesses take {} cycles on average, {}", number(cycles / all), parts.join(", "))
}

/// A line of PTX: its instruction, label or directive told apart, and its comment.
fn source(text: &str) -> Markup {
    let (code, comment) = text.find("//").map_or((text, ""), |at| text.split_at(at));
    let indent = code.len() - code.trim_start().len();
    let (blank, rest) = code.split_at(indent);
    let (guard, rest) = match rest.strip_prefix('@').and_then(|_| rest.split_once(char::is_whitespace)) {
        Some((guard, rest)) => (guard, format!(" {rest}")),
        None => ("", rest.to_owned()),
    };
    let is_label = rest.trim_end().ends_with(':');
    let trimmed = rest.trim_start();
    let (opcode, operands) = trimmed
        .split_once(char::is_whitespace)
        .map_or((trimmed, ""), |(one, _)| (one, &trimmed[one.len()..]));
    let kind = if is_label {
        "label"
    } else if opcode.starts_with('.') {
        "directive"
    } else {
        "opcode"
    };
    html! {
        code.ptx {
            (blank.replace('\t', "  "))
            @if !guard.is_empty() { span.guard { (guard) } " " }
            span class=(kind) { (opcode) } @if !operands.is_empty() { " " (operands.trim_start()) }
            @if !comment.is_empty() { span.comment { (comment) } }
        }
    }
}
