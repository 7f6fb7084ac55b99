//! The parts of a DeNovo L1D, and its implementation of the door of L1Ds.

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Slab};
use strata_memory::cache::{Cache, Capacity, FrameId, Store};
use strata_memory::doors::{Access, Completion, Design, L1d, Refusal};
use strata_memory::ownership::{Letter, Message, NODES, Owner, bytes_of};
use strata_memory::packets::write_loose;
use strata_memory::tags::Sets;
use strata_memory::{
    Body, ByteMask, Client, Contents, LINE_BYTES, Level, Line, LineAddress, NodeId, Origin, Packet,
    ParameterError, SliceMap, Tray, Trays,
};

use super::block::{Block, Blocks};
use super::{DenovoL1dConfig, DenovoStatistics};
use crate::chassis::L1dStatistics;
use crate::denovo::Combiner;
use crate::denovo::words::{Flights, Words};

/// An L1D that runs DeNovo.
pub struct DenovoL1d {
    pub(super) latency: Latency,
    pub(super) node: NodeId,
    /// Its name in the registry.
    pub(super) me: Owner,
    slices: SliceMap,
    pub(super) blocks: Blocks,
    /// Capacity of `requests`.
    miss_queue: usize,
    /// Capacity of `answers`.
    answer_queue: usize,
    /// Its blocks, each with its bytes at their places in the line of memory, and those with something under way or with
    /// accesses that wait.
    pub(super) cache: Cache<Access, Sets, Miss>,
    /// The states of each frame's words.
    pub(super) words: Vec<Words>,
    /// Writebacks without an answer.
    pub(super) buffers: Slab<Buffered>,
    /// Tokens of the atomics and bypassing loads in flight.
    pub(super) bypasses: Slab<u32>,
    /// What has arrived and is not taken up. The bound is what others can have under way.
    pub(super) arrived: VecDeque<Packet>,
    /// What others want of words whose rest has not come.
    pub(super) aside: VecDeque<Packet>,
    pub(super) hits: DelayLine<Completion>,
    pub(super) served: DelayLine<Completion>,
    requests: DelayLine<Packet>,
    /// Registrations that wait for others of their block. Each block has an MSHR.
    combiner: Combiner<Block>,
    pub(super) answers: DelayLine<Packet>,
    last_answer: Cycle,
    pub(super) read_trays: Trays,
    pub(super) bypass_trays: Trays,
    /// Stores past the cache without an answer.
    pub(super) writes_in_flight: usize,
    /// A flush in progress, and whether it invalidates.
    flush: Option<bool>,
    /// Counts for [`L1d::changes`] what happens that an access may wait for, other than accesses that start.
    steps: u64,
    pub(super) banks: Banks,
    pub(super) statistics: L1dStatistics,
    pub(super) coherence: DenovoStatistics,
}

/// The banks, each of which takes one of a kind a cycle: an access, a packet that has arrived, or what has waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Banks {
    count: u32,
    /// The last cycle in which some were used, and those that were.
    used_at: Cycle,
    used: u64,
}

impl Banks {
    pub(super) fn new(count: u32) -> Banks {
        Banks { count, used_at: Cycle::ZERO, used: 0 }
    }

    /// The bit of a block, as a mask.
    fn of(self, block: Block) -> u64 {
        1 << (block.name().0 % u64::from(self.count))
    }

    pub(super) fn is_free(self, block: Block, now: Cycle) -> bool {
        self.used_at != now || self.used & self.of(block) == 0
    }

    pub(super) fn take(&mut self, block: Block, now: Cycle) {
        let before = if self.used_at == now { self.used } else { 0 };
        (self.used_at, self.used) = (now, before | self.of(block));
    }
}

/// Lines named in a report; a cache with more leaves room for what others say.
const REPORTED: usize = 8;

/// Cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub hit: u64,
    pub tag: u64,
    pub fill: u64,
    pub remote: u64,
}

/// What is kept of a block with something under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Miss {
    /// What is under way, but writebacks.
    pub flights: Flights,
    /// Bytes written of words whose rest has not come.
    pub written: ByteMask,
    /// Trays under way with its requests.
    pub trays: u32,
}

/// A writeback without an answer.
#[derive(Clone, Debug)]
pub(super) struct Buffered {
    pub block: Block,
    pub words: u32,
    /// The words' data.
    pub data: Line,
}

