//! What limits a program, as text.

use std::fmt::Write as _;

use strata_lab::limits::{Limits, Outcome, Part, Ran, Roof};

use crate::table::{Cells, numbers};

/// Characters of a whole bar.
const BAR: usize = 30;

/// The roofline, the issue slots, and what ideal parts give.
pub fn of(limits: &Limits, overrides: &[String]) -> String {
    let run = &limits.run;
    let size = run.size.as_deref().map(|size| format!(" ({size})")).unwrap_or_default();
    let system = run.system.as_deref().map(|system| format!(" with {system}")).unwrap_or_default();
    let mut text =
        format!("{}{size} on {}{system}: {} cycles\n", run.workload, run.machine, grouped(run.cycles()));
    for set in overrides {
        text += &format!("  with {set}\n");
    }
    text += "\nhow near each part is to its roof\n";
    text += &roofs(limits);
    text += "\nwhere the issue slots went\n";
    text += &slots(limits);
    text += "\nwhat a perfect part would give\n";
    text += &ideals(limits);
    text
}

/// What was wrong with which variants.
pub fn problems(limits: &Limits) -> Vec<(String, &String)> {
    let ran = limits.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.ran.as_ref().ok()?)));
    ran.flat_map(|(outcome, ran)| {
        ran.verdict.problems().iter().map(|problem| (names(&outcome.parts), problem))
    })
    .collect()
}

fn roofs(limits: &Limits) -> String {
    let mut lines: Vec<Cells> = Vec::new();
    for Roof { name, unit, moved, peak, intensity, .. } in &limits.roofline.roofs {
        let share = if *peak > 0.0 { moved / peak } else { 0.0 };
        lines.push(vec![
            (*name).to_owned(),
            bar(share),
            percent(share),
            format!("{} of {}", short(*moved), short(*peak)),
            format!("{unit}/cycle"),
            intensity.map(|intensity| format!("{intensity:.3}")).unwrap_or_default(),
        ]);
    }
    let heads = ["", "", "", "a cycle", "", "instructions/byte"].map(str::to_owned).to_vec();
    lines.insert(0, heads);
    let mut text = numbers(&lines, 2, None);
    if let Some(nearest) = limits.roofline.nearest() {
        let _ = writeln!(text, "  nearest: {}, at {}", nearest.name, percent(nearest.share()));
    }
    text
}

fn slots(limits: &Limits) -> String {
    let run = &limits.run;
    let all = run.counter("sm", "issue_slots").unwrap_or(0);
    let share = |slots: u64| if all > 0 { slots as f64 / all as f64 } else { 0.0 };
    let issued = ("issued", run.counter("sm", "issued").unwrap_or(0));
    let stalls = run.stalls().into_iter().map(|(_, what, slots)| (what, slots));
    let line = |(what, slots): (&str, u64)| vec![what.to_owned(), bar(share(slots)), percent(share(slots))];
    numbers(&std::iter::once(issued).chain(stalls).map(line).collect::<Vec<_>>(), 2, None)
}

fn ideals(limits: &Limits) -> String {
    let (together, alone): (Vec<&Outcome>, Vec<&Outcome>) =
        limits.outcomes.iter().partition(|outcome| outcome.parts.len() > 1);
    let mut lines: Vec<Cells> = vec![["part", "", "cycles", "faster", ""].map(str::to_owned).to_vec()];
    lines.extend(alone.iter().map(|outcome| {
        let (name, meaning) = match outcome.parts.first() {
            None => ("as it is", ""),
            Some(part) => (part.name(), part.meaning()),
        };
        line(limits, outcome, name.to_owned(), meaning)
    }));
    if !together.is_empty() {
        let first = together[0].parts.first().map_or("", |part| part.name());
        lines.push(vec![format!("together, from {first} on")]);
        lines.extend(together.iter().map(|outcome| {
            let last = outcome.parts.last().map_or("", |part| part.name());
            line(limits, outcome, format!("+ {last}"), "")
        }));
    }
    let mut text = numbers(&lines, 2, None);
    for outcome in &limits.outcomes {
        if let Err(reason) = &outcome.ran {
            let _ = writeln!(text, "  no run with {} ideal: {reason}", names(&outcome.parts));
        }
    }
    text
}

fn line(limits: &Limits, outcome: &Outcome, name: String, meaning: &str) -> Cells {
    let Ok(ran) = &outcome.ran else {
        return vec![name, meaning.to_owned(), "-".into(), "-".into(), "refused".into()];
    };
    let speedup = limits.speedup(outcome).map_or("-".into(), |speedup| format!("{speedup:.2} x"));
    vec![name, meaning.to_owned(), grouped(ran.cycles), speedup, verdict(ran)]
}

/// How the results came out, and what the ideal part could not hide.
fn verdict(ran: &Ran) -> String {
    let mut text = ran.verdict.name().to_owned();
    if ran.late > 0 {
        text += &format!("; {} accesses late", grouped(ran.late));
    }
    if ran.left > 0 {
        text += &format!("; {} waits for MSHRs left", grouped(ran.left));
    }
    text
}

fn names(parts: &[Part]) -> String {
    match parts {
        [] => "nothing".into(),
        _ => parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(", "),
    }
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    format!("{}{}", "#".repeat(full), ".".repeat(BAR - full))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A number with about four digits.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// A number with its digits in groups of three.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    std::iter::once(head.to_owned())
        .filter(|head| !head.is_empty())
        .chain(groups)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_readers() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([bar(0.0), bar(0.5), bar(2.0)].map(|bar| bar.matches('#').count()), [0, 15, 30]);
        assert_eq!([0.1234, 12.345, 1234.5].map(short), ["0.123", "12.35", "1234"]);
    }
}
