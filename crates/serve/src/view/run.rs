//! A run by itself, around what the lab shows of it.

use std::time::SystemTime;

use maud::{Markup, html};
use strata_lab::job::{Job, Key};
use strata_lab::page::Parts;
use strata_lab::store::Store;

use super::{failures, list};
use crate::words::time;

/// A run's page.
pub fn markup(parts: &Parts, key: &Key, job: &Job, written: Option<SystemTime>) -> Markup {
    html! {
        @if let Some(others) = list::others(key, job) { p.facts.held { a href=(others) { "Difference from this run to another" } } }
        (parts.body)
        @if let Some(at) = written { p.note { "Stored " (time(at)) "." } }
    }
}

/// A job that has no result.
pub fn lacking(store: &Store, key: &Key) -> Markup {
    let planned = store
        .sweeps()
        .find_map(|sweep| Some((sweep, sweep.jobs.iter().find(|planned| planned.key == *key)?)));
    html! {
        section {
            @if let Some(failure) = store.failure(key) { (failures::one(failure)) }
            @if let Some((sweep, planned)) = planned {
                p { b { (planned.job) } " waits or runs in a " a href=(format!("/sweep/{}", sweep.id)) { "sweep" } ". This page shows its result when there is one." }
            } @else {
                p { "The store has no result of job " code { (key) } "." }
            }
        }
    }
}
