//! Lists of runs, a part at a time.

use maud::{Markup, html};
use strata_lab::job::Key;
use strata_lab::page::grouped;
use strata_lab::report::number;
use strata_lab::store::{Run, Store};

use crate::words::time;

/// Most things that a page lists.
pub const LISTED: usize = 100;

/// The part of a list that a page shows: the last where there are fewer, and how many parts there are.
pub fn part(asked: usize, things: usize) -> (usize, usize) {
    let parts = things.div_ceil(LISTED);
    (asked.min(parts.saturating_sub(1)), parts)
}

/// An address with a query; pairs with an empty value are left out.
pub fn address(path: &str, query: &[(&str, &str)]) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
        text.append_pair(name, value);
    }
    let text = text.finish();
    if text.is_empty() { path.to_owned() } else { format!("{path}?{text}") }
}

/// Finished jobs as a table.
pub fn runs<'a>(store: &Store, title: &str, runs: impl Iterator<Item = (&'a Key, &'a Run)>) -> Markup {
    let ipc =
        |run: &Run| Some(run.thread_instructions? as f64 / run.cycles.filter(|cycles| *cycles > 0)? as f64);
    html! {
        div.scroll tabindex="0" role="group" aria-label=(title) {
            table {
                thead {
                    tr {
                        th { "workload" } th.words { "size" } th.words { "machine" } th { "cycles" } th { "IPC" }
                        th { "launches" } th.words { "stored" }
                    }
                }
                tbody {
                    @for (key, run) in runs {
                        tr {
                            td { a href=(format!("/run/{key}")) { (run.job.workload) } }
                            td.words { (size(run)) }
                            td.words { (run.job.variant) }
                            td { @if let Some(cycles) = run.cycles { (grouped(cycles)) } }
                            td { @if let Some(ipc) = ipc(run) { (number(ipc)) } }
                            td { @if let Some(launches) = run.launches { (launches) } }
                            td.words { @if let Some(at) = store.written(key) { (time(at)) } }
                        }
                    }
                }
            }
        }
    }
}

/// What a run's inputs are: the size of a workload, or what else it is.
fn size(run: &Run) -> &'static str {
    match &run.job.launch_file {
        _ if run.job.executed => "CUDA program",
        Some(_) => "launch file",
        None => run.job.size.name(),
    }
}
