//! The warps of an SM in cache mode, written in Rust: each an LRU set of blocks that asks its row for work.

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::Group;
use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::{DramPort, Llc, SetPlace};
use strata_memory::window::{self, operation, result};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

use super::HELPER;
use crate::morpheus::Controller;

/// What the warps do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    None,
    /// A dirty victim is forgotten.
    VictimLost,
    /// The victim leaves after the result.
    VictimLate,
    /// Sets have a block more than the controller knows.
    OneWayMore,
    /// Sets in shared memory have.
    OneSharedWayMore,
    /// A write changes all bytes.
    WholeWrites,
    /// A read brings the block as it was before the last write.
    StaleRead,
    /// Every tenth insertion is lost, though the warp says that it is done.
    InsertionLost,
    /// Every atomic is done twice.
    AtomicTwice,
    /// Two warps take turns with each set.
    TwoWarps,
    /// Host copies do not reach the blocks of sets.
    HostCopyLost,
    /// A set that tells its depth tells one less.
    DepthTooSmall,
}

struct Block {
    line: LineAddress,
    is_dirty: bool,
    /// Whether it has left: its place among the others stays.
    is_gone: bool,
    data: Line,
}

/// What a warp waits for.
#[derive(Clone, Copy, Debug)]
enum State {
    Work,
    /// Which bytes a write changes, or the kind of an atomic.
    Details,
    Block,
    Payload,
}

struct Warp {
    blocks: VecDeque<Block>,
    /// Blocks of a second warp for the same set.
    of_the_other: VecDeque<Block>,
    state: State,
    operation: u32,
    line: LineAddress,
    details: Line,
    was_there: bool,
    stale: Line,
    late: Option<Packet>,
}

/// A controller and the warps behind it, as a slice without SMs in cache mode.
pub struct Helped {
    controller: Controller,
    warps: Vec<Warp>,
    ways: usize,
    /// Blocks of sets in shared memory.
    shared_ways: usize,
    /// Blocks of sets in an L1D.
    l1_ways: usize,
    bug: Bug,
    /// Whether warps have no atomics.
    refuses: bool,
    /// Whether sets in registers drive out any block, not the one used least recently, and tell how deep they are.
    tells_depth: bool,
    victims: Stream,
    slice: NodeId,
    insertions: u32,
    to_controller: DelayLine<Packet>,
    to_warps: DelayLine<Packet>,
    out: DelayLine<Packet>,
}

impl Helped {
    pub fn new(controller: Controller, slice: NodeId, (warps, ways): (u32, u32), bug: Bug) -> Helped {
        let warp = || Warp {
            blocks: VecDeque::new(),
            of_the_other: VecDeque::new(),
            state: State::Work,
            operation: 0,
            line: LineAddress(0),
            details: Line::ZERO,
            was_there: false,
            stale: Line::ZERO,
            late: None,
        };
        let mut helped = Helped {
            controller,
            warps: (0..warps).map(|_| warp()).collect(),
            ways: (ways + u32::from(bug == Bug::OneWayMore)) as usize,
            shared_ways: 0,
            l1_ways: 0,
            bug,
            refuses: false,
            tells_depth: false,
            victims: Stream::new(1, "victims"),
            slice,
            insertions: 0,
            to_controller: DelayLine::growing(1 << 20),
            to_warps: DelayLine::growing(1 << 20),
            out: DelayLine::growing(1 << 20),
        };
        for warp in 0..warps {
            helped.load(warp, window::line_of(warp.into(), 0), Cycle::ZERO);
        }
        helped
    }

    pub fn without_atomics(self) -> Helped {
        Helped { refuses: true, ..self }
    }

    /// With sets in shared memory and in an L1D of so many blocks, where the controller has them.
    pub fn with_others(self, shared_ways: u32, l1_ways: u32) -> Helped {
        Helped { shared_ways: shared_ways as usize, l1_ways: l1_ways as usize, ..self }
    }

    /// The blocks of a set, and whether it drives out any block and tells how deep it is.
    fn kind_of_set(&self, number: u32) -> (usize, bool) {
        match self.controller.sets.place(number) {
            SetPlace::Registers => (self.ways, self.tells_depth),
            SetPlace::SharedMemory => {
                (self.shared_ways + usize::from(self.bug == Bug::OneSharedWayMore), false)
            }
            SetPlace::L1d => (self.l1_ways, false),
        }
    }

    fn is_in_l1(&self, number: u32) -> bool {
        self.controller.sets.place(number) == SetPlace::L1d
    }

    /// Where an L1D has a line, since host copies ask it.
    fn in_l1(&self, line: LineAddress) -> Option<(usize, usize)> {
        let of_l1 = (0..self.warps.len()).filter(|number| self.is_in_l1(*number as u32));
        of_l1
            .filter_map(|number| {
                Some((number, self.warps[number].blocks.iter().position(|block| block.line == line)?))
            })
            .next()
    }

    /// As the sets of a kernel that compresses.
    pub fn compressed(self) -> Helped {
        Helped { tells_depth: true, ..self }
    }

