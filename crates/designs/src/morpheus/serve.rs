//! The life of a request to the extended LLC: prediction, the fetch of a predicted miss, the set's warp, the answer.

use strata_engine::Cycle;
use strata_memory::atomic::AtomicBatch;
use strata_memory::window::{self, result, result::Told};
use strata_memory::{Body, ByteMask, Contents, Level, Packet, Tray};

use super::atomics;
use super::controller::Controller;
use super::merging::atomic_of;
use super::separator::Part;
use super::table::{Job, NO_LINE, Op, Row, Step};
use super::{Buffered, Insertions, Prediction, Wait};

impl Controller {
    /// Takes the next packet that has arrived.
    pub(super) fn arrive(&mut self, packet: Packet, now: Cycle) {
        if window::holds(packet.line) {
            return self.access_window(packet, now);
        }
        if self.is_from_helper(&packet) {
            return self.go_past(packet);
        }
        let Part::Extended(number) = self.separator.part(packet.line) else {
            unreachable!("requests to conventional lines do not come here")
        };
        if matches!(packet.body, Body::Prefetch) {
            // A set's warp gets a block with the request for it, and here is none.
            self.statistics.ignored_hints += 1;
            return self.reply(packet, now);
        }
        self.request(packet, self.row_of(number), now);
    }

    /// Takes a request to the extended LLC.
    fn request(&mut self, mut packet: Packet, row: u32, now: Cycle) {
        packet.level = Level::Extended;
        let line = packet.line;
        let s = &mut self.statistics;
        s.requests += 1;
        let left = match &packet.body {
            Body::Atomic(batch) => {
                s.atomics += 1;
                atomics::entries(batch)
            }
            Body::Write(_) => {
                s.writes += 1;
                0
            }
            _ => {
                s.reads += 1;
                0
            }
        };
        let first = self.first_of(row, line);
        let (request, step, data) = (Some(packet), Step::Behind, None);
        let number = self.jobs.insert(Job {
            request,
            line,
            row,
            step,
            data,
            written: ByteMask::NONE,
            poked: ByteMask::NONE,
            left,
            is_buffered: false,
            is_open: false,
        });
        self.rows[row as usize].jobs.push_back(number);
        match first {
            None => self.begin(number, now),
            Some(first) => {
                self.statistics.waited_for_block += 1;
                self.merge_behind(first, now);
            }
        }
    }

    /// Begins with a request whose block no earlier one waits for.
    pub(super) fn begin(&mut self, number: u32, now: Cycle) {
        let job = self.jobs.get(number);
        let (line, row) = (job.line, &self.rows[job.row as usize]);
        let patch = row.shadow.patch(line).map(|(_, data)| data.clone());
        if let Some(data) = patch {
            self.statistics.patches += 1;
            let mut tray = self.trays.take();
            *tray = data;
            self.jobs.get_mut(number).data = Some(tray);
            return self.make_ready(number, Op::Patch);
        }
        if self.predict(number) {
            self.statistics.predicted_hits += 1;
            let job = self.jobs.get_mut(number);
            job.is_open = true;
            if self.write_whole(number, now) {
                return;
            }
            let job = self.jobs.get(number);
            return match job.request.as_ref().map(|request| &request.body) {
                Some(Body::Write(_)) => self.write_part(number, now),
                Some(Body::Atomic(batch)) => self.make_ready(number, atomic_op(batch)),
                _ => self.make_ready(number, Op::Read),
            };
        }
        self.statistics.predicted_misses += 1;
        if !self.write_whole(number, now) && !self.gather(number, now) {
            self.statistics.fetches += 1;
            self.fetch(number);
        }
    }

    /// Whether a request's set is said to have its block.
    fn predict(&mut self, number: u32) -> bool {
        let job = self.jobs.get(number);
        let (line, row) = (job.line, &self.rows[job.row as usize]);
        match self.prediction {
            // An L1D finds out by itself, and loads what it lacks.
            _ if row.is_in_l1 => true,
            Prediction::None => true,
            Prediction::Perfect => row.shadow.holds(line),
            Prediction::Bloom => {
                self.statistics.filter_reads += 1;
                let may_hold = row.predictor.may_hold(line.0);
                self.statistics.false_misses += u64::from(!may_hold && row.shadow.holds(line));
                may_hold
            }
        }
    }

