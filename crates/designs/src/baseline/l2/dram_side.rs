//! The side of the slice that faces its DRAM channel.

use strata_engine::Cycle;

use super::slice::L2Slice;
use strata_memory::doors::{DramPort, DramRequest};
use strata_memory::line::ByteMask;
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;

/// Tag of a write; a read carries the number of its MSHR.
const WRITE: u32 = u32::MAX;

impl L2Slice {
    /// Whether the queue to the channel has room for `requests` more.
    #[inline]
    pub(super) fn dram_room(&self, requests: usize) -> bool {
        self.to_dram.len() + requests <= self.parameters.dram_queue
    }

    /// Requests bytes of an MSHR's line. There must be room for a request.
    pub(super) fn fetch(&mut self, mshr: MshrId, bytes: ByteMask) {
        // The sectors requested are disjoint, so each MSHR uses at most a line's worth of trays.
        let tray = self.fetch_trays.take();
        let line = self.mshrs.line(mshr);
        let fetch = self.mshrs.state_mut(mshr);
        debug_assert!((fetch.requested & bytes).is_empty(), "no byte is asked for twice");
        fetch.requested |= bytes;
        fetch.in_flight += 1;
        self.statistics.fetches += 1;
        self.statistics.fetch_bytes += u64::from(bytes.count());
        self.to_dram.push_back(DramRequest { line, bytes, write: false, tag: u32::from(mshr.0), tray });
    }

    /// Sends a frame's dirty bytes to DRAM, if it has any. There must be room for a request and a tray.
    pub(super) fn write_back(&mut self, frame: FrameId) {
        let bytes = self.tags.dirty(frame);
        if bytes.is_empty() {
            return;
        }
        let line = self.tags.line(frame).expect("dirty bytes belong to a line");
        let mut tray = self.write_trays.take();
        tray.0 = self.data[frame.index()].0;
        self.tags.clean(frame);
        self.statistics.write_backs += 1;
        self.statistics.write_back_bytes += u64::from(bytes.count());
        self.statistics.data_reads += 1;
        self.to_dram.push_back(DramRequest { line, bytes, write: true, tag: WRITE, tray });
    }

    /// Offers the oldest request to the channel.
    pub(super) fn send_to_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        let Some(request) = self.to_dram.pop_front() else { return };
        match dram.offer(request, now) {
            Ok(()) => self.at_dram += 1,
            Err(request) => self.to_dram.push_front(request),
        }
    }

    /// Takes the requests that the channel has finished. Its bus brings less than one line per cycle.
    pub(super) fn receive_from_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(answer) = dram.completed(now) {
            self.at_dram -= 1;
            if answer.write {
                self.write_trays.put(answer.tray);
                continue;
            }
            let mshr = MshrId(answer.tag as u16);
            let fetch = self.mshrs.state_mut(mshr);
            let frame = fetch.frame;
            fetch.requested &= !answer.bytes;
            fetch.in_flight -= 1;
            // Bytes that are valid already are as new or newer: writes went into them.
            let missing = answer.bytes & !self.tags.valid(frame);
            self.data[frame.index()].merge(missing, &answer.tray);
            self.tags.add_valid(frame, missing);
            self.fetch_trays.put(answer.tray);
            self.statistics.fills += 1;
            self.statistics.data_writes += 1;
            self.make_ready(mshr);
        }
    }
}