    fn packet(&self, warp: u32, line: LineAddress, bytes: ByteMask, body: Body) -> Packet {
        let (source, destination) = (HELPER, self.slice);
        Packet::new(Contents {
            line,
            bytes,
            source,
            destination,
            client: Client::L1d,
            tag: warp,
            origin: Origin::default(),
            level: Level::default(),
            body,
        })
    }

    fn send(&mut self, packet: Packet, now: Cycle) {
        self.to_controller.push(now + 7, packet).expect("there is room");
    }

    fn load(&mut self, warp: u32, line: LineAddress, now: Cycle) {
        let packet = self.packet(warp, line, ByteMask::ALL, Body::Read(Box::new(Line([0xee; 128]))));
        self.send(packet, now);
    }

    fn store(&mut self, warp: u32, line: LineAddress, bytes: ByteMask, data: &Line, now: Cycle) {
        let packet = self.packet(warp, line, bytes, Body::Write(Box::new(data.clone())));
        self.send(packet, now);
    }

    /// A reply has come to a warp.
    fn receive(&mut self, packet: Contents, now: Cycle) {
        let number = packet.tag;
        let Body::ReadReply(data) = packet.body else { return };
        let warp = &mut self.warps[number as usize];
        match warp.state {
            State::Work => {
                let (operation, block) = window::asked(word(&data, 0));
                (warp.operation, warp.line) = (operation, LineAddress(block.into()));
                let within = match operation {
                    operation::WRITE => 2,
                    operation::ATOMIC => 3,
                    _ => return self.begin(number, now),
                };
                warp.state = State::Details;
                self.load(number, window::line_of(number.into(), within), now);
            }
            State::Details => {
                warp.details = *data;
                self.begin(number, now);
            }
            State::Block => {
                let line = warp.line;
                warp.blocks.push_back(Block { line, is_dirty: false, is_gone: false, data: *data });
                self.with_block(number, now);
            }
            State::Payload => self.with_payload(number, &data, now),
        }
    }

    fn begin(&mut self, number: u32, now: Cycle) {
        let ((ways, tells_depth), refuses) = (self.kind_of_set(number), self.refuses);
        let warp = &mut self.warps[number as usize];
        if self.bug == Bug::TwoWarps {
            std::mem::swap(&mut warp.blocks, &mut warp.of_the_other);
        }
        let (asked, line) = (warp.operation, warp.line);
        if asked == operation::ATOMIC && (refuses || !matches!(kind_of(&warp.details), 0 | 10)) {
            return self.end(number, result::REFUSED, now);
        }
        let place = warp.blocks.iter().position(|block| block.line == line && !block.is_gone);
        warp.was_there = place.is_some();
        if let Some(block) = place.and_then(|place| warp.blocks.remove(place)) {
            warp.blocks.push_back(block);
            return self.with_block(number, now);
        }
        if tells_depth {
            self.make_room(number, now);
        } else if warp.blocks.len() == ways
            && let Some(victim) = warp.blocks.pop_front()
        {
            self.drive_out(number, victim, now);
        }
        if matches!(asked, operation::INSERT | operation::INSERT_DIRTY) {
            let warp = &mut self.warps[number as usize];
            warp.blocks.push_back(Block { line, is_dirty: false, is_gone: false, data: Line::ZERO });
            return self.with_block(number, now);
        }
        self.warps[number as usize].state = State::Block;
        self.load(number, line, now);
    }

    /// A victim goes to memory if it is dirty.
    fn drive_out(&mut self, number: u32, victim: Block, now: Cycle) {
        if !victim.is_dirty {
            return;
        }
        let write = self.packet(number, victim.line, ByteMask::ALL, Body::Write(Box::new(victim.data)));
        match self.bug {
            Bug::VictimLost => {}
            Bug::VictimLate => self.warps[number as usize].late = Some(write),
            _ => self.send(write, now),
        }
    }

    /// Drives out any block of a full set, sometimes another, and one that would be four times as deep as there are ways.
    fn make_room(&mut self, number: u32, now: Cycle) {
        let blocks = &self.warps[number as usize].blocks;
        let held: Vec<usize> = (0..blocks.len()).filter(|place| !blocks[*place].is_gone).collect();
        let mut leave = if held.len() < self.ways { 0 } else { 1 };
        leave += usize::from(!held.is_empty() && self.victims.below(8) == 0);
        for _ in 0..leave.min(held.len()) {
            let place = held[self.victims.below(held.len() as u64) as usize];
            self.leave(number, place, now);
        }
        if self.warps[number as usize].blocks.len() == 4 * self.ways {
            self.leave(number, 0, now);
        }
        let blocks = &mut self.warps[number as usize].blocks;
        while blocks.front().is_some_and(|block| block.is_gone) {
            blocks.pop_front();
        }
    }

    /// The block at a place leaves, and its place stays.
    fn leave(&mut self, number: u32, place: usize, now: Cycle) {
        let block = &mut self.warps[number as usize].blocks[place];
        if !block.is_gone {
            let gone = Block { line: block.line, is_dirty: false, is_gone: true, data: Line::ZERO };
            let victim = std::mem::replace(block, gone);
            self.drive_out(number, victim, now);
        }
    }