    /// Takes the block from a write of a whole line, which needs nothing of what was there: it is answered, and the set gets the
    /// block in place of one that it may have. Whether the request is one.
    fn write_whole(&mut self, number: u32, now: Cycle) -> bool {
        let is_whole =
            |request: &Packet| matches!(request.body, Body::Write(_)) && request.bytes == ByteMask::ALL;
        let found = self.jobs.get(number).request.as_ref().is_some_and(is_whole);
        if found {
            self.buffer_write(number, now);
            self.make_ready(number, Op::Insert { is_dirty: true });
            self.merge_behind(number, now);
        }
        found
    }

    /// A write of some bytes to a block that the set is said to have: it is answered, and the set gets the bytes.
    fn write_part(&mut self, number: u32, now: Cycle) {
        self.buffer_write(number, now);
        self.make_ready(number, Op::Write);
        self.merge_behind(number, now);
    }

    /// Puts the bytes of a write into the write data buffer and answers it.
    pub(super) fn buffer_write(&mut self, number: u32, now: Cycle) {
        let job = self.jobs.get_mut(number);
        let Some(Contents { bytes, body: Body::Write(data), .. }) = job.request.as_deref() else {
            unreachable!("a write has its bytes")
        };
        let mut tray = self.trays.take();
        tray.0 = data.0;
        (job.written, job.data) = (*bytes, Some(tray));
        let request = job.request.take().expect("it is not answered");
        self.reply(request, now);
    }

    /// The block of a predicted miss has come from DRAM: the request is answered, the set gets the block.
    pub(super) fn fetched(&mut self, number: u32, mut block: Tray, now: Cycle) {
        let job = self.jobs.get_mut(number);
        let mut is_dirty = false;
        let mut answered = None;
        if let Some(request) = job.request.as_mut() {
            match &mut request.body {
                Body::Read(tray) => tray.0 = block.0,
                Body::Write(tray) => {
                    block.merge(request.bytes, tray);
                    is_dirty = true;
                }
                // The warp performs it once it has the block.
                _ => {}
            }
        }
        if !matches!(job.request.as_ref().map(|request| &request.body), Some(Body::Atomic(_))) {
            answered = job.request.take();
        }
        if let Some(written) = job.data.take() {
            // A write that was answered before the set turned out not to have the block.
            block.merge(job.written, &written);
            self.trays.put(written);
            is_dirty = true;
        }
        job.data = Some(block);
        if let Some(request) = answered {
            self.reply(request, now);
        }
        if !is_dirty && self.is_dropped(number) {
            self.statistics.dropped_insertions += 1;
            return self.finish(number, now);
        }
        self.make_ready(number, Op::Insert { is_dirty });
        self.merge_behind(number, now);
    }

    /// Whether a block that memory has as well is not inserted: its warp is busy, and nobody waits for it.
    fn is_dropped(&self, number: u32) -> bool {
        let row = &self.rows[self.jobs.get(number).row as usize];
        let is_ready = |other: &u32| matches!(self.jobs.get(*other).step, Step::Ready(_));
        self.insertions == Insertions::DroppedWhenBusy
            && (row.served.is_some() || row.jobs.iter().any(is_ready))
            && !self.is_wanted(row, number)
    }

    /// Whether a request, this one or a later one to its block, waits until the set has the block.
    fn is_wanted(&self, row: &Row, number: u32) -> bool {
        let job = self.jobs.get(number);
        let of_block = row.jobs.iter().filter(|other| self.jobs.get(**other).line == job.line);
        job.request.is_some() || of_block.count() > 1
    }

    /// The request whose operation a warp gets next.
    fn next_of(&self, row: &Row) -> Option<(u32, Op)> {
        let mut ready = row.jobs.iter().filter_map(|number| match self.jobs.get(*number).step {
            Step::Ready(op) => Some((*number, op)),
            _ => None,
        });
        let first = ready.next()?;
        let can_wait = |(number, op): (u32, Op)| {
            matches!(op, Op::Insert { .. } | Op::Write) && !self.is_wanted(row, number)
        };
        if self.insertions == Insertions::InTurn || !can_wait(first) {
            return Some(first);
        }
        Some(ready.find(|job| !can_wait(*job)).unwrap_or(first))
    }

    pub(super) fn make_ready(&mut self, number: u32, op: Op) {
        let job = self.jobs.get_mut(number);
        job.step = Step::Ready(op);
        let row = job.row;
        self.list(row);
    }

