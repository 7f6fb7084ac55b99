//! Lists of runs, a part at a time.

use maud::{Markup, html};
use strata_lab::job::{Job, Key, Kind};
use strata_lab::page::grouped;
use strata_lab::report::number;
use strata_lab::store::{Run, Store};
use strata_lab::sweep::describe;

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

/// Which run of a list is picked for a difference.
#[derive(Clone, Copy, Debug)]
pub enum Pick<'a> {
    /// The left one.
    Left,
    /// The right one, beside this one.
    Right(&'a Key),
}

impl Pick<'_> {
    /// The link that picks a run; nothing where it cannot be picked.
    fn link(self, key: &Key, run: &Run) -> Markup {
        let (text, to) = match self {
            Pick::Left => ("from here", others(key, &run.job)),
            Pick::Right(left) if left == key => return html! { "from here" },
            Pick::Right(left) => ("to here", is_measured(&run.job).then(|| difference(left, key))),
        };
        html! { @if let Some(to) = to { a href=(to) aria-label=(format!("{text}: {}", describe(&run.job))) { (text) } } }
    }
}

/// Whether a job is measured on a machine, as those are that differences are of.
pub fn is_measured(job: &Job) -> bool {
    job.kind == Kind::Timing
}

/// The address of two runs' difference.
pub fn difference(left: &Key, right: &Key) -> String {
    address("/diff", &[("left", &left.to_string()), ("right", &right.to_string())])
}

/// The address of the runs to pick one from, beside another: to begin with, those of its workload and size.
pub fn others(key: &Key, job: &Job) -> Option<String> {
    let has_sizes = job.launch_file.is_none() && !job.executed;
    let size = if has_sizes { format!(" {}", job.size) } else { String::new() };
    let find = format!("{}{size}", job.workload);
    is_measured(job).then(|| address("/runs", &[("with", &key.to_string()), ("find", &find)]))
}

/// Finished jobs as a table. `pick` offers each for a difference.
pub fn runs<'a>(
    store: &Store,
    title: &str,
    runs: impl Iterator<Item = (&'a Key, &'a Run)>,
    pick: Option<Pick<'_>>,
) -> Markup {
    let ipc =
        |run: &Run| Some(run.thread_instructions? as f64 / run.cycles.filter(|cycles| *cycles > 0)? as f64);
    html! {
        div.scroll tabindex="0" role="group" aria-label=(title) {
            table {
                thead {
                    tr {
                        th { "workload" } @if pick.is_some() { th.words { "difference" } } th.words { "size" } th.words { "machine" } th { "cycles" } th { "IPC" }
                        th { "launches" } th.words { "stored" }
                    }
                }
                tbody {
                    @for (key, run) in runs {
                        tr {
                            td { a href=(format!("/run/{key}")) { (run.job.workload) } }
                            @if let Some(pick) = pick { td.words { (pick.link(key, run)) } }
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
