//! The read-only cache: tags, lines, MSHRs, and the requests that wait.

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};

use super::{ReadOnly, ReadOnlyConfig, ReadOnlyStatistics};
use crate::address::{LINE_BYTES, LineAddress};
use crate::cache::{Cache, Capacity, FrameId, Store};
use crate::client::Client;
use crate::doors::Refusal;
use crate::level::Level;
use crate::line::{ByteMask, Line};
use crate::mshr::MshrId;
use crate::node::NodeId;
use crate::packet::{Body, Contents, Packet};
use crate::packets::Packets;
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;
use crate::tags::Sets;
use crate::touch::{Origin, Touch};

/// Lines are fetched ahead within aligned blocks of so many bytes (ASSUMED: a page of 4 KiB, as prefetchers of CPUs).
const AHEAD_BYTES: u64 = 4096;

/// A set-associative cache of whole lines. It keeps the requests that wait for each line being fetched, and
/// the bytes of a hit until they are due.
pub struct ReadOnlyCache {
    client: Client,
    node: NodeId,
    slices: SliceMap,
    accesses_per_cycle: usize,
    hit_latency: u64,
    is_perfect: bool,
    /// Of a fetch it knows whether everything was dropped since the request left: then the line is not kept.
    cache: Cache<(), Sets, bool>,
    /// The frame that was found last: an instruction usually lies in the line of the one before.
    recent: FrameId,
    /// The line in that frame, if it was used last and no line has come or gone since.
    last_used: Option<LineAddress>,
    /// Lines to fetch ahead,
    lines_ahead: usize,
    /// and by frame, whether its line was fetched ahead and nobody has asked for it; empty where none is.
    untouched: Vec<bool>,
    packets: Packets,
    outgoing: DelayLine<Packet>,
    /// The cycle of the last look-up, and how many there were in it.
    cycle: Cycle,
    used: usize,
    /// Requests whose line is on its way, in the order in which they came.
    waiting: Vec<(LineAddress, u32)>,
    /// Requests whose line has arrived, each with the cycle from which it can be used.
    here: VecDeque<(Cycle, u32)>,
    /// The cycle of the first of them; [`Cycle::NEVER`] if there is none.
    due: Cycle,
    /// The lines of those requests; empty if no bytes are kept.
    lines: VecDeque<Line>,
    keeps_bytes: bool,
    /// The line that was taken last.
    taken: Line,
    statistics: ReadOnlyStatistics,
}

