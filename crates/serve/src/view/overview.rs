//! What the store holds: sweeps under way, papers with their verdicts, the newest results.

use std::path::Path;
use std::sync::Arc;

use maud::{Markup, html};
use strata_lab::paper::Paper;
use strata_lab::store::Store;
use strata_workloads::Size;

use super::{list, sweep};
use crate::desk::Piece;
use crate::watch::Snapshot;
use crate::words::count;

/// Most sweeps that are shown.
const SWEEPS: usize = 20;

/// Most of the newest results that are shown.
const NEWEST: usize = 12;

/// A paper, at a size, with its verdicts if they have been computed.
pub struct Card<'a> {
    pub paper: &'a Paper,
    pub size: Size,
    pub piece: Option<Arc<Result<Piece, String>>>,
}

/// The page.
pub fn markup(folder: &Path, snapshot: &Snapshot, store: &Store, papers: Vec<Card<'_>>) -> Markup {
    let sweeps: Vec<_> = store.sweeps().collect();
    let failures = store.failures().count();
    let newest = snapshot.newest.iter().take(NEWEST).filter_map(|key| Some((key, store.run(key)?)));
    html! {
        p.facts.held id="held" {
            code { (folder.display()) }
            a href="/runs" { (count(snapshot.newest.len(), "run")) }
            @if failures > 0 { a href="/failures" { (count(failures, "failure")) } }
            @if !snapshot.passed_over.is_empty() { a href="/failures" { (count(snapshot.passed_over.len(), "file")) " passed over" } }
        }
        @if let Some(problem) = &snapshot.problem { p.note.problem id="problem" { (problem) } }
        section id="sweeps" {
            h2 { "Sweeps under way" }
            @if sweeps.is_empty() { p.note { "None. A sweep on this store appears here by itself." } }
            @for sweep in sweeps.iter().take(SWEEPS) { (sweep::card(store, sweep)) }
            @if sweeps.len() > SWEEPS { p.note { "And " (sweeps.len() - SWEEPS) " more." } }
        }
        section id="papers" {
            h2 { "Papers" }
            div.cards { @for card in papers { (paper(&card)) } }
        }
        section id="newest" {
            h2 { "Newest results" }
            @if snapshot.newest.is_empty() { p.note { "None yet." } } @else { (list::runs(store, "newest results", newest, None)) }
        }
    }
}

fn paper(Card { paper, size, piece }: &Card<'_>) -> Markup {
    html! {
        a.card href=(format!("/paper/{}?size={}", paper.name, size.name())) {
            span.what { (paper.title) }
            @match piece.as_deref() {
                Some(Ok(Piece::Verdicts(counts))) => (counts),
                Some(Err(error)) => span.note.problem { (error) },
                _ => span.note { "Not computed yet." },
            }
            span.below { span.note { "inputs of size " (size) } }
        }
    }
}

/// What is seen until the store is open.
pub fn opening(folder: &Path, problem: Option<&str>) -> Markup {
    html! {
        section {
            @match problem {
                Some(problem) => p.problem { (problem) },
                None => p { "Opening " code { (folder.display()) } ". A store of many thousands takes a while, unless it is packed (" code { "strata store compact" } ")." },
            }
        }
    }
}
