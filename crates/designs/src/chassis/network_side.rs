//! Requests to the network, and the replies to them.

use strata_engine::Cycle;
use strata_memory::cache::{FrameId, WriteBack};
use strata_memory::doors::{Action, Completion, Hint, Hinted, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::{Body, ByteMask, Client, Contents, Level, LineAddress, Origin, Packet, Tray};

use super::{ArrayUse, Chassis, Store};

/// The tag of a request: its kind in the upper bits, its entry below. A reply returns it.
const TAG_FETCH: u32 = 0 << 24;
const TAG_BYPASS: u32 = 1 << 24;
const TAG_WRITE: u32 = 2 << 24;
const TAG_HINT: u32 = 3 << 24;
const TAG_NAME: u32 = (1 << 24) - 1;

impl<S: Store> Chassis<S> {
    /// Whether the queue to the network has room for `packets` more.
    #[inline]
    pub(super) fn network_room(&self, packets: usize) -> bool {
        self.outgoing.len() + packets <= self.parameters.miss_queue
    }

    /// Whether `writes` more writes can be sent, each a packet with a tray.
    #[inline]
    pub(super) fn write_room(&self, writes: usize) -> bool {
        self.network_room(writes) && self.cache.can_write(writes)
    }

    /// Takes a reply: processes the acknowledgement of a write immediately, and queues any other in order of
    /// arrival.
    #[inline]
    pub(super) fn receive(&mut self, reply: Packet) {
        debug_assert_eq!(reply.destination, self.node, "a reply comes back to the node that asked");
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        if !matches!(reply.body, Body::WriteAck(_) | Body::PrefetchAck) {
            return self.arrived.push(reply).expect("room for a reply was kept when its request left");
        }
        if let Body::WriteAck(tray) = self.packets.open(reply) {
            self.cache.written(tray);
            self.writes_in_flight -= 1;
        } else {
            self.hints_in_flight -= 1;
        }
    }

    /// Writes the dirty bytes of a frame back, if it has any. There must be room for a write.
    #[inline]
    pub fn write_back(&mut self, frame: FrameId, now: Cycle) {
        if !self.cache.frames().dirty(frame).is_empty() {
            self.write_bytes_back(frame, now);
        }
    }

    #[inline(never)]
    fn write_bytes_back(&mut self, frame: FrameId, now: Cycle) {
        let Some(WriteBack { line, bytes, tray }) = self.cache.take_dirty(frame) else { return };
        self.cache.store.occupy(frame, ArrayUse::Read, now);
        self.statistics.write_backs += 1;
        self.statistics.data_reads += 1;
        self.writes_in_flight += 1;
        self.send(line, bytes, TAG_WRITE, (Origin::default(), Body::Write(tray)), now);
    }

    /// Sends a store's bytes below in its own tray, and returns another tray. There must be room for a write.
    pub fn send_through(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        tray: Tray,
        origin: Origin,
        now: Cycle,
    ) -> Tray {
        let other = self.cache.write_tray();
        self.statistics.write_throughs += 1;
        self.writes_in_flight += 1;
        self.send(line, bytes, TAG_WRITE, (origin, Body::Write(tray)), now);
        other
    }

    /// Requests bytes of an MSHR's line. There must be room for a packet.
    pub fn send_fetch(&mut self, mshr: MshrId, bytes: ByteMask, origin: Origin, now: Cycle) {
        let tray = self.cache.request(mshr, bytes);
        self.send_read(self.cache.mshrs.line(mshr), bytes, mshr, (origin, tray), now);
    }

    /// Sends the request for bytes of an MSHR's line. There must be room for a packet.
    #[inline]
    pub(super) fn send_read(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        mshr: MshrId,
        (origin, tray): (Origin, Tray),
        now: Cycle,
    ) {
        self.statistics.fetches += 1;
        self.reads_in_flight += 1;
        let tag = TAG_FETCH | u32::from(mshr.0);
        self.send(line, bytes, tag, (origin, Body::Read(tray)), now);
    }

    /// Takes a hint for the last-level cache, which goes past this cache: its lines here say nothing about those below.
    ///
    /// # Errors
    /// Returns what the hint has to wait for.
    pub fn hint_below(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        self.port_is_free_for(hint.line, now)?;
        if !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        self.use_port_for(hint.line);
        self.hints_in_flight += 1;
        self.send(hint.line, hint.bytes, TAG_HINT, (hint.origin, Body::Prefetch), now);
        Ok(Hinted::Taken)
    }

    /// Sends an access past the cache under a tag of its own. There must be room for it.
    pub(super) fn send_past(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        token: u32,
        (origin, body): (Origin, Body),
        now: Cycle,
    ) {
        let name = self.bypasses.insert(token).expect("room for a bypassing access was checked");
        self.reads_in_flight += 1;
        self.send(line, bytes, TAG_BYPASS | name, (origin, body), now);
    }

    fn send(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        tag: u32,
        (origin, body): (Origin, Body),
        now: Cycle,
    ) {
        let destination = self.slices.node_of(line);
        let (source, client, level) = (self.node, Client::L1d, Level::default());
        let packet = self.packets.write(Contents {
            line,
            bytes,
            source,
            destination,
            client,
            tag,
            origin,
            level,
            body,
        });
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        let full = self.outgoing.push(now + self.parameters.tag_latency, packet);
        full.expect("room in the queue to the network was checked");
    }

    /// Processes the oldest reply: fills its frame, or finishes the access past the cache that it answers. A
    /// fill waits while the frame's array is busy.
    #[inline(never)]
    pub fn fill(&mut self, now: Cycle) {
        let Some(reply) = self.arrived.front() else { return };
        let waits = match reply.tag & !TAG_NAME {
            TAG_BYPASS => self.served.is_full(),
            _ => !self.cache.store.is_free(self.fill_frame(reply.tag), ArrayUse::Fill, now),
        };
        if waits {
            return;
        }
        let Some(reply) = self.arrived.pop() else { return };
        let (name, bytes) = (reply.tag & TAG_NAME, reply.bytes);
        match (reply.tag & !TAG_NAME, self.packets.open(reply)) {
            (TAG_FETCH, Body::ReadReply(tray)) => {
                let mshr = MshrId(name as u16);
                let frame = self.cache.fill(mshr, bytes, tray);
                self.cache.store.occupy(frame, ArrayUse::Fill, now);
                self.statistics.fills += 1;
                self.statistics.fill_bytes += u64::from(bytes.count());
                self.statistics.data_writes += 1;
            }
            (TAG_BYPASS, Body::ReadReply(tray)) => self.finish_past(name, Action::Load(tray), now),
            (TAG_BYPASS, Body::AtomicReply(batch)) => self.finish_past(name, Action::Atomic(batch), now),
            (tag, body) => unreachable!("the L1D never asked for this: tag {tag:#x}, {body:?}"),
        }
        self.reads_in_flight -= 1;
    }

    /// The first cycle in which the oldest reply can be processed.
    pub(super) fn next_fill(&self) -> Cycle {
        match self.arrived.front() {
            None => Cycle::NEVER,
            Some(reply) if reply.tag & !TAG_NAME == TAG_BYPASS => Cycle::ZERO,
            Some(reply) => self.cache.store.free_at(self.fill_frame(reply.tag), ArrayUse::Fill),
        }
    }

    /// The frame that the reply to a fetch fills.
    fn fill_frame(&self, tag: u32) -> FrameId {
        self.cache.mshrs.state(MshrId((tag & TAG_NAME) as u16)).frame
    }

    fn finish_past(&mut self, name: u32, action: Action, now: Cycle) {
        self.freed += 1;
        let token = self.bypasses.remove(name);
        let full = self.served.push(now + self.parameters.fill_latency, Completion { token, action });
        full.expect("room for a served access was checked");
    }
}
