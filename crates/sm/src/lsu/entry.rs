//! The table of memory instructions in flight.

use strata_engine::Cycle;
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{Hint, HintLevel, LaneAction, Policy};
use strata_memory::{Address, ByteMask, LineAddress, Origin};
use strata_ptx::exec::memory::Image;
use strata_ptx::isa::{self, Pc, Ty};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::coalesce::{self, Group, Shape};
use super::instruction::MemoryInstruction;
use super::words::Piece;

/// What a memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Loads registers from memory.
    Load,
    /// Stores registers to memory.
    Store,
    /// Reads, modifies and writes memory.
    Atomic {
        /// The operation that computes the new value.
        op: isa::AtomicOp,
        /// Whether the old value goes to a register: true for `atom`, false for `red`.
        returns: bool,
    },
    /// Fetches texels, or queries a texture or surface.
    Texture,
    /// Loads matrix rows from shared memory (`ldmatrix`).
    LoadMatrix(isa::MatrixAccess),
    /// Copies global memory to shared memory (`cp.async`); no register waits for it.
    Copy,
    /// Operates on an mbarrier object in shared memory.
    Mbarrier(isa::MbarrierOp),
    /// Offers the L1D lines as hints, for a cache; nothing comes back.
    Prefetch(HintLevel),
    /// Maps or copies a tile of global memory.
    Tile,
    /// A bulk copy: its pieces are entries of their own.
    Bulk,
    /// Arrives on an mbarrier once the warp's earlier copies are complete (`cp.async.mbarrier.arrive`).
    CopyArrive,
}

impl Operation {
    /// Whether completing the operation takes more than writing back its rows.
    #[inline]
    pub fn is_collective(self) -> bool {
        matches!(
            self,
            Operation::LoadMatrix(_) | Operation::Copy | Operation::Mbarrier(_) | Operation::CopyArrive
        )
    }
}

/// Progress of a two-step operation (copies and their arrivals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A copy is loading; an arrival is waiting for earlier copies.
    First,
    /// Queued for shared memory.
    Last,
    /// The write to shared memory has been performed.
    Done,
}

/// Index in [`Entry::image`] of the second operand (the new value of `cas`) of an atomic of up to 64 bits.
pub const SECOND_OPERAND: usize = 2;

/// The same, of 128 bits.
pub const SECOND_WIDE_OPERAND: usize = 4;

