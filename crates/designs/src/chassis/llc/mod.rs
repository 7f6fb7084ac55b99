//! What LLC slices share: the queues of requests and replies, the side that faces DRAM, atomics, host copies and reports.
//!
//! Requests are looked up in order, one a cycle. A design is a [`Protocol`]: what a request finds and what follows from it, in the
//! look-up and again when its line's MSHR is ready.

mod config;
mod dram_side;
mod look_up;
mod parameters;
mod perform;
mod prefetch;
mod statistics;
mod wait;

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};
use strata_memory::cache::{Cache, Capacity, FrameId};
use strata_memory::doors::{DramPort, DramRequest, Llc, RoomWait};
use strata_memory::prefetch::Prefetching;
use strata_memory::tags::Sets;
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet, ParameterError};

pub use config::llc_config;
pub use parameters::Parameters;
pub use perform::{Found, conflicts};
pub use statistics::L2Statistics;
pub use wait::Stall;
use wait::{Changes, Wait};

/// What a design makes of requests.
pub trait Protocol: Send + Sized + 'static {
    /// What it keeps about a line that is fetched.
    type Rest: Copy + Default + Send;
    /// What a request will do.
    type Route;

    /// Finds out what the next request will do, or why it has to wait. Taking the route cannot fail.
    ///
    /// # Errors
    /// Returns what prevents it.
    fn route(slice: &mut Slice<Self>, now: Cycle) -> Result<Self::Route, Stall>;

    /// Does what a request's route says.
    fn take(slice: &mut Slice<Self>, request: Packet, route: Self::Route, now: Cycle);

    /// Looks at the first MSHR that is ready. There is room for [`Protocol::PACKETS`].
    fn replay(slice: &mut Slice<Self>, now: Cycle);

    /// Most packets that a request makes for the network.
    const PACKETS: usize = 1;

    /// Whether lines can be fetched into it that nobody waits for. Where they cannot, what the program wishes for is dropped.
    const PREFETCHES: bool = false;

    /// Sends the answer to a request that moves no bytes. There must be room.
    #[inline]
    fn acknowledge(slice: &mut Slice<Self>, answer: Packet, at: Cycle) {
        slice.send(answer, at);
    }

    /// Takes what an owner says about its words ([`Llc::accept`]).
    fn accept(_slice: &mut Slice<Self>, packet: Packet) {
        unreachable!("no owner has anything to say to this slice: {packet:?}");
    }

    /// Takes up what has been accepted. There is room for a packet. A wait for a reason of the design may end by it.
    #[inline]
    fn take_up(_slice: &mut Slice<Self>, _now: Cycle) {}

    /// Whether there is something to take up.
    #[inline]
    fn has_more(&self) -> bool {
        false
    }

    /// Counts cycles in which the next request has waited for a reason of the design ([`Stall::Own`]).
    fn count_own(&mut self, _cycles: u64) {}

    /// The bytes of a frame that are memory's: those that host copies see and change.
    #[inline]
    fn plain(slice: &Slice<Self>, frame: FrameId) -> ByteMask {
        slice.cache.frames().valid(frame)
    }

    /// Notes that the oldest reply has left.
    #[inline]
    fn left(&mut self) {}

    /// Packets that it has sent beyond one for each request ([`Llc::further`]).
    fn further(&self) -> u64 {
        0
    }

    /// Appends to `report` one sentence for each thing that the design waits for.
    fn waits(_slice: &Slice<Self>, _report: &mut Vec<String>) {}

    /// The design's own counters.
    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// A slice of an LLC. It sees only its own lines, numbered without gaps, so all sets are used.
