//! How instructions end: with the last of the parts that they wait for.

use strata_engine::Cycle;

use super::collective::Ending;
use super::constants::Destination;
use super::entry::{Entry, NO_PARENT, Operation, Place};
use super::{Finished, Lsu, words};

impl Lsu {
    /// Retires one of the parts that an instruction waits for; the last one completes the instruction.
    #[inline(always)]
    pub(super) fn close(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        entry.open -= 1;
        if entry.open == 0 {
            self.close_last(place, now);
        }
    }

    #[inline(never)]
    fn close_last(&mut self, place: Place, now: Cycle) {
        if self.table.get(place).operation == Operation::Texture {
            if self.read_only == Destination::Global && self.load_texels(place, now) {
                return;
            }
            self.begin_results(place, now);
        } else {
            self.end(place, now);
        }
    }

    /// Starts on the results of a fetch whose texels are all here.
    pub(super) fn begin_results(&mut self, place: Place, now: Cycle) {
        let lanes = self.table.get(place).lanes;
        self.textures.begin_results(place, lanes, now);
        self.due = self.due.min(self.textures.next_event());
    }

    /// Completes an instruction, or starts the second step of one that has two, and schedules its write-back.
    #[inline]
    pub(super) fn end(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        if entry.parent != NO_PARENT {
            return self.end_piece(place, now);
        }
        let mut is_ordered = true;
        if entry.operation == Operation::Load {
            words::extend(entry.ty, entry.vector, &mut entry.image);
        } else if entry.operation.is_collective() {
            match self.end_collective(place, now) {
                Ending::Goes { ordered } => is_ordered = ordered,
                Ending::Stays => return,
            }
        }
        let entry = self.table.get_mut(place);
        if is_ordered {
            self.fences.close(entry.warp);
        }
        self.statistics.finished += 1;
        let cycles = now.since(entry.issued);
        self.statistics.latency_cycles += cycles;
        if self.ledger.is_some() {
            self.charge_end(place, cycles);
        }
        self.done
            .push(now + self.writeback_latency, place)
            .expect("there is room for every instruction in flight");
    }

    /// Returns the next instruction whose write-back is due and frees its table entry. The rows stay valid until the
    /// next instruction is issued.
    #[inline(always)]
    pub fn finished(&mut self, now: Cycle) -> Option<Finished<'_>> {
        let place = self.done.pop(now)?;
        self.table.release(place);
        let entry = self.table.get(place);
        let Entry { warp, pc, lanes, result_rows, ref image, .. } = *entry;
        Some(Finished { warp, pc, lanes, rows: &image.words[..usize::from(result_rows)] })
    }
}
