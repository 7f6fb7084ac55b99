//! Host copies between kernels: blocks on their way to their set, in it, and on their way out of it.

use strata_memory::{ByteMask, Line, LineAddress};

use super::controller::Controller;
use super::table::{Op, Step};

impl Controller {
    /// Writes what the extended LLC has of a line over DRAM's bytes.
    pub(super) fn peek_extended(&self, row: u32, line: LineAddress, below: &mut Line) {
        for write in self.to_dram.iter().filter(|request| request.write && request.line == line) {
            below.merge(write.bytes, &write.tray);
        }
        let row = &self.rows[row as usize];
        row.shadow.peek(line, below);
        for job in row.jobs.iter().map(|number| self.jobs.get(*number)) {
            if let (true, Step::Ready(Op::Insert { .. }) | Step::Served(Op::Insert { .. }), Some(data)) =
                (job.line == line, job.step, &job.data)
            {
                below.0 = data.0;
            }
        }
    }

    /// Updates what the extended LLC has of a line. A set has the bytes before the block's next use.
    pub(super) fn poke_extended(&mut self, row: u32, line: LineAddress, bytes: ByteMask, data: &Line) {
        for write in self.to_dram.iter_mut().filter(|request| request.write && request.line == line) {
            write.tray.merge(write.bytes & bytes, data);
        }
        let row = &mut self.rows[row as usize];
        row.shadow.poke(line, bytes, data);
        for number in &row.jobs {
            let job = self.jobs.get_mut(*number);
            match (job.line == line, job.step, &mut job.data) {
                (true, Step::Ready(Op::Insert { .. }), Some(block)) => block.merge(bytes, data),
                (true, Step::Served(Op::Insert { .. }), Some(block)) => {
                    block.merge(bytes, data);
                    job.poked |= bytes;
                }
                _ => {}
            }
        }
    }
}
