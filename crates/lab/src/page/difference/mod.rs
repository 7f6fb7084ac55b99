//! The page of a difference: what was asked of two runs, where the cycles between them went, which counters and energies moved, launch by
//! launch, where the runs part, and what each value brings.

mod causes;
mod first;
mod shares;
mod tables;

use maud::{Markup, html};
use strata_measure::exact::Exact;

use super::colour::Palette;
use super::run_numbers::grouped;
use super::{Origin, Parts};
use crate::diff::{Difference, First, Shares, Side};
use crate::report::number;

/// Two runs and all that is known of what lies between them.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The runs.
    pub sides: &'a [Side; 2],
    /// In what they differ.
    pub difference: &'a Difference,
    /// Where they part, if that was looked for.
    pub first: Option<&'a First>,
    /// What each value brings, if that was looked for.
    pub shares: Option<&'a Shares>,
}

/// The page of a difference, in one file.
#[must_use]
pub fn difference(compared: &Compared<'_>, origin: &Origin) -> String {
    let mut page = parts(compared);
    page.facts.extend([("Made", origin.date.clone()), ("Command", origin.command.clone())]);
    page.document()
}

/// The page of a difference.
#[must_use]
pub fn parts(compared: &Compared<'_>) -> Parts {
    let Compared { sides, difference, first, shares } = *compared;
    let mut palette = Palette::default();
    let sections: [(&str, &str, Option<Markup>); 7] = [
        ("asked", "What was asked", Some(tables::asked(&difference.asked))),
        ("cycles", "Where the cycles went", Some(causes::cycles(difference, &mut palette))),
        ("shares", "What each value brings", shares.map(shares::shares)),
        ("first", "Where they part", first.map(first::first)),
        ("launches", "Launches", tables::launches(&difference.launches)),
        ("energy", "Energy", difference.energies.as_deref().and_then(tables::energies)),
        ("counters", "Counters", tables::counters(&difference.levels)),
    ];
    let sections: Vec<(&str, &str, Markup)> =
        sections.into_iter().filter_map(|(anchor, title, body)| Some((anchor, title, body?))).collect();
    let body = html! {
        section { (figures(difference)) }
        @for side in sides { @if let Some(reason) = &side.stopped { p.note { (side.name) " was stopped: " (reason) } } }
        @if difference.is_nothing() { p { "The runs measured the same, in every counter and every launch." } }
        @for (anchor, title, body) in &sections { section id=(anchor) { h2 { (title) } (body) } }
    };
    let links =
        sections.iter().map(|(anchor, title, _)| ((*anchor).to_owned(), (*title).to_owned())).collect();
    let facts = vec![
        ("Left", described(&sides[0])),
        ("Right", described(&sides[1])),
        ("Simulator", simulators(sides)),
    ];
    let title = "What changed".to_owned();
    Parts { title, facts, links, body, colours: palette.css() }
}

/// A run as it was named, and its program and machine.
fn described(side: &Side) -> String {
    let system = side.system.as_ref().map_or_else(String::new, |system| format!(" + {system}"));
    let run = format!("{} on {}{system}", side.workload, side.machine);
    if side.name == run { run } else { format!("{} ({run})", side.name) }
}

fn simulators(sides: &[Side; 2]) -> String {
    let [left, right] = [0, 1].map(|side| &sides[side].simulator);
    if left == right { left.clone() } else { format!("{left} and {right}") }
}

/// The numbers that sum a difference up.
fn figures(difference: &Difference) -> Markup {
    let [left, right] = difference.cycles;
    let change = Exact::change(left, right);
    let energy = difference
        .energies
        .as_ref()
        .map(|energies| [0, 1].map(|side| energies.iter().map(|of| of.pj[side]).sum::<f64>()));
    html! {
        dl.figures {
            div { dt { "cycles, left" } dd { (grouped(left)) } }
            div { dt { "cycles, right" } dd { (grouped(right)) } }
            div { dt { "change" } dd { (signed_percent(change.as_f64(), left as f64)) } }
            @if let Some([left, right]) = energy {
                div { dt { "energy" } dd { (signed_percent(right - left, left)) } }
            }
        }
    }
}

/// A number with its sign.
fn signed(value: f64) -> String {
    let text = if value.fract() == 0.0 && value.abs() < 1e15 { whole(value as i128) } else { number(value) };
    if value > 0.0 { format!("+{text}") } else { text }
}

/// A whole number in groups of three digits.
fn whole(value: i128) -> String {
    let digits =
        u64::try_from(value.unsigned_abs()).map_or_else(|_| value.unsigned_abs().to_string(), grouped);
    if value < 0 { format!("-{digits}") } else { digits }
}

/// A part of a whole in percent, with its sign.
fn signed_percent(part: f64, whole: f64) -> String {
    if whole == 0.0 {
        return "–".to_owned();
    }
    let percent = 100.0 * part / whole;
    format!("{}{} %", if percent > 0.0 { "+" } else { "" }, number(percent))
}

#[cfg(test)]
mod tests;
