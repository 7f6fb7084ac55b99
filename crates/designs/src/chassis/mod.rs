//! What L1Ds share whatever they keep their lines in: an L1D of one's own is built around it.
//!
//! A [`Chassis`] holds the MSHRs with the accesses that wait in them, the queue to the network and the trays of what is
//! under way, accesses past the cache, flushes, ports, and the counters of the group `l1d`. It works on a [`Store`]:
//! frames that hold lines. A frame that waits for a fill is pinned and stays its line's, so that everything between a
//! miss and the last access that waited for it is the chassis' own business.
//!
//! A design supplies the store, [`Parameters`] and [`Rooms`], and the first step of an access: where its line lives,
//! what makes room for it, and when the answer is "not now". That step asks before it changes anything, because a
//! refused access must leave no trace:
//!
//! 1. [`Chassis::port_is_free`]; then, in the design's own way, the frame of the line.
//! 2. The frame is pinned for this line: [`Chassis::route_merge`], then [`Chassis::merge`].
//! 3. The access [goes past](Chassis::goes_past) the cache: [`Chassis::past_room`], then [`Chassis::go_past`].
//! 4. Nothing is [wanted](Chassis::wanted) from below: [`Chassis::perform`], then [`Chassis::complete_hit`].
//! 5. Otherwise an MSHR ([`Chassis::has_mshr`]) and room for the request and for a victim's dirty bytes
//!    ([`Chassis::network_room_for_new`], [`Chassis::write_room_for_new`]) are needed; then [`Chassis::write_back`]
//!    for the victim and [`Chassis::wait_for`] for the access.
//!
//! An access that is taken is counted ([`Chassis::count`]) and uses its port ([`Chassis::use_port`]); a refusal is
//! counted by its cause ([`L1dStatistics::refuse`]).
//!
//! The calls of a cycle, which are those of the [door](strata_memory::doors::L1d): [`Chassis::accept`] for each reply;
//! [`Chassis::replay`], [`Chassis::fill`] and [`Chassis::flush_step`] in `tick`; [`Chassis::completed`]; the accesses
//! offered; [`Chassis::take_outgoing`]. Replay stands before the fill: an access that waited is served in the cycle
//! after its bytes came.
//!
//! # Example
//!
//! A direct-mapped cache of 16 lines: its store, its first step, and a load that misses and then hits.
//!
//! ```
//! use strata_designs::chassis::{Chassis, Found, Parameters, Rooms, Store, WriteMissPolicy, check};
//! use strata_engine::Cycle;
//! use strata_memory::doors::{Access, Action, Policy, Refusal};
//! use strata_memory::mshr::MshrId;
//! use strata_memory::tags::FrameId;
//! use strata_memory::{Body, ByteMask, Line, LineAddress, NodeId, SliceMap};
//!
//! #[derive(Clone)]
//! struct Frame {
//!     line: Option<LineAddress>,
//!     valid: ByteMask,
//!     dirty: ByteMask,
//!     waits_for: Option<MshrId>,
//!     data: Line,
//! }
//!
//! const EMPTY: Frame =
//!     Frame { line: None, valid: ByteMask::NONE, dirty: ByteMask::NONE, waits_for: None, data: Line::ZERO };
//!
//! struct DirectMapped(Vec<Frame>);
//!
//! impl DirectMapped {
//!     fn frame_of(&self, line: LineAddress) -> FrameId {
//!         FrameId((line.0 % self.0.len() as u64) as u32)
//!     }
//! }
//!
//! impl Store for DirectMapped {
//!     fn line(&self, frame: FrameId) -> Option<LineAddress> { self.0[frame.index()].line }
//!     fn valid(&self, frame: FrameId) -> ByteMask { self.0[frame.index()].valid }
//!     fn dirty(&self, frame: FrameId) -> ByteMask { self.0[frame.index()].dirty }
//!     fn add_valid(&mut self, frame: FrameId, bytes: ByteMask) { self.0[frame.index()].valid |= bytes; }
//!     fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask) {
//!         self.0[frame.index()].valid |= bytes;
//!         self.0[frame.index()].dirty |= bytes;
//!     }
//!     fn clean(&mut self, frame: FrameId) { self.0[frame.index()].dirty = ByteMask::NONE; }
//!     fn invalidate(&mut self, frame: FrameId) {
//!         let frame = &mut self.0[frame.index()];
//!         (frame.valid, frame.dirty) = (ByteMask::NONE, ByteMask::NONE);
//!         if frame.waits_for.is_none() {
//!             frame.line = None;
//!         }
//!     }
//!     fn invalidate_all(&mut self) { self.0.fill(EMPTY); }
//!     fn pinned(&self, frame: FrameId) -> Option<MshrId> { self.0[frame.index()].waits_for }
//!     fn pin(&mut self, frame: FrameId, mshr: MshrId) { self.0[frame.index()].waits_for = Some(mshr); }
//!     fn unpin(&mut self, frame: FrameId) { self.0[frame.index()].waits_for = None; }
//!     fn next_dirty(&self, from: FrameId) -> Option<FrameId> {
//!         (from.index()..self.0.len()).find(|n| !self.0[*n].dirty.is_empty()).map(FrameId::from)
//!     }
//!     fn data(&self, frame: FrameId) -> &Line { &self.0[frame.index()].data }
//!     fn data_mut(&mut self, frame: FrameId) -> &mut Line { &mut self.0[frame.index()].data }
//! }
//!
//! /// The first step of a cached access to a line that no MSHR waits for.
//! fn offer(l1d: &mut Chassis<DirectMapped>, access: Access, now: Cycle) -> Result<Found, Refusal> {
//!     l1d.port_is_free(&access, now)?;
//!     let frame = l1d.store.frame_of(access.line);
//!     if l1d.store.pinned(frame).is_some() {
//!         return Err(Refusal::Ways);
//!     }
//!     let here = l1d.store.line(frame) == Some(access.line);
//!     let valid = if here { l1d.store.valid(frame) } else { ByteMask::NONE };
//!     let wanted = l1d.wanted(&access, valid);
//!     if !l1d.has_mshr() {
//!         return Err(Refusal::Mshr);
//!     }
//!     if !l1d.network_room_for_new(2) || !l1d.write_room_for_new(1) {
//!         return Err(Refusal::Network);
//!     }
//!     // From here on nothing can fail.
//!     let found = if wanted.is_empty() { Found::Hit } else { Found::Miss };
//!     l1d.use_port(&access);
//!     l1d.count(&access, found);
//!     if !here {
//!         l1d.write_back(frame, now);
//!         l1d.store.0[frame.index()] = Frame { line: Some(access.line), ..EMPTY };
//!     }
//!     if found == Found::Hit {
//!         let completion = l1d.perform(access, frame, now);
//!         l1d.complete_hit(completion, now + l1d.parameters.hit_latency);
//!     } else {
//!         l1d.wait_for(access, frame, wanted, now);
//!     }
//!     Ok(found)
//! }
//!
//! let parameters = Parameters {
//!     sector_bytes: 128,
//!     accesses_per_cycle: 1,
//!     banks: 1,
//!     hit_latency: 3,
//!     tag_latency: 1,
//!     fill_latency: 1,
//!     miss_queue: 4,
//!     write_back: true,
//!     miss_policy: WriteMissPolicy::Validate,
//!     honours_bypass: true,
//! };
//! let rooms = Rooms { mshr_entries: 4, mshr_merges: 2, write_buffer: 4, bypass_entries: 2, hits: 4 };
//! check(&parameters, &rooms)?;
//! // SM 0 in front of one slice, which is node 1.
//! let slices = SliceMap::new(1, 256, NodeId(1)).expect("256 bytes are whole lines");
//! let mut l1d = Chassis::new(parameters, rooms, NodeId(0), slices, DirectMapped(vec![EMPTY; 16]));
//! let load = |token| Access {
//!     line: LineAddress(35),
//!     bytes: ByteMask::range(8, 4),
//!     action: Action::Load(Box::new(Line::ZERO)),
//!     policy: Policy::Cached,
//!     token,
//!     pc: 0,
//!     warp: 0,
//! };
//!
//! // Cycle 0: a miss. The request leaves a cycle later, for all of the sector.
//! assert_eq!(offer(&mut l1d, load(1), Cycle(0)), Ok(Found::Miss));
//! let mut request = l1d.take_outgoing(Cycle(1)).expect("the fetch");
//! assert_eq!((request.destination, request.bytes), (NodeId(1), ByteMask::ALL));
//!
//! // Cycle 20: the reply. It fills the frame; in the next cycle the load is served.
//! if let Body::Read(tray) = &mut request.body {
//!     tray.0.fill(7);
//! }
//! l1d.accept(request.into_reply());
//! for cycle in [20, 21] {
//!     l1d.replay(Cycle(cycle));
//!     l1d.fill(Cycle(cycle));
//!     l1d.flush_step(Cycle(cycle));
//! }
//! let done = l1d.completed(Cycle(22)).expect("the load has its bytes");
//! assert!(matches!(&done.action, Action::Load(tray) if tray.0[8..12] == [7; 4]));
//!
//! // Cycle 30: a hit.
//! assert_eq!(offer(&mut l1d, load(2), Cycle(30)), Ok(Found::Hit));
//! assert!(l1d.completed(Cycle(32)).is_none());
//! assert_eq!(l1d.completed(Cycle(33)).expect("three cycles have passed").token, 2);
//! assert_eq!((l1d.statistics.load_misses, l1d.statistics.load_hits), (1, 1));
//! # Ok::<(), strata_memory::ParameterError>(())
//! ```

