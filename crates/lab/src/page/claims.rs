//! Claims: published numbers beside measured ones, why they differ, and the runs behind them.

use maud::{Markup, html};
use strata_workloads::Size;

use super::runs::Runs;
use super::strip::{anchor, class, strip, times};
use crate::claims::sensitivity::{Dependence, Sensitivity};
use crate::claims::{Row, Verdict};
use crate::report::number;

/// A card for each of the paper's headline claims.
pub fn headline(rows: &[&Row]) -> Markup {
    let headline: Vec<&&Row> = rows.iter().filter(|row| row.claim.r#where == "abstract").collect();
    html! {
        @if !headline.is_empty() {
            div.cards {
                @for row in headline {
                    a.card href=(format!("#{}", anchor(row))) {
                        span.what { (capital(&row.claim.metric)) }
                        span.pair {
                            span { b { (measured(row)) } small { "measured" } }
                            span { b.published { (row.claim.published_text()) } small { "published" } }
                        }
                        (strip(row))
                        span.below { (over(row)) (verdict(row.verdict)) }
                    }
                }
            }
        }
    }
}

/// A metric as it begins a card.
fn capital(metric: &str) -> String {
    let words = metric.split(' ').enumerate().map(|(place, word)| match word {
        "ipc" | "l1d" | "l2" | "dram" => word.to_uppercase(),
        _ if place == 0 => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn over(row: &Row) -> Markup {
    let claim = &row.claim;
    html! { span.note { (claim.subject) @if claim.baseline != "-" { " over " (claim.baseline) } ", " (claim.scope) } }
}

/// How many claims have which verdict, as a bar and in words.
pub fn counts(rows: &[&Row]) -> Markup {
    let counts =
        Verdict::ALL.map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()));
    let some = || counts.iter().filter(|(_, count)| *count > 0);
    html! {
        @if !rows.is_empty() {
            p.counted { "Of " (rows.len()) " published number" @if rows.len() > 1 { "s" } ":" }
            (shares(&counts))
            p.chips { @for (of, count) in some() { span { b { (count) } " " (verdict(*of)) } } }
        }
    }
}

/// The same of the claims that depend on no open choice, and of the others.
pub fn by_dependence(rows: &[&Row], all: &[Sensitivity]) -> Markup {
    let judged = rows.iter().filter(|row| row.measured.is_ok());
    let with: Vec<(Dependence, Verdict)> =
        judged.map(|row| (Dependence::of(&row.claim.id, all), row.verdict)).collect();
    html! {
        @for kind in Dependence::ALL {
            @let verdicts: Vec<Verdict> = with.iter().filter(|(of, _)| *of == kind).map(|(_, verdict)| *verdict).collect();
            @if !verdicts.is_empty() {
                p.note {
                    b { (verdicts.len()) } " " (kind.said()) ": "
                    @for (place, (verdict, count)) in tally(&verdicts).into_iter().enumerate() {
                        @if place > 0 { ", " } (count) " " (verdict)
                    }
                    "."
                }
            }
        }
    }
}

/// How many are of each kind that there is.
fn tally(verdicts: &[Verdict]) -> Vec<(Verdict, usize)> {
    let count = |of: Verdict| verdicts.iter().filter(|verdict| **verdict == of).count();
    Verdict::ALL.map(|of| (of, count(of))).into_iter().filter(|(_, count)| *count > 0).collect()
}

/// How many claims have which verdict, as parts of a bar.
fn shares(counts: &[(Verdict, usize)]) -> Markup {
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let percent = |count: usize| format!("{:.2}%", 100.0 * count as f64 / all as f64);
    let mut before = 0;
    html! {
        svg.verdicts aria-hidden="true" {
            @for (verdict, count) in counts.iter().filter(|(_, count)| *count > 0) {
                rect class=(class(*verdict)) x=(percent(before)) width=(percent(*count)) height="12" {
                    title { (count) " " (verdict) }
                }
                @if before > 0 { rect.gap x=(percent(before)) width="2" height="12" {} }
                @let () = before += count;
            }
        }
    }
}

/// A verdict with a sign that needs no colour.
pub fn verdict(verdict: Verdict) -> Markup {
    let sign = match verdict {
        Verdict::Reproduced => "●",
        Verdict::Direction => "◐",
        Verdict::Far => "○",
        Verdict::Contradicted => "✕",
        Verdict::Implied => "=",
        Verdict::NotMeasured => "–",
    };
    html! { span class=(format!("verdict {}", class(verdict))) { span aria-hidden="true" { (sign) } " " (verdict) } }
}

fn measured(row: &Row) -> String {
    row.measured.as_ref().map_or("–".into(), |of| row.claim.measured_text(of.kind, of.value))
}

/// The claims of a figure.
pub fn table(rows: &[&Row], runs: &Runs<'_>, name: &str) -> Markup {
    html! {
        @if !rows.is_empty() {
            table.claims.sort data-title=(format!("{name}, claims")) {
                thead {
                    tr {
                        th.words { "claim" } th { "published" } th { "measured" } th { "effect" } th.words { "as" }
                        th.words { "verdict" }
                    }
                }
                @for row in rows { (claim(row, runs)) }
            }
        }
    }
}

fn claim(row: &Row, runs: &Runs<'_>) -> Markup {
    let definition = row.measured.as_ref().map_or("", |of| of.definition.as_str());
    let readings = row.measured.iter().flat_map(|of| &of.readings);
    html! {
        tbody id=(anchor(row)) {
            tr {
                td.words.claim { (row.claim.comparison()) " " code { (row.claim.id) ", " (row.claim.r#where) } }
                td data-name="published" { (row.claim.published_text()) }
                td data-name="measured" {
                    (measured(row))
                    @if let Some((published, ours)) = row.left() {
                        span.note { " leaves " (number(ours)) " % for " (number(published)) " %" }
                    }
                }
                td.words data-name="effect" data-value=[times(row)] { (strip(row)) }
                td.words data-name="as" { (definition) }
                td.words data-name="verdict" { (verdict(row.verdict)) }
            }
            @for reading in readings {
                @let value = reading.value.as_ref().map_or("–".into(), |value| row.claim.measured_text(reading.kind, *value));
                tr.reading {
                    td.claim {} td {} td data-name="measured" { (value) } td {}
                    td.words data-name="as" { (reading.name) }
                    td.words data-name="verdict" { (verdict(reading.verdict)) }
                }
            }
            tr.why { td colspan="6" { (why(row)) (runs.of_claim(&row.claim.id)) } }
        }
    }
}

/// Why the number is as it is. Explanations are about inputs that fill the machine, so not about those of size
/// test.
fn why(row: &Row) -> Markup {
    html! {
        @match (&row.measured, &row.explanation) {
            (Err(reason), _) => { p.note { (reason) } }
            (Ok(_), Some(explanation)) if row.size != Size::Test => {
                p.note { (explanation.text) }
                @if !explanation.problems.is_empty() {
                    p.note.problem { "At size " (row.size) " this does not hold: " (explanation.problems.join("; ")) "." }
                }
            }
            _ => {}
        }
    }
}
