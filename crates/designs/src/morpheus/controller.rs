//! The controller: its parts, and its implementation of the LLC door.

use std::collections::VecDeque;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};
use strata_memory::address_map::Home;
use strata_memory::doors::{DramPort, DramRequest, Helpers, Llc, LlcDesign, LlcSite, RoomWait, SetPlace};
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet, ParameterError, Trays, window};

use super::filter::Filter;
use super::gathering::Gathering;
use super::pool::Pool;
use super::predictor::Predictor;
use super::separator::{Part, Separator};
use super::sets::{Sets, Ways};
use super::shadow::Shadow;
use super::slice_port::SlicePort;
use super::statistics::MorpheusStatistics;
use super::table::{Job, Row};
use super::{Buffered, Insertions, MorpheusConfig, Prediction, Wait};
use crate::baseline::L2Slice;

/// Most items in a queue that holds whatever is under way in the machine.
const ALL: usize = usize::MAX / 2;

/// A conventional slice with a Morpheus controller in front of it.
pub struct Controller {
    pub(super) number: u16,
    /// The SMs in cache mode; `None` if there are none, so that everything is left to the conventional slice.
    helpers: Option<Helpers>,
    pub(super) prediction: Prediction,
    pub(super) wait: Wait,
    pub(super) insertions: Insertions,
    pub(super) buffered: Buffered,
    pub(super) separator: Separator,
    pub(super) sets: Sets,
    pub(super) conventional: L2Slice,
    /// Requests for the extended LLC, and what SMs in cache mode send. Never full: a request that waited outside would keep
    /// the answers of warps behind it from coming in. ASSUMED: the paper gives its request queue no size.
    arrivals: DelayLine<Packet>,
    pub(super) replies: DelayLine<Packet>,
    pub(super) jobs: Pool<Job>,
    pub(super) rows: Vec<Row>,
    /// Rows that may have an operation to hand over.
    pub(super) listed: VecDeque<u32>,
    /// Rows whose next operation waits for an entry of a data buffer.
    pub(super) starved: VecDeque<u32>,
    pub(super) read_buffers: u32,
    pub(super) write_buffers: u32,
    pub(super) gathering: Gathering,
    /// Accesses of SMs in cache mode that go past the LLC.
    pub(super) past: Pool<Packet>,
    pub(super) to_dram: VecDeque<DramRequest>,
    /// The wait of the oldest of them for room there.
    pub(super) room: RoomWait,
    /// DRAM's answers to the conventional slice.
    pub(super) answers: VecDeque<DramRequest>,
    pub(super) trays: Trays,
    pub(super) sector_bytes: usize,
    access_latency: u64,
    reply_latency: u64,
    /// Loads of rows and payloads that are accepted and whose replies have not left.
    open_loads: u64,
    pub(super) statistics: MorpheusStatistics,
}

impl Controller {
    /// Makes an empty slice and its controller, with a row for each warp that serves it, from a configuration that has been
    /// checked.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &MorpheusConfig, site: LlcSite) -> Result<Controller, ParameterError> {
        let rows = site.helpers.map_or(0, |helpers| helpers.rows);
        if rows > *config.rows {
            let message = format!("found {}, expected {rows} for the SMs in cache mode", *config.rows);
            return Err(ParameterError::new("rows", message));
        }
        let l2 = &config.conventional;
        let kernel = config.helper_kernel().expect("the design has a kernel");
        let place = |row| match site.helpers {
            Some(helpers) => kernel.place(helpers.row(site.slice, row)),
            None => SetPlace::Registers,
        };
        let (registers, shared, l1) = (config.counted_blocks(), kernel.shared_ways, kernel.l1_ways);
        let sets = Sets::new(rows, place, Ways { registers, shared, l1 });
        let row = |row| {
            let filter = Filter::new(*config.filter_bytes, *config.filter_hashes);
            let (ways, shadow) = match sets.place(row) {
                SetPlace::Registers => (kernel.ways, Shadow::new(config.most_shadowed())),
                SetPlace::SharedMemory => (shared, Shadow::new(shared)),
                SetPlace::L1d => return Row::of_l1(Predictor::new(filter)),
            };
            Row::new(ways, Predictor::new(filter), shadow)
        };
        Ok(Controller {
            number: site.slice,
            helpers: site.helpers,
            prediction: *config.prediction,
            wait: *config.wait,
            insertions: *config.insertions,
            buffered: *config.buffered,
            separator: Separator::new((*l2.sets * *l2.ways) as u64, sets.lines()),
            conventional: L2Slice::new(l2, site.slice, site.seed)?,
            arrivals: DelayLine::growing(ALL),
            replies: DelayLine::growing(ALL),
            jobs: Pool::default(),
            rows: (0..rows).map(row).collect(),
            sets,
            listed: VecDeque::new(),
            starved: VecDeque::new(),
            read_buffers: *config.read_buffers,
            write_buffers: *config.write_buffers,
            gathering: Gathering::new(*config.gather_cycles),
            past: Pool::default(),
            to_dram: VecDeque::new(),
            room: RoomWait::default(),
            answers: VecDeque::new(),
            trays: Trays::new(ALL),
            sector_bytes: *l2.sector_bytes,
            access_latency: *config.access_latency_cycles,
            reply_latency: *config.reply_latency_cycles,
            open_loads: 0,
            statistics: MorpheusStatistics::default(),
        })
    }

    /// Sends a reply.
    pub(super) fn reply(&mut self, request: Packet, now: Cycle) {
        let full = self.replies.push(now + self.reply_latency, request.into_reply());
        full.expect("the queue of replies is never full");
    }

    /// Whether a packet comes from an SM in cache mode.
    pub(super) fn is_from_helper(&self, packet: &Packet) -> bool {
        self.helpers.is_some_and(|helpers| helpers.has(packet.source))
    }

    /// Whether a packet is a load whose reply may be withheld, of a row or its payload, or the reply to one.
    fn may_wait(&self, packet: &Packet) -> bool {
        let is_load = matches!(packet.body, Body::Read(_) | Body::ReadReply(_));
        is_load
            && window::holds(packet.line)
            && window::row_of(packet.line).1 <= u64::from(self.wait == Wait::Held)
    }

    /// The number by which warps know the block of a line.
    pub(super) fn block_of(&self, line: LineAddress) -> LineAddress {
        let home = Home { slice: self.number, line };
        self.helpers.map_or(line, |helpers| helpers.map.device_line(home))
    }

    /// The row of the set that holds an extended line.
    pub(super) fn row_of(&self, extended: u64) -> u32 {
        self.sets.row_of(extended)
    }

    /// Whether a reply of the conventional slice leaves before the controller's own.
    fn conventional_first(&self) -> bool {
        self.conventional.next_outgoing() <= self.replies.next_ready()
    }
}

