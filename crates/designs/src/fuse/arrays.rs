//! Uses of the arrays: what each use counts, and what it occupies.

use strata_engine::Cycle;
use strata_memory::LineAddress;
use strata_memory::cache::FrameId;

use super::lines::{Bank, Lines};

impl Lines {
    /// Occupies the bus with a line from `now` on.
    #[inline]
    pub(super) fn carry(&mut self, now: Cycle) {
        if let Some(bus) = &mut self.bus {
            self.statistics.bus_transfers += 1;
            bus.carry(now);
        }
    }

    /// Reads or writes an array from `now` on.
    #[inline]
    pub(super) fn use_array(&mut self, frame: FrameId, write: bool, now: Cycle) {
        *self.accesses_of(frame, write) += 1;
        match &mut self.stt {
            Some(stt) if stt.places.holds(frame) && write => stt.write(stt.places.place(frame), now),
            Some(stt) if stt.places.holds(frame) => stt.read(now),
            _ => {}
        }
    }

    /// The counter of reads or writes of the frame's array.
    #[inline]
    pub(super) fn accesses_of(&mut self, frame: FrameId, write: bool) -> &mut u64 {
        let bank = self.bank(frame);
        let statistics = &mut self.statistics;
        match (bank, write) {
            (Bank::Sram, false) => &mut statistics.sram_reads,
            (Bank::Sram, true) => &mut statistics.sram_writes,
            (Bank::Stt, false) => &mut statistics.stt_reads,
            (Bank::Stt, true) => &mut statistics.stt_writes,
            (Bank::Swap, false) => &mut statistics.swap_reads,
            (Bank::Swap, true) => &mut statistics.swap_writes,
        }
    }

    /// Removes a line that leaves STT-MRAM from its filter.
    #[inline]
    pub(super) fn forget(&mut self, frame: FrameId, line: LineAddress) {
        let stt = self.stt.as_mut().expect("the frame's bank");
        let place = stt.places.place(frame);
        let Some(approximation) = &mut stt.approximation else { return };
        let filter = approximation.filter_of(place);
        if approximation.recounts && approximation.filters.is_saturated(filter, line) {
            approximation.filters.clear_filter(filter);
            for place in approximation.places_of(filter) {
                if let Some(line) = self.frames.line(FrameId::from(place)) {
                    approximation.filters.increment(filter, line);
                }
            }
            approximation.rows_recounted += approximation.rows_per_filter();
            self.statistics.cbf_recounts += 1;
        } else {
            approximation.filters.decrement(filter, line);
            self.statistics.cbf_updates += 1;
        }
    }
}
