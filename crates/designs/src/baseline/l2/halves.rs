//! A slice of an L2 in two halves: SMs of the other half are far.
//!
//! Nodes and slices with even numbers are in one half, the others in the other. What the slice answers to a far SM takes
//! `far_latency_cycles` longer, unless the SM's half has a copy of the bytes. A read by a far SM leaves such a copy, from the cycle in which
//! its answer is there; a write or an atomic, by any SM, removes it. So no answer overtakes another one about its line.
//!
//! A copy is a tag. It takes a way here, in place of one in the slice opposite, whose own lines have as many copies here: so both halves'
//! lines and copies share the whole capacity, as long as both halves are used alike. The bytes come from the line itself, whose slice
//! sees every request; no copy is ever stale. A copy whose line has been evicted counts as none once the line is fetched again.

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, statistics};
use strata_memory::cache::{FrameId, Store};
use strata_memory::doors::{DramPort, Llc};
use strata_memory::{Body, ByteMask, Line, LineAddress, NodeId, Packet, Touch, TouchKind};

use super::L2Slice;

/// Set in the line number of a copy: above every line of a slice, and below the window.
const COPY: u64 = 1 << 36;

statistics! {
    /// Counters of what an L2 slice answers to SMs of the other half.
    pub struct HalvesStatistics: "l2_far" {
        /// Reads by far SMs that were answered.
        reads: "requests",
        /// Of these, so many of bytes of which the SM's half had a copy.
        copy_hits: "requests",
        /// Copies that took a way.
        copies: "lines",
        /// Copies that a write or an atomic removed.
        removed: "lines",
        /// Answers that took the longer way.
        crossings: "requests",
    }
    laws {
        "copy_hits <= reads": |s| s.copy_hits <= s.reads,
        "removed <= copies": |s| s.removed <= s.copies,
    }
}

/// A slice of an L2 in two halves.
pub struct Halves {
    slice: L2Slice,
    latency: u64,
    /// Answers that may leave, and those on their longer way.
    near: DelayLine<Packet>,
    far: DelayLine<Packet>,
    room: usize,
    /// By frame: from when a copy there is the other half's.
    since: Vec<Cycle>,
    statistics: HalvesStatistics,
}

impl Halves {
    /// Puts a slice into its half. Answers to the other take `latency` cycles longer.
    pub(super) fn new(slice: L2Slice, latency: u64) -> Halves {
        let room = slice.parameters.reply_room() + latency as usize;
        Halves {
            since: vec![Cycle::ZERO; slice.cache.frames().count()],
            slice,
            latency,
            near: DelayLine::new(room),
            far: DelayLine::new(room),
            room,
            statistics: HalvesStatistics::default(),
        }
    }

    fn is_far(&self, node: NodeId) -> bool {
        (node.0 ^ self.slice.number) & 1 != 0
    }

    fn has_reply_room(&self) -> bool {
        self.near.len() + self.far.len() < self.room
    }

    /// Takes the answers that are ready, and sends each on its way.
    fn sort(&mut self, now: Cycle) {
        while self.has_reply_room() {
            let Some(answer) = self.slice.outgoing(now) else { return };
            let is_far = self.is_far(answer.destination);
            let crosses = match answer.body {
                Body::ReadReply(_) if is_far => !self.reads_a_copy(&answer, now),
                Body::WriteAck(_) | Body::AtomicReply(_) => {
                    self.remove_copy(answer.line);
                    is_far
                }
                _ => is_far,
            };
            self.statistics.crossings += u64::from(crosses);
            let (queue, at) =
                if crosses { (&mut self.far, now + self.latency) } else { (&mut self.near, now) };
            queue.push(at, answer).expect("room was looked at");
        }
    }