impl Llc for Controller {
    fn offer(&mut self, mut request: Packet, now: Cycle) -> Result<(), Packet> {
        if !self.is_from_helper(&request)
            && let Part::Conventional(line) = self.separator.part(request.line)
        {
            let outside = std::mem::replace(&mut request.line, line);
            return self.conventional.offer(request, now).map_err(|mut request| {
                request.line = outside;
                request
            });
        }
        self.open_loads += u64::from(self.may_wait(&request));
        self.statistics.bytes_in += u64::from(request.wire_bytes());
        let full = self.arrivals.push(now + self.access_latency, request);
        full.expect("the queue of requests is never full");
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.conventional.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.conventional.count_refusals(cycles);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.take_answers(dram, now);
        let mut port = SlicePort { dram, answers: &mut self.answers, separator: &self.separator };
        self.conventional.tick(&mut port, now);
        if let Some(packet) = self.arrivals.pop(now) {
            self.arrive(packet, now);
        }
        self.end_waits(now);
        self.hand_over(now);
        self.send_to_dram(dram, now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        if self.conventional_first() {
            let mut reply = self.conventional.outgoing(now)?;
            reply.line = self.separator.line(reply.line);
            return Some(reply);
        }
        let reply = self.replies.pop(now)?;
        self.open_loads -= u64::from(self.may_wait(&reply));
        self.statistics.bytes_out += u64::from(reply.wire_bytes());
        Some(reply)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        if self.conventional_first() {
            return self.conventional.outgoing_bytes(now);
        }
        self.replies.front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.conventional.next_outgoing().min(self.replies.next_ready())
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let sends = !self.to_dram.is_empty() && !self.room.is_on();
        if sends || !self.listed.is_empty() || !self.answers.is_empty() {
            return now;
        }
        let next = self.conventional.next_event(now).min(self.arrivals.next_ready());
        next.min(self.gathering.next()).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        match self.separator.part(line) {
            Part::Conventional(line) => self.conventional.peek(line, below),
            Part::Extended(number) => self.peek_extended(self.row_of(number), line, below),
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        match self.separator.part(line) {
            Part::Conventional(line) => self.conventional.poke(line, bytes, data),
            Part::Extended(number) => self.poke_extended(self.row_of(number), line, bytes, data),
        }
    }

    fn withheld(&self) -> u64 {
        self.open_loads
    }

    fn is_settled(&self) -> bool {
        let is_idle = self.conventional.is_at_rest();
        let of_row = |row: &Row| usize::from(row.load.is_some()) + usize::from(row.payload_load.is_some());
        let waiting: usize = self.rows.iter().map(of_row).sum();
        let only_loads = (self.arrivals.len() + self.replies.len() + waiting) as u64 == self.open_loads;
        is_idle && only_loads && self.jobs.len() == 0 && self.past.len() == 0
    }

    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        self.room.settle(dram, end);
        let mut port = SlicePort { dram, answers: &mut self.answers, separator: &self.separator };
        self.conventional.settle(&mut port, end);
    }

    fn mshrs(&self) -> Option<usize> {
        self.conventional.mshrs()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.conventional.waits(report);
        let slice = self.number;
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.jobs.is_empty()) {
            let warp = match (row.served, row.is_loaded) {
                (None, _) => "its warp has none",
                (Some(_), false) => "its warp has not come for one",
                (Some(_), true) => "its warp has one",
            };
            let count = row.jobs.len();
            report.push(format!("controller {slice}: {count} requests to set {number} are not done, {warp}"));
        }
        let past = self.past.len();
        if past > 0 {
            report.push(format!("controller {slice}: {past} accesses of SMs in cache mode wait for DRAM"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let wrong = self.rows.iter().map(|row| row.shadow.wrong()).sum();
        let mut groups = self.conventional.statistics();
        groups.push(MorpheusStatistics { wrong_bytes: wrong, ..self.statistics }.report());
        groups
    }
}