pub struct Slice<P: Protocol> {
    /// Latencies and capacities.
    pub parameters: Parameters,
    /// Its number in reports.
    pub number: u16,
    /// The frames, and the lines that are fetched.
    pub cache: Cache<Packet, Sets, P::Rest>,
    /// Requests that wait for their look-up.
    pub requests: DelayLine<Packet>,
    /// How many of them are hints.
    hints: usize,
    replies: DelayLine<Packet>,
    last_reply: Cycle,
    /// Requests for the channel, oldest first.
    to_dram: VecDeque<DramRequest>,
    /// Requests that the channel has accepted and not given back.
    at_dram: usize,
    /// The wait of the oldest of them for room there.
    room: RoomWait,
    /// Why the next request waits, if it was looked up, and what has happened since.
    wait: Option<Wait>,
    changed: Changes,
    /// The cycle until which atomics occupy the slice.
    busy_until: Cycle,
    /// Counters of the group `l2`. A design counts its tag writes here itself.
    pub statistics: L2Statistics,
    /// What it fetches before it is asked for, in designs that have a place for that.
    pub prefetching: Option<Box<Prefetching>>,
    /// What the design keeps.
    pub protocol: P,
}

impl<P: Protocol> Slice<P> {
    /// Makes an empty slice, called `number` in reports. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn with(parameters: Parameters, number: u16, seed: u64, protocol: P) -> Result<Self, ParameterError> {
        parameters.check()?;
        let capacity = Capacity {
            mshr_entries: parameters.mshr_entries,
            mshr_merges: parameters.mshr_merges,
            sector_bytes: parameters.sector_bytes,
            writes: parameters.write_buffer,
        };
        let stream = Stream::new(seed, &format!("l2 {number}"));
        let mut sets = Sets::new(parameters.geometry.clone(), stream.clone());
        if let Some(policy) = &parameters.insertion {
            sets = sets.guarded(&**policy, parameters.mshr_entries, stream);
        }
        Ok(Slice {
            number,
            cache: Cache::new(sets, capacity),
            requests: DelayLine::new(parameters.request_queue + parameters.rop_latency as usize),
            hints: 0,
            replies: DelayLine::new(parameters.reply_room()),
            last_reply: Cycle::ZERO,
            to_dram: VecDeque::with_capacity(parameters.dram_queue),
            at_dram: 0,
            room: RoomWait::default(),
            wait: None,
            changed: Changes::NONE,
            busy_until: Cycle::ZERO,
            statistics: L2Statistics::default(),
            prefetching: None,
            protocol,
            parameters,
        })
    }

    /// The frame of a line that is here, or whose fill it waits for.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        self.cache.find(line)
    }

    /// Whether `packets` more can wait for the network.
    #[inline]
    pub fn reply_room(&self, packets: usize) -> bool {
        self.replies.len() + packets <= self.parameters.reply_room()
    }

    /// Sends a packet, after those before it. There must be room.
    #[inline]
    pub fn send(&mut self, packet: Packet, at: Cycle) {
        self.last_reply = self.last_reply.max(at);
        self.replies.push(self.last_reply, packet).expect("room for a reply was checked");
    }

    /// Bytes that a host writes overtake those of a prefetch that is under way: the fill brings what was there before.
    fn overtake(&mut self, frame: FrameId, bytes: ByteMask, data: &Line) {
        let Some(mshr) = self.cache.frames().pinned(frame) else { return };
        let bytes = bytes & self.cache.mshrs.state(mshr).requested & !self.cache.frames().valid(frame);
        let frames = self.cache.frames_mut();
        frames.data_mut(frame).merge(bytes, data);
        frames.add_valid(frame, bytes);
    }

    /// Whether an MSHR is ready, and what it makes for the network has room.
    #[inline]
    fn can_replay(&self) -> bool {
        self.cache.has_ready() && self.reply_room(P::PACKETS)
    }

    /// Whether there is something to take up, and room for a packet that it makes.
    #[inline]
    fn can_take_up(&self) -> bool {
        self.protocol.has_more() && self.reply_room(1)
    }

    /// Whether nothing is under way in the slice but requests that it has sent to DRAM.
    pub fn is_at_rest(&self) -> bool {
        let wishes = self.prefetching.as_ref().is_some_and(|prefetching| prefetching.wish().is_some());
        let is_asked = !self.requests.is_empty() || self.cache.has_ready() || self.protocol.has_more();
        !is_asked && !wishes && self.to_dram.is_empty()
    }

    /// The cycle in which a tick would look something up, if nothing happens before.
    #[inline]
    fn next_look_up(&self, now: Cycle) -> Cycle {
        if self.wait.is_some() {
            return if self.may_go_on() { now } else { Cycle::NEVER };
        }
        let wishes = self.prefetching.as_ref().is_some_and(|prefetching| prefetching.wish().is_some());
        if wishes && self.miss_room(1) { now } else { self.requests.next_ready() }
    }
}

