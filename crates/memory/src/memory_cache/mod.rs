//! A memory-side cache: a level between a slice of the last-level cache and its DRAM channel.
//!
//! To its slice it is a DRAM port, and to DRAM another slice. Requests are looked up in order, one a cycle. Writes take
//! a line without fetching it; a read fetches those bytes of its line that are not there. Requests for a line on its way
//! wait for it, in order.

mod config;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Ring};

use crate::address::{LINE_BYTES, LineAddress};
use crate::cache::{Cache, Capacity, FrameId, WriteBack};
use crate::doors::{DramPort, DramRequest, RoomWait};
use crate::line::{ByteMask, Line};
use crate::mshr::MshrId;
use crate::parameters::ParameterError;
use crate::tags::Sets;
use crate::touch::{Touch, TouchKind};

pub use config::{MemoryCacheConfig, MemoryCacheStatistics};

/// Tag of a write-back at DRAM; a fetch has the number of its MSHR.
const WRITE_BACK: u32 = u32::MAX;

/// Requests that may wait for room in DRAM's queue before look-ups stop.
const STAGED: usize = 4;

/// A memory-side cache.
pub struct MemoryCache {
    /// Requests that wait for a fetch stand in its MSHR.
    cache: Cache<DramRequest, Sets>,
    /// Requests in order, each ready for its look-up.
    queue: DelayLine<DramRequest>,
    /// Requests on their way to DRAM, in order.
    staged: VecDeque<DramRequest>,
    /// The wait of the oldest of them for room there.
    room: RoomWait,
    done: Ring<DramRequest>,
    /// Since when the next request could not be looked up.
    stalled: Option<Cycle>,
    /// Whether DRAM has answered or taken something since: the next request can be looked up again.
    has_changed: bool,
    latency: u64,
    statistics: MemoryCacheStatistics,
}

impl MemoryCache {
    /// Makes an empty cache. Random replacement draws from a stream of `seed`.
    ///
    /// # Errors
    /// Names the first wrong field.
    pub fn new(config: &MemoryCacheConfig, seed: u64) -> Result<MemoryCache, ParameterError> {
        config.check()?;
        let entries = *config.mshr_entries;
        let waiting = entries * usize::from(*config.mshr_merges) + *config.queue;
        let capacity = Capacity {
            mshr_entries: entries,
            mshr_merges: *config.mshr_merges,
            sector_bytes: LINE_BYTES,
            // A fetch each, and as many write-backs.
            writes: 2 * entries + STAGED + 2,
        };
        let sets = Sets::new(config.geometry(), Stream::new(seed, "memory_cache"));
        Ok(MemoryCache {
            cache: Cache::new(sets, capacity),
            queue: DelayLine::growing(*config.queue),
            staged: VecDeque::with_capacity(STAGED + 2),
            room: RoomWait::default(),
            done: Ring::growing(waiting),
            stalled: None,
            has_changed: false,
            latency: *config.latency_cycles,
            statistics: MemoryCacheStatistics::default(),
        })
    }