    /// Notes that a row may have an operation to hand over.
    pub(super) fn list(&mut self, row: u32) {
        let entry = &mut self.rows[row as usize];
        if !entry.is_listed && entry.served.is_none() {
            entry.is_listed = true;
            self.listed.push_back(row);
        }
    }

    /// Hands one operation to a warp that has none.
    pub(super) fn hand_over(&mut self, now: Cycle) {
        while let Some(row) = self.listed.pop_front() {
            self.rows[row as usize].is_listed = false;
            let Some((number, op)) = self.next_of(&self.rows[row as usize]) else { continue };
            if !self.buffer(number, op) {
                self.statistics.waited_for_buffer += 1;
                self.starved.push_back(row);
                continue;
            }
            self.ask(row, number, op);
            self.rows[row as usize].since = now;
            self.answer_load(row, now);
            self.answer_payload_load(row, now);
            return;
        }
    }

    /// Gives an operation a line of the data buffers, if it needs one. Returns whether it has what it needs.
    fn buffer(&mut self, number: u32, op: Op) -> bool {
        // The block that answers a read is its result, and goes straight on.
        let passes = self.buffered == Buffered::OnlyCopy && op.reads() && self.wait == Wait::Held;
        if passes {
            return true;
        }
        let free = self.free_lines(op);
        if *free == 0 {
            return false;
        }
        *free -= 1;
        self.jobs.get_mut(number).is_buffered = true;
        true
    }

    fn free_lines(&mut self, op: Op) -> &mut u32 {
        if op.reads() { &mut self.read_buffers } else { &mut self.write_buffers }
    }

    /// The warp of a row has the payload of its operation.
    pub(super) fn payload_is_taken(&mut self, row: u32) {
        let Some(number) = self.rows[row as usize].served else { return };
        if let Step::Served(op @ Op::Insert { .. }) = self.jobs.get(number).step
            && self.buffered == Buffered::OnlyCopy
        {
            self.unbuffer(number, op);
        }
    }

    /// Frees the line of an operation that has one.
    pub(super) fn unbuffer(&mut self, number: u32, op: Op) {
        if !std::mem::take(&mut self.jobs.get_mut(number).is_buffered) {
            return;
        }
        *self.free_lines(op) += 1;
        while let Some(row) = self.starved.pop_front() {
            self.list(row);
        }
    }

    /// Writes an operation into its row.
    fn ask(&mut self, row: u32, number: u32, op: Op) {
        let block = self.block_of(self.jobs.get(number).line);
        let job = self.jobs.get_mut(number);
        job.step = Step::Served(op);
        let entry = &mut self.rows[row as usize];
        entry.served = Some(number);
        entry.is_loaded = false;
        if entry.is_in_l1 {
            entry.fetched.0 = NO_LINE;
        }
        let s = &mut self.statistics;
        s.operations += 1;
        s.table_accesses += 1;
        s.buffer_accesses += u64::from(!op.reads());
        match op {
            Op::Read | Op::FetchAtomic => {
                s.read_operations += 1;
                entry.ask_read(block);
            }
            Op::Write => {
                s.write_operations += 1;
                entry.ask_write(block, job.written, job.data.as_ref().expect("a write has its bytes"));
            }
            Op::Insert { is_dirty } => {
                s.insertions += 1;
                entry.ask_insert(block, is_dirty, job.data.as_ref().expect("an insertion has its block"));
            }
            Op::Patch | Op::StoreAtomic => {
                s.write_operations += 1;
                let bytes = match op {
                    Op::StoreAtomic => job.written,
                    _ => entry.shadow.patch(job.line).map_or(ByteMask::NONE, |(bytes, _)| bytes),
                };
                entry.ask_write(block, bytes, job.data.as_ref().expect("it has the bytes"));
            }
            Op::Atomic => {
                s.atomic_operations += 1;
                let asked = self.gather_atomics(row, number);
                self.rows[row as usize].ask_atomic(block, &asked);
            }
        }
    }

