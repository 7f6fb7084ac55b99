//! What warps load and store through the window: their rows, payloads, answers and results.

use strata_engine::Cycle;
use strata_memory::window::{self, result, result::Told};
use strata_memory::{Body, Line, Packet};

use super::Wait;
use super::controller::Controller;
use super::table::{Op, Row, Step};

impl Controller {
    /// Answers the withheld load of a row that has a request.
    pub(super) fn answer_load(&mut self, row: u32, now: Cycle) {
        let entry = &mut self.rows[row as usize];
        if entry.served.is_none() || entry.is_loaded {
            return;
        }
        let Some(mut load) = entry.load.take() else { return };
        entry.is_loaded = true;
        if let Body::Read(tray) = &mut load.body {
            tray.0 = entry.status.0;
        }
        self.statistics.row_loads += 1;
        self.statistics.table_accesses += 1;
        self.reply(load, now);
    }

    /// Answers the withheld load of a payload.
    pub(super) fn answer_payload_load(&mut self, row: u32, now: Cycle) {
        let entry = &mut self.rows[row as usize];
        if !entry.has_payload {
            return;
        }
        let Some(mut load) = entry.payload_load.take() else { return };
        entry.has_payload = false;
        if let Body::Read(tray) = &mut load.body {
            tray.0 = entry.payload.0;
        }
        self.statistics.payload_loads += 1;
        self.statistics.buffer_accesses += 1;
        self.reply(load, now);
        self.payload_is_taken(row);
    }

    /// A load or store of the window.
    pub(super) fn access_window(&mut self, mut packet: Packet, now: Cycle) {
        let (row, within) = window::row_of(packet.line);
        let entry = &mut self.rows[row as usize];
        match (&mut packet.body, within) {
            (Body::Read(_), 0) => {
                if self.wait == Wait::Polled && (entry.served.is_none() || entry.is_loaded) {
                    if let Body::Read(tray) = &mut packet.body {
                        tray.0 = Line::ZERO.0;
                    }
                    self.statistics.idle_loads += 1;
                    self.statistics.table_accesses += 1;
                    return self.reply(packet, now);
                }
                entry.load = Some(packet);
                return self.answer_load(row as u32, now);
            }
            (Body::Read(_), 1) if self.wait == Wait::Held => {
                entry.payload_load = Some(packet);
                return self.answer_payload_load(row as u32, now);
            }
            (Body::Read(tray), _) => {
                tray.0 = entry.line(within).0;
                self.statistics.payload_loads += 1;
                self.statistics.buffer_accesses += 1;
                self.payload_is_taken(row as u32);
            }
            (Body::Write(data), 0) => {
                let told = result::told(Row::result_of(data));
                self.statistics.table_accesses += 1;
                self.reply(packet, now);
                return self.end(row as u32, told, now);
            }
            (Body::Write(data), 3) => {
                entry.payload.merge(packet.bytes, data);
                self.statistics.payload_stores += 1;
                self.statistics.buffer_accesses += 1;
                self.statistics.table_accesses += 1;
                self.reply(packet, now);
                return self.end(row as u32, result::told(result::HIT), now);
            }
            (Body::Write(data), _) => {
                entry.payload.merge(packet.bytes, data);
                self.statistics.payload_stores += 1;
                self.statistics.buffer_accesses += 1;
            }
            (body, _) => unreachable!("the kernel loads and stores only, not {body:?}"),
        }
        self.reply(packet, now);
    }

    /// A warp has ended its operation.
    pub(super) fn end(&mut self, row: u32, told: Told, now: Cycle) {
        if told.result == result::ABSENT {
            return self.missed_after_all(row, now);
        }
        let Some((number, op)) = self.take_back(row, now) else { return };
        if told.result == result::REFUSED {
            self.make_ready(number, Op::FetchAtomic);
        } else {
            self.note(row, number, op, told);
            self.go_on(number, op, now);
        }
        self.list(row);
    }

    /// A set says that it does not have the block: the controller fetches it.
    pub(super) fn missed_after_all(&mut self, row: u32, now: Cycle) {
        let Some((number, op)) = self.take_back(row, now) else { return };
        let job = self.jobs.get_mut(number);
        self.rows[row as usize].shadow.absent(job.line);
        self.statistics.false_hits += u64::from(std::mem::take(&mut job.is_open));
        if op == Op::Patch {
            // The block took the bytes along when it left.
            if let Some(tray) = job.data.take() {
                self.trays.put(tray);
            }
            self.begin(number, now);
        } else if !self.gather_late(number, now) {
            self.statistics.late_fetches += 1;
            self.fetch(number);
        }
        self.list(row);
    }

    /// Takes an operation back from a warp that is done with it.
    fn take_back(&mut self, row: u32, now: Cycle) -> Option<(u32, Op)> {
        let entry = &mut self.rows[row as usize];
        let number = entry.served.take()?;
        let Step::Served(op) = self.jobs.get(number).step else {
            unreachable!("a warp has what was handed to it")
        };
        let s = &mut self.statistics;
        s.results += 1;
        s.service_cycles += now - entry.since;
        self.unbuffer(number, op);
        Some((number, op))
    }
}