    /// Performs one cycle: takes DRAM's answers, looks one request up, and passes what is staged on to DRAM.
    pub fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(answer) = dram.completed(now) {
            self.has_changed = true;
            match answer.tag {
                WRITE_BACK => self.cache.written(answer.tray),
                fetch => self.fill(MshrId(fetch as u16), answer),
            }
        }
        if self.next_look_up() <= now {
            self.has_changed = false;
            if self.look_up(now) {
                let waited = self.stalled.take().map_or(0, |since| now - since);
                self.statistics.stall_cycles += waited;
            } else {
                self.stalled.get_or_insert(now);
            }
        }
        if !self.room.goes_on(dram) {
            self.send_to_dram(dram, now);
        }
    }

    /// Passes on to DRAM what is staged, as far as it has room.
    fn send_to_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(request) = self.staged.pop_front() {
            if let Err(request) = self.room.offer(request, dram, now) {
                return self.staged.push_front(request);
            }
            self.has_changed = true;
        }
    }

    /// The cycle from which the next request can be looked up, or looked up again if it had to wait.
    #[inline]
    fn next_look_up(&self) -> Cycle {
        if self.stalled.is_some() && !self.has_changed { Cycle::NEVER } else { self.queue.next_ready() }
    }

    /// Looks the next request up. Returns false if it has to wait.
    fn look_up(&mut self, now: Cycle) -> bool {
        let request = self.queue.front(now).expect("a request is ready");
        let (line, bytes, write) = (request.line, request.bytes, request.write);
        let kind = if write { TouchKind::Store } else { TouchKind::Load };
        let touch = Touch { line, kind, ..Touch::default() };
        let frame = self.cache.store.find(line);
        if let Some(fetch) = frame.and_then(|frame| self.cache.frames().pinned(frame)) {
            if !self.cache.mshrs.can_merge(fetch) {
                return false;
            }
            let request = self.take(now);
            self.statistics.merges += 1;
            self.cache.wait(fetch, request);
            return true;
        }
        let hits = frame.is_some_and(|frame| self.cache.frames().valid(frame).covers(bytes));
        let fetches = !write && !hits;
        if fetches && self.cache.mshrs.is_full() || self.staged.len() >= STAGED {
            return false;
        }
        // A write-back and a fetch each need a tray, and fetches have some.
        if !self.cache.can_write(2 + self.cache.mshrs.len()) {
            return false;
        }
        let frame = match frame {
            Some(frame) => frame,
            None => match self.cache.store.victim(line) {
                Some(frame) => {
                    self.evict(frame);
                    self.cache.store.install(frame, &touch);
                    frame
                }
                None => return false,
            },
        };
        let request = self.take(now);
        self.cache.store.used(frame, &touch);
        if !fetches {
            self.statistics.hits += u64::from(!write);
            self.serve(frame, request);
            return true;
        }
        self.statistics.misses += 1;
        let fetch = self.cache.allocate(line, frame);
        let missing = !self.cache.frames().valid(frame);
        self.cache.wait(fetch, request);
        let tray = self.cache.request(fetch, missing);
        self.stage(DramRequest { line, bytes: missing, write: false, tag: u32::from(fetch.0), tray });
        true
    }

    fn take(&mut self, now: Cycle) -> DramRequest {
        let request = self.queue.pop(now).expect("a request is ready");
        let statistics = &mut self.statistics;
        statistics.accesses += 1;
        statistics.tag_reads += 1;
        *if request.write { &mut statistics.writes } else { &mut statistics.reads } += 1;
        request
    }

    /// Reads or writes a line that has the bytes, and answers the request.
    fn serve(&mut self, frame: FrameId, mut request: DramRequest) {
        let frames = self.cache.frames_mut();
        if request.write {
            self.statistics.data_writes += 1;
            frames.data_mut(frame).merge(request.bytes, &request.tray);
            frames.add_dirty(frame, request.bytes);
        } else {
            self.statistics.data_reads += 1;
            request.tray.merge(request.bytes, frames.data(frame));
        }
        self.done.push(request).unwrap_or_else(|_| panic!("the queue grows"));
    }

    /// Writes a line's dirty bytes back, if it has any.
    fn evict(&mut self, frame: FrameId) {
        if self.cache.frames().line(frame).is_none() {
            return;
        }
        self.statistics.evictions += 1;
        if let Some(WriteBack { line, bytes, tray }) = self.cache.take_dirty(frame) {
            self.statistics.write_backs += 1;
            self.statistics.data_reads += 1;
            self.stage(DramRequest { line, bytes, write: true, tag: WRITE_BACK, tray });
        }
    }

    fn stage(&mut self, request: DramRequest) {
        self.staged.push_back(request);
    }

    /// Fills a line with what DRAM has sent, and serves the requests that waited for it.
    fn fill(&mut self, fetch: MshrId, answer: DramRequest) {
        self.statistics.fills += 1;
        let frame = self.cache.fill(fetch, answer.bytes, answer.tray);
        self.cache.settle_first();
        while let Some(request) = self.cache.mshrs.pop(fetch) {
            self.serve(frame, request);
        }
        self.cache.release(fetch);
    }

    /// Earliest cycle, not before `now`, in which a tick does something, if DRAM does not answer and gets no
    /// [room](DramPort::has_room) before.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if !self.staged.is_empty() && !self.room.is_on() { now } else { self.next_look_up().max(now) }
    }

    /// Whether an answer can be taken.
    pub fn has_answer(&self) -> bool {
        !self.done.is_empty()
    }

    /// Overlays the bytes of a line that the cache holds, for a host copy; takes no simulated time.
    pub fn peek(&self, line: LineAddress, into: &mut Line) {
        if let Some(frame) = self.cache.store.find(line) {
            into.merge(self.cache.frames().valid(frame), self.cache.frames().data(frame));
        }
    }

    /// Replaces bytes of a line that the cache holds, for a host copy; takes no simulated time.
    pub fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if let Some(frame) = self.cache.store.find(line) {
            let frames = self.cache.frames_mut();
            let bytes = bytes & frames.valid(frame);
            frames.data_mut(frame).merge(bytes, data);
        }
    }

    /// Appends to `report` one sentence for each thing that the cache waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        if !self.cache.mshrs.is_empty() {
            let lines: Vec<String> = self.cache.mshrs.iter().map(|(_, line)| line.to_string()).collect();
            report.push(format!("the memory-side cache waits for lines {} from DRAM", lines.join(", ")));
        }
        if let Some(since) = self.stalled {
            report.push(format!("the memory-side cache's next request has waited since L2 cycle {since}"));
        }
    }

    /// Its counters.
    pub fn statistics(&self) -> Group {
        self.statistics.report()
    }
}

impl DramPort for MemoryCache {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let ready = now + self.latency;
        self.queue.push(ready, request).inspect_err(|_| self.statistics.refused += 1)
    }

    fn has_room(&self) -> bool {
        !self.queue.is_full()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.statistics.refused += cycles;
    }

    fn completed(&mut self, _: Cycle) -> Option<DramRequest> {
        self.done.pop()
    }
}
