//! Prefetch: which lines a cache fetches before they are asked for.
//!
//! A policy is a file that implements [`PrefetchPolicy`] and a line of the family. What it wishes for becomes requests like any other:
//! they take MSHRs and bandwidth, and lines that are evicted for them are missed. [`Prefetching`] keeps the account.

mod engine;
mod next_line;
mod none;
mod stream;
mod stride;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;

use crate::address::LineAddress;
use crate::policy_family;
use crate::touch::Touch;
use next_line::NextLine;
use none::NoPrefetch;
use stream::Streams;
use stride::Stride;

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

/// A prefetch policy.
///
/// The type is also its section of a machine file: its documentation is its meaning, its fields are its numbers.
pub trait PrefetchPolicy: fmt::Debug + Send + Sync {
    /// Checks the numbers.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Makes its state for a cache; `None` if it never wishes for anything.
    fn build(&self) -> Option<Box<dyn Prefetcher>>;
}

policy_family! {
    PrefetchPolicy:
    "none" => NoPrefetch,
    "next-line" => NextLine,
    "stride" => Stride,
    "stream" => Streams,
}