impl ReadOnlyCache {
    /// Makes an empty cache for `client` at network node `node`. `seed` starts the stream of random
    /// replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        config: &ReadOnlyConfig,
        client: Client,
        node: NodeId,
        slices: SliceMap,
        seed: u64,
    ) -> Result<ReadOnlyCache, ParameterError> {
        config.check()?;
        let stream = Stream::new(seed, &format!("{client:?} cache {}", node.0));
        let mshr_entries = *config.mshr_entries;
        let capacity = Capacity { mshr_entries, mshr_merges: 1, sector_bytes: LINE_BYTES, writes: 0 };
        let lines_ahead = config.lines_ahead();
        let frames = if lines_ahead == 0 { 0 } else { *config.sets * *config.ways };
        Ok(ReadOnlyCache {
            client,
            node,
            slices,
            accesses_per_cycle: *config.accesses_per_cycle,
            hit_latency: *config.hit_latency_cycles,
            is_perfect: config.is_perfect(),
            cache: Cache::new(Sets::new(config.geometry(), stream), capacity),
            recent: FrameId(0),
            last_used: None,
            lines_ahead,
            untouched: vec![false; frames],
            packets: Packets::default(),
            outgoing: DelayLine::new(*config.miss_queue),
            cycle: Cycle::ZERO,
            used: 0,
            waiting: Vec::with_capacity(64),
            here: VecDeque::with_capacity(64),
            due: Cycle::NEVER,
            lines: VecDeque::with_capacity(64),
            keeps_bytes: true,
            taken: Line::ZERO,
            statistics: ReadOnlyStatistics::default(),
        })
    }

    /// Stops keeping the bytes of lines that arrive, for a user that needs none: decoded instructions.
    #[must_use]
    pub fn without_bytes(self) -> ReadOnlyCache {
        ReadOnlyCache { keeps_bytes: false, ..self }
    }

    /// The frame that holds the line or waits for its fill.
    #[inline]
    fn find(&self, line: LineAddress) -> Option<FrameId> {
        let recent = self.cache.frames().line(self.recent);
        if recent == Some(line) { Some(self.recent) } else { self.cache.store.find(line) }
    }

    /// Uses a line that is here, and notes that it was used last. The first use of a line that was fetched ahead takes a look-up,
    /// since it fetches more.
    #[inline(never)]
    fn turn_to(&mut self, line: LineAddress) -> Option<()> {
        let frame = self.find(line)?;
        if self.cache.frames().pinned(frame).is_some() || self.is_untouched(frame) {
            return None;
        }
        self.cache.store.used(frame, &self.request_for(line));
        (self.recent, self.last_used) = (frame, Some(line));
        Some(())
    }

    fn request_for(&self, line: LineAddress) -> Touch {
        Touch { line, node: self.node, ..Touch::default() }
    }

    /// Drops the lines for which `drops` holds. One that is being fetched still serves the requests that wait for it, but is not
    /// kept.
    pub(super) fn invalidate_if(&mut self, drops: impl Fn(LineAddress) -> bool) {
        self.statistics.invalidations += 1;
        self.last_used = None;
        for frame in (0..self.cache.frames().count()).map(FrameId::from) {
            if self.cache.frames().line(frame).is_none_or(|line| !drops(line)) {
                continue;
            }
            if let Some(mshr) = self.cache.frames().pinned(frame) {
                self.cache.mshrs.state_mut(mshr).rest = true;
            }
            self.cache.store.invalidate(frame);
            if let Some(untouched) = self.untouched.get_mut(frame.index()) {
                *untouched = false;
            }
        }
    }

    /// Accepts a look-up, or counts and returns the cause of refusal.
    #[inline]
    pub(super) fn try_request(&mut self, line: LineAddress, token: u32, now: Cycle) -> Result<(), Refusal> {
        if self.cycle != now {
            (self.cycle, self.used) = (now, 0);
        }
        let port = if self.used == self.accesses_per_cycle { Err(Refusal::Port) } else { Ok(()) };
        port.and_then(|()| self.look_up(line, token, now)).inspect_err(|why| self.count_refusal(*why))?;
        self.used += 1;
        self.statistics.accesses += 1;
        Ok(())
    }

    /// Accepts a look-up for which the port is free, or returns the cause of refusal.
    #[inline]
    fn look_up(&mut self, line: LineAddress, token: u32, now: Cycle) -> Result<(), Refusal> {
        if self.is_perfect {
            self.hit(token, now);
            return Ok(());
        }
        let Some(frame) = self.find(line) else {
            let frame = self.send_for(line, now)?;
            self.statistics.misses += 1;
            self.waiting.push((line, token));
            if self.lines_ahead != 0 {
                self.untouched[frame.index()] = false;
                self.fetch_ahead(line, now);
            }
            return Ok(());
        };
        (self.recent, self.last_used) = (frame, None);
        if let Some(mshr) = self.cache.frames().pinned(frame) {
            if self.cache.mshrs.state(mshr).rest {
                return Err(Refusal::Mshr);
            }
            self.statistics.merges += 1;
            self.waiting.push((line, token));
            self.first_use(frame, line, now);
            return Ok(());
        }
        self.cache.store.used(frame, &self.request_for(line));
        self.last_used = Some(line);
        self.hit(token, now);
        if self.keeps_bytes {
            self.lines.push_back(self.cache.frames().data(frame).clone());
        }
        self.first_use(frame, line, now);
        Ok(())
    }

    /// Whether a frame's line was fetched ahead and nobody has asked for it.
    #[inline]
    fn is_untouched(&self, frame: FrameId) -> bool {
        self.lines_ahead != 0 && self.untouched[frame.index()]
    }

    /// Fetches further ahead when a line that was fetched ahead is used for the first time.
    #[inline]
    fn first_use(&mut self, frame: FrameId, line: LineAddress, now: Cycle) {
        if self.is_untouched(frame) {
            self.untouched[frame.index()] = false;
            self.statistics.prefetches_used += 1;
            self.fetch_ahead(line, now);
        }
    }

    /// Requests the lines behind one, as far as there is room and up to a boundary of [`AHEAD_BYTES`]. Leaves a request
    /// that is asked for an MSHR.
    #[cold]
    fn fetch_ahead(&mut self, line: LineAddress, now: Cycle) {
        const BLOCK: u64 = AHEAD_BYTES / LINE_BYTES as u64;
        let end = (line.0 / BLOCK + 1) * BLOCK;
        for next in (line.0 + 1..end).take(self.lines_ahead).map(LineAddress) {
            if self.find(next).is_some() {
                continue;
            }
            if self.cache.mshrs.free() < 2 {
                return;
            }
            let last_used = self.last_used;
            let Ok(frame) = self.send_for(next, now) else { return };
            // The line that was used last may have made room.
            self.last_used = last_used.filter(|_| frame != self.recent);
            self.untouched[frame.index()] = true;
            self.statistics.prefetches += 1;
        }
    }

    /// Serves a look-up that hits, but for its bytes.
    #[inline]
    fn hit(&mut self, token: u32, now: Cycle) {
        self.statistics.hits += 1;
        let due = now + self.hit_latency;
        self.here.push_back((due, token));
        self.due = self.due.min(due);
    }

    /// Makes room for a line and requests it. Returns its frame.
    fn send_for(&mut self, line: LineAddress, now: Cycle) -> Result<FrameId, Refusal> {
        if self.cache.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        if self.outgoing.is_full() {
            return Err(Refusal::Network);
        }
        let Some(frame) = self.cache.store.victim(line) else { return Err(Refusal::Ways) };
        self.statistics.evictions += u64::from(self.cache.frames().line(frame).is_some());
        let touch = self.request_for(line);
        self.last_used = None;
        self.cache.store.install(frame, &touch);
        let mshr = self.cache.allocate(line, frame);
        let tray = self.cache.request(mshr, ByteMask::ALL);
        let packet = self.packets.write(Contents {
            line,
            bytes: ByteMask::ALL,
            source: self.node,
            destination: self.slices.node_of(line),
            client: self.client,
            tag: u32::from(mshr.0),
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Read(tray),
        });
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        self.outgoing.push(now.next(), packet).expect("room in the queue to the network was checked");
        Ok(frame)
    }

    #[cold]
    fn count_refusal(&mut self, cause: Refusal) {
        match cause {
            Refusal::Port => self.statistics.refused_port += 1,
            Refusal::Mshr => self.statistics.refused_mshr += 1,
            Refusal::Ways => self.statistics.refused_ways += 1,
            Refusal::Network => self.statistics.refused_network += 1,
            cause => unreachable!("a read-only cache does not refuse for {cause:?}"),
        }
    }

    /// Serves a line that has arrived to all requests waiting for it. It is due now, so it goes ahead of
    /// every hit that is due later: hits are kept in order of their cycles.
    fn serve(&mut self, line: LineAddress, frame: FrameId, now: Cycle) {
        // The last to ask is put in first, and so comes out last.
        for index in (0..self.waiting.len()).rev() {
            let (wanted, token) = self.waiting[index];
            if wanted != line {
                continue;
            }
            self.waiting.remove(index);
            self.here.push_front((now, token));
            self.due = now;
            if self.keeps_bytes {
                self.lines.push_front(self.cache.frames().data(frame).clone());
            }
        }
    }
}

