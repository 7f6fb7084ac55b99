//! The requests of a channel: from the queue to the slices that sent them.

use strata_engine::{ClockRatio, Cycle, DelayLine, Slab};

use super::controller::{Control, Step};
use super::statistics::DramStatistics;
use super::storage::Storage;
use crate::address::LineAddress;
use crate::doors::DramRequest;

/// The requests of a channel and what comes of them, beside the controller that gives the commands for them.
#[derive(Debug)]
pub(super) struct Requests {
    pub clock: ClockRatio,
    pub storage: Storage,
    pub slices: Vec<Slice>,
    /// Requests in the queue, those of them that write, and the queue's size.
    pub queued: usize,
    pub writes_queued: usize,
    pub queue_entries: usize,
    /// Queue entries reserved for each slice.
    pub guaranteed: usize,
    /// Requests accepted and not taken back, by their tickets.
    pub outstanding: Slab<Outstanding>,
    /// From a column command to the end of its burst.
    pub read_cycles: u64,
    pub write_cycles: u64,
    pub controller_latency: u64,
    /// Whole cycles of the slices from any command on in which no read is finished, and no write.
    pub read_patience: u64,
    pub write_patience: u64,
    /// Slices whose request was refused, and that wait for room.
    pub awaited: usize,
    pub statistics: DramStatistics,
}

/// A request that has been accepted. It stays in its place until it is taken back.
#[derive(Debug)]
pub(super) struct Outstanding {
    pub request: DramRequest,
    pub slice: usize,
    /// The line within the channel.
    pub line: LineAddress,
    pub accepted: Cycle,
}

/// What a channel keeps for one of its slices.
#[derive(Debug)]
pub(super) struct Slice {
    pub queued: usize,
    /// Whether its last offer was refused.
    pub refused: bool,
    /// The tickets of finished requests.
    pub reads: DelayLine<u32>,
    pub writes: DelayLine<u32>,
    /// When the first of them may be taken.
    pub next_ready: Cycle,
}

impl Requests {
    /// Issues the commands of the DRAM cycles from `wake` to `until`. Returns when the next is due, and whether any of them
    /// finished a request.
    #[inline]
    pub fn run(&mut self, controller: &mut (impl Control + ?Sized), wake: u64, until: u64) -> (u64, bool) {
        let (mut at, mut has_finished) = (wake, false);
        while at <= until {
            let Step { finished, next } = controller.step(at, &mut self.statistics);
            if let Some(ticket) = finished {
                self.finish(ticket, at);
                has_finished = true;
                if self.queued == 0 {
                    return (u64::MAX, true);
                }
            }
            at = next;
        }
        (at, has_finished)
    }

    /// The last burst of a request was commanded at DRAM cycle `at`: its bytes move.
    fn finish(&mut self, ticket: u32, at: u64) {
        let Outstanding { request, slice, line, accepted } = self.outstanding.get_mut(ticket);
        let (line, slice) = (*line, &mut self.slices[*slice]);
        slice.queued -= 1;
        self.queued -= 1;
        let (line, ready) = if request.write {
            self.storage.write(line, request.bytes, &request.tray);
            self.writes_queued -= 1;
            self.statistics.writes += 1;
            (&mut slice.writes, self.clock.reference(at + self.write_cycles))
        } else {
            self.storage.read(line, request.bytes, &mut request.tray);
            self.statistics.reads += 1;
            let ready = self.clock.reference(at + self.read_cycles) + self.controller_latency;
            self.statistics.read_latency_cycles += ready - *accepted;
            (&mut slice.reads, ready)
        };
        slice.next_ready = slice.next_ready.min(ready);
        line.push(ready, ticket).expect("the bound on outstanding requests keeps room for every completion");
    }

    /// Takes a finished request of a slice. Out of line, because in most cycles there is none.
    #[inline(never)]
    pub fn take(&mut self, slice: usize, now: Cycle) -> Option<DramRequest> {
        let slice = &mut self.slices[slice];
        let ticket = slice.reads.pop(now).or_else(|| slice.writes.pop(now))?;
        slice.next_ready = slice.reads.next_ready().min(slice.writes.next_ready());
        Some(self.outstanding.remove(ticket).request)
    }

    /// Whether a slice may have another queue entry.
    #[inline]
    pub fn has_room(&self, slice: usize) -> bool {
        let queued = self.queued;
        if self.outstanding.is_full() || queued == self.queue_entries {
            return false;
        }
        if self.slices[slice].queued < self.guaranteed {
            return true;
        }
        let kept = |other: &Slice| self.guaranteed.saturating_sub(other.queued);
        queued + self.slices.iter().map(kept).sum::<usize>() < self.queue_entries
    }
}
