//! Counting requests, and performing them on lines that are here.

use strata_engine::Cycle;
use strata_memory::atomic::AtomicBatch;
use strata_memory::cache::{FrameId, Store};
use strata_memory::{Body, ByteMask, Level, Packet, TouchKind};

use super::{Protocol, Slice};

/// What a request found, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All bytes that it needed.
    Hit,
    /// Its line, but not all its bytes.
    Partial,
    /// A fetch of its line.
    Merge,
    /// Nothing.
    Miss,
}

impl<P: Protocol> Slice<P> {
    /// Performs a read, a write or atomics on a frame that has the bytes, and turns the request into its reply. Returns also the
    /// cycle in which the reply is ready.
    #[inline]
    pub fn perform(&mut self, mut request: Packet, frame: FrameId, now: Cycle) -> (Packet, Cycle) {
        let frames = self.cache.store.frames_mut();
        let mut at = now + self.parameters.hit_latency;
        match &mut request.body {
            Body::Read(tray) => {
                tray.0 = frames.data(frame).0;
                self.statistics.data_reads += 1;
                self.occupy_data(request.bytes, now);
            }
            Body::Write(tray) => {
                frames.data_mut(frame).merge(request.bytes, tray);
                frames.add_dirty(frame, request.bytes);
                self.statistics.data_writes += 1;
                self.occupy_data(request.bytes, now);
            }
            Body::Atomic(batch) => {
                let cycles = self.parameters.atomic_cycles * conflicts(batch);
                at += cycles - 1;
                batch.perform(frames.data_mut(frame));
                frames.add_dirty(frame, request.bytes);
                self.occupy(now, now + cycles);
                self.statistics.atomic_operations += u64::from(batch.count);
                self.statistics.data_reads += 1;
                self.statistics.data_writes += 1;
            }
            body => unreachable!("a slice gets requests only, not {body:?}"),
        }
        (request.into_reply(), at)
    }

    /// Occupies the slice while more bytes are read or written than it takes in a cycle.
    #[inline]
    fn occupy_data(&mut self, bytes: ByteMask, now: Cycle) {
        let Some(width) = self.parameters.data_bytes_per_cycle else { return };
        let cycles = u64::from(bytes.count().div_ceil(width));
        if cycles > 1 {
            self.occupy(now, now + cycles);
        }
    }

    /// Counts a request that was looked up, and notes where its bytes will come from. A registration counts as a write.
    pub fn count(&mut self, request: &mut Packet, found: Found) {
        if found != Found::Hit {
            request.level = Level::Memory;
        }
        let s = &mut self.statistics;
        s.requests += 1;
        s.tag_reads += 1;
        let (total, hits, partial, misses, merges) = match request.touch().kind {
            TouchKind::Load | TouchKind::Prefetch => (
                &mut s.reads,
                &mut s.read_hits,
                &mut s.read_partial_hits,
                &mut s.read_misses,
                &mut s.read_merges,
            ),
            TouchKind::Atomic => (
                &mut s.atomics,
                &mut s.atomic_hits,
                &mut s.atomic_partial_hits,
                &mut s.atomic_misses,
                &mut s.atomic_merges,
            ),
            TouchKind::Store => {
                s.writes += 1;
                *match found {
                    Found::Hit => &mut s.write_hits,
                    Found::Miss => &mut s.write_misses,
                    Found::Merge => &mut s.write_merges,
                    Found::Partial => unreachable!("a write fetches nothing"),
                } += 1;
                return;
            }
        };
        *total += 1;
        *match found {
            Found::Hit => hits,
            Found::Partial => partial,
            Found::Miss => misses,
            Found::Merge => merges,
        } += 1;
    }
}

/// Number of operations on the address with most of them, at least 1.
pub fn conflicts(batch: &AtomicBatch) -> u64 {
    let mut counts = [0_u8; 128];
    let mut most = 1;
    for offset in &batch.offset[..usize::from(batch.count)] {
        let count = &mut counts[usize::from(*offset)];
        *count += 1;
        most = most.max(*count);
    }
    u64::from(most)
}
