//! The way to the constant cache: `ld.const` and `ld.param`, one line a cycle.

use strata_engine::{Cycle, DelayLine, Slab};
use strata_memory::LineAddress;
use strata_memory::read_only::ReadOnly;

use super::entry::{Place, Table};
use super::statistics::LsuStatistics;
use super::words::{self, Piece};

/// Most lines asked for that have not arrived: all lanes of 64 warps. No constant cache takes as many.
const LINES: usize = 2048;

/// Requests on their way to the constant cache and back.
#[derive(Clone, Debug)]
pub struct ConstantPath {
    /// Instructions with lines to be asked for, oldest first.
    queue: DelayLine<Place>,
    /// A line that was refused.
    held: Option<(LineAddress, u32)>,
    /// By token: the instruction and the lanes that a line is for.
    pending: Slab<(Place, Piece)>,
}

impl ConstantPath {
    /// For so many instructions in flight.
    pub fn new(instructions: usize) -> ConstantPath {
        ConstantPath { queue: DelayLine::growing(instructions), held: None, pending: Slab::new(LINES) }
    }

    /// Lines an instruction up; its first line is asked for at `ready`.
    #[inline]
    pub fn push(&mut self, entry: Place, ready: Cycle) {
        self.queue.push(ready, entry).expect("the queue has room for every instruction in flight");
    }

    /// Asks for one line; returns the place of an instruction whose last line was taken.
    pub fn offer(
        &mut self,
        table: &mut Table,
        cache: &mut dyn ReadOnly,
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

    /// Takes one line that has arrived, and its bytes into the instruction's words; the instruction's place.
    pub fn complete(&mut self, table: &mut Table, cache: &mut dyn ReadOnly, now: Cycle) -> Option<Place> {
        let (token, line) = cache.arrived(now)?;
        let (entry, piece) = self.pending.remove(token);
        let instruction = table.get_mut(entry);
        words::scatter(line, &instruction.addresses, piece, &mut instruction.image.words);
        Some(entry)
    }

    /// Earliest cycle in which a line is asked for.
    pub fn next_event(&self) -> Cycle {
        self.queue.next_ready()
    }
}