impl<P: Protocol> Llc for Slice<P> {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let (bytes, is_hint) = (request.wire_bytes(), matches!(request.body, Body::Prefetch));
        let offered = self.requests.push(now + self.parameters.rop_latency, request);
        match offered {
            Ok(()) => {
                self.statistics.bytes_in += u64::from(bytes);
                self.hints += usize::from(is_hint);
            }
            Err(_) => self.statistics.refused += 1,
        }
        offered
    }

    fn has_room(&self) -> bool {
        !self.requests.is_full()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.statistics.refused += cycles;
    }

    fn accept(&mut self, packet: Packet, _now: Cycle) {
        self.statistics.bytes_in += u64::from(packet.wire_bytes());
        P::accept(self, packet);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.at_dram > 0 {
            self.receive_from_dram(dram, now);
        }
        if self.can_take_up() {
            P::take_up(self, now);
            self.changed = Changes::ANY;
        }
        if self.can_replay() && now >= self.busy_until {
            P::replay(self, now);
            self.changed |= Changes::SERVED;
        }
        if self.requests.next_ready() <= now && now >= self.busy_until {
            self.look_up(now);
        } else if self.prefetching.is_some() && now >= self.busy_until {
            self.prefetch();
        }
        if !self.to_dram.is_empty() {
            self.send_to_dram(dram, now);
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let reply = self.replies.pop(now)?;
        self.statistics.bytes_out += u64::from(reply.wire_bytes());
        self.protocol.left();
        self.changed |= Changes::REPLY;
        Some(reply)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.replies.front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.replies.next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.to_dram.is_empty() && !self.room.is_on() || self.can_take_up() {
            return now;
        }
        let work = if self.can_replay() { now } else { self.next_look_up(now) };
        work.max(self.busy_until).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        for write in self.to_dram.iter().filter(|request| request.write && request.line == line) {
            below.merge(write.bytes, &write.tray);
        }
        if let Some(frame) = self.find(line) {
            below.merge(P::plain(self, frame), self.cache.frames().data(frame));
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.changed = Changes::ANY;
        if !self.to_dram.is_empty() {
            for write in self.to_dram.iter_mut().filter(|request| request.write && request.line == line) {
                write.tray.merge(write.bytes & bytes, data);
            }
        }
        if let Some(frame) = self.find(line) {
            let plain = P::plain(self, frame) & bytes;
            self.cache.frames_mut().data_mut(frame).merge(plain, data);
            self.overtake(frame, bytes, data);
        }
    }

    fn mshrs(&self) -> Option<usize> {
        Some(self.cache.mshrs.len())
    }

    fn further(&self) -> u64 {
        self.protocol.further()
    }

    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        self.room.settle(dram, end);
        self.count_wait(end);
    }

    fn waits(&self, report: &mut Vec<String>) {
        let slice = self.number;
        for (mshr, line) in self.cache.mshrs.iter() {
            let (requests, reads) = (self.cache.mshrs.waiting(mshr), self.cache.mshrs.state(mshr).in_flight);
            report.push(format!(
                "L2 slice {slice}: {requests} requests wait for its line {}, {reads} DRAM reads under way",
                line.0
            ));
        }
        P::waits(self, report);
        let queues = [
            ("requests wait for their look-up", self.requests.len()),
            ("packets wait for the network", self.replies.len()),
            ("requests wait for the DRAM channel", self.to_dram.len()),
        ];
        for (what, count) in queues.into_iter().filter(|(_, count)| *count > 0) {
            report.push(format!("L2 slice {slice}: {count} {what}"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut groups = vec![self.statistics.report()];
        let prefetching = self.prefetching.as_deref();
        groups.extend(prefetching.and_then(|prefetching| prefetching.report("l2_prefetch")));
        groups.extend(self.cache.store.insertion("l2_insertion"));
        groups.push(Prefetching::report_hints(prefetching, "l2_hints"));
        groups.extend(self.protocol.statistics());
        groups
    }
}
