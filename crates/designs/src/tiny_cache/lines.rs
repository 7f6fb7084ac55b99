//! The lanes' lines: tags, states, control bits and bytes.

use strata_engine::seed::Stream;
use strata_memory::bits::members;
use strata_memory::doors::LaneSpace;
use strata_memory::replacement::{self, Shape, Victims};
use strata_memory::{ByteMask, LINE_BYTES, Line, LineAddress, Touch};
use strata_warp::WARP_LANES;

use super::protocol::{Action, Event, State, transition};

/// Most lines of a lane: sets of them are masks of 64 bits.
pub const MOST_LINES: usize = 64;

/// The block that a line holds: its number in its space, with the space in the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block(u64);

impl Block {
    /// No address has this block.
    const NONE: Block = Block(u64::MAX);

    /// The space in which the block lies.
    pub fn space(self) -> LaneSpace {
        if self.0 & 1 == 0 { LaneSpace::Global } else { LaneSpace::Shared }
    }
}

/// A lane's line: the lane times its number of lines, plus set and way.
pub type Frame = u32;

/// Names a fetch under way.
pub type FillId = u32;

/// What is known of a line besides its block and its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    state: State,
    /// One bit a half-word; its meaning depends on the state.
    bits: u64,
    /// The fetch that brings the block. Until then only half-words with a set control bit are valid, if the line has
    /// been written, and none otherwise.
    fill: Option<FillId>,
    /// CTA that brought the block, for blocks of shared memory.
    cta: u8,
}

/// All lines of all lanes.
pub struct Lines {
    ways: usize,
    sets: usize,
    block_bytes: usize,
    block_shift: u32,
    blocks: Vec<Block>,
    controls: Vec<Control>,
    bytes: Vec<u8>,
    victims: Victims,
    /// By lane: its lines that hold a block,
    present: [u64; WARP_LANES],
    /// those that have dirty half-words,
    dirty: [u64; WARP_LANES],
    /// and those whose block is on its way.
    filling: [u64; WARP_LANES],
}

impl Lines {
    /// Empty lines of `block_bytes` bytes: `sets` sets of `ways` for each lane, all powers of two.
    pub fn new(sets: usize, ways: usize, block_bytes: usize, stream: Stream) -> Lines {
        let count = WARP_LANES * sets * ways;
        assert!(sets * ways <= MOST_LINES && block_bytes <= LINE_BYTES, "the parameters are checked");
        Lines {
            ways,
            sets,
            block_bytes,
            block_shift: block_bytes.trailing_zeros(),
            blocks: vec![Block::NONE; count],
            controls: vec![Control::default(); count],
            bytes: vec![0; count * block_bytes],
            victims: Victims::new(&replacement::lru(), Shape { sets: WARP_LANES * sets, ways, stream }),
            present: [0; WARP_LANES],
            dirty: [0; WARP_LANES],
            filling: [0; WARP_LANES],
        }
    }

    /// Lines of one lane.
    fn per_lane(&self) -> usize {
        self.sets * self.ways
    }

    /// The block of an address.
    #[inline]
    pub fn block(&self, space: LaneSpace, address: u64) -> Block {
        Block(address >> self.block_shift << 1 | space as u64)
    }

    /// The line of memory in which a block lies, and the block's first byte there.
    #[inline]
    pub fn place(&self, block: Block) -> (LineAddress, usize) {
        let address = block.0 >> 1 << self.block_shift;
        (LineAddress(address / LINE_BYTES as u64), address as usize % LINE_BYTES)
    }

    /// Bytes of a block.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Offset of an address in its block.
    #[inline]
    pub fn offset(&self, address: u64) -> usize {
        address as usize & (self.block_bytes - 1)
    }

    /// The bytes of a block in its line of memory.
    pub fn extent(&self, block: Block) -> ByteMask {
        ByteMask::range(self.place(block).1, self.block_bytes)
    }

    /// First frame of the set in which a lane keeps a block.
    #[inline]
    fn first(&self, lane: usize, block: Block) -> usize {
        (lane * self.sets + (block.0 >> 1) as usize % self.sets) * self.ways
    }

    /// A lane's line with the block, or waiting for it.
    #[inline]
    pub fn find(&self, lane: usize, block: Block) -> Option<Frame> {
        let first = self.first(lane, block);
        let way = self.blocks[first..first + self.ways].iter().position(|held| *held == block)?;
        Some((first + way) as Frame)
    }

