//! Memory instructions in flight.

use strata_engine::Cycle;
use strata_memory::doors::Policy;
use strata_memory::{ByteMask, LineAddress};
use strata_ptx::exec::memory::Image;
use strata_ptx::isa::{self, Pc, Ty};
use strata_ptx::lanes::{LaneMask, WARP_LANES};

use super::coalesce::{self, Group, Shape};
use super::instruction::MemoryInstruction;
use super::words::Piece;

/// What an instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads, modifies and writes.
    Atomic {
        /// The operation.
        op: isa::AtomicOp,
        /// Whether the old values are wanted (`atom`, not `red`).
        returns: bool,
    },
    /// Fetches from a texture, or asks about one.
    Texture,
    /// Reads the rows of matrices.
    LoadMatrix(isa::MatrixAccess),
    /// Reads, and writes shared memory with it; nobody's registers wait.
    Copy,
    /// Works on barriers in shared memory.
    Mbarrier(isa::MbarrierOp),
    /// Arrives at barriers in shared memory, after the copies issued before it.
    CopyArrive,
}

impl Operation {
    /// Whether there is more to do at its end than to hand rows over.
    #[inline]
    pub fn is_collective(self) -> bool {
        matches!(
            self,
            Operation::LoadMatrix(_) | Operation::Copy | Operation::Mbarrier(_) | Operation::CopyArrive
        )
    }
}

/// Where an operation of two steps stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A copy loads; an arrival waits for copies.
    First,
    /// In shared memory's queue.
    Last,
    /// Performed.
    Done,
}

/// Where the second operands of an atomic (`cas`) lie among an entry's words.
pub const SECOND_OPERAND: usize = 2;

/// A memory instruction in flight. Large, and never moved.
#[derive(Clone, Debug)]
pub struct Entry {
    /// By lane: device address, or place in the scratchpad. Inactive lanes hold an active lane's.
    pub addresses: [u64; WARP_LANES],
    /// Words to be stored, operands of an atomic, or words loaded so far; at the end the destinations' rows.
    pub image: Image,
    /// What it does.
    pub operation: Operation,
    /// Type of an element.
    pub ty: Ty,
    /// Elements a lane.
    pub vector: u8,
    /// Bytes a lane.
    pub width: u8,
    /// Warp slot.
    pub warp: u8,
    /// Where the instruction stands.
    pub pc: Pc,
    /// Its line in the PTX text.
    pub line: u32,
    /// Rows that its destinations take.
    pub result_rows: u8,
    /// Active lanes.
    pub lanes: LaneMask,
    /// How the L1D is used.
    pub policy: Policy,
    /// When it was issued.
    pub issued: Cycle,
    /// Lanes in global memory whose access is still to be made.
    pub global: LaneMask,
    /// Lanes in local memory.
    pub local: LaneMask,
    /// Lanes in local memory whose access for word `local_word` is still to be made.
    pub local_left: LaneMask,
    /// The word of local memory at which accesses are made: each lies in a line of its own.
    pub local_word: u8,
    /// Lanes in shared memory.
    pub shared: LaneMask,
    /// Lanes in constant or parameter memory whose access is still to be made.
    pub constant: LaneMask,
    /// How the addresses lie to each other; [`Shape::Any`] when the lanes are in several spaces.
    pub shape: Shape,
    /// Accesses under way, and one for each space in which some are still to be made.
    pub open: u16,
    /// Of a copy: the group of its warp that it belongs to.
    pub group: u64,
    /// Of a copy or an arrival: its number in the order of issue.
    pub order: u64,
    /// Of a copy or an arrival: how far it is.
    pub stage: Stage,
}

impl Entry {
    const EMPTY: Entry = Entry {
        addresses: [0; WARP_LANES],
        image: Image::ZERO,
        operation: Operation::Load,
        ty: Ty::U32,
        vector: 1,
        width: 4,
        warp: 0,
        pc: 0,
        line: 0,
        result_rows: 0,
        lanes: 0,
        policy: Policy::Cached,
        issued: Cycle::ZERO,
        global: 0,
        local: 0,
        local_left: 0,
        local_word: 0,
        shared: 0,
        constant: 0,
        shape: Shape::Any,
        open: 0,
        group: 0,
        order: 0,
        stage: Stage::First,
    };

    /// Takes over which instruction it is, and what goes into registers at its end.
    #[inline]
    pub fn begin(&mut self, memory: &MemoryInstruction<'_>) {
        let instruction = memory.instruction;
        (self.warp, self.pc, self.line) = (memory.warp, memory.pc, instruction.line);
        self.result_rows = instruction.results * instruction.result_rows;
    }

    /// Whether accesses for the L1D are still to be made.
    #[inline]
    pub fn has_device_lanes(&self) -> bool {
        self.global | self.local_left != 0
    }

