//! All runs, the newest first.

use std::borrow::Cow;

use maud::{Markup, html};
use strata_lab::job::Key;
use strata_lab::page::pages;
use strata_lab::store::{Run, Store};
use strata_lab::sweep::describe;

use super::list::{self, LISTED, Pick};
use crate::words::count;

/// Most letters of what is looked for.
const LETTERS: usize = 200;

/// A part of the runs that contain every word of `find` in their names; with a run that was picked, to pick another.
pub fn markup(store: &Store, newest: &[Key], find: &str, part: usize, with: Option<(&Key, &Run)>) -> Markup {
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
    let key = with.map_or_else(String::new, |(key, _)| key.to_string());
    let address = |find: &str, page: &str| {
        list::address("/runs", &[("with", key.as_str()), ("find", find), ("page", page)])
    };
    let to_part = |part: usize| address(&find, &(part + 1).to_string());
    let pick = with.map_or(Pick::Left, |(key, _)| Pick::Right(key));
    html! {
        @if let Some((key, run)) = with {
            p.facts.held {
                span { "Difference from " a href=(format!("/run/{key}")) { (describe(&run.job)) } " to a run of this list" }
                a href="/runs" { "Begin with another run" }
            }
        }
        section {
            form.search method="get" action="/runs" role="search" {
                label for="find" { "Workload, size or machine" }
                input id="find" name="find" type="search" value=(find) maxlength=(LETTERS);
                @if with.is_some() { input type="hidden" name="with" value=(key); }
                button type="submit" { "Find" }
                @if !find.is_empty() { a href=(address("", "")) { "All runs" } }
            }
            p.note { (count(found.len(), "run")) @if !words.is_empty() { " of " (newest.len()) } }
            @if !found.is_empty() { (list::runs(store, "runs", shown, Some(pick))) (pages(part, parts, "Runs", &to_part)) }
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
