//! Requests that wait behind another one to their block, and need no operation of their own.

use strata_engine::Cycle;
use strata_memory::atomic::AtomicBatch;
use strata_memory::{Body, Contents, Line, LineAddress};

use super::atomics::{self, Asked};
use super::controller::Controller;
use super::table::{Job, Op};

impl Controller {
    /// The oldest request to a line of a row that is not done.
    pub(super) fn first_of(&self, row: u32, line: LineAddress) -> Option<u32> {
        self.rows[row as usize].jobs.iter().copied().find(|number| self.jobs.get(*number).line == line)
    }

    /// The request that waits behind the first one to a line.
    pub(super) fn second_of(&self, row: u32, line: LineAddress) -> Option<u32> {
        let of_line = |number: &u32| self.jobs.get(*number).line == line;
        self.rows[row as usize].jobs.iter().copied().filter(of_line).nth(1)
    }

    /// Serves what waits behind the first request to a line, in order, as far as the write data buffer can: reads of a block that
    /// is on its way to the set; writes to what has not been handed over.
    pub(super) fn merge_behind(&mut self, first: u32, now: Cycle) {
        let job = self.jobs.get(first);
        let (row, line) = (job.row, job.line);
        while let Some(second) = self.second_of(row, line) {
            let (first, later) = self.jobs.get_both(first, second);
            let merged = later.request.as_mut().is_some_and(|request| first.merge(request));
            if !merged {
                break;
            }
            self.answer_merged(row, second, now);
        }
        self.end_gathering(first);
    }

    /// Answers the reads that wait behind the first request to a line, up to the first request that is none, with the block that
    /// the warp has answered.
    pub(super) fn answer_reads_behind(&mut self, row: u32, line: LineAddress, block: &Line, now: Cycle) {
        while let Some(second) = self.second_of(row, line) {
            let request = self.jobs.get_mut(second).request.as_deref_mut();
            let Some(Contents { body: Body::Read(tray), .. }) = request else { return };
            tray.0 = block.0;
            self.answer_merged(row, second, now);
        }
    }

    /// Answers a request that needs no operation of its warp.
    pub(super) fn answer_merged(&mut self, row: u32, number: u32, now: Cycle) {
        let request = self.jobs.remove(number).request.expect("what waits is not answered");
        self.rows[row as usize].jobs.retain(|other| *other != number);
        self.statistics.merged += 1;
        self.statistics.buffer_accesses += 1;
        self.reply(request, now);
    }

    /// Collects an operation for the first request to a line, an atomic, and for as many of those behind it as are the same
    /// atomic and can share it.
    pub(super) fn gather_atomics(&mut self, row: u32, first: u32) -> Asked {
        let job = self.jobs.get_mut(first);
        let (line, batch) = (job.line, atomic_of(job));
        let mut asked = Asked::new(batch.op, batch.ty).expect("kernels have the operation");
        let row = &mut self.rows[row as usize];
        row.atomics.clear();
        for number in &row.jobs {
            let job = self.jobs.get(*number);
            if job.line != line {
                continue;
            }
            let Some(Contents { body: Body::Atomic(batch), .. }) = job.request.as_deref() else { break };
            if (batch.op, batch.ty) != asked.operation() {
                break;
            }
            let taken = asked.take(batch, job.left);
            if taken != 0 {
                row.atomics.push((*number, taken));
            }
        }
        asked
    }

    /// Goes on with the first request to a line, an atomic, of which a warp has performed some, and of others behind it.
    pub(super) fn end_atomics(&mut self, first: u32, now: Cycle) {
        let row = self.jobs.get(first).row;
        for (number, entries) in &self.rows[row as usize].atomics {
            self.jobs.get_mut(*number).left &= !entries;
        }
        match self.jobs.get(first).left {
            0 => self.finish(first, now),
            _ => self.make_ready(first, Op::Atomic),
        }
    }

    /// Performs the atomics behind one whose block the controller has. They are answered after it.
    pub(super) fn perform_behind(&mut self, first: u32) {
        let job = self.jobs.get(first);
        let (line, row) = (job.line, &self.rows[job.row as usize]);
        for number in row.jobs.iter().filter(|number| **number != first) {
            if self.jobs.get(*number).line != line {
                continue;
            }
            let (first, later) = self.jobs.get_both(first, *number);
            let Some(Contents { body: Body::Atomic(batch), .. }) = later.request.as_deref_mut() else {
                return;
            };
            atomics::perform(batch, later.left, first.data.as_mut().expect("it has the block"));
            first.written |= atomics::bytes(batch, std::mem::take(&mut later.left));
        }
    }
}

/// The atomics of a request.
pub(super) fn atomic_of(job: &mut Job) -> &mut AtomicBatch {
    match job.request.as_deref_mut() {
        Some(Contents { body: Body::Atomic(batch), .. }) => batch,
        request => unreachable!("an atomic has its operands, not {request:?}"),
    }
}
