//! Sweeps under way: how far they are, what failed and what is left.

use maud::{Markup, html};
use strata_lab::job::Key;
use strata_lab::page::pages;
use strata_lab::store::{Planned, Standing, Store, Sweep};

use super::failures;
use super::list::{self, LISTED};
use crate::words::{count, rate, span, time};

/// Most failures that a page shows before the rest of its jobs.
const FAILURES: usize = 10;

/// A sweep in a few lines, with a link to its page.
pub fn card(store: &Store, sweep: &Sweep) -> Markup {
    let standing = store.standing(sweep);
    html! {
        a.sweep href=(format!("/sweep/{}", sweep.id)) id=(format!("sweep-{}", sweep.id)) {
            code.command { (command(sweep)) }
            (progress(sweep, &standing))
        }
    }
}

/// A sweep's page.
pub fn markup(store: &Store, sweep: &Sweep, part: usize) -> Markup {
    let standing = store.standing(sweep);
    let (part, parts) = list::part(part, sweep.jobs.len());
    // The key of what failed is in order, too.
    let has_failed = |key: &Key| standing.failed.binary_search_by_key(&key, |(failed, _)| failed).is_ok();
    let mut jobs: Vec<(State, &Planned)> = sweep
        .jobs
        .iter()
        .map(|planned| match store.run(&planned.key) {
            Some(_) => (State::Finished, planned),
            None if has_failed(&planned.key) => (State::Failed, planned),
            None => (State::Left, planned),
        })
        .collect();
    jobs.sort_by_key(|(state, _)| *state);
    let address =
        |part: usize| list::address(&format!("/sweep/{}", sweep.id), &[("page", &(part + 1).to_string())]);
    html! {
        section {
            p { code.command { (command(sweep)) } }
            (progress(sweep, &standing))
            p.note { "Process " (sweep.process) " on " (sweep.host) ", since " (time(sweep.started)) "." }
        }
        @if !standing.failed.is_empty() {
            section {
                h2 { "Failed" }
                @for (_, failure) in standing.failed.iter().take(FAILURES) { (failures::one(failure)) }
                @if standing.failed.len() > FAILURES {
                    p.note { "And " (standing.failed.len() - FAILURES) " more: " a href="/failures" { "all failures" } "." }
                }
            }
        }
        section {
            h2 { "Jobs" }
            div.scroll tabindex="0" role="group" aria-label="jobs of the sweep" {
                table {
                    thead { tr { th { "state" } th.words { "job" } } }
                    tbody {
                        @for (state, planned) in jobs.iter().skip(part * LISTED).take(LISTED) {
                            tr {
                                td { span class=(state.class()) { (state.name()) } }
                                td.words { a href=(format!("/run/{}", planned.key)) { (planned.job) } }
                            }
                        }
                    }
                }
            }
            (pages(part, parts, "Jobs", &address))
        }
    }
}

/// What a browser sees whose sweep has ended.
pub fn over() -> Markup {
    html! {
        section {
            p { "No such sweep is under way. If it has ended, its results are among the " a href="/runs" { "runs" } " and what failed among the "
                a href="/failures" { "failures" } "." }
        }
    }
}

/// What became of a job; what matters most comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Failed,
    Left,
    Finished,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Failed => "✕ failed",
            State::Left => "waits or runs",
            State::Finished => "● finished",
        }
    }

    fn class(self) -> &'static str {
        match self {
            State::Failed => "verdict contradicted",
            State::Left => "verdict not-measured",
            State::Finished => "verdict reproduced",
        }
    }
}

/// The command line, without the folder that the command lies in.
fn command(sweep: &Sweep) -> String {
    let mut words = sweep.command.iter();
    let first = words.next().map_or("", |first| first.rsplit('/').next().unwrap_or(first));
    std::iter::once(first).chain(words.map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// A bar and its numbers.
fn progress(sweep: &Sweep, standing: &Standing<'_>) -> Markup {
    let elapsed = sweep.started.elapsed().unwrap_or_default();
    let all = sweep.jobs.len();
    let percent = |jobs: usize| format!("{:.2}%", 100.0 * jobs as f64 / all.max(1) as f64);
    let failed = standing.failed.len();
    let facts = [
        Some(format!("{} of {}", standing.finished, count(all, "job"))),
        (failed > 0).then(|| format!("{failed} failed")),
        Some(rate(standing.ended(), elapsed)).filter(|rate| !rate.is_empty()),
        standing.remaining(elapsed).map(|left| format!("about {} left", span(left))),
        Some(format!("{} so far", span(elapsed))),
    ];
    html! {
        span.progress {
            svg.verdicts role="img" aria-label=(format!("{} of {all} jobs finished, {failed} failed", standing.finished)) {
                rect.whole width="100%" height="12" {}
                rect.reproduced width=(percent(standing.finished)) height="12" {}
                @if failed > 0 {
                    rect.contradicted x=(percent(standing.finished)) width=(percent(failed)) height="12" {}
                }
            }
            span.numbers { @for fact in facts.iter().flatten() { span { (fact) } } }
        }
    }
}