    /// The line of a lane that a block would take: an empty one, or the one used longest ago; `None` while every way
    /// waits for its block.
    #[inline]
    pub fn victim(&mut self, lane: usize, block: Block) -> Option<Frame> {
        let first = self.first(lane, block);
        let from = first - lane * self.per_lane();
        let ways = u64::MAX >> (64 - self.ways);
        let empty = !(self.present[lane] >> from) & ways;
        if empty != 0 {
            return Some((first + empty.trailing_zeros() as usize) as Frame);
        }
        let settled = !(self.filling[lane] >> from) & ways;
        (settled != 0).then(|| (first + self.victims.victim(first / self.ways, settled)) as Frame)
    }

    /// A read finds its half-words valid.
    #[inline]
    pub fn hit(&mut self, frame: Frame) {
        let action = self.change(frame, Event::ReadHit);
        debug_assert_eq!(action, Action::None);
    }

    /// Notes a use of a line.
    #[inline]
    pub fn used(&mut self, frame: Frame) {
        self.victims.used(frame as usize, &Touch::default());
    }

    /// The lane of a line, and the line's bit in the lane's masks.
    #[inline]
    fn lane_of(&self, frame: Frame) -> (usize, u64) {
        let lane = frame as usize / self.per_lane();
        (lane % WARP_LANES, 1 << (frame as usize % self.per_lane()))
    }

    /// The block that a line holds.
    pub fn held(&self, frame: Frame) -> Block {
        self.blocks[frame as usize]
    }

    /// Whether a line holds a block.
    pub fn holds_any(&self, frame: Frame) -> bool {
        self.blocks[frame as usize] != Block::NONE
    }

    /// The half-words of a line that can be read.
    #[inline]
    pub fn valid(&self, frame: Frame) -> u64 {
        let Control { state, bits, fill, .. } = self.controls[frame as usize];
        match (state, fill) {
            (State::Invalid, _) | (State::Clean, Some(_)) => 0,
            (State::PartlyValid, _) | (State::Dirty, Some(_)) => bits,
            (State::Clean | State::Dirty, None) => self.all(),
        }
    }

    /// The half-words of a line that the memory below lacks.
    #[inline]
    fn dirty(&self, frame: Frame) -> u64 {
        let Control { state, bits, .. } = self.controls[frame as usize];
        if matches!(state, State::Dirty | State::PartlyValid) { bits } else { 0 }
    }

    /// The control bits of all half-words of a line.
    #[inline]
    fn all(&self) -> u64 {
        u64::MAX >> (64 - self.block_bytes / 2)
    }

    /// Takes a line through an arrow of Fig. 3.
    #[inline]
    fn change(&mut self, frame: Frame, event: Event) -> Action {
        let state = &mut self.controls[frame as usize].state;
        let (next, action) = transition(*state, event).expect("the event happens in this state");
        *state = next;
        action
    }

    /// A block takes an empty line for a read, and waits for its bytes.
    pub fn begin_read(&mut self, frame: Frame, block: Block, cta: u8, fill: FillId) {
        let action = self.change(frame, Event::ReadMiss);
        debug_assert_eq!(action, Action::Fetch);
        self.install(frame, block, cta);
        self.await_fill(frame, fill);
    }

    /// A read finds half-words of a line invalid, and the line waits for its block.
    pub fn complete_read(&mut self, frame: Frame, fill: FillId) {
        let action = self.change(frame, Event::ReadInvalid);
        debug_assert_eq!(action, Action::FetchAndMerge);
        self.await_fill(frame, fill);
    }

    fn install(&mut self, frame: Frame, block: Block, cta: u8) {
        let (lane, bit) = self.lane_of(frame);
        self.blocks[frame as usize] = block;
        let control = &mut self.controls[frame as usize];
        (control.bits, control.cta) = (0, cta);
        self.present[lane] |= bit;
        self.victims.filled(frame as usize, &Touch::default());
    }

    fn await_fill(&mut self, frame: Frame, fill: FillId) {
        let (lane, bit) = self.lane_of(frame);
        self.controls[frame as usize].fill = Some(fill);
        self.filling[lane] |= bit;
    }

    /// The fetch that a line waits for.
    #[inline]
    pub fn fill_of(&self, frame: Frame) -> Option<FillId> {
        self.controls[frame as usize].fill
    }

    /// Merges the bytes of a block that has arrived, unless the line has stopped waiting for this fetch.
    pub fn fill(&mut self, frame: Frame, fill: FillId, line: &Line) -> bool {
        if self.controls[frame as usize].fill != Some(fill) {
            return false;
        }
        let at = self.place(self.blocks[frame as usize]).1;
        let Control { state, bits, .. } = self.controls[frame as usize];
        let kept = if state == State::Clean { 0 } else { bits };
        let from = &line.0[at..at + self.block_bytes];
        let to = &mut self.bytes[frame as usize * self.block_bytes..][..self.block_bytes];
        if kept == 0 {
            to.copy_from_slice(from);
        } else {
            for half in members(!kept & u64::MAX >> (64 - self.block_bytes / 2)) {
                to[2 * half..2 * half + 2].copy_from_slice(&from[2 * half..2 * half + 2]);
            }
        }
        self.stop_waiting(frame);
        true
    }