impl DenovoL1d {
    /// Makes an empty cache at network node `node`. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        config: &DenovoL1dConfig,
        node: NodeId,
        slices: SliceMap,
        seed: u64,
    ) -> Result<DenovoL1d, ParameterError> {
        config.check()?;
        let number = u8::try_from(node.0).ok().filter(|number| *number < NODES).ok_or_else(|| {
            ParameterError::new("node", format!("found node {}, expected one below {NODES}", node.0))
        })?;
        let frames = *config.sets * *config.ways;
        let banks = *config.banks;
        let room = |latency: &u64| *latency as usize + 2;
        let sets = Sets::new(config.geometry(), Stream::new(seed, &format!("l1d {}", node.0)));
        let capacity = Capacity {
            mshr_entries: *config.mshr_entries,
            mshr_merges: *config.mshr_merges,
            // Words are asked for one at a time, by trays of their own.
            sector_bytes: LINE_BYTES,
            writes: *config.write_buffer,
        };
        Ok(DenovoL1d {
            latency: Latency {
                hit: *config.hit_latency_cycles,
                tag: *config.tag_latency_cycles,
                fill: *config.fill_latency_cycles,
                remote: *config.remote_latency_cycles,
            },
            node,
            me: Owner::cache(number),
            slices,
            blocks: Blocks::new(*config.line_bytes),
            miss_queue: *config.miss_queue,
            answer_queue: *config.answer_queue,
            cache: Cache::new(sets, capacity),
            words: vec![Words::default(); frames],
            buffers: Slab::new(*config.write_buffer),
            bypasses: Slab::new(*config.bypass_entries),
            arrived: VecDeque::new(),
            aside: VecDeque::new(),
            hits: DelayLine::new(room(&config.hit_latency_cycles) * banks as usize),
            served: DelayLine::new(room(&config.fill_latency_cycles) * 2 * banks as usize),
            requests: DelayLine::new(*config.miss_queue),
            combiner: Combiner::new(*config.combined_lines, *config.combine_cycles),
            answers: DelayLine::new(*config.answer_queue),
            last_answer: Cycle::ZERO,
            // A block's words are asked for once each.
            read_trays: Trays::new(*config.mshr_entries * 32),
            bypass_trays: Trays::new(*config.write_buffer),
            writes_in_flight: 0,
            flush: None,
            steps: 0,
            banks: Banks::new(banks),
            statistics: L1dStatistics::default(),
            coherence: DenovoStatistics::default(),
        })
    }

    /// The slice of a line.
    pub(super) fn home_of(&self, line: LineAddress) -> NodeId {
        self.slices.node_of(line)
    }

    /// Whether an access to a block can start in this cycle.
    pub(super) fn bank_is_free(&self, block: Block, now: Cycle) -> Result<(), Refusal> {
        if self.flush.is_some() {
            return Err(Refusal::Flush);
        }
        if self.hits.is_full() {
            return Err(Refusal::Port);
        }
        if self.banks.is_free(block, now) { Ok(()) } else { Err(Refusal::Bank) }
    }

    pub(super) fn use_bank(&mut self, block: Block, now: Cycle) {
        self.banks.take(block, now);
    }

    /// What is written back of a block and not answered.
    pub(super) fn written_back(&self, block: Block) -> u32 {
        if self.buffers.is_empty() {
            return 0;
        }
        let entries = self.buffers.iter().filter(|(_, entry)| entry.block == block);
        entries.fold(0, |words, (_, entry)| words | entry.words)
    }

    /// Whether `requests` more can be sent.
    #[inline]
    pub(super) fn has_request_room(&self, requests: usize) -> bool {
        self.requests.len() + requests <= self.miss_queue
    }

    /// Whether a writeback can be sent.
    #[inline]
    pub(super) fn has_write_back_room(&self) -> bool {
        !self.buffers.is_full() && !self.answers.is_full()
    }

    /// Whether what others ask of a line can be answered.
    #[inline]
    pub(super) fn has_answer_room(&self) -> bool {
        self.answers.len() + self.blocks.per_line() <= self.answer_queue
    }

    /// Sends a request to the slice of a line. There must be room.
    pub(super) fn request(&mut self, line: LineAddress, bytes: ByteMask, tag: u32, body: Body, now: Cycle) {
        let destination = self.slices.node_of(line);
        let packet = write_loose(Contents {
            line,
            bytes,
            source: self.node,
            destination,
            client: Client::L1d,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body,
        });
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        let full = self.requests.push(now + self.latency.tag, packet);
        full.expect("room for a request was checked");
    }

    /// Sends the registry a request about words of a block, of which the others may come along. There must be room.
    pub(super) fn ask(&mut self, block: Block, message: Message, words: u32, tray: Option<Tray>, now: Cycle) {
        let body = Body::Owned(Letter { message, place: self.me.place, requester: self.me }, tray);
        let (line, along) = (self.blocks.line(block), self.blocks.words(block) & !words);
        self.request(line, bytes_of(words), along, body, now);
    }

    /// Registers words of a block, with others of the block that come in time.
    pub(super) fn register(&mut self, block: Block, words: u32, now: Cycle) {
        self.coherence.registered_words += u64::from(words.count_ones());
        self.combiner.add(block, words, now);
        self.send_registrations(now);
    }

    /// Registrations wait for no others any more.
    pub(super) fn release_registrations(&mut self) {
        self.combiner.release();
    }

    /// Sends the registrations whose time is up, as far as there is room.
    fn send_registrations(&mut self, now: Cycle) {
        while self.combiner.front().is_some_and(|(at, ..)| at <= now) && self.has_request_room(1) {
            let Some((_, block, words)) = self.combiner.pop() else { return };
            self.steps += 1;
            self.coherence.registrations += 1;
            self.ask(block, Message::Register, words, None, now);
        }
    }

    /// Sends what it says of words that it owns. There must be room.
    pub(super) fn say(&mut self, packet: Packet, at: Cycle) {
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        // Packets to one node stay in order.
        self.last_answer = self.last_answer.max(at);
        self.answers.push(self.last_answer, packet).expect("room for an answer was checked");
    }

    /// Writes words of a frame back. There must be room.
    pub(super) fn write_back(&mut self, frame: FrameId, words: u32, now: Cycle) {
        let block = Block::named(self.cache.frames().line(frame).expect("a word belongs to a block"));
        let (line, data) = (self.blocks.line(block), self.cache.frames().data(frame).clone());
        let mut tray = self.cache.write_tray();
        tray.0 = data.0;
        let entry = self.buffers.insert(Buffered { block, words, data });
        let tag = entry.unwrap_or_else(|_| unreachable!("room for a writeback was checked"));
        self.statistics.write_backs += 1;
        self.statistics.data_reads += 1;
        self.coherence.write_backs += 1;
        self.coherence.written_back_words += u64::from(words.count_ones());
        let (message, place, requester) = (Message::WriteBack, self.me.place, self.me);
        let letter = Letter { message, place, requester };
        let (source, destination) = (self.node, self.slices.node_of(line));
        let body = Body::Owned(letter, Some(tray));
        let packet = write_loose(Contents {
            line,
            bytes: bytes_of(words),
            source,
            destination,
            client: Client::L1d,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body,
        });
        self.say(packet, now + self.latency.tag);
    }

    /// Ends a flush when nothing is under way that others must see, or that would bring copies.
    fn flush_step(&mut self) {
        let Some(invalidates) = self.flush else { return };
        if !self.can_end_flush() {
            return;
        }
        self.flush = None;
        self.steps += 1;
        if invalidates {
            self.self_invalidate();
        }
    }

    fn can_end_flush(&self) -> bool {
        self.cache.mshrs.is_empty() && self.writes_in_flight == 0
    }

    /// Drops all words that are not registered (4.3, "Self-invalidations").
    fn self_invalidate(&mut self) {
        self.coherence.self_invalidations += 1;
        for frame in 0..self.words.len() {
            let words = &mut self.words[frame];
            self.coherence.invalidated_words += u64::from(words.valid.count_ones());
            self.coherence.kept_words += u64::from(words.registered.count_ones());
            words.valid = 0;
            if words.registered == 0 {
                self.cache.store.invalidate(FrameId(frame as u32));
            }
        }
    }
}

