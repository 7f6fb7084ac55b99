//! Prefetch: which lines a cache fetches before they are asked for.
//!
//! A policy is a file that implements [`Prefetcher`] and a line in [`POLICIES`]. What it wishes for becomes requests like any other:
//! they take MSHRs and bandwidth, and lines that are evicted for them are missed. [`Prefetching`] keeps the account.

mod engine;
mod next_line;
mod stream;
mod stride;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::address::LineAddress;
use crate::cache::policy::{Entry, Kind, Policies, Policy};
use crate::touch::Touch;

pub use engine::{PrefetchStatistics, Prefetching};

/// Says which lines to fetch before they are asked for.
pub trait Prefetcher: Send {
    /// Sees a request, and whether it found its line: `hit` is false for one that misses, or whose line is on its way. The first
    /// use of a line that was prefetched counts as a miss. Lines are numbered as the cache numbers them.
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes);
}

/// Lines that a policy wishes for, in the order in which they are fetched.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    lines: VecDeque<LineAddress>,
    /// The page of the request that is seen: only its lines are wished for.
    page: u64,
    /// How many there have been, and how many of them were dropped.
    added: u64,
    dropped: u64,
}

/// Lines of a page of 4 KiB. A prefetch goes past no page's end, behind which there may be no memory (as in ChampSim).
const PAGE_LINES: u64 = 32;

/// Wishes that wait; the oldest is dropped for another. ASSUMED: 16.
const WISHES: usize = 16;

impl Wishes {
    /// Adds a line, unless it is wished for already or lies in another page than the line that was asked for.
    pub fn add(&mut self, line: LineAddress) {
        if line.0 / PAGE_LINES != self.page || self.lines.contains(&line) {
            return;
        }
        if self.lines.len() == WISHES {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
        self.added += 1;
    }

    /// Adds the line that lies `distance` lines behind another, if there is one.
    pub fn add_behind(&mut self, line: LineAddress, distance: i64) {
        if let Some(line) = line.0.checked_add_signed(distance) {
            self.add(LineAddress(line));
        }
    }

    /// From now on, lines are wished for because of this one.
    pub fn ask_for(&mut self, line: LineAddress) {
        self.page = line.0 / PAGE_LINES;
    }

    /// The lines, the next to be fetched first.
    pub fn lines(&self) -> impl Iterator<Item = LineAddress> {
        self.lines.iter().copied()
    }
}

/// Makes a policy's state; `None` if it wishes for nothing.
pub type Make = fn() -> Option<Box<dyn Prefetcher>>;

/// The kind of [`PrefetchPolicy`].
#[derive(Debug)]
pub struct Prefetches;

impl Kind for Prefetches {
    type Make = Make;
    const KEY: &'static str = "prefetch";

    fn policies() -> &'static Policies<Make> {
        &POLICIES
    }
}

/// What is fetched before it is asked for.
pub type PrefetchPolicy = Policy<Prefetches>;

/// The policies that machine files can name.
pub static POLICIES: Policies<Make> = Policies::new(&BUILT_IN);

static BUILT_IN: [Entry<Make>; 4] = [NONE, next_line::NEXT_LINE, stride::STRIDE, stream::STREAM];

const NONE: Entry<Make> =
    Entry { name: "none", meaning: "Fetches only what is asked for", source: "the default", make: || None };

impl PrefetchPolicy {
    /// Fetches only what is asked for.
    pub const NONE: PrefetchPolicy = Policy::of(&NONE);
}

impl Default for PrefetchPolicy {
    fn default() -> Self {
        PrefetchPolicy::NONE
    }
}