/// A memory instruction in flight. Entries are large and stay in place for their whole life.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Per lane: a device address, or a byte offset into the scratchpad. Inactive lanes repeat an active lane's
    /// address.
    pub addresses: [u64; WARP_LANES],
    /// Store data, atomic operands, or the words loaded so far; at completion, the destination rows.
    pub image: Image,
    /// The kind of memory operation.
    pub operation: Operation,
    /// Type of the elements moved.
    pub ty: Ty,
    /// Number of elements per lane.
    pub vector: u8,
    /// Number of bytes per lane.
    pub width: u8,
    /// The warp slot that issued the instruction.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: Pc,
    /// Line of the instruction in the PTX text.
    pub line: u32,
    /// Number of register rows that the destinations occupy.
    pub result_rows: u8,
    /// Active lanes, with the guard applied.
    pub lanes: LaneMask,
    /// Whether the accesses use or bypass the L1D.
    pub policy: Policy,
    /// What the instruction asks of a lane path.
    pub lane_action: LaneAction,
    /// The warp's CTA slot.
    pub cta: u8,
    /// Cycle in which the instruction issued.
    pub issued: Cycle,
    /// Lanes in global memory whose access has yet to be generated.
    pub global: LaneMask,
    /// Lanes that access local memory.
    pub local: LaneMask,
    /// Lanes in local memory whose access for word `local_word` has yet to be generated; lanes of a prefetch in any memory, which
    /// no lane path has to know of.
    pub local_left: LaneMask,
    /// Word of local memory that accesses are being generated for. Each word lies in its own line.
    pub local_word: u8,
    /// Lanes that access shared memory.
    pub shared: LaneMask,
    /// Of these, the lanes that access that of another CTA of the cluster.
    pub remote: LaneMask,
    /// Lanes in constant or parameter memory whose line has yet to be requested.
    pub constant: LaneMask,
    /// Address pattern across lanes; [`Shape::Any`] when the lanes span several spaces.
    pub shape: Shape,
    /// Accesses in flight, plus one for each path with accesses yet to be generated. The instruction completes at 0.
    pub open: u16,
    /// For a copy: the number of its warp's copy group.
    pub group: u64,
    /// For a copy or an arrival: its sequence number in issue order.
    pub order: u64,
    /// For a copy or an arrival: the step it has reached.
    pub stage: Stage,
    /// For pieces of a bulk copy: the copy's place.
    pub parent: Place,
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
        lane_action: LaneAction::Pass,
        cta: 0,
        issued: Cycle::ZERO,
        global: 0,
        local: 0,
        local_left: 0,
        local_word: 0,
        shared: 0,
        remote: 0,
        constant: 0,
        shape: Shape::Any,
        open: 0,
        group: 0,
        order: 0,
        stage: Stage::First,
        parent: NO_PARENT,
    };

    /// Copies the instruction's identity (warp, pc, line) and the number of rows it writes.
    #[inline]
    pub fn begin(&mut self, memory: &MemoryInstruction<'_>) {
        let instruction = memory.instruction;
        (self.warp, self.cta) = (memory.warp, memory.cta_slot);
        (self.pc, self.line) = (memory.pc, instruction.line);
        self.result_rows = instruction.results * instruction.result_rows;
    }

    /// Whether the instruction finishes without waiting for its accesses.
    #[inline]
    pub fn is_detached(&self) -> bool {
        matches!(self.operation, Operation::Atomic { returns: false, .. })
    }

    /// Whether accesses to the L1D have yet to be generated.
    #[inline]
    pub fn has_device_lanes(&self) -> bool {
        self.global | self.local_left != 0
    }

    /// Whether no access to the L1D has been generated.
    #[inline]
    pub fn is_untouched(&self) -> bool {
        (self.global | self.local | self.shared) == self.lanes
            && self.local_word == 0
            && self.local_left == self.local
    }

    /// Generates the next access to the L1D. Call only while [`Entry::has_device_lanes`] is true.
    #[inline(always)]
    pub fn next_device_group(&mut self, segment_bytes: usize) -> (Group, Piece) {
        if self.global != 0 {
            let mut group = self.group(self.global, self.width, segment_bytes);
            if self.width == 16 && matches!(self.operation, Operation::Atomic { .. }) {
                group = self.first_of_wide(group);
            }
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

    /// Generates the next hint of a prefetch: the line of its lowest lane. Call only while [`Entry::has_device_lanes`] is true.
    pub fn next_hint(&mut self, level: HintLevel) -> (Hint, LaneMask) {
        let left = self.local_left;
        let group = coalesce::next_group(&self.addresses, left, self.width.into(), strata_memory::LINE_BYTES);
        self.local_left &= !group.lanes;
        // Pieces of a block name their bytes, an address names its line.
        let bytes = if self.parent == NO_PARENT { ByteMask::ALL } else { group.bytes };
        let origin = Origin { pc: self.pc, warp: self.warp };
        (Hint { line: group.line, bytes, level, origin }, group.lanes)
    }

    /// Generates the next request to the constant cache. Call only while `constant` is not 0.
    #[inline]
    pub fn next_constant_line(&mut self) -> (LineAddress, Piece) {
        let group = self.group(self.constant, self.width, strata_memory::LINE_BYTES);
        self.constant &= !group.lanes;
        let piece = Piece { lanes: group.lanes, first: 0, width: self.width, shape: self.shape };
        (group.line, piece)
    }

    /// The next access of the lanes `left`. Inline for strided lanes and whole lines, which make most of the accesses.
    #[inline(always)]
    fn group(&self, left: LaneMask, width: u8, segment_bytes: usize) -> Group {
        match self.shape {
            Shape::Strided => coalesce::next_of_strided(&self.addresses, left, width.into()),
            Shape::Consecutive if coalesce::is_line(self.addresses[0], left, width.into(), segment_bytes) => {
                Group { line: Address(self.addresses[0]).line(), bytes: ByteMask::ALL, lanes: left }
            }
            _ => self.search(left, width.into(), segment_bytes),
        }
    }

    /// As many lanes of a group as an atomic of 128 bits takes along, from the lowest.
    #[cold]
    fn first_of_wide(&self, group: Group) -> Group {
        let lanes = lanes_of(group.lanes).take(AtomicBatch::MOST_WIDE as usize);
        let (lanes, bytes) = lanes.fold((0, ByteMask::NONE), |(lanes, bytes), lane| {
            let at = self.addresses[lane] as usize % strata_memory::LINE_BYTES;
            (lanes | 1 << lane, bytes | ByteMask::range(at, 16))
        });
        Group { lanes, bytes, ..group }
    }

    #[inline(never)]
    fn search(&self, left: LaneMask, width: usize, segment_bytes: usize) -> Group {
        let group = match self.shape {
            Shape::Consecutive => coalesce::next_of_consecutive(&self.addresses, left, width, segment_bytes),
            Shape::Uniform => coalesce::uniform_group(self.addresses[0], left, width),
            Shape::Strided => coalesce::next_of_strided(&self.addresses, left, width),
            Shape::Any => coalesce::next_group(&self.addresses, left, width, segment_bytes),
        };
        debug_assert!(group.bytes != ByteMask::NONE, "a group has the lane that named it");
        group
    }
}

/// Index of an instruction in a [`Table`].
pub type Place = u16;

/// What instructions of warps have instead of a parent.
pub const NO_PARENT: Place = Place::MAX;

/// Stands for an access of the lane path's own where instructions queue for a memory. No table has such a place.
pub const OWN: Place = Place::MAX;

/// Every memory instruction in flight. The lowest free place is reused first, and entries are allocated on first use.
/// No machine parameter sets the table's size: the number of instructions follows from the accesses they wait for.
#[derive(Clone, Debug)]
pub struct Table {
    entries: Vec<Entry>,
    /// Bit n of word w is set when place 64 w + n is free.
    free: Vec<u64>,
    /// The lowest free place, or `capacity` when the table is full.
    next: usize,
    len: usize,
    capacity: usize,
}

impl Table {
    /// An empty table of `capacity` places, at most 65,535.
    pub fn new(capacity: usize) -> Table {
        let entries = Vec::with_capacity(capacity);
        Table { entries, free: vec![u64::MAX; capacity.div_ceil(64)], next: 0, len: 0, capacity }
    }

    /// Whether at least one place is free.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.next < self.capacity
    }

    /// Most instructions in flight.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Number of instructions in flight.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The entry that [`Table::claim`] will take next, to be filled in. No lane is remote.
    #[inline]
    pub fn vacant(&mut self) -> &mut Entry {
        if self.next == self.entries.len() {
            self.entries.push(Entry::EMPTY);
        }
        let entry = &mut self.entries[self.next];
        entry.remote = 0;
        entry
    }

    /// The place that [`Table::claim`] will take next.
    #[inline]
    pub fn next_place(&self) -> Place {
        self.next as Place
    }

    /// Takes the lowest free place, whose entry [`Table::vacant`] returned, and returns it.
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

    /// Frees a place. Its contents stay readable until the place is claimed again.
    #[inline]
    pub fn release(&mut self, place: Place) {
        let place = usize::from(place);
        debug_assert!(self.free[place / 64] >> (place % 64) & 1 == 0, "an instruction leaves once");
        self.free[place / 64] |= 1 << (place % 64);
        self.next = self.next.min(place);
        self.len -= 1;
    }

    /// The instruction at `place`.
    #[inline]
    pub fn get(&self, place: Place) -> &Entry {
        &self.entries[usize::from(place)]
    }

    /// The instruction at `place`, mutably.
    #[inline]
    pub fn get_mut(&mut self, place: Place) -> &mut Entry {
        &mut self.entries[usize::from(place)]
    }

    /// Iterates over the instructions in flight, lowest place first.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        let is_used = |place: usize| self.free[place / 64] >> (place % 64) & 1 == 0;
        self.entries.iter().enumerate().filter(move |(place, _)| is_used(*place)).map(|(_, entry)| entry)
    }
}