    fn stop_waiting(&mut self, frame: Frame) {
        let (lane, bit) = self.lane_of(frame);
        self.controls[frame as usize].fill = None;
        self.filling[lane] &= !bit;
    }

    /// A block takes an empty line for a write; [`Lines::write`] follows.
    pub fn begin_write(&mut self, frame: Frame, block: Block, cta: u8) {
        let action = self.change(frame, Event::WriteMiss);
        debug_assert_eq!(action, Action::Begin);
        self.install(frame, block, cta);
    }

    /// Writes bytes of a line, whose half-words `bits` become dirty.
    #[inline]
    pub fn write(&mut self, frame: Frame, offset: usize, bits: u64, bytes: &[u8]) {
        let all = self.all();
        let control = &mut self.controls[frame as usize];
        let event = match control.state {
            State::PartlyValid if control.bits | bits == all => Event::WriteLast,
            _ => Event::WriteHit,
        };
        let (next, action) = transition(control.state, event).expect("a line that is written is there");
        control.state = next;
        control.bits = if action == Action::Begin { bits } else { control.bits | bits };
        let (lane, bit) = self.lane_of(frame);
        self.dirty[lane] |= bit;
        let at = frame as usize * self.block_bytes + offset;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Bytes of a line.
    #[inline]
    pub fn read(&self, frame: Frame, offset: usize, length: usize) -> &[u8] {
        &self.bytes[frame as usize * self.block_bytes + offset..][..length]
    }

    /// Empties a line. Its dirty bytes are copied into their line of memory; returns which those are.
    pub fn evict(&mut self, frame: Frame, into: &mut Line) -> ByteMask {
        let dirty = self.dirty(frame);
        let at = self.place(self.blocks[frame as usize]).1;
        let from = &self.bytes[frame as usize * self.block_bytes..][..self.block_bytes];
        let to = &mut into.0[at..at + self.block_bytes];
        if dirty == self.all() {
            to.copy_from_slice(from);
        } else {
            for half in members(dirty) {
                to[2 * half..2 * half + 2].copy_from_slice(&from[2 * half..2 * half + 2]);
            }
        }
        self.drop_line(frame);
        ByteMask(doubled(dirty) << at)
    }

    /// Empties a line and forgets its bytes.
    pub fn drop_line(&mut self, frame: Frame) {
        self.change(frame, Event::Replace);
        self.stop_waiting(frame);
        let (lane, bit) = self.lane_of(frame);
        self.blocks[frame as usize] = Block::NONE;
        self.present[lane] &= !bit;
        self.dirty[lane] &= !bit;
    }

    /// Whether a line has half-words that the memory below lacks.
    #[inline]
    pub fn is_dirty(&self, frame: Frame) -> bool {
        let (lane, bit) = self.lane_of(frame);
        self.dirty[lane] & bit != 0
    }

    /// The lines of a lane that hold a block.
    pub fn present_in(&self, lane: usize) -> impl Iterator<Item = Frame> + use<> {
        let first = lane * self.per_lane();
        members(self.present[lane]).map(move |line| (first + line) as Frame)
    }

    /// The lines of a lane with dirty half-words.
    pub fn dirty_in(&self, lane: usize) -> impl Iterator<Item = Frame> + use<> {
        let first = lane * self.per_lane();
        members(self.dirty[lane]).map(move |line| (first + line) as Frame)
    }

    /// The CTA that brought a line's block.
    pub fn cta_of(&self, frame: Frame) -> u8 {
        self.controls[frame as usize].cta
    }

    /// Whether no lane holds a block.
    pub fn is_empty(&self) -> bool {
        self.present.iter().all(|lines| *lines == 0)
    }
}

/// Each bit twice: half-words as bytes.
fn doubled(halves: u64) -> u128 {
    let mut spread = u128::from(halves);
    for (shift, keep) in [
        (32, 0x0000_0000_ffff_ffff_0000_0000_ffff_ffff),
        (16, 0x0000_ffff_0000_ffff_0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff_00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333_3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555_5555_5555_5555_5555),
    ] {
        spread = (spread | spread << shift) & keep;
    }
    spread | spread << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_words_are_two_bytes() {
        assert_eq!(doubled(0), 0);
        assert_eq!(doubled(0b1011), 0b1100_1111);
        assert_eq!(doubled(1 << 63), 0b11 << 126);
        assert_eq!(doubled(u64::MAX), u128::MAX);
    }
}
