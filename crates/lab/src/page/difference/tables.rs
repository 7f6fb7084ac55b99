//! What differs between two runs, as tables: what was asked, counters, energies and launches.

use maud::{Markup, html};

use super::{signed, signed_percent, whole};
use crate::diff::{Asked, Changed, EnergyChange, LaunchChange, Level};
use crate::page::bars;
use crate::page::colour::word;
use crate::page::run::LAUNCHES;
use crate::report::number;

/// Groups of counters that are open from the start: those that changed most.
const OPEN: usize = 3;

/// In what the questions differ.
pub fn asked(asked: &[Asked]) -> Markup {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
    html! {
        @if asked.is_empty() { p { "Both ask the same: program, size, machine and simulator." } } @else {
            div.scroll tabindex="0" role="group" aria-label="what was asked" {
                table data-title="what was asked" {
                    thead { tr { th.words { "value" } th.words { "left" } th.words { "right" } } }
                    tbody {
                        @for asked in asked {
                            tr { td.words { code { (asked.what) } } td.words { (value(&asked.left)) } td.words { (value(&asked.right)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The counters that differ, by group, those that changed most first; `None` if none does.
pub fn counters(levels: &[Level]) -> Option<Markup> {
    (!levels.is_empty()).then(|| {
        html! {
            p.note { "The levels with the greatest changes first; a counter's change weighs what it is of the greatest count of its unit there." }
            @for (place, level) in levels.iter().enumerate() {
                details.system id=(format!("group-{}", word(&level.group))) open[place < OPEN] {
                    summary { (level.group.replace('_', " ")) " " span.note { "(" (level.counters.len()) ")" } }
                    (group(level))
                }
            }
        }
    })
}

fn group(level: &Level) -> Markup {
    let cell = |value: Option<u64>| {
        html! {
            td data-value=(value.unwrap_or_default()) { (value.map_or_else(|| "–".to_owned(), |value| whole(value.into()))) }
        }
    };
    let relative = |counter: &Changed| {
        counter.relative().map_or_else(|| "–".to_owned(), |share| signed_percent(share, 1.0))
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label=(format!("counters of {}", level.group)) {
            table.sort data-title=(level.group) {
                thead { tr { th.words { "counter" } th { "left" } th { "right" } th { "change" } th { "of the left" } } }
                tbody {
                    @for counter in &level.counters {
                        @let change = counter.change() as f64;
                        tr {
                            td.words { code { (counter.counter) } }
                            (cell(counter.left))
                            (cell(counter.right))
                            td data-value=(change) { (bars::change(change.signum() * counter.weight, 1.0, &signed(change))) }
                            td data-value=(counter.relative().unwrap_or_default()) { (relative(counter)) }
                        }
                    }
                }
            }
        }
    }
}

/// The structures whose energy differs; `None` if none does.
pub fn energies(changes: &[EnergyChange]) -> Option<Markup> {
    let changed: Vec<&EnergyChange> = changes.iter().filter(|energy| energy.change() != 0.0).collect();
    let widest = changed.iter().map(|energy| energy.change().abs()).reduce(f64::max)?;
    let all: f64 = changes.iter().map(EnergyChange::change).sum();
    let micro = |pj: f64| format!("{} µJ", number(pj * 1e-6));
    Some(html! {
        div.scroll tabindex="0" role="group" aria-label="energy" {
            table.sort.wide data-title="energy" {
                thead {
                    tr {
                        th.words { "structure" } th { "left" } th { "right" } th { "change" } th { "of events" } th { "leakage" } th { "of the change" }
                    }
                }
                tbody {
                    @for energy in changed {
                        tr {
                            td.words { (energy.structure.replace('_', " ")) }
                            @for pj in energy.pj { td data-value=(pj) { (micro(pj)) } }
                            td data-value=(energy.change()) { (bars::change(energy.change(), widest, &micro(energy.change()))) }
                            @for change in [energy.events_change(), energy.leakage_change()] { td data-value=(change) { (micro(change)) } }
                            td data-value=(energy.change() / all) { (signed_percent(energy.change(), all)) }
                        }
                    }
                }
            }
        }
    })
}

/// The launches that differ; `None` if there is one launch, of which all else tells.
pub fn launches(launches: &[LaunchChange]) -> Option<Markup> {
    let differs = |launch: &&LaunchChange| launch.change() != 0 || launch.kernels[0] != launch.kernels[1];
    let changed: Vec<&LaunchChange> = launches.iter().filter(differs).collect();
    if launches.len() < 2 {
        return None;
    }
    let shown = changed.len().min(LAUNCHES);
    let widest = changed.iter().map(|launch| launch.change().abs() as f64).fold(0.0, f64::max);
    let kernel = |launch: &LaunchChange| {
        let [left, right] = [0, 1].map(|side| launch.kernels[side].clone().unwrap_or_else(|| "–".to_owned()));
        if left == right { left } else { format!("{left} / {right}") }
    };
    Some(html! {
        p.note {
            (changed.len()) " of " (launches.len()) " launches differ."
            @if shown < changed.len() { " These are the " (shown) " that changed most." }
        }
        @if !changed.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="launches" {
                table.sort.wide data-title="launches" {
                    thead { tr { th { "launch" } th.words { "kernel" } th { "left" } th { "right" } th { "change" } th { "of the left" } } }
                    tbody {
                        @for launch in changed.iter().take(shown) {
                            @let change = launch.change() as f64;
                            tr {
                                td { (launch.place) }
                                td.words { (kernel(launch)) }
                                @for cycles in launch.cycles { td data-value=(cycles) { (whole(cycles.into())) } }
                                td data-value=(change) { (bars::change(change, widest, &signed(change))) }
                                td data-value=(change / launch.cycles[0].max(1) as f64) { (signed_percent(change, launch.cycles[0] as f64)) }
                            }
                        }
                    }
                }
            }
        }
    })
}