impl L1d for DenovoL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.banks.count
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        self.start(access, now).inspect_err(|(_, cause)| self.statistics.refuse(*cause))
    }

    /// Any step may end a wait, or give it another cause. Where there is none, another offer would find the same, and release no
    /// registrations that the last has not released.
    fn changes(&self, _cause: Refusal, _now: Cycle) -> u64 {
        self.steps
    }

    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        self.statistics.add_refusals(cause, cycles);
        true
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        debug_assert_eq!(reply.destination, self.node, "a packet comes to the node that it names");
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        self.arrived.push_back(reply);
    }

    #[inline]
    fn tick(&mut self, now: Cycle) {
        self.send_registrations(now);
        if self.cache.has_ready() {
            self.steps += 1;
            self.replay(now);
        }
        if !self.arrived.is_empty() {
            self.steps += 1;
            self.take_arrivals(now);
        }
        self.flush_step();
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        if self.served.next_ready() <= now { self.served.pop(now) } else { self.hits.pop(now) }
    }

    #[inline]
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let request = self.requests.pop(now);
        self.steps += u64::from(request.is_some());
        request
    }

    #[inline]
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.requests.front(now).map(|packet| packet.wire_bytes())
    }

    #[inline]
    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let answer = self.answers.pop(now);
        self.steps += u64::from(answer.is_some());
        answer
    }

    #[inline]
    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        self.answers.front(now).map(|packet| packet.wire_bytes())
    }

    fn begin_flush(&mut self, invalidate: bool, _now: Cycle) {
        self.statistics.flushes += 1;
        self.steps += 1;
        self.release_registrations();
        self.flush = Some(invalidate || self.flush == Some(true));
    }

    fn is_flushed(&self) -> bool {
        self.flush.is_none() && self.writes_in_flight == 0
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        for (_, entry) in self.buffers.iter().filter(|(_, entry)| self.blocks.line(entry.block) == line) {
            below.merge(bytes_of(entry.words), &entry.data);
        }
        for (block, _) in self.blocks.parts(line, u32::MAX) {
            if let Some(frame) = self.cache.store.find(block.name()) {
                below.merge(bytes_of(self.words[frame.index()].registered), self.cache.frames().data(frame));
            }
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        for (block, _) in self.blocks.parts(line, u32::MAX) {
            if let Some(frame) = self.cache.store.find(block.name()) {
                self.cache
                    .frames_mut()
                    .data_mut(frame)
                    .merge(bytes_of(self.words[frame.index()].here()) & bytes, data);
            }
        }
    }

    fn outstanding(&self) -> usize {
        self.cache.mshrs.len() + self.bypasses.len() + self.writes_in_flight + self.buffers.len()
    }

    fn mshrs(&self) -> Option<usize> {
        Some(self.cache.mshrs.len())
    }

    #[inline]
    fn next_event(&self, now: Cycle) -> Cycle {
        if self.cache.has_ready() || !self.arrived.is_empty() || self.flush.is_some() && self.can_end_flush()
        {
            return now;
        }
        let completions = self.hits.next_ready().min(self.served.next_ready());
        let registration = match self.combiner.front() {
            Some((at, ..)) if self.has_request_room(1) => at,
            _ => Cycle::NEVER,
        };
        completions.min(registration).min(self.requests.next_ready()).min(self.answers.next_ready()).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        let node = self.node.0;
        for (mshr, name) in self.cache.mshrs.iter().take(REPORTED) {
            let line = self.blocks.line(Block::named(name));
            let Flights { read, register, register_read, .. } = self.cache.mshrs.state(mshr).rest.flights;
            report.push(format!(
                "L1D {node}: line {line}: {} accesses wait; under way: reads of words {read:#x}, registrations of words {register:#x}, \
                 and with data of words {register_read:#x}, asked of the L2 at node {}",
                self.cache.mshrs.waiting(mshr),
                self.home_of(line).0
            ));
        }
        for (_, Buffered { block, words, .. }) in self.buffers.iter().take(REPORTED) {
            let line = self.blocks.line(*block);
            report.push(format!(
                "L1D {node}: words {words:#x} of line {line} wait for the acknowledgement of their writeback from the L2 at node {}",
                self.home_of(line).0
            ));
        }
        let counts = [
            ("more lines wait", self.cache.mshrs.len().saturating_sub(REPORTED)),
            ("more writebacks are not acknowledged", self.buffers.len().saturating_sub(REPORTED)),
            ("atomics and bypassing loads wait for their replies", self.bypasses.len()),
            ("writes past the cache are not acknowledged", self.writes_in_flight),
            ("requests of others wait for words that are partly written here", self.aside.len()),
            ("packets have arrived and wait for their turn", self.arrived.len()),
            ("requests wait for the network", self.requests.len()),
            ("answers and writebacks wait for the network of owners", self.answers.len()),
        ];
        for (what, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            report.push(format!("L1D {node}: {count} {what}"));
        }
        if self.flush.is_some() {
            report.push(format!("L1D {node}: a flush is under way"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report(), self.coherence.report()]
    }
}