mod bypass;
mod flush;
mod merge;
mod network_side;
mod parameters;
mod replay;
mod statistics;
mod store;

use strata_engine::seed::Stream;
use strata_engine::{Cycle, DelayLine, Ring, Slab};
use strata_memory::doors::{Access, Action, Completion, Policy, Refusal};
use strata_memory::mshr::{MshrFile, MshrId};
use strata_memory::tags::FrameId;
use strata_memory::{ByteMask, LINE_BYTES, Line, NodeId, Packet, SliceMap, Tray};

use flush::Flush;
pub use merge::Found;
use merge::Port;
pub use parameters::{Parameters, Rooms, WriteMissPolicy, check};
pub use statistics::L1dStatistics;
pub use store::{ArrayUse, Store};

/// The parts of an L1D around its lines.
pub struct Chassis<S> {
    /// Its latencies, widths and policies.
    pub parameters: Parameters,
    /// The node of the network that its requests come from.
    pub node: NodeId,
    slices: SliceMap,
    /// The frames and what they hold.
    pub store: S,
    /// Lines being fetched, each with the accesses that wait for it.
    pub(crate) mshrs: MshrFile<Access, Fetch>,
    /// Tokens of atomics and bypassing loads under way.
    bypasses: Slab<u32>,
    /// MSHRs whose oldest access may be able to go on.
    ready: Ring<MshrId>,
    /// Replies that brought something and have not been looked at.
    arrived: Ring<Packet>,
    pub(crate) hits: DelayLine<Completion>,
    served: DelayLine<Completion>,
    outgoing: DelayLine<Packet>,
    fetch_trays: Vec<Tray>,
    write_trays: Vec<Tray>,
    reads_in_flight: usize,
    writes_in_flight: usize,
    /// An access in an MSHR waits for room in the queue to the network: it goes before new ones.
    replay_stalled: bool,
    flush: Option<Flush>,
    port: Port,
    /// Counts for [`strata_memory::doors::L1d::changes`]: MSHRs and bypass entries given back; steps of accesses
    /// that waited in an MSHR; packets that left or came.
    freed: u64,
    served_count: u64,
    moved: u64,
    /// What it counts; a design counts its evictions, tag writes and refusals itself.
    pub statistics: L1dStatistics,
}