    /// Notes what a result says of the set.
    pub(super) fn note(&mut self, row: u32, number: u32, op: Op, told: Told) {
        let entry = &mut self.rows[row as usize];
        if told.depth != 0 {
            entry.depth = told.depth;
        }
        let depth = entry.depth;
        let job = self.jobs.get_mut(number);
        // A set in the L1D does not say what it lacked, but has loaded it.
        let was_there = told.result == result::HIT && !(entry.is_in_l1 && entry.fetched.0 == job.line);
        if job.is_open {
            job.is_open = false;
            let s = &mut self.statistics;
            *(if was_there { &mut s.true_hits } else { &mut s.false_hits }) += 1;
        }
        let s = &mut self.statistics;
        match told.bytes {
            0 => {}
            32 => s.blocks_of_32_bytes += 1,
            64 => s.blocks_of_64_bytes += 1,
            _ => s.blocks_of_128_bytes += 1,
        }
        if !entry.is_in_l1 {
            s.filter_writes += 1;
            s.filter_swaps += u64::from(entry.predictor.used(job.line.0, depth));
        }
        if !was_there {
            entry.shadow.missed(job.line);
        }
        if !was_there && !matches!(op, Op::Insert { .. }) && entry.fetched.0 == job.line {
            entry.shadow.shown(job.line, &entry.fetched.1);
        }
        match op {
            Op::Read | Op::FetchAtomic => entry.shadow.shown(job.line, &entry.payload),
            Op::Write => {
                entry.shadow.changed(job.line, job.written, &entry.payload);
                if let Some(data) = &job.data {
                    entry.shadow.poke(job.line, job.poked, data);
                }
            }
            Op::Insert { is_dirty } => {
                entry.shadow.given(job.line, &entry.payload, is_dirty);
                if let Some(block) = &job.data {
                    entry.shadow.poke(job.line, job.poked, block);
                }
            }
            Op::Patch => entry.shadow.patched(job.line),
            Op::StoreAtomic => entry.shadow.changed(job.line, job.written, &entry.payload),
            Op::Atomic => {
                let (line, mut block) = (job.line, entry.payload.clone());
                entry.shadow.shown(line, &block);
                let mut changed = ByteMask::NONE;
                for (number, entries) in &entry.atomics {
                    let batch = atomic_of(self.jobs.get_mut(*number));
                    atomics::perform(batch, *entries, &mut block);
                    changed |= atomics::bytes(batch, *entries);
                }
                entry.shadow.changed(line, changed, &block);
            }
        }
        entry.shadow.reach(depth);
    }

    /// Goes on with a request after an operation of its warp.
    pub(super) fn go_on(&mut self, number: u32, op: Op, now: Cycle) {
        let job = self.jobs.get_mut(number);
        let entry = &self.rows[job.row as usize];
        match (op, job.request.as_mut().map(|request| &mut request.body)) {
            (Op::Read, Some(Body::Read(tray))) => {
                let (row, line, block) = (job.row, job.line, entry.payload.clone());
                tray.0 = block.0;
                if let Some(request) = job.request.take() {
                    self.reply(request, now);
                }
                self.answer_reads_behind(row, line, &block, now);
                self.finish(number, now);
            }
            (Op::Insert { .. }, Some(Body::Atomic(batch))) if job.left != 0 => {
                let op = atomic_op(batch);
                self.make_ready(number, op);
            }
            (Op::FetchAtomic, Some(Body::Atomic(batch))) => {
                let mut block = job.data.take().unwrap_or_else(|| self.trays.take());
                block.0 = entry.payload.0;
                atomics::perform(batch, job.left, &mut block);
                (job.written, job.left) = (atomics::bytes(batch, job.left), 0);
                job.data = Some(block);
                self.perform_behind(number);
                self.make_ready(number, Op::StoreAtomic);
            }
            (Op::Atomic, _) => self.end_atomics(number, now),
            (Op::Patch, _) => {
                if let Some(tray) = job.data.take() {
                    self.trays.put(tray);
                }
                self.begin(number, now);
            }
            _ => self.finish(number, now),
        }
    }

    /// Answers a request that is not answered yet, and begins with the next one to its block.
    pub(super) fn finish(&mut self, number: u32, now: Cycle) {
        let Job { request, line, row, data, .. } = self.jobs.remove(number);
        if let Some(tray) = data {
            self.trays.put(tray);
        }
        if let Some(request) = request {
            self.reply(request, now);
        }
        self.rows[row as usize].jobs.retain(|other| *other != number);
        while let Some(next) = self.first_of(row, line) {
            if !self.jobs.get(next).is_performed() {
                return self.begin(next, now);
            }
            self.answer_merged(row, next, now);
        }
    }
}

/// How the kernel is asked for atomics.
fn atomic_op(batch: &AtomicBatch) -> Op {
    if window::atomic_kind(batch.op, batch.ty).is_some() { Op::Atomic } else { Op::FetchAtomic }
}
