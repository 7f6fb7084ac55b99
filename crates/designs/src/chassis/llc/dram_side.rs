//! The side of a slice that faces its DRAM channel.

use strata_engine::Cycle;
use strata_memory::cache::{FrameId, WriteBack};
use strata_memory::doors::{DramPort, DramRequest};
use strata_memory::mshr::MshrId;
use strata_memory::{ByteMask, LineAddress, Packet, Tray};

use super::wait::Changes;
use super::{Protocol, Slice};

/// Tag of a write; a read carries the number of its MSHR.
const WRITE: u32 = u32::MAX;

impl<P: Protocol> Slice<P> {
    /// Whether the queue to the channel has room for `requests` more.
    #[inline]
    pub fn dram_room(&self, requests: usize) -> bool {
        self.to_dram.len() + requests <= self.parameters.dram_queue
    }

    /// Whether `fetches` lines can be fetched, and another one written back for them.
    #[inline]
    pub fn miss_room(&self, fetches: usize) -> bool {
        self.dram_room(fetches + 1) && self.cache.can_write(1)
    }

    /// Requests bytes of an MSHR's line. There must be room for a request.
    pub fn fetch(&mut self, mshr: MshrId, bytes: ByteMask) {
        let tray = self.cache.request(mshr, bytes);
        self.ask(self.cache.mshrs.line(mshr), mshr, bytes, tray);
    }

    /// Has a request wait for bytes of its line, which a frame has been assigned to. An MSHR must be free, and there must be room for
    /// a request to DRAM.
    pub fn wait_for(&mut self, request: Packet, frame: FrameId, bytes: ByteMask) {
        let line = request.line;
        let (mshr, tray) = self.cache.miss(line, frame, bytes, request);
        self.ask(line, mshr, bytes, tray);
    }

    #[inline]
    fn ask(&mut self, line: LineAddress, mshr: MshrId, bytes: ByteMask, tray: Tray) {
        self.statistics.fetches += 1;
        self.statistics.fetch_bytes += u64::from(bytes.count());
        self.to_dram.push_back(DramRequest { line, bytes, write: false, tag: u32::from(mshr.0), tray });
    }

    /// Evicts the line in a frame, if there is one: its dirty bytes go to DRAM. There must be room for a request and a tray.
    pub fn evict(&mut self, frame: FrameId) {
        if self.cache.frames().line(frame).is_none() {
            return;
        }
        self.statistics.evictions += 1;
        if let Some(WriteBack { line, bytes, tray }) = self.cache.take_dirty(frame) {
            self.statistics.write_backs += 1;
            self.statistics.write_back_bytes += u64::from(bytes.count());
            self.statistics.data_reads += 1;
            self.to_dram.push_back(DramRequest { line, bytes, write: true, tag: WRITE, tray });
        }
    }

    /// Offers the oldest request to the channel, if that may have room for it.
    pub(super) fn send_to_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.room.goes_on(dram) {
            return;
        }
        let Some(request) = self.to_dram.pop_front() else { return };
        match self.room.offer(request, dram, now) {
            Ok(()) => {
                self.at_dram += 1;
                self.changed |= Changes::DRAM;
            }
            Err(request) => self.to_dram.push_front(request),
        }
    }

    /// Takes the requests that the channel has finished. Its bus brings less than one line per cycle.
    pub(super) fn receive_from_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(answer) = dram.completed(now) {
            self.at_dram -= 1;
            if answer.write {
                self.cache.written(answer.tray);
                self.changed |= Changes::DRAM;
                continue;
            }
            self.cache.fill(MshrId(answer.tag as u16), answer.bytes, answer.tray);
            self.statistics.fills += 1;
            self.statistics.data_writes += 1;
        }
    }
}
