//! Host copies between launches and host phases, through every copy that the machine holds.

use std::ops::Range;

use strata_memory::partition::PartitionIsland;
use strata_memory::{Address, ByteMask, LINE_BYTES, Line, LineAddress};

use super::Gpu;
use crate::part::Part;

impl Gpu {
    /// Writes device memory between launches, and updates every cached copy.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        self.each_line(address, data.len(), |gpu, line, offset, range| {
            let mut bytes = Line::ZERO;
            bytes.0[offset..offset + range.len()].copy_from_slice(&data[range.clone()]);
            let written = ByteMask::range(offset, range.len());
            gpu.partition_of(line).poke_line(line, written, &bytes);
            for index in gpu.kept.clone() {
                gpu.poke_l1d(index, line, written, &bytes);
            }
        });
    }

    /// Reads device memory between launches, through every cached copy.
    pub fn read(&mut self, address: u64, data: &mut [u8]) {
        self.each_line(address, data.len(), |gpu, line, offset, range| {
            let mut bytes = Line::ZERO;
            gpu.partition_of(line).peek_line(line, &mut bytes);
            for index in gpu.kept.clone() {
                gpu.peek_l1d(index, line, &mut bytes);
            }
            let length = range.len();
            data[range].copy_from_slice(&bytes.0[offset..offset + length]);
        });
    }

    /// Calls `visit` for each line of a range with the line, the first byte within it, and the bytes' offset in the range.
    fn each_line(
        &mut self,
        address: u64,
        length: usize,
        mut visit: impl FnMut(&mut Gpu, LineAddress, usize, Range<usize>),
    ) {
        let mut done = 0;
        while done < length {
            let at = Address(address + done as u64);
            let offset = at.offset();
            let step = (LINE_BYTES - offset).min(length - done);
            let line = at.line();
            visit(self, line, offset, done..done + step);
            done += step;
        }
    }

    /// The partition that a line belongs to.
    fn partition_of(&mut self, line: LineAddress) -> &mut PartitionIsland {
        let (channel, _) = self.map.channel_of(self.map.home(line).slice);
        self.partition(usize::from(channel))
    }

    /// Reads a line through the L1D of an SM or CPU core.
    fn peek_l1d(&mut self, index: usize, line: LineAddress, below: &mut Line) {
        match self.simulation.island_mut(index) {
            Part::Sm(sm) => sm.peek_line(line, below),
            Part::Cpu(core) => core.island_mut().peek_line(line, below),
            _ => unreachable!("the island has an L1D"),
        }
    }

    /// Updates what the L1D of an SM or CPU core holds of a line.
    fn poke_l1d(&mut self, index: usize, line: LineAddress, bytes: ByteMask, data: &Line) {
        match self.simulation.island_mut(index) {
            Part::Sm(sm) => sm.poke_line(line, bytes, data),
            Part::Cpu(core) => core.island_mut().poke_line(line, bytes, data),
            _ => unreachable!("the island has an L1D"),
        }
    }
}
