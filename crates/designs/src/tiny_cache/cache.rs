//! The tinyCaches of an SM behind the door of the lane path.

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Slab};
use strata_memory::doors::{
    LaneAccess, LaneAction, LaneCause, LaneDone, LaneEvent, LaneItem, LanePath, LanePathSite, LaneRequest,
    LaneSpace,
};
use strata_memory::{ByteMask, Tray, Trays};
use strata_warp::{LaneMask, WARP_LANES, lanes_of};

use super::config::{BarrierEvicts, TinyCacheConfig};
use super::fills::{Fills, Waiter};
use super::lines::{Block, FillId, Frame, Lines};
use super::order::Order;
use super::statistics::TinyCacheStatistics;
use super::words::{halves, lanes, put};

/// Most accesses that one request makes: every lane writes a block back and fetches another.
const MOST_ACCESSES: usize = 2 * WARP_LANES;
/// Accesses that may wait for the memory below before requests are refused.
const WAITING: usize = WARP_LANES;

/// A load that waits for blocks.
struct Load {
    request: Box<LaneRequest>,
    /// Lanes whose bytes have yet to come.
    open: u32,
}

/// An access below that is the caches' own.
enum Below {
    Fetch(FillId),
    /// With its number in [`Order`].
    WriteBack(u64),
}

/// The tinyCaches of an SM, one for each lane.
pub struct TinyCache {
    pub(super) lines: Lines,
    pub(super) fills: Fills,
    loads: Slab<Load>,
    below: Slab<Below>,
    trays: Trays,
    /// By space: what goes to the memory below.
    outgoing: [DelayLine<LaneItem>; 2],
    done: DelayLine<LaneDone>,
    order: Order,
    /// An event whose lines are being written back, one access a cycle, and its token.
    flush: Option<(LaneEvent, u32)>,
    /// Lines to be written back.
    leaving: Vec<Frame>,
    /// Fetches that the request at hand has begun.
    begun: Vec<FillId>,
    /// The instruction at hand.
    cause: LaneCause,
    /// By space: whether it is cached.
    pub(super) caches: [bool; 2],
    barrier: BarrierEvicts,
    latency: u64,
    statistics: TinyCacheStatistics,
}

impl TinyCache {
    /// Empty caches.
    pub fn new(config: &TinyCacheConfig, site: LanePathSite) -> TinyCache {
        let fills = site.accesses.max(WARP_LANES);
        let accesses = fills + WAITING + MOST_ACCESSES;
        let ways = *config.ways as usize;
        TinyCache {
            lines: Lines::new(
                *config.lines as usize / ways,
                ways,
                *config.line_bytes as usize,
                Stream::new(site.seed, "tiny_cache"),
            ),
            fills: Fills::new(fills),
            loads: Slab::new(fills),
            below: Slab::new(2 * accesses),
            trays: Trays::new(2 * accesses),
            outgoing: std::array::from_fn(|_| DelayLine::growing(accesses)),
            done: DelayLine::growing(accesses),
            order: Order::new(),
            flush: None,
            leaving: Vec::with_capacity(WARP_LANES),
            begun: Vec::with_capacity(WARP_LANES),
            cause: LaneCause::default(),
            caches: LaneSpace::ALL.map(|space| !config.bypass.includes(space)),
            barrier: *config.barrier,
            latency: u64::from(*config.latency_cycles),
            statistics: TinyCacheStatistics::default(),
        }
    }

    /// Whether a request of any kind can be taken.
    fn has_room(&self) -> bool {
        self.flush.is_none()
            && self.outgoing.iter().all(|items| items.len() <= WAITING)
            && self.trays.left() >= MOST_ACCESSES
            && self.fills.free() >= WARP_LANES
            && !self.loads.is_full()
    }

    /// For each lane its line with the block that it accesses, or one that can take it; `None` while a lane has
    /// neither. The mask is of lanes whose block is not there.
    fn frames(&mut self, request: &LaneRequest) -> Option<([Frame; WARP_LANES], LaneMask)> {
        let (mut frames, mut absent) = ([0; WARP_LANES], 0);
        for lane in lanes_of(request.lanes) {
            let block = self.lines.block(request.space, request.addresses[lane]);
            match self.lines.find(lane, block) {
                Some(frame) => frames[lane] = frame,
                None => absent |= 1 << lane,
            }
        }
        for lane in lanes_of(absent) {
            let block = self.lines.block(request.space, request.addresses[lane]);
            frames[lane] = self.lines.victim(lane, block)?;
        }
        Some((frames, absent))
    }

