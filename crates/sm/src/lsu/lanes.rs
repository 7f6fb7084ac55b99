//! The stage between address generation and the paths of global and shared memory, in machines with a lane path.
//!
//! Instructions and events take their turn in the order in which warps issued them, one a cycle. The path serves what
//! it can, and sends the rest on: requests that go past it, and accesses of its own. Those of a space reach the L1D or
//! the scratchpad in the order in which the path sends them.

use strata_engine::statistics::Group;
use strata_engine::{Cycle, DelayLine, Slab};
use strata_memory::Tray;
use strata_memory::doors::{
    LaneAction, LaneCause, LaneDone, LaneEvent, LaneItem, LanePath, LaneRequest, LaneSpace,
};

use super::Lsu;
use super::entry::{Entry, Place};

/// Who waits for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// Nobody: only the order matters.
    Nobody,
    /// The fence of a warp.
    Fence(u8),
    /// The SM, by a number of its own.
    Sm(u32),
}

/// What waits for its turn.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Instruction(Place),
    Event(LaneEvent, Waiter),
}

/// The outcome of an instruction's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turned {
    /// The path refused its lanes.
    Refused,
    /// The path took its lanes in a space.
    Taken,
    /// None of its lanes concerns the path.
    Straight,
}

/// Most events in flight: a fence and a barrier of each warp, a barrier or end of each CTA.
const EVENTS: usize = 256;

/// Set in the token of a request for shared memory; the rest is the instruction's place.
const SHARED: u32 = 1 << 16;

/// A lane path and what waits for it.
pub struct Lanes {
    /// The path.
    pub path: Box<dyn LanePath>,
    turns: DelayLine<Turn>,
    /// The path has taken the global lanes of the instruction whose turn it is.
    took_global: bool,
    /// The path refused the turn, and has done nothing since.
    refused: bool,
    /// By token: who waits.
    waiters: Slab<Waiter>,
    /// Boxes of requests that are not under way.
    #[allow(clippy::vec_box, reason = "a request travels in its box")]
    spare: Vec<Box<LaneRequest>>,
    /// Events that are over, for the SM.
    over: Vec<u32>,
}

impl Lanes {
    /// An idle stage before `path`, for at most `turns` instructions and events.
    pub fn new(path: Box<dyn LanePath>, turns: usize) -> Lanes {
        Lanes {
            path,
            turns: DelayLine::growing(turns),
            took_global: false,
            refused: false,
            waiters: Slab::new(turns),
            spare: Vec::new(),
            over: Vec::new(),
        }
    }

    /// Queues an instruction, whose turn comes at `ready` or later.
    pub fn push(&mut self, place: Place, ready: Cycle) {
        self.turns.push(ready, Turn::Instruction(place)).unwrap_or_else(|_| panic!("the queue grows"));
    }

    /// Queues an event.
    pub fn order(&mut self, event: LaneEvent, waiter: Waiter, ready: Cycle) {
        self.turns.push(ready, Turn::Event(event, waiter)).unwrap_or_else(|_| panic!("the queue grows"));
    }

    /// Whether the first turn can be tried.
    #[inline]
    pub fn has_turn(&self, now: Cycle) -> bool {
        !self.refused && self.turns.next_ready() <= now
    }

    /// The instruction whose turn it is.
    pub fn instruction(&self, now: Cycle) -> Option<Place> {
        match self.turns.front(now) {
            Some(Turn::Instruction(place)) => Some(*place),
            _ => None,
        }
    }

    /// Offers the event whose turn it is.
    pub fn offer_event(&mut self, now: Cycle) {
        let Some(&Turn::Event(event, waiter)) = self.turns.front(now) else { return };
        let token = self.waiters.insert(waiter).unwrap_or_else(|_| panic!("there is room for every turn"));
        if self.path.order(event, token, now) {
            self.turns.pop(now);
        } else {
            self.waiters.remove(token);
            self.refused = true;
        }
    }