    /// Whether the far SM's half has the bytes. If not, it gets them.
    fn reads_a_copy(&mut self, answer: &Packet, now: Cycle) -> bool {
        self.statistics.reads += 1;
        self.slice.statistics.tag_reads += 1;
        let line = LineAddress(answer.line.0 | COPY);
        let touch = Touch { line, origin: answer.origin, node: answer.destination, kind: TouchKind::Load };
        let bytes = answer.bytes.to_sectors(self.slice.parameters.sector_bytes);
        let Some(frame) = self.slice.find(line).or_else(|| self.take_way(&touch)) else { return false };
        let frames = self.slice.cache.frames_mut();
        let since = &mut self.since[frame.index()];
        let has = frames.valid(frame).covers(bytes) && *since <= now;
        if !has {
            frames.add_valid(frame, bytes);
            *since = now + self.latency;
        }
        self.slice.cache.store.used(frame, &touch);
        self.statistics.copy_hits += u64::from(has);
        has
    }

    /// Gives a copy a way, if one is to be had and there is room for what was there.
    fn take_way(&mut self, touch: &Touch) -> Option<FrameId> {
        if !self.slice.miss_room(0) {
            return None;
        }
        let frame = self.slice.cache.store.victim(touch.line)?;
        self.slice.evict(frame);
        self.slice.cache.store.install(frame, touch);
        if let Some(prefetching) = &mut self.slice.prefetching {
            prefetching.leave(frame);
        }
        self.slice.look_at_everything_again();
        self.slice.statistics.tag_writes += 1;
        self.statistics.copies += 1;
        Some(frame)
    }

    fn remove_copy(&mut self, line: LineAddress) {
        let Some(frame) = self.slice.find(LineAddress(line.0 | COPY)) else { return };
        self.slice.cache.store.invalidate(frame);
        self.slice.look_at_everything_again();
        self.statistics.removed += 1;
    }

    /// The queue whose oldest answer leaves next.
    fn first(&self) -> &DelayLine<Packet> {
        if self.far.next_ready() <= self.near.next_ready() { &self.far } else { &self.near }
    }
}

