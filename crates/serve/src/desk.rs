//! Papers' pages: what takes long to make is made by one thread, when somebody asks for it, and kept.
//!
//! Whoever asks gets what there is at once: the page as of some earlier look, or nothing yet. When results have come since, the
//! page is made again while anybody still asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use maud::Markup;
use strata_lab::claims;
use strata_lab::page::{self, Origin, Parts};
use strata_lab::paper::Paper;
use strata_lab::repro::{Part, Selection};
use strata_lab::store::Store;
use strata_workloads::Size;

use crate::watch::Watch;
use crate::words;

/// A page is made again after so many times what it took, at the earliest.
const SHARE: u32 = 10;

/// How long somebody counts as asking.
const ASKED: Duration = Duration::from_secs(60);

/// Most pages that are kept.
const KEPT: usize = 24;

/// How often the thread looks for results that have come.
const LOOK: Duration = Duration::from_millis(500);

/// Something of a paper.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The paper's name.
    pub paper: String,
    /// Size of the inputs.
    pub size: Size,
    /// What of it.
    pub what: What,
}

/// What of a paper.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// How many of its claims have which verdict.
    Verdicts,
    /// Its page, or that of one figure or table.
    Page(Option<String>),
}

/// What was made.
#[derive(Debug)]
pub enum Piece {
    /// How many claims have which verdict.
    Verdicts(Markup),
    /// A page.
    Page(Parts),
}

#[derive(Debug)]
struct Entry {
    asked: Instant,
    made: Option<Made>,
}

#[derive(Debug)]
struct Made {
    piece: Arc<Result<Piece, String>>,
    /// The look that it was made from.
    results: u64,
    at: Instant,
    took: Duration,
}

/// Where pages are made and kept.
#[derive(Debug, Default)]
pub struct Desk {
    entries: Mutex<BTreeMap<Wanted, Entry>>,
    asked: Condvar,
}

impl Desk {
    /// Makes pages from now on, in a thread of its own.
    pub fn start(papers: &'static [Paper], watch: Arc<Watch>) -> Arc<Desk> {
        let desk = Arc::new(Desk::default());
        let working = desk.clone();
        std::thread::spawn(move || {
            while !watch.has_ended() {
                working.work(papers, &watch);
            }
        });
        desk
    }

    /// What there is of something, which is made or made again soon if it has to be.
    pub fn ask(&self, wanted: &Wanted) -> Option<Arc<Result<Piece, String>>> {
        let mut entries = self.entries();
        let now = Instant::now();
        let entry = entries.entry(wanted.clone()).or_insert(Entry { asked: now, made: None });
        entry.asked = now;
        let piece = entry.made.as_ref().map(|made| made.piece.clone());
        while entries.len() > KEPT {
            let oldest =
                entries.iter().min_by_key(|(_, entry)| entry.asked).map(|(wanted, _)| wanted.clone());
            entries.remove(&oldest.expect("it is not empty"));
        }
        self.asked.notify_one();
        piece
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Wanted, Entry>> {
        self.entries.lock().expect("no holder panics")
    }

    /// Makes one page, or waits for somebody to ask for one.
    fn work(&self, papers: &[Paper], watch: &Watch) {
        let snapshot = watch.snapshot();
        let entries = self.entries();
        let (Some(store), Some(wanted)) = (&snapshot.store, next(&entries, snapshot.results)) else {
            drop(self.asked.wait_timeout(entries, LOOK).expect("no holder panics"));
            return;
        };
        drop(entries);
        let started = Instant::now();
        let piece = Arc::new(make(papers, &wanted, store));
        let (at, took) = (Instant::now(), started.elapsed());
        // It may be nobody's any more.
        if let Some(entry) = self.entries().get_mut(&wanted) {
            entry.made = Some(Made { piece, results: snapshot.results, at, took });
        }
        watch.has_made_a_page();
    }
}

/// What to make next: first what nobody has seen yet, then what has been old for the longest time.
fn next(entries: &BTreeMap<Wanted, Entry>, results: u64) -> Option<Wanted> {
    let is_due = |entry: &&Entry| match &entry.made {
        None => true,
        Some(made) => {
            made.results != results
                && entry.asked.elapsed() < ASKED
                && made.at.elapsed() > (made.took * SHARE).max(Duration::from_secs(1))
        }
    };
    let due = entries.iter().filter(|(_, entry)| is_due(entry));
    due.min_by_key(|(_, entry)| entry.made.as_ref().map(|made| made.at)).map(|(wanted, _)| wanted.clone())
}

fn make(papers: &[Paper], wanted: &Wanted, store: &Store) -> Result<Piece, String> {
    let Wanted { paper: name, size, what } = wanted;
    let paper =
        papers.iter().find(|paper| paper.name == *name).ok_or_else(|| format!("no paper `{name}`"))?;
    match what {
        What::Verdicts => {
            let rows = claims::rows(&[name], store, *size)?;
            Ok(Piece::Verdicts(page::counts(&rows.iter().collect::<Vec<_>>())))
        }
        What::Page(number) => {
            let part = number.clone().map_or(Part::All, Part::Number);
            let origin = Origin { date: words::now(), command: String::new() };
            let selection = Selection::new(paper, part)?;
            let address: page::Address = |key| format!("/run/{key}");
            selection.parts(store, *size, &origin, Some(address)).map(Piece::Page)
        }
    }
}