    /// Empties the lines of the lanes in `absent` for other blocks.
    fn replace(&mut self, frames: &[Frame; WARP_LANES], absent: LaneMask, now: Cycle) {
        for lane in lanes_of(absent) {
            let frame = frames[lane];
            if self.lines.is_dirty(frame) {
                self.statistics.replacements += 1;
                self.leaving.push(frame);
            } else if self.lines.holds_any(frame) {
                self.statistics.dropped += 1;
                self.lines.drop_line(frame);
            }
        }
        self.write_back(now);
    }

    /// Serves a load, except what has to be fetched. Returns the request if a lane has no line for its block.
    fn load(&mut self, mut request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>> {
        let Some((frames, absent)) = self.frames(&request) else { return Err(request) };
        let width = usize::from(request.width);
        let statistics = &mut self.statistics;
        let lanes = request.lanes;
        let count = u64::from(lanes.count_ones());
        statistics.tag_reads += count;
        *match request.space {
            LaneSpace::Global => &mut statistics.global_loads,
            LaneSpace::Shared => &mut statistics.shared_loads,
        } += count;
        let mut incomplete = absent;
        for lane in lanes_of(lanes & !absent) {
            let (frame, offset) = (frames[lane], self.lines.offset(request.addresses[lane]));
            self.lines.used(frame);
            let missing = halves(width, offset) & !self.lines.valid(frame);
            if missing == 0 {
                self.lines.hit(frame);
                put(&mut request, lane, 0, self.lines.read(frame, offset, width));
            } else {
                incomplete |= 1 << lane;
            }
        }
        let hits = u64::from((lanes & !incomplete).count_ones());
        self.statistics.load_hits += hits;
        self.statistics.data_reads += hits;
        if incomplete == 0 {
            self.finish(LaneDone::Request(request), now);
            return Ok(());
        }
        self.statistics.load_misses += u64::from(absent.count_ones());
        self.replace(&frames, absent, now);
        self.fetch(request, &frames, absent, incomplete, now);
        Ok(())
    }

    /// Fetches what the lanes in `incomplete` lack; those in `absent` have an empty line for the whole block.
    fn fetch(
        &mut self,
        request: Box<LaneRequest>,
        frames: &[Frame; WARP_LANES],
        absent: LaneMask,
        incomplete: LaneMask,
        now: Cycle,
    ) {
        let (space, cta, width) = (request.space, request.cta, usize::from(request.width));
        let load = Load { request, open: incomplete.count_ones() };
        let place = self.loads.insert(load).unwrap_or_else(|_| panic!("a load is taken while there is room"));
        for lane in lanes_of(incomplete) {
            let request = &mut self.loads.get_mut(place).request;
            let (frame, address) = (frames[lane], request.addresses[lane]);
            let (block, offset) = (self.lines.block(space, address), self.lines.offset(address));
            let valid = self.lines.valid(frame);
            let missing = halves(width, offset) & !valid;
            // Bytes that this thread, or another of the lane, wrote before the block came.
            if missing != halves(width, offset) {
                let first = offset / 2;
                for half in (0..width / 2).filter(|half| valid >> (first + half) & 1 == 1) {
                    put(request, lane, 2 * half, self.lines.read(frame, offset + 2 * half, 2));
                }
            }
            let is_absent = absent >> lane & 1 == 1;
            let fill = match self.lines.fill_of(frame).filter(|_| !is_absent) {
                Some(fill) => {
                    self.statistics.load_waits += 1;
                    fill
                }
                None => {
                    let fill = self.fill_for(block);
                    if is_absent {
                        self.lines.begin_read(frame, block, cta, fill);
                    } else {
                        self.statistics.load_partial_hits += 1;
                        self.lines.complete_read(frame, fill);
                    }
                    self.statistics.send_block(space);
                    self.fills.get_mut(fill).frames.push(frame);
                    fill
                }
            };
            let missing = (missing >> (offset / 2)) as u16;
            let at = (self.lines.place(block).1 + offset) as u8;
            let waiter = Waiter { request: place, lane: lane as u8, at, missing };
            self.fills.get_mut(fill).waiters.push(waiter);
        }
        self.send_fetches(now);
    }

    /// A fetch that brings the block: one under way, or one that the request at hand begins.
    fn fill_for(&mut self, block: Block) -> FillId {
        let (line, _) = self.lines.place(block);
        let bytes = self.lines.extent(block);
        let space = block.space();
        if let Some(fill) = self.fills.bringing(space, line, bytes) {
            self.statistics.joined += u64::from(!self.begun.contains(&fill));
            return fill;
        }
        let begun = self.begun.iter().copied().find(|fill| {
            let begun = self.fills.get_mut(*fill);
            (begun.space, begun.line) == (space, line)
        });
        let fill = begun.unwrap_or_else(|| {
            let fill = self.fills.begin(space, line);
            self.begun.push(fill);
            fill
        });
        self.fills.get_mut(fill).bytes |= bytes;
        fill
    }

    /// Sends the fetches that the request at hand has begun.
    fn send_fetches(&mut self, now: Cycle) {
        for at in 0..self.begun.len() {
            let id = self.begun[at];
            let fill = self.fills.get_mut(id);
            let (space, line, bytes) = (fill.space, fill.line, fill.bytes);
            self.statistics.fetches += 1;
            self.statistics.fetched_bytes += u64::from(bytes.count());
            let token = self.insert_below(Below::Fetch(id));
            let (cause, tray) = (self.cause, self.trays.take());
            let access = LaneAccess { token, cause, line, bytes, writes: false, tray };
            self.send(space, LaneItem::Access(access), now);
        }
        self.begun.clear();
    }

    fn insert_below(&mut self, below: Below) -> u32 {
        self.below.insert(below).unwrap_or_else(|_| panic!("there is an entry for every tray"))
    }

    /// Takes a store. Returns the request if a lane has no line for its block.
    fn store(&mut self, request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>> {
        let Some((frames, absent)) = self.frames(&request) else { return Err(request) };
        let (space, cta, width) = (request.space, request.cta, usize::from(request.width));
        let statistics = &mut self.statistics;
        let count = u64::from(request.lanes.count_ones());
        statistics.tag_reads += count;
        statistics.data_writes += count;
        *match space {
            LaneSpace::Global => &mut statistics.global_stores,
            LaneSpace::Shared => &mut statistics.shared_stores,
        } += count;
        statistics.store_misses += u64::from(absent.count_ones());
        statistics.store_hits += u64::from((request.lanes & !absent).count_ones());
        self.replace(&frames, absent, now);
        for lane in lanes_of(request.lanes) {
            let (frame, address) = (frames[lane], request.addresses[lane]);
            let offset = self.lines.offset(address);
            if absent >> lane & 1 == 1 {
                self.lines.begin_write(frame, self.lines.block(space, address), cta);
            } else {
                self.lines.used(frame);
            }
            let mut bytes = [0; 32];
            for (word, to) in bytes.chunks_exact_mut(4).enumerate().take(width.div_ceil(4)) {
                to.copy_from_slice(&request.words[word].0[lane].to_le_bytes());
            }
            self.lines.write(frame, offset, halves(width, offset), &bytes[..width]);
        }
        self.finish(LaneDone::Request(request), now);
        Ok(())
    }

    /// Lets a request go past the caches. Lines of its lanes that hold its bytes are evicted first.
    fn pass(&mut self, request: Box<LaneRequest>, now: Cycle) {
        let space = request.space;
        self.statistics.bypasses += u64::from(request.lanes.count_ones());
        if self.caches[space as usize] {
            let of_all = request.action == LaneAction::Collective;
            for lane in lanes_of(request.lanes) {
                let block = self.lines.block(space, request.addresses[lane]);
                self.fills.close(space, self.lines.place(block).0);
                let holders = if of_all { 0..WARP_LANES } else { lane..lane + 1 };
                for holder in holders {
                    self.statistics.tag_reads += 1;
                    if let Some(frame) = self.lines.find(holder, block) {
                        self.leave(frame);
                    }
                }
            }
            self.write_back(now);
        }
        self.send(space, LaneItem::Pass(request), now);
    }

    /// Empties a line, which is written back with the others of [`TinyCache::write_back`] if it has to be.
    fn leave(&mut self, frame: Frame) {
        if self.lines.is_dirty(frame) {
            if !self.leaving.contains(&frame) {
                self.statistics.flushed += 1;
                self.leaving.push(frame);
            }
        } else {
            self.statistics.dropped += 1;
            self.lines.drop_line(frame);
        }
    }

    /// Writes the lines that leave back, those of one line of memory together. Where lanes have written the same
    /// half-word, the highest lane's stays.
    fn write_back(&mut self, now: Cycle) {
        while let Some(first) = self.leaving.first().copied() {
            let block = self.lines.held(first);
            let (space, (line, _)) = (block.space(), self.lines.place(block));
            self.fills.close(space, line);
            let (mut tray, mut bytes) = (self.trays.take(), ByteMask::NONE);
            let (lines, statistics) = (&mut self.lines, &mut self.statistics);
            self.leaving.retain(|frame| {
                let other = lines.held(*frame);
                let stays = other.space() != space || lines.place(other).0 != line;
                if !stays {
                    let dirty = lines.evict(*frame, &mut tray);
                    statistics.half_words += u64::from(dirty.count() / 2);
                    statistics.data_reads += 1;
                    statistics.send_block(space);
                    bytes |= dirty;
                }
                stays
            });
            statistics.write_backs += 1;
            let number = self.order.begin();
            let token = self.insert_below(Below::WriteBack(number));
            let access = LaneAccess { token, cause: self.cause, line, bytes, writes: true, tray };
            self.send(space, LaneItem::Access(access), now);
        }
    }

    fn send(&mut self, space: LaneSpace, item: LaneItem, now: Cycle) {
        let queue = &mut self.outgoing[space as usize];
        queue
            .push(now + self.latency, item)
            .unwrap_or_else(|_| panic!("a request is taken while there is room"));
    }

    fn finish(&mut self, done: LaneDone, now: Cycle) {
        self.done.push(now + self.latency, done).unwrap_or_else(|_| panic!("the queue grows"));
    }

    /// Whether an event evicts a line.
    fn evicts(&self, event: LaneEvent, frame: Frame) -> bool {
        match event {
            LaneEvent::Barrier { cta } => {
                let is_shared = self.lines.held(frame).space() == LaneSpace::Shared;
                self.barrier == BarrierEvicts::All || !is_shared || self.lines.cta_of(frame) == cta
            }
            LaneEvent::Fence { .. } | LaneEvent::CtaEnd { .. } => true,
        }
    }

    /// Drops the lines that an event evicts and that need not be written back.
    fn drop_clean(&mut self, event: LaneEvent) {
        self.fills.close_all();
        for lane in lanes_of(lanes(event)) {
            for frame in self.lines.present_in(lane) {
                let is_dead = match event {
                    LaneEvent::CtaEnd { cta } => {
                        self.lines.held(frame).space() == LaneSpace::Shared && self.lines.cta_of(frame) == cta
                    }
                    LaneEvent::Barrier { .. } | LaneEvent::Fence { .. } => false,
                };
                if is_dead || !self.lines.is_dirty(frame) && self.evicts(event, frame) {
                    self.statistics.dropped += 1;
                    self.lines.drop_line(frame);
                }
            }
        }
    }

    /// Writes back one line of memory of those that the event under way evicts. Ends the event when none is left.
    fn step_flush(&mut self, now: Cycle) {
        let Some((event, token)) = self.flush else { return };
        let mut first = None;
        for lane in lanes_of(lanes(event)) {
            for frame in self.lines.dirty_in(lane) {
                if !self.evicts(event, frame) {
                    continue;
                }
                let block = self.lines.held(frame);
                let place = (block.space(), self.lines.place(block).0);
                if *first.get_or_insert(place) == place {
                    self.leave(frame);
                }
            }
        }
        if first.is_some() {
            self.write_back(now);
            return;
        }
        self.flush = None;
        self.order.event(token);
        self.report_events(now);
    }

    fn report_events(&mut self, now: Cycle) {
        while let Some(token) = self.order.completed() {
            self.finish(LaneDone::Event(token), now);
        }
    }

    /// Gives the loads and lines that waited for a fetch their bytes.
    fn arrive(&mut self, id: FillId, tray: &Tray, now: Cycle) {
        let fill = self.fills.end(id);
        for frame in &fill.frames {
            let filled = u64::from(self.lines.fill(*frame, id, tray));
            self.statistics.fills += filled;
            self.statistics.filled_bytes += filled * self.lines.block_bytes() as u64;
        }
        for waiter in &fill.waiters {
            let load = self.loads.get_mut(waiter.request);
            let (width, at) = (usize::from(load.request.width), usize::from(waiter.at));
            if width == 1 {
                put(&mut load.request, usize::from(waiter.lane), 0, &tray.0[at..at + 1]);
            } else {
                for half in (0..width / 2).filter(|half| waiter.missing >> half & 1 == 1) {
                    let from = at + 2 * half;
                    put(&mut load.request, usize::from(waiter.lane), 2 * half, &tray.0[from..from + 2]);
                }
            }
            load.open -= 1;
            if load.open == 0 {
                let Load { request, .. } = self.loads.remove(waiter.request);
                self.finish(LaneDone::Request(request), now);
            }
        }
        self.fills.put(fill);
    }
}

impl LanePath for TinyCache {
    fn offer(&mut self, request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>> {
        if !self.has_room() {
            self.statistics.refusals += 1;
            return Err(request);
        }
        self.cause = request.cause;
        let is_cached = self.caches[request.space as usize];
        let taken = match request.action {
            LaneAction::Load if is_cached => self.load(request, now),
            LaneAction::Store if is_cached && request.width > 1 => self.store(request, now),
            _ => {
                self.pass(request, now);
                Ok(())
            }
        };
        self.statistics.refusals += u64::from(taken.is_err());
        taken
    }

    fn order(&mut self, event: LaneEvent, token: u32, now: Cycle) -> bool {
        if !self.has_room() {
            self.statistics.refusals += 1;
            return false;
        }
        self.statistics.events += 1;
        self.cause = LaneCause::default();
        self.drop_clean(event);
        self.flush = Some((event, token));
        self.step_flush(now);
        true
    }

    fn tick(&mut self, now: Cycle) {
        if self.outgoing.iter().all(|items| items.len() <= WAITING) {
            self.step_flush(now);
        }
    }

    fn outgoing(&mut self, space: LaneSpace, now: Cycle) -> Option<LaneItem> {
        self.outgoing[space as usize].pop(now)
    }

    fn accept(&mut self, token: u32, tray: Tray, now: Cycle) {
        match self.below.remove(token) {
            Below::Fetch(fill) => self.arrive(fill, &tray, now),
            Below::WriteBack(number) => {
                self.order.performed(number);
                self.report_events(now);
            }
        }
        self.trays.put(tray);
    }

    fn completed(&mut self, now: Cycle) -> Option<LaneDone> {
        self.done.pop(now)
    }

    fn is_idle(&self) -> bool {
        self.below.is_empty()
            && self.loads.is_empty()
            && self.flush.is_none()
            && self.order.is_idle()
            && self.done.is_empty()
            && self.outgoing.iter().all(DelayLine::is_empty)
            && self.lines.is_empty()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.flush.is_some() && self.outgoing.iter().all(|items| items.len() <= WAITING) {
            return now;
        }
        let [global, shared] = &self.outgoing;
        global.next_ready().min(shared.next_ready()).min(self.done.next_ready()).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        if !self.loads.is_empty() {
            let (loads, fetches) = (self.loads.len(), self.fills.len());
            report.push(format!("tinyCaches: {loads} loads wait for {fetches} fetches"));
        }
        if let Some((event, _)) = self.flush {
            report.push(format!("tinyCaches: {event:?} is writing lines back"));
        }
        if self.order.waiting() > 0 {
            report.push(format!("tinyCaches: {} events wait for write-backs", self.order.waiting()));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
