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
        for job in row.jobs.iter().map(|number| self.jobs.get(*number)).filter(|job| job.line == line) {
            match (job.step, &job.data) {
                (Step::Ready(Op::Insert { .. }) | Step::Served(Op::Insert { .. }), Some(data)) => {
                    below.0 = data.0
                }
                (
                    Step::Ready(Op::Write) | Step::Served(Op::Write) | Step::Gathering | Step::Fetching,
                    Some(data),
                ) => {
                    below.merge(job.written | job.poked, data);
                }
                _ => {}
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
            let Some(block) = job.data.as_mut().filter(|_| job.line == line) else { continue };
            match job.step {
                Step::Ready(Op::Insert { .. }) => block.merge(bytes, data),
                Step::Ready(Op::Write) | Step::Gathering => block.merge(bytes & job.written, data),
                // The rest of the block may have left DRAM.
                Step::Fetching => {
                    block.merge(bytes, data);
                    job.written |= bytes;
                }
                Step::Served(Op::Insert { .. } | Op::Write) => {
                    block.merge(bytes, data);
                    job.poked |= bytes;
                }
                _ => {}
            }
        }
    }
}
