//! The side of the slice that faces its DRAM channel.

use strata_engine::Cycle;
use strata_memory::ByteMask;
use strata_memory::doors::{DramPort, DramRequest};
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;

use super::slice::DenovoL2;

/// Tag of a write; a read carries the number of its MSHR.
const WRITE: u32 = u32::MAX;

impl DenovoL2 {
    /// Whether a line can be fetched, and another one written back for it.
    #[inline]
    pub(super) fn has_dram_room(&self) -> bool {
        self.to_dram.len() + 2 <= self.parameters.dram_queue && self.write_trays.left() > 0
    }

    /// Requests an MSHR's line. There must be room.
    pub(super) fn fetch(&mut self, mshr: MshrId) {
        let (tray, line) = (self.fetch_trays.take(), self.mshrs.line(mshr));
        self.statistics.fetches += 1;
        self.statistics.fetch_bytes += u64::from(ByteMask::ALL.count());
        self.to_dram.push_back(DramRequest {
            line,
            bytes: ByteMask::ALL,
            write: false,
            tag: u32::from(mshr.0),
            tray,
        });
    }

    /// Sends a frame's dirty bytes to DRAM, if it has any. There must be room, and no word may have an owner.
    pub(super) fn write_back(&mut self, frame: FrameId) {
        debug_assert_eq!(self.owned[frame.index()], 0, "registered words are recalled first");
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

    /// Takes the requests that the channel has finished.
    pub(super) fn receive_from_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(answer) = dram.completed(now) {
            self.at_dram -= 1;
            if answer.write {
                self.write_trays.put(answer.tray);
                continue;
            }
            let mshr = MshrId(answer.tag as u16);
            let fetch = self.mshrs.state_mut(mshr);
            fetch.is_here = true;
            let frame = fetch.frame;
            self.data[frame.index()].0 = answer.tray.0;
            self.tags.add_valid(frame, ByteMask::ALL);
            self.fetch_trays.put(answer.tray);
            self.statistics.fills += 1;
            self.statistics.data_writes += 1;
            self.ready.push(mshr).expect("each MSHR is ready once");
        }
    }
}