impl ReadOnly for ReadOnlyCache {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.try_request(line, token, now).is_ok()
    }

    #[inline(always)]
    fn touch(&mut self, line: LineAddress, now: Cycle) -> Option<Cycle> {
        let used = if self.cycle == now { self.used } else { 0 };
        if used == self.accesses_per_cycle {
            return None;
        }
        if self.last_used == Some(line) {
            let node = self.node;
            self.cache.store.used_again(self.recent, || Touch { line, node, ..Touch::default() });
        } else if !self.is_perfect {
            self.turn_to(line)?;
        }
        (self.cycle, self.used) = (now, used + 1);
        self.statistics.accesses += 1;
        self.statistics.hits += 1;
        Some(now + self.hit_latency)
    }

    #[inline]
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)> {
        if self.due > now {
            return None;
        }
        let (_, token) = self.here.pop_front()?;
        self.due = self.here.front().map_or(Cycle::NEVER, |(due, _)| *due);
        if self.keeps_bytes {
            self.taken = self.lines.pop_front().expect("each request that is here has its line");
        }
        Some((token, &self.taken))
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        self.statistics.fills += 1;
        let (line, mshr) = (reply.line, MshrId(reply.tag as u16));
        let tray = match self.packets.open(reply) {
            Body::ReadReply(tray) => tray,
            body => unreachable!("a read-only cache sends reads only, and never asked for {body:?}"),
        };
        let is_stale = self.cache.mshrs.state(mshr).rest;
        let frame = self.cache.fill(mshr, ByteMask::ALL, tray);
        self.cache.settle_first();
        self.cache.release(mshr);
        if is_stale {
            self.cache.store.invalidate(frame);
        }
        self.serve(line, frame, now);
    }

    #[inline]
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.outgoing.pop(now)
    }

    #[inline]
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(|packet| packet.wire_bytes())
    }

    fn invalidate(&mut self) {
        self.invalidate_if(|_| true);
    }

    #[inline]
    fn next_event(&self, now: Cycle) -> Cycle {
        self.outgoing.next_ready().min(self.due).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        let (client, node) = (self.client, self.node.0);
        for (_, line) in self.cache.mshrs.iter() {
            let requests = self.waiting.iter().filter(|(wanted, _)| *wanted == line).count();
            report.push(format!("{client:?} cache {node}: {requests} requests wait for line {line}"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let name = match self.client {
            Client::Constant => "constant_cache",
            Client::Instruction => "instruction_cache",
            Client::ReadOnly | Client::L1d | Client::Scratchpad | Client::Gmmu => "read_only_cache",
        };
        vec![Group { name, ..self.statistics.report() }]
    }
}