    /// Offers the next lanes of the instruction whose turn it is.
    fn offer(&mut self, place: Place, entry: &mut Entry, now: Cycle) -> Turned {
        let (space, lanes) = match (entry.global, entry.shared) {
            (0, 0) => {
                self.turns.pop(now);
                return Turned::Straight;
            }
            (global, _) if global != 0 && !self.took_global => (LaneSpace::Global, global),
            (_, shared) => (LaneSpace::Shared, shared),
        };
        // Local lanes go to the L1D with the global ones, in one order.
        let action = match entry.lane_action {
            LaneAction::Load | LaneAction::Store if space == LaneSpace::Global && entry.local != 0 => {
                LaneAction::Pass
            }
            action => action,
        };
        let mut request = self.spare.pop().unwrap_or_else(|| Box::new(LaneRequest::EMPTY));
        request.token = u32::from(place) | if space == LaneSpace::Shared { SHARED } else { 0 };
        request.cause = LaneCause { pc: entry.pc, warp: entry.warp };
        (request.cta, request.space, request.action) = (entry.cta, space, action);
        (request.lanes, request.width, request.addresses) = (lanes, entry.width, entry.addresses);
        let words = usize::from(entry.width).div_ceil(4);
        if action == LaneAction::Store {
            request.words[..words].copy_from_slice(&entry.image.words[..words]);
        }
        if let Err(request) = self.path.offer(request, now) {
            self.spare.push(request);
            self.refused = true;
            return Turned::Refused;
        }
        let is_last = space == LaneSpace::Shared || entry.shared == 0;
        self.took_global = !is_last;
        if is_last {
            self.turns.pop(now);
        }
        Turned::Taken
    }

    /// Whether nothing waits or is under way.
    pub fn is_idle(&self) -> bool {
        self.turns.is_empty() && self.path.is_idle()
    }

    /// Earliest cycle in which a turn can be tried or the path does something.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let turn = if self.refused { Cycle::NEVER } else { self.turns.next_ready() };
        turn.min(self.path.next_event(now))
    }
}

impl Lsu {
    /// Puts a lane path before the paths of global and shared memory.
    pub fn with_lane_path(mut self, path: Option<Box<dyn LanePath>>) -> Lsu {
        let turns = self.table.capacity() + EVENTS;
        self.lanes = path.map(|path| Box::new(Lanes::new(path, turns)));
        self.fences.evict(self.lanes.is_some());
        self
    }

    /// Whether there is a lane path, which has to know of barriers and of the ends of CTAs.
    #[inline]
    pub fn has_lane_path(&self) -> bool {
        self.lanes.is_some()
    }

    /// Whether there is a lane path, or a part behind the banks of shared memory.
    pub fn has_extras(&self) -> bool {
        self.lanes.is_some() || self.behind.is_some() || self.ledger.is_some()
    }

    /// The lane path's counters.
    pub fn lane_statistics(&self) -> Vec<Group> {
        self.lanes.as_ref().map_or_else(Vec::new, |lanes| lanes.path.statistics())
    }

    /// Tells the lane path of an event, in order with the memory instructions issued before and after. With a
    /// `number`, [`Lsu::event_over`] returns it when the path is done with the event.
    ///
    /// # Panics
    /// Without a lane path.
    pub fn order(&mut self, event: LaneEvent, number: Option<u32>, now: Cycle) {
        let waiter = number.map_or(Waiter::Nobody, Waiter::Sm);
        self.order_for(event, waiter, now);
    }

    pub(super) fn order_for(&mut self, event: LaneEvent, waiter: Waiter, now: Cycle) {
        let lanes = self.lanes.as_mut().expect("events are for lane paths");
        lanes.order(event, waiter, now + self.address_latency);
    }

    /// The number of an event that is over.
    pub fn event_over(&mut self) -> Option<u32> {
        self.lanes.as_mut()?.over.pop()
    }

    /// Lets an instruction go to the L1D, by the lane path if there is one.
    #[inline]
    pub(super) fn enter_device(&mut self, place: Place, ready: Cycle) {
        match &mut self.lanes {
            Some(lanes) => lanes.push(place, ready),
            None => self.device.push(place, ready),
        }
    }

    /// Lets an instruction go to shared memory, by the lane path if there is one.
    #[inline]
    pub(super) fn enter_shared(&mut self, place: Place, ready: Cycle) {
        match &mut self.lanes {
            Some(lanes) => lanes.push(place, ready),
            None => self.queue_for_shared(place, ready),
        }
    }