/// The state of a line that is being fetched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fetch {
    /// The frame that waits for it: where the fill goes.
    frame: FrameId,
    /// Bytes asked for that are not here yet.
    requested: ByteMask,
    /// Read requests without a reply.
    in_flight: u8,
    /// Waiting accesses that go past the cache: nothing may be fetched ahead of them.
    barriers: u16,
    /// Whether it stands in [`Chassis::ready`].
    ready: bool,
}

impl<S: Store> Chassis<S> {
    /// Empty parts around a store, at network node `node`. The numbers have been [checked](check).
    pub fn new(parameters: Parameters, rooms: Rooms, node: NodeId, slices: SliceMap, store: S) -> Chassis<S> {
        let trays = |count: usize| (0..count).map(|_| Box::new(Line::ZERO)).collect::<Vec<_>>();
        let fetches = rooms.mshr_entries * (LINE_BYTES / parameters.sector_bytes);
        Chassis {
            parameters,
            node,
            slices,
            store,
            mshrs: MshrFile::new(rooms.mshr_entries, rooms.mshr_merges),
            bypasses: Slab::new(rooms.bypass_entries),
            ready: Ring::new(rooms.mshr_entries),
            arrived: Ring::new(fetches + rooms.bypass_entries),
            hits: DelayLine::new(rooms.hits),
            served: DelayLine::new(parameters.fill_latency as usize + 2),
            outgoing: DelayLine::new(parameters.miss_queue),
            fetch_trays: trays(fetches),
            write_trays: trays(rooms.write_buffer),
            reads_in_flight: 0,
            writes_in_flight: 0,
            replay_stalled: false,
            flush: None,
            port: Port::default(),
            freed: 0,
            served_count: 0,
            moved: 0,
            statistics: L1dStatistics::default(),
        }
    }

