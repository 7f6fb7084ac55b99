//! Jobs that failed, and files that are no results.

use maud::{Markup, html};
use strata_lab::page::pages;
use strata_lab::store::{Failure, Store};

use super::list::{self, LISTED};
use crate::words::{count, time};

/// A part of the failures.
pub fn markup(store: &Store, passed_over: &[String], part: usize) -> Markup {
    let all: Vec<&Failure> = store.failures().collect();
    let (part, parts) = list::part(part, all.len());
    let shown = all.iter().skip(part * LISTED).take(LISTED);
    let address = |part: usize| list::address("/failures", &[("page", &(part + 1).to_string())]);
    html! {
        section {
            @if all.is_empty() { p.note { "No job has failed without a later success." } } @else {
                p.note { (count(all.len(), "job")) " failed. A sweep that asks for one of them tries it again." }
                @for failure in shown { (one(failure)) }
                (pages(part, parts, "Failures", &address))
            }
        }
        @if !passed_over.is_empty() {
            section {
                h2 { "Passed over" }
                p.note { "What lay in the folder when it was opened, under a name of the store, and is no result." }
                @for line in passed_over.iter().take(LISTED) { p.reason { (line) } }
                @if passed_over.len() > LISTED { p.note { "And " (passed_over.len() - LISTED) " more." } }
            }
        }
    }
}

/// A job that failed, and why.
pub fn one(failure: &Failure) -> Markup {
    html! {
        div.failure {
            p { b { (failure.job) } @if let Some(at) = failure.written { " " span.note { (time(at)) } } }
            pre.reason tabindex="0" { (failure.reason) }
        }
    }
}