    /// The block is the last of the warp's.
    fn with_block(&mut self, number: u32, now: Cycle) {
        let warp = &mut self.warps[number as usize];
        if warp.operation == operation::READ {
            let data = &warp.blocks.back().expect("the block is there").data;
            let data = if self.bug == Bug::StaleRead { warp.stale.clone() } else { data.clone() };
            self.store(number, window::line_of(number.into(), 1), ByteMask::ALL, &data, now);
            return self.end(number, self.result_of(number), now);
        }
        warp.state = State::Payload;
        self.load(number, window::line_of(number.into(), 1), now);
    }

    fn with_payload(&mut self, number: u32, payload: &Line, now: Cycle) {
        let bug = self.bug;
        let warp = &mut self.warps[number as usize];
        let (operation, details) = (warp.operation, warp.details.clone());
        let block = warp.blocks.back_mut().expect("the block is there");
        let before = block.data.clone();
        warp.stale = before.clone();
        match operation {
            operation::WRITE => {
                let enables = (0..128).map(|byte| u128::from(details.0[byte] & 1) << byte).sum();
                let bytes = if bug == Bug::WholeWrites { ByteMask::ALL } else { ByteMask(enables) };
                block.data.merge(bytes, payload);
                block.is_dirty = true;
            }
            operation::INSERT | operation::INSERT_DIRTY => {
                block.data = payload.clone();
                block.is_dirty |= operation == operation::INSERT_DIRTY;
                self.insertions += 1;
                if bug == Bug::InsertionLost && self.insertions.is_multiple_of(10) {
                    warp.blocks.pop_back();
                }
            }
            _ => {
                let kind = kind_of(&details);
                for at in (0..window::WORDS).filter(|at| word(&details, *at) >> 31 == 1) {
                    let old = if kind == 0 { word(&before, at) } else { 0 };
                    let times = if bug == Bug::AtomicTwice && kind == 0 { 2 } else { 1 };
                    let new = old.wrapping_add(word(payload, at).wrapping_mul(times));
                    block.data.0[4 * at..4 * at + 4].copy_from_slice(&new.to_le_bytes());
                }
                block.is_dirty = true;
                self.store(number, window::line_of(number.into(), 1), ByteMask::ALL, &before, now);
            }
        }
        self.end(number, self.result_of(number), now);
    }

    fn result_of(&self, number: u32) -> u32 {
        // An L1D does not say what it lacked.
        if self.warps[number as usize].was_there || self.is_in_l1(number) {
            result::HIT
        } else {
            result::MISSED
        }
    }

    fn end(&mut self, number: u32, result: u32, now: Cycle) {
        let mut line = Line::ZERO;
        let blocks = self.warps[number as usize].blocks.len() as u32;
        let depth = blocks.saturating_sub(u32::from(self.bug == Bug::DepthTooSmall));
        let result = if self.kind_of_set(number).1 { result | depth << 8 } else { result };
        line.0[4 * window::RESULT_WORD..][..4].copy_from_slice(&result.to_le_bytes());
        let bytes = ByteMask::range(4 * window::RESULT_WORD, 4);
        self.store(number, window::line_of(number.into(), 0), bytes, &line, now);
        if let Some(late) = self.warps[number as usize].late.take() {
            self.to_controller.push(now + 7, late).expect("there is room");
        }
        self.warps[number as usize].state = State::Work;
        self.load(number, window::line_of(number.into(), 0), now);
    }
}

/// A word of a line.
fn word(line: &Line, at: usize) -> u32 {
    u32::from_le_bytes(line.0[4 * at..4 * at + 4].try_into().expect("four bytes"))
}

/// The kind of an atomic.
fn kind_of(details: &Line) -> u32 {
    word(details, 0) & 0xff
}

impl Llc for Helped {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.controller.offer(request, now)
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while let Some(reply) = self.to_warps.pop(now) {
            self.receive(*reply, now);
        }
        while let Some(packet) = self.to_controller.pop(now) {
            self.controller.offer(packet, now).expect("a controller takes all of an SM in cache mode");
        }
        self.controller.tick(dram, now);
        while self.controller.next_outgoing() <= now {
            let reply = self.controller.outgoing(now).expect("it was announced");
            let line = if reply.destination == HELPER { &mut self.to_warps } else { &mut self.out };
            line.push(now + 5, reply).expect("there is room");
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.out.pop(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.out.front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.out.next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let messages = self.to_warps.next_ready().min(self.to_controller.next_ready());
        messages.min(self.controller.next_event(now)).min(self.controller.next_outgoing()).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        if let Some((warp, place)) = self.in_l1(line)
            && self.warps[warp].blocks[place].is_dirty
        {
            below.0 = self.warps[warp].blocks[place].data.0;
        }
        self.controller.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if self.bug == Bug::HostCopyLost {
            return;
        }
        if let Some((warp, place)) = self.in_l1(line) {
            self.warps[warp].blocks[place].data.merge(bytes, data);
        }
        self.controller.poke(line, bytes, data);
    }

    fn is_settled(&self) -> bool {
        self.controller.is_settled()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.controller.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.controller.statistics()
    }
}