impl Llc for Halves {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.slice.offer(request, now)
    }

    fn has_room(&self) -> bool {
        self.slice.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.slice.count_refusals(cycles);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.slice.tick(dram, now);
        self.sort(now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let far_first = self.far.next_ready() <= self.near.next_ready();
        if far_first { self.far.pop(now) } else { self.near.pop(now) }
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.first().front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.first().next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let sorted = if self.has_reply_room() { self.slice.next_outgoing() } else { Cycle::NEVER };
        self.slice.next_event(now).min(sorted).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.slice.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.slice.poke(line, bytes, data);
    }

    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        self.slice.settle(dram, end);
    }

    fn mshrs(&self) -> Option<usize> {
        self.slice.mshrs()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.slice.waits(report);
        let waiting = self.near.len() + self.far.len();
        if waiting > 0 {
            report.push(format!("L2 slice {}: {waiting} packets leave for either half", self.slice.number));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut groups = self.slice.statistics();
        groups.push(self.statistics.report());
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::L2Config;
    use super::*;
    use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
    use strata_memory::doors::DramRequest;
    use strata_memory::{Client, Contents, Level, Origin};

    const FAR: u64 = 100;

    /// Answers reads in the cycle after.
    #[derive(Default)]
    struct Dram(Vec<DramRequest>);

    impl DramPort for Dram {
        fn offer(&mut self, request: DramRequest, _now: Cycle) -> Result<(), DramRequest> {
            self.0.push(request);
            Ok(())
        }

        fn completed(&mut self, _now: Cycle) -> Option<DramRequest> {
            self.0.pop()
        }
    }

    struct Bench {
        slice: Halves,
        dram: Dram,
        now: u64,
    }

    impl Bench {
        /// Slice 0 with ROP latency 10, hit latency 4 and one set of so many ways; the other half is 100 cycles further.
        fn new(ways: usize) -> Bench {
            let mut config = L2Config::example();
            (config.sets.value, config.ways.value) = (1, ways);
            (config.rop_latency_cycles.value, config.hit_latency_cycles.value) = (10, 4);
            let slice = Halves::new(L2Slice::new(&config, 0, 1).unwrap(), FAR);
            Bench { slice, dram: Dram::default(), now: 0 }
        }

        /// Sends requests in this cycle. Cycles until each answer, in the order in which they come, with the node it goes to.
        fn answers(&mut self, requests: &[(u16, u64, Body)]) -> Vec<(u16, u64)> {
            for (node, line, body) in requests {
                let packet = Packet::new(Contents {
                    line: LineAddress(*line),
                    bytes: ByteMask::range(0, 4),
                    source: NodeId(*node),
                    destination: NodeId(9),
                    client: Client::L1d,
                    tag: 0,
                    origin: Origin::default(),
                    level: Level::default(),
                    body: body.clone(),
                });
                self.slice.offer(packet, Cycle(self.now)).unwrap();
            }
            let (from, mut found) = (self.now, vec![]);
            while self.now < from + 300 {
                self.slice.tick(&mut self.dram, Cycle(self.now));
                while let Some(answer) = self.slice.outgoing(Cycle(self.now)) {
                    found.push((answer.destination.0, self.now - from));
                }
                self.now += 1;
            }
            found
        }

        fn counts(&self) -> [u64; 5] {
            let group = self.slice.statistics().pop().expect("it has counters");
            assert_eq!((group.name, group.broken), ("l2_far", None));
            ["reads", "copy_hits", "copies", "removed", "crossings"].map(|name| group.get(name).unwrap())
        }
    }

    fn read() -> Body {
        Body::Read(Box::new(Line::ZERO))
    }

    fn write() -> Body {
        Body::Write(Box::new(Line::ZERO))
    }

    #[test]
    fn the_other_half_is_further_until_it_has_a_copy() {
        let mut bench = Bench::new(8);
        // From DRAM: looked up at 10, filled at 11, answered at 11 + 4. SM 2 is in the slice's half.
        assert_eq!(bench.answers(&[(2, 4, read())]), [(2, 15)]);
        assert_eq!(bench.answers(&[(2, 4, read())]), [(2, 14)]);
        // A hit, 10 + 4, and 100 cycles to SM 3 in the other half, which then has a copy.
        assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 114)]);
        assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 14)]);
        assert_eq!(bench.answers(&[(1, 4, read())]), [(1, 14)], "another SM there");
        // From DRAM to the other half: 15 + 100.
        assert_eq!(bench.answers(&[(3, 5, read())]), [(3, 115)]);
        assert_eq!(bench.counts(), [4, 2, 2, 0, 2]);
    }

    #[test]
    fn a_write_or_an_atomic_removes_the_copy_and_crosses_itself() {
        let mut bench = Bench::new(8);
        let mut batch = AtomicBatch::empty(AtomicOp::Add, AtomicType::U32);
        batch.count = 1;
        let atomic = Body::Atomic(Box::new(batch));
        bench.answers(&[(3, 4, read())]);
        for (node, body, expected) in [(2, write(), 14), (3, write(), 114), (3, atomic, 114)] {
            assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 14)]);
            assert_eq!(bench.answers(&[(node, 4, body)]), [(node, expected)]);
            assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 114)], "after that of node {node}");
        }
        assert_eq!(bench.counts(), [7, 3, 4, 3, 6]);
    }

    #[test]
    fn answers_about_a_line_stay_in_order() {
        let mut bench = Bench::new(8);
        bench.answers(&[(2, 4, read())]);
        // Three look-ups in a row, at 10, 11 and 12. The second finds a copy that is not there yet; SM 2 does not wait.
        let found = bench.answers(&[(3, 4, read()), (3, 4, read()), (2, 4, read())]);
        assert_eq!(found, [(2, 16), (3, 114), (3, 115)]);
    }

    #[test]
    fn a_copy_takes_a_way() {
        // Two ways: line 4 and its copy. Line 5 takes the way of line 4, which was used before its copy.
        let mut bench = Bench::new(2);
        bench.answers(&[(3, 4, read())]);
        assert_eq!(bench.answers(&[(2, 5, read())]), [(2, 15)]);
        assert_eq!(bench.answers(&[(2, 4, read())]), [(2, 15)], "line 4 has gone, and its copy goes now");
        assert_eq!(bench.answers(&[(3, 5, read())]), [(3, 114)]);
        // With one way the line is its own victim.
        let mut bench = Bench::new(1);
        assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 115)]);
        assert_eq!(bench.answers(&[(3, 4, read())]), [(3, 115)]);
    }
}
