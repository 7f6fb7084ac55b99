//! The path to the constant cache: serves `ld.const` and `ld.param`, one line per cycle.

use strata_engine::{Cycle, DelayLine, Slab};
use strata_memory::LineAddress;
use strata_memory::read_only::ReadOnly;

use super::entry::{Place, Table};
use super::statistics::LsuStatistics;
use super::words::{self, Piece};

/// Where loads of constants and parameters go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To the constant cache.
    ConstantCache,
    /// Past the lane path to the L1D, as loads of constants: for processors without a constant cache, whose instructions have
    /// one lane.
    L1d,
    /// Where loads of global memory go, as such. So do texels.
    Global,
}

/// Capacity for requested lines that have not arrived: one per lane of 64 warps, more than any constant cache
/// accepts.
const LINES: usize = 2048;

/// Instructions waiting to request lines, and requests in flight at the constant cache.
#[derive(Clone, Debug)]
pub struct ConstantPath {
    /// Instructions with lines left to request, oldest first.
    queue: DelayLine<Place>,
    /// Line and token of a refused request, to be retried.
    held: Option<(LineAddress, u32)>,
    /// Indexed by token: the instruction and the lanes that a line is for.
    pending: Slab<(Place, Piece)>,
}

impl ConstantPath {
    /// An idle path for at most `instructions` instructions in flight.
    pub fn new(instructions: usize) -> ConstantPath {
        ConstantPath { queue: DelayLine::growing(instructions), held: None, pending: Slab::new(LINES) }
    }

    /// Enqueues an instruction; it requests its first line at `ready` or later.
    #[inline]
    pub fn push(&mut self, entry: Place, ready: Cycle) {
        self.queue.push(ready, entry).expect("the queue has room for every instruction in flight");
    }

    /// The instruction that requests the next line.
    pub fn front(&self, now: Cycle) -> Option<Place> {
        self.queue.front(now).copied()
    }

    /// Requests one line. Returns the instruction's place when the cache has accepted its last line.
    pub fn offer(
        &mut self,
        table: &mut Table,
        cache: &mut impl ReadOnly,
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Place> {
        let place = *self.queue.front(now)?;
        if self.held.is_none() && self.pending.is_full() {
            return None;
        }
        let entry = table.get_mut(place);
        let (line, token) = self.held.take().unwrap_or_else(|| {
            let (line, piece) = entry.next_constant_line();
            entry.open += 1;
            statistics.constant_lines += 1;
            (line, self.pending.insert((place, piece)).expect("room was checked"))
        });
        if !cache.request(line, token, now) {
            statistics.constant_refused += 1;
            self.held = Some((line, token));
            return None;
        }
        if entry.constant != 0 {
            return None;
        }
        self.queue.pop(now)
    }

    /// Whether a requested line has yet to arrive.
    #[inline]
    pub fn awaits_lines(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes one arrived line and copies its bytes into the instruction's words. Returns the instruction's place.
    pub fn complete(&mut self, table: &mut Table, cache: &mut impl ReadOnly, now: Cycle) -> Option<Place> {
        let (token, line) = cache.arrived(now)?;
        let (entry, piece) = self.pending.remove(token);
        let instruction = table.get_mut(entry);
        words::scatter(line, &instruction.addresses, piece, &mut instruction.image.words);
        Some(entry)
    }

    /// Earliest cycle in which a line can be requested.
    pub fn next_event(&self) -> Cycle {
        self.queue.next_ready()
    }
}
