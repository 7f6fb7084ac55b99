//! The controller's way to DRAM, which it shares with the conventional slice: fetches of predicted misses, and the accesses of
//! SMs in cache mode, which go past the LLC.

use strata_engine::Cycle;
use strata_memory::doors::{DramPort, DramRequest};
use strata_memory::{Body, ByteMask, Level, LineAddress, Packet, Tray};

use super::controller::Controller;
use super::separator::Part;
use super::table::Step;

/// The upper bits of tags: of the controller's requests, and of those for SMs in cache mode. The conventional slice's begin
/// with two zeros or two ones.
const OWN: u32 = 0b10 << 30;
const PAST: u32 = OWN | 1 << 29;
/// The rest: the number of a job, or of an access.
const NUMBER: u32 = (1 << 29) - 1;

impl Controller {
    /// Takes what DRAM has finished: the controller's own, and the conventional slice's for later.
    pub(super) fn take_answers(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(answer) = dram.completed(now) {
            let number = answer.tag & NUMBER;
            match answer.tag & !NUMBER {
                PAST => self.answer_past(number, answer, now),
                OWN if answer.write => self.trays.put(answer.tray),
                OWN => self.fetched(number, answer.tray, now),
                _ => {
                    let Part::Conventional(line) = self.separator.part(answer.line) else {
                        unreachable!("the conventional slice asks for its own lines")
                    };
                    self.answers.push_back(DramRequest { line, ..answer });
                }
            }
        }
    }

    /// Offers the oldest request to the channel, also where that has no room: the conventional slice may just have taken it, and the
    /// channel is to know that another waits.
    pub(super) fn send_to_dram(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        let Some(request) = self.to_dram.pop_front() else { return };
        if let Err(request) = self.room.offer(request, dram, now) {
            self.to_dram.push_front(request);
        }
    }

    /// Fetches the whole block of a job.
    pub(super) fn fetch(&mut self, number: u32) {
        let job = self.jobs.get_mut(number);
        job.step = Step::Fetching;
        if let Some(request) = &mut job.request {
            request.level = Level::Memory;
        }
        let line = job.line;
        self.statistics.dram_read_bytes += u64::from(ByteMask::ALL.count());
        let (tag, tray) = (OWN | number, self.trays.take());
        self.to_dram.push_back(DramRequest { line, bytes: ByteMask::ALL, write: false, tag, tray });
    }

    /// Writes a block back that a set has given up.
    pub(super) fn write_back(&mut self, line: LineAddress, tray: Tray) {
        self.write_bytes_back(line, ByteMask::ALL, tray);
    }

    /// Writes some bytes of a block to memory.
    pub(super) fn write_bytes_back(&mut self, line: LineAddress, bytes: ByteMask, tray: Tray) {
        self.statistics.dram_written_bytes += u64::from(bytes.count());
        self.to_dram.push_back(DramRequest { line, bytes, write: true, tag: OWN, tray });
    }

    /// Sends an access of an SM in cache mode on to DRAM, in its own tray.
    pub(super) fn go_past(&mut self, mut packet: Packet) {
        let (line, bytes) = (packet.line, packet.bytes);
        let (write, wanted, tray) = match std::mem::take(&mut packet.body) {
            Body::Read(tray) => (false, bytes.to_sectors(self.sector_bytes), tray),
            Body::Write(tray) => (true, bytes, self.written_back(line, bytes, tray)),
            body => unreachable!("an SM in cache mode loads and stores only, not {body:?}"),
        };
        let moved = u64::from(wanted.count());
        if write {
            self.statistics.past_writes += 1;
            self.statistics.dram_written_bytes += moved;
        } else {
            self.statistics.past_reads += 1;
            self.statistics.dram_read_bytes += moved;
        }
        let number = self.past.insert(packet);
        self.to_dram.push_back(DramRequest { line, bytes: wanted, write, tag: PAST | number, tray });
    }

    /// Tells the set that a block of it is written back; the tray gets what host copies have changed.
    fn written_back(&mut self, line: LineAddress, bytes: ByteMask, mut tray: Tray) -> Tray {
        if let Part::Extended(number) = self.separator.part(line)
            && bytes == ByteMask::ALL
        {
            let row = self.row_of(number);
            self.rows[row as usize].shadow.written_back(line, &mut tray);
        }
        tray
    }

    /// Answers an access past the LLC.
    fn answer_past(&mut self, number: u32, answer: DramRequest, now: Cycle) {
        let mut packet = self.past.remove(number);
        let line = packet.line;
        if let Part::Extended(number) = self.separator.part(line)
            && !answer.write
        {
            // SMs load more than blocks of sets: their code.
            let row = self.row_of(number) as usize;
            let wanted = self.rows[row].served.map(|job| self.jobs.get(job).line);
            if wanted == Some(line) {
                self.rows[row].fetched = (line, (*answer.tray).clone());
            }
        }
        packet.body = if answer.write { Body::Write(answer.tray) } else { Body::Read(answer.tray) };
        self.reply(packet, now);
    }
}