    /// Takes the next access for the L1D; call while [`Entry::has_device_lanes`].
    #[inline]
    pub fn next_device_group(&mut self, segment_bytes: usize) -> (Group, Piece) {
        if self.global != 0 {
            let group = self.group(self.global, self.width, segment_bytes);
            self.global &= !group.lanes;
            return (group, Piece { lanes: group.lanes, first: 0, width: self.width, shape: self.shape });
        }
        let width = self.width.min(4);
        let mut group = self.group(self.local_left, width, segment_bytes);
        group.line = LineAddress(group.line.0 + u64::from(self.local_word));
        let piece = Piece { lanes: group.lanes, first: self.local_word, width, shape: self.shape };
        self.local_left &= !group.lanes;
        if self.local_left == 0 && 4 * (self.local_word + 1) < self.width {
            self.local_word += 1;
            self.local_left = self.local;
        }
        (group, piece)
    }

    /// Takes the next line of constant memory; call while `constant` is not empty.
    #[inline]
    pub fn next_constant_line(&mut self) -> (LineAddress, Piece) {
        let group = self.group(self.constant, self.width, strata_memory::LINE_BYTES);
        self.constant &= !group.lanes;
        let piece = Piece { lanes: group.lanes, first: 0, width: self.width, shape: self.shape };
        (group.line, piece)
    }

    #[inline]
    fn group(&self, left: LaneMask, width: u8, segment_bytes: usize) -> Group {
        let width = usize::from(width);
        let group = match self.shape {
            Shape::Consecutive => coalesce::next_of_consecutive(&self.addresses, left, width, segment_bytes),
            Shape::Uniform => coalesce::uniform_group(self.addresses[0], left, width),
            Shape::Any => coalesce::next_group(&self.addresses, left, width, segment_bytes),
        };
        debug_assert!(group.bytes != ByteMask::NONE, "a group has the lane that named it");
        group
    }
}

/// Where an instruction stands in a [`Table`].
pub type Place = u16;

/// Every memory instruction in flight, in places that are used again, the lowest first. Nothing in a machine counts
/// these: what bounds them is the accesses that they wait for. Entries are made when first used.
#[derive(Clone, Debug)]
pub struct Table {
    entries: Vec<Entry>,
    /// Bit n of word w: place 64 w + n is free.
    free: Vec<u64>,
    /// The lowest free place; `capacity` when there is none.
    next: usize,
    len: usize,
    capacity: usize,
}

impl Table {
    /// An empty table for so many instructions, at most 65,536.
    pub fn new(capacity: usize) -> Table {
        let entries = Vec::with_capacity(capacity);
        Table { entries, free: vec![u64::MAX; capacity.div_ceil(64)], next: 0, len: 0, capacity }
    }

    /// Whether a place is free.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.next < self.capacity
    }

    /// Instructions in flight.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The place that [`Table::claim`] would take.
    #[inline]
    pub fn vacant(&mut self) -> &mut Entry {
        if self.next == self.entries.len() {
            self.entries.push(Entry::EMPTY);
        }
        &mut self.entries[self.next]
    }

    /// Its number.
    #[inline]
    pub fn next_place(&self) -> Place {
        self.next as Place
    }

    /// Takes the lowest free place, which [`Table::vacant`] has shown.
    #[inline]
    pub fn claim(&mut self) -> Place {
        let place = self.next;
        self.free[place / 64] &= !(1 << (place % 64));
        self.len += 1;
        let mut word = place / 64;
        while word < self.free.len() && self.free[word] == 0 {
            word += 1;
        }
        let bits = self.free.get(word).map_or(0, |free| free.trailing_zeros() as usize);
        self.next = (64 * word + bits).min(self.capacity);
        place as Place
    }

    /// Frees a place; its contents stay until it is claimed again.
    #[inline]
    pub fn release(&mut self, place: Place) {
        let place = usize::from(place);
        debug_assert!(self.free[place / 64] >> (place % 64) & 1 == 0, "an instruction leaves once");
        self.free[place / 64] |= 1 << (place % 64);
        self.next = self.next.min(place);
        self.len -= 1;
    }

    /// The instruction at a place.
    #[inline]
    pub fn get(&self, place: Place) -> &Entry {
        &self.entries[usize::from(place)]
    }

    /// The instruction at a place, to change it.
    #[inline]
    pub fn get_mut(&mut self, place: Place) -> &mut Entry {
        &mut self.entries[usize::from(place)]
    }

    /// Instructions in flight, lowest place first.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        let is_used = |place: usize| self.free[place / 64] >> (place % 64) & 1 == 0;
        self.entries.iter().enumerate().filter(move |(place, _)| is_used(*place)).map(|(_, entry)| entry)
    }
}