    /// The stream of an L1D's random choices.
    pub fn stream(node: NodeId, seed: u64) -> Stream {
        Stream::new(seed, &format!("l1d {}", node.0))
    }

    /// Whether a free MSHR is left for a line that is not being fetched.
    #[inline]
    pub fn has_mshr(&self) -> bool {
        !self.mshrs.is_full()
    }

    /// Whether the access goes past the cache: an atomic always does, the others when they ask for it.
    #[inline]
    pub fn goes_past(&self, access: &Access) -> bool {
        matches!(access.action, Action::Atomic(_))
            || access.policy == Policy::Bypass && self.parameters.honours_bypass
    }

    /// Bytes that must come from below before a cached access to the frame's line can be performed: whole
    /// sectors.
    #[inline]
    pub fn wanted(&self, access: &Access, valid: ByteMask) -> ByteMask {
        let sector = self.parameters.sector_bytes;
        match access.action {
            Action::Load(_) if valid.covers(access.bytes) => ByteMask::NONE,
            Action::Load(_) => (access.bytes & !valid).to_sectors(sector),
            Action::Store(_) if self.parameters.miss_policy == WriteMissPolicy::Fetch => {
                let rest = access.bytes.to_sectors(sector) & !access.bytes;
                (rest.to_sectors(sector) & !access.bytes & !valid).to_sectors(sector)
            }
            Action::Store(_) | Action::Atomic(_) => ByteMask::NONE,
        }
    }

    /// Performs a cached access on a frame that has the bytes it wants. For a store that is written through
    /// there must be room for a write.
    #[inline]
    pub fn perform(&mut self, access: Access, frame: FrameId, now: Cycle) -> Completion {
        let data = self.store.data_mut(frame);
        let action = match access.action {
            Action::Load(mut tray) => {
                tray.0 = data.0;
                self.statistics.data_reads += 1;
                Action::Load(tray)
            }
            Action::Store(tray) => {
                data.merge(access.bytes, &tray);
                self.statistics.data_writes += 1;
                if self.parameters.write_back {
                    self.store.add_dirty(frame, access.bytes);
                    Action::Store(tray)
                } else {
                    self.store.add_valid(frame, access.bytes);
                    Action::Store(self.send_through(access.line, access.bytes, tray, now))
                }
            }
            Action::Atomic(_) => unreachable!("atomics are performed where the line lives"),
        };
        Completion { token: access.token, action }
    }