    /// Returns the tray of an access of the lane path's own.
    #[inline(never)]
    pub(super) fn return_tray(&mut self, token: u32, tray: Tray, now: Cycle) {
        let lanes = self.lanes.as_mut().expect("only a lane path has accesses of its own");
        lanes.path.accept(token, tray, now);
        lanes.refused = false;
    }

    /// Advances the lane path: takes what it has finished, hands on what it sends, and offers it the next turn.
    #[inline(never)]
    pub(super) fn step_lanes(&mut self, now: Cycle) {
        let Some(mut lanes) = self.lanes.take() else { return };
        if lanes.path.next_event(now) <= now {
            lanes.path.tick(now);
            lanes.refused = false;
        }
        while let Some(done) = lanes.path.completed(now) {
            match done {
                LaneDone::Request(request) => {
                    let place = self.finish_lanes(&mut lanes, request);
                    // What ends may have another turn: a fetch, whose next texels are a load of their own.
                    self.lanes = Some(lanes);
                    self.close(place, now);
                    lanes = self.lanes.take().expect("the lane path was put back");
                }
                LaneDone::Event(token) => match lanes.waiters.remove(token) {
                    Waiter::Nobody => {}
                    Waiter::Fence(warp) => self.fences.close(warp),
                    Waiter::Sm(number) => lanes.over.push(number),
                },
            }
        }
        for space in LaneSpace::ALL {
            while self.takes_more(space)
                && let Some(item) = lanes.path.outgoing(space, now)
            {
                lanes.refused = false;
                self.hand_on(&mut lanes, space, item, now);
            }
        }
        if lanes.has_turn(now) {
            self.take_turn(&mut lanes, now);
        }
        self.lanes = Some(lanes);
    }

    /// Whether the queue to a space's memory has room for what the lane path sends.
    fn takes_more(&self, space: LaneSpace) -> bool {
        let waiting = match space {
            LaneSpace::Global => self.device.waiting(),
            LaneSpace::Shared => self.scratchpad.waiting(),
        };
        waiting < self.queue as usize
    }

    /// Takes what the lanes that the path has served have loaded. Returns their instruction's place.
    fn finish_lanes(&mut self, lanes: &mut Lanes, request: Box<LaneRequest>) -> Place {
        let place = request.token as Place;
        let entry = self.table.get_mut(place);
        if request.space == LaneSpace::Global {
            entry.global = 0;
        }
        if request.action == LaneAction::Load {
            let words = usize::from(request.width).div_ceil(4);
            for (row, loaded) in entry.image.words.iter_mut().zip(&request.words).take(words) {
                row.merge(request.lanes, loaded);
            }
        }
        lanes.spare.push(request);
        place
    }

    /// Hands what the path sends to the memory of its space.
    fn hand_on(&mut self, lanes: &mut Lanes, space: LaneSpace, item: LaneItem, now: Cycle) {
        match (space, item) {
            (LaneSpace::Global, LaneItem::Pass(request)) => {
                self.device.push(request.token as Place, now);
                self.front += 1;
                lanes.spare.push(request);
            }
            (LaneSpace::Shared, LaneItem::Pass(request)) => {
                self.queue_for_shared(request.token as Place, now);
                self.front += 1;
                lanes.spare.push(request);
            }
            (LaneSpace::Global, LaneItem::Access(access)) => self.device.push_own(access, now),
            (LaneSpace::Shared, LaneItem::Access(access)) => {
                self.scratchpad.push_own(access, now);
                self.due = self.due.min(self.scratchpad.next_event());
            }
        }
    }

    fn take_turn(&mut self, lanes: &mut Lanes, now: Cycle) {
        let Some(place) = lanes.instruction(now) else { return lanes.offer_event(now) };
        let entry = self.table.get_mut(place);
        match lanes.offer(place, entry, now) {
            Turned::Straight => self.device.push(place, now),
            // What goes past comes back to the front.
            Turned::Taken => self.front -= 1,
            Turned::Refused => {}
        }
    }
}
