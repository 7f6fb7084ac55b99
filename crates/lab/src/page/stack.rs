//! Where the issue slots of a run went.

use maud::{Markup, html};

use super::bars::{self, Part};
use super::colour::Palette;
use super::meanings::Meanings;
use super::run_numbers::{grouped, value_of};
use crate::record::Record;

/// What an issue slot went to: its counter in the group `sm`, its name, and the place of its colour.
pub const CAUSES: [(&str, &str, usize); 14] = [
    ("issued", "issued", 2),
    ("stall_memory", "memory", 0),
    ("stall_lsu_full", "load/store unit full", 1),
    ("stall_execution", "execution", 4),
    ("stall_barrier", "barrier", 6),
    ("stall_fetch", "fetch", 8),
    ("stall_control", "branch operands", 5),
    ("stall_collector_full", "collectors full", 9),
    ("stall_fence", "fence", 10),
    ("stall_copies", "copies", 11),
    ("stall_inactive", "held back", 12),
    ("stall_sleep", "asleep", 13),
    ("stall_drained", "draining", 7),
    ("stall_no_warp", "no warp", 3),
];

/// What a run's issue slots went to, those that issued first; `None` if there are none.
fn parts(record: &Record) -> Option<Vec<Part<'static>>> {
    value_of(record, "sm", "issue_slots").filter(|all| *all > 0.0)?;
    let value = |counter: &str| value_of(record, "sm", counter).unwrap_or_default();
    let parts =
        CAUSES.iter().map(|(counter, name, place)| Part { name, place: *place, value: value(counter) });
    Some(parts.collect())
}

/// The stacks of several runs below each other, each with its system's name, by program; `None` if none has issue slots.
pub fn stacks(runs: &[(&str, &Record)], palette: &mut Palette) -> Option<Markup> {
    let mut rows: Vec<(&str, &str, Vec<Part<'static>>)> = runs
        .iter()
        .filter_map(|(system, record)| Some((record.job.workload.as_str(), *system, parts(record)?)))
        .collect();
    rows.sort_by_key(|(workload, ..)| *workload);
    let mut shown: Vec<Part<'static>> = Vec::new();
    for part in rows.iter().flat_map(|(.., parts)| parts).filter(|part| part.value > 0.0) {
        if shown.iter().all(|known| known.name != part.name) {
            shown.push(part.clone());
        }
    }
    (!rows.is_empty()).then(|| {
        html! {
            div.legend { @for part in &shown { span.key { i class=(palette.part(part.place)) {} (part.name) } } }
            div.stacks {
                @for of in rows.chunk_by(|one, other| one.0 == other.0) {
                    h3 { (of[0].0) }
                    @for (workload, system, parts) in of {
                        div.one { span { (system) } (bars::whole(parts, 16.0, &format!("issue slots of {workload} on {system}"), palette)) }
                    }
                }
            }
        }
    })
}

/// The stack of issue slots, and its parts by size with what each means.
pub fn stack(record: &Record, meanings: &Meanings, palette: &mut Palette) -> Option<Markup> {
    let parts = parts(record)?;
    let all: f64 = value_of(record, "sm", "issue_slots")?;
    let mut rows: Vec<(&Part<'_>, &str)> = parts
        .iter()
        .zip(CAUSES.iter().map(|(counter, ..)| *counter))
        .filter(|(part, _)| part.value > 0.0)
        .collect();
    rows.sort_by(|(one, _), (other, _)| other.value.total_cmp(&one.value));
    Some(html! {
        (bars::whole(&parts, 34.0, "issue slots by cause", palette))
        div.scroll tabindex="0" role="group" aria-label="issue slots" {
            table.sort.wide data-title="issue slots" {
                thead { tr { th.words { "issue slots" } th { "share" } th { "slots" } th.words { "what it means" } } }
                tbody {
                    @for (part, counter) in rows {
                        @let colour = palette.part(part.place);
                        tr {
                            td.words { span.key { i class=(colour) {} (part.name) } }
                            td data-value=(format!("{}", part.value / all)) {
                                (bars::share(part.value / all, &colour, &bars::percent(part.value, all)))
                            }
                            td data-value=(format!("{}", part.value)) { (grouped(part.value as u64)) }
                            td.words.meaning { (meanings.get("sm", counter).1) }
                        }
                    }
                }
            }
        }
    })
}