    /// The oldest access of an MSHR may be able to go on.
    fn make_ready(&mut self, mshr: MshrId) {
        let fetch = self.mshrs.state_mut(mshr);
        if !fetch.ready {
            fetch.ready = true;
            self.ready.push(mshr).expect("each MSHR is ready once");
        }
    }
}

/// The parts of [`L1d`](strata_memory::doors::L1d) that are the same for all.
impl<S: Store> Chassis<S> {
    /// [`L1d::changes`](strata_memory::doors::L1d::changes) for refusals that the chassis decided.
    #[inline]
    pub fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        match cause {
            Refusal::Mshr | Refusal::Ways => self.freed,
            Refusal::Merge => self.served_count,
            Refusal::Network => self.moved + self.served_count,
            Refusal::Port | Refusal::Bank | Refusal::Flush => now.0,
        }
    }

    /// Takes a reply from the network. [`Chassis::fill`] works on it later; an acknowledgement frees its tray at once.
    pub fn accept(&mut self, reply: Packet) {
        self.moved += 1;
        self.receive(reply);
    }

    /// Whether a tick of the chassis would find nothing to do.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.ready.is_empty() && self.arrived.is_empty() && self.flush.is_none()
    }

    /// The next finished access whose time has come; those that waited for a fill go first.
    #[inline]
    pub fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.served.pop(now).or_else(|| self.hits.pop(now))
    }

    /// The next packet for the network, if its time has come.
    #[inline]
    pub fn take_outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.moved += 1;
        self.outgoing.pop(now)
    }

    /// The size on the wire of the packet that [`Chassis::take_outgoing`] would return, in bytes.
    #[inline]
    pub fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(Packet::wire_bytes)
    }

    /// Whether a flush is under way.
    #[inline]
    pub fn is_flushing(&self) -> bool {
        self.flush.is_some()
    }

    /// Whether no flush is under way and every write that was sent has been acknowledged.
    pub fn is_flushed(&self) -> bool {
        self.flush.is_none() && self.writes_in_flight == 0
    }

    /// Requests sent whose replies are still to come, of any kind.
    pub fn outstanding(&self) -> usize {
        self.reads_in_flight + self.writes_in_flight
    }

    /// The earliest cycle in which a completion can be taken or a packet can leave.
    #[inline]
    pub fn next_departure(&self) -> Cycle {
        self.hits.next_ready().min(self.served.next_ready()).min(self.outgoing.next_ready())
    }

    /// The earliest cycle from `now` on in which replay, a fill, a flush, a completion or a packet could be due.
    #[inline]
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if self.flush_can_go_on() {
            return now;
        }
        self.next_event_without_flush(now)
    }

    /// As [`Chassis::next_event`], while a flush waits for what the design does by itself.
    #[inline]
    pub fn next_event_without_flush(&self, now: Cycle) -> Cycle {
        if !self.ready.is_empty() {
            return now;
        }
        self.next_departure().min(self.next_fill()).max(now)
    }

    /// A sentence for each thing it waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        let node = self.node.0;
        for (mshr, line) in self.mshrs.iter() {
            let fetch = self.mshrs.state(mshr);
            let (accesses, requests) = (self.mshrs.waiting(mshr), fetch.in_flight);
            report.push(format!(
                "L1D {node}: {accesses} accesses wait for line {line}, {requests} requests under way"
            ));
        }
        if !self.bypasses.is_empty() {
            let count = self.bypasses.len();
            report.push(format!("L1D {node}: {count} atomics and bypassing loads wait for their replies"));
        }
        if self.writes_in_flight > 0 {
            report.push(format!("L1D {node}: {} writes are not acknowledged", self.writes_in_flight));
        }
        if !self.outgoing.is_empty() {
            report.push(format!("L1D {node}: {} packets wait for the network", self.outgoing.len()));
        }
        if self.flush.is_some() {
            report.push(format!("L1D {node}: a flush is under way"));
        }
    }
}
