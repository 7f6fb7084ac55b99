//! All runs, the newest first.

use std::borrow::Cow;

use maud::{Markup, html};
use strata_lab::job::Key;
use strata_lab::page::pages;
use strata_lab::store::{Run, Store};

use super::list::{self, LISTED};
use crate::words::count;

/// Most letters of what is looked for.
const LETTERS: usize = 200;

/// A part of the runs that contain every word of `find` in their names.
pub fn markup(store: &Store, newest: &[Key], find: &str, part: usize) -> Markup {
    let find: String = find.chars().take(LETTERS).collect();
    let words: Vec<String> = find.split_whitespace().map(str::to_lowercase).collect();
    let is_found = |key: &&Key| store.run(key).is_some_and(|run| words.iter().all(|word| has(run, word)));
    // Without words nothing needs to be looked at but what is shown.
    let found: Cow<'_, [Key]> = match words.is_empty() {
        true => newest.into(),
        false => newest.iter().filter(is_found).cloned().collect(),
    };
    let (part, parts) = list::part(part, found.len());
    let shown = found.iter().skip(part * LISTED).take(LISTED);
    let shown = shown.filter_map(|key| Some((key, store.run(key)?)));
    let address = |part: usize| list::address("/runs", &[("find", &find), ("page", &(part + 1).to_string())]);
    html! {
        section {
            form.search method="get" action="/runs" role="search" {
                label for="find" { "Workload, size or machine" }
                input id="find" name="find" type="search" value=(find) maxlength=(LETTERS);
                button type="submit" { "Find" }
                @if !find.is_empty() { a href="/runs" { "All runs" } }
            }
            p.note { (count(found.len(), "run")) @if !words.is_empty() { " of " (newest.len()) } }
            @if !found.is_empty() { (list::runs(store, "runs", shown)) (pages(part, parts, "Runs", &address)) }
        }
    }
}

/// Whether a run's name has a word.
fn has(run: &Run, word: &str) -> bool {
    let job = &run.job;
    let has = |text: &str| text.to_lowercase().contains(word);
    has(&job.workload)
        || has(&job.variant)
        || has(job.size.name())
        || job.overrides.iter().any(|one| has(one))
}
