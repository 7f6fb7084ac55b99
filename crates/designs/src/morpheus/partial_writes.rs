//! Writes of some bytes to blocks that their sets do not have. The bytes wait for the rest of the block, which is fetched when a
//! request needs it, and go to memory by themselves in the end: so does a conventional slice, which keeps them with a mask.

use strata_engine::Cycle;
use strata_memory::{Body, ByteMask};

use super::controller::Controller;
use super::gathering::Waiting;
use super::table::{Op, Step};

impl Controller {
    /// Answers a write of some bytes whose set is said not to have the block, and keeps the bytes. Whether the request is one.
    pub(super) fn gather(&mut self, number: u32, now: Cycle) -> bool {
        let request = self.jobs.get(number).request.as_ref();
        let is_write = request.is_some_and(|request| matches!(request.body, Body::Write(_)));
        if !is_write || !self.gathering.is_on() {
            return false;
        }
        self.buffer_write(number, now);
        self.keep(number, false, now);
        true
    }

    /// Keeps the bytes of an answered write whose set turned out not to have the block. Whether the request is one.
    pub(super) fn gather_late(&mut self, number: u32, now: Cycle) -> bool {
        let job = self.jobs.get(number);
        if job.request.is_some() || job.data.is_none() || !self.gathering.is_on() {
            return false;
        }
        self.keep(number, true, now);
        true
    }

    fn keep(&mut self, number: u32, is_late: bool, now: Cycle) {
        self.statistics.gathered += 1;
        self.jobs.get_mut(number).step = Step::Gathering;
        self.gathering.add(number, is_late, now);
        self.merge_behind(number, now);
    }

    /// Goes on with a block whose bytes are complete, or that a later request asks for.
    pub(super) fn end_gathering(&mut self, number: u32) {
        let job = self.jobs.get(number);
        if job.step != Step::Gathering {
            return;
        }
        let is_whole = job.written == ByteMask::ALL;
        if !is_whole && self.second_of(job.row, job.line).is_none() {
            return;
        }
        let waiting = self.gathering.take(number).expect("what gathers waits");
        if is_whole {
            self.statistics.made_whole += 1;
            self.make_ready(number, Op::Insert { is_dirty: true });
        } else {
            self.fetch_rest(waiting);
        }
    }

    /// Sends bytes that have waited long enough to memory, without their block.
    pub(super) fn end_waits(&mut self, now: Cycle) {
        while let Some(waiting) = self.gathering.take_next(now) {
            let job = self.jobs.get_mut(waiting.job);
            let (line, bytes) = (job.line, job.written);
            let tray = job.data.take().expect("its bytes wait");
            self.statistics.written_past += 1;
            self.write_bytes_back(line, bytes, tray);
            self.finish(waiting.job, now);
        }
    }

    fn fetch_rest(&mut self, waiting: Waiting) {
        let s = &mut self.statistics;
        *(if waiting.is_late { &mut s.late_fetches } else { &mut s.fetches }) += 1;
        self.fetch(waiting.job);
    }
}
