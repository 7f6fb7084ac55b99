//! Loads, stores and atomics of one warp against the reference executor's memories.

use super::fault::FaultKind;
use super::global::GlobalMemory;
use super::mapped;
use super::maps::Maps;
use super::observer::{Access, AccessKind, Issuer, Observer, Written};
use crate::exec::memory::{addresses, extend, split_by_space};
use crate::exec::{Operands, atomic};
use crate::isa::{AtomicOp, Instruction, MAPPED, MemoryMode, Space, Ty};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

/// The memories that a warp reaches.
pub(super) struct Memories<'a> {
    pub global: &'a mut GlobalMemory,
    /// The CTA's shared memory.
    pub shared: &'a mut [u8],
    /// What of it is mapped to global memory.
    pub maps: &'a mut Maps,
    /// Local memory of the warp's threads, one lane after the other.
    pub local: &'a mut [u8],
    /// Bytes of local memory a thread.
    pub local_bytes: usize,
    /// The parameter block.
    pub params: &'a [u8],
    /// The warp and its instruction.
    pub by: Issuer<'a>,
    pub observer: Option<&'a mut dyn Observer>,
}

impl Memories<'_> {
    /// Shows an access to the observer, unless it is to memory that is not there.
    #[inline(always)]
    pub(super) fn show(&mut self, kind: AccessKind, part: &Part<'_>) {
        if let Some(observer) = &mut self.observer
            && part.is_there(self.global, self.shared)
        {
            observer.access(&part.seen(kind, self.by, None));
        }
    }

    /// As [`Memories::show`], of a store.
    #[inline(always)]
    fn show_store(&mut self, part: &Part<'_>, operands: &impl Operands, mode: &MemoryMode) {
        if let Some(observer) = &mut self.observer {
            let Memories { global, shared, by, .. } = self;
            if part.is_there(global, shared) {
                let written = Stored { operands, mode, part, global, shared };
                observer.access(&part.seen(AccessKind::Store, *by, Some(&written)));
            }
        }
    }
}

/// What a store writes, and where.
struct Stored<'a, O> {
    operands: &'a O,
    mode: &'a MemoryMode,
    part: &'a Part<'a>,
    global: &'a GlobalMemory,
    shared: &'a [u8],
}

impl<O: Operands> Written for Stored<'_, O> {
    fn after(&self, lane: usize, byte: usize) -> u8 {
        let size = self.mode.ty.bytes();
        let (element, at) = (byte / size, byte % size);
        (self.operands.source(1 + element, at / 4).0[lane] >> (8 * (at % 4))) as u8
    }

    fn before(&self, lane: usize, byte: usize) -> Option<u8> {
        let address = self.part.addresses[lane] + byte as u64;
        match self.part.space {
            Space::Shared => self.shared.get(usize::try_from(address).ok()?).copied(),
            Space::Global => self.global.bytes(address, 1).map(|bytes| bytes[0]),
            _ => None,
        }
    }
}

/// A fault and the lane that caused it.
pub(super) type LaneFault = (usize, FaultKind);

/// The lanes of an access that reach one space, checked for alignment.
pub(super) struct Part<'a> {
    pub space: Space,
    pub lanes: LaneMask,
    pub addresses: &'a [u64; WARP_LANES],
    bytes: usize,
    first: u64,
    end: u64,
}

/// Where each lane's bytes begin in a piece of memory.
#[derive(Clone, Copy)]
pub(super) struct Indices<'a> {
    addresses: &'a [u64; WARP_LANES],
    /// Address of the piece's first byte.
    base: u64,
    /// Distance between the lanes' own memories.
    stride: u64,
}

impl Indices<'_> {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> usize {
        (self.addresses[lane].wrapping_sub(self.base) + lane as u64 * self.stride) as usize
    }
}

impl<'a> Part<'a> {
    pub(super) fn new(
        space: Space,
        lanes: LaneMask,
        addresses: &'a [u64; WARP_LANES],
        bytes: usize,
    ) -> Result<Self, LaneFault> {
        let (mut first, mut last, mut low_bits) = (u64::MAX, 0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            // An inactive lane counts as the neutral element of each reduction.
            let keep = u64::from(lanes >> lane & 1).wrapping_neg();
            first = first.min(address | !keep);
            last = last.max(address & keep);
            low_bits |= address & keep;
        }
        if low_bits & (bytes as u64 - 1) != 0 {
            let lane = lanes_of(lanes)
                .find(|lane| addresses[*lane] & (bytes as u64 - 1) != 0)
                .expect("an active lane has the low bits that were found");
            return Err((lane, FaultKind::Misaligned { space, address: addresses[lane], bytes }));
        }
        let end = last.checked_add(bytes as u64);
        let Some(end) = end else {
            let lane = lanes_of(lanes).find(|lane| addresses[*lane] == last).unwrap_or(0);
            return Err((lane, FaultKind::OutOfBounds { space, address: last, bytes }));
        };
        Ok(Part { space, lanes, addresses, bytes, first, end })
    }

    /// Whether the memory that it reaches is there. A thread's own is not looked at.
    fn is_there(&self, global: &GlobalMemory, shared: &[u8]) -> bool {
        match self.space {
            Space::Shared => self.end <= shared.len() as u64,
            Space::Local | Space::Param => true,
            Space::Global | Space::Const | Space::Generic => {
                let whole = usize::try_from(self.end - self.first).ok();
                whole.is_some_and(|length| global.bytes(self.first, length).is_some())
                    || lanes_of(self.lanes)
                        .all(|lane| global.bytes(self.addresses[lane], self.bytes).is_some())
            }
        }
    }

    /// As an observer sees it.
    fn seen<'b>(&'b self, kind: AccessKind, by: Issuer<'b>, written: Option<&'b dyn Written>) -> Access<'b> {
        let Part { space, lanes, addresses, bytes, .. } = *self;
        Access { by, kind, space, lanes, addresses, bytes, written }
    }

    fn out_of_bounds(&self, lane: usize) -> LaneFault {
        (lane, FaultKind::OutOfBounds { space: self.space, address: self.addresses[lane], bytes: self.bytes })
    }

    /// Runs `visit` on memory that holds every lane's bytes, with each lane's index into it: once for the
    /// whole part when one piece of memory holds all, else once a lane.
    #[inline(always)]
    pub(super) fn visit(
        &self,
        memories: &mut Memories<'_>,
        mut visit: impl FnMut(&mut [u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        match self.space {
            Space::Shared => {
                if !memories.maps.is_empty() {
                    self.check_plain(memories.maps)?;
                }
                self.visit_array(memories.shared, visit)
            }
            Space::Local => {
                let stride = memories.local_bytes;
                if self.end > stride as u64 {
                    let lane = self.first_beyond(stride);
                    return Err(self.out_of_bounds(lane));
                }
                let indices = Indices { addresses: self.addresses, base: 0, stride: stride as u64 };
                visit(memories.local, self.lanes, indices);
                Ok(())
            }
            Space::Param => unreachable!("parameters are read-only and have their own way"),
            Space::Global | Space::Const | Space::Generic => {
                if let Some(allocation) = memories.global.containing(self.first)
                    && self.end <= allocation.end()
                {
                    let indices = Indices { addresses: self.addresses, base: allocation.base, stride: 0 };
                    visit(&mut allocation.bytes, self.lanes, indices);
                    return Ok(());
                }
                for lane in lanes_of(self.lanes) {
                    let bytes = memories
                        .global
                        .bytes_mut(self.addresses[lane], self.bytes)
                        .ok_or_else(|| self.out_of_bounds(lane))?;
                    let base = self.addresses[lane];
                    visit(bytes, 1 << lane, Indices { addresses: self.addresses, base, stride: 0 });
                }
                Ok(())
            }
        }
    }

    /// Refuses bytes of shared memory that a mapping has.
    #[cold]
    fn check_plain(&self, maps: &Maps) -> Result<(), LaneFault> {
        let check = |lane: usize| {
            let address = self.addresses[lane];
            if address >= MAPPED {
                let reason = format!("only ld and st may name a mapping, found shared address {address:#x}");
                return Err((lane, FaultKind::Mapping { reason }));
            }
            maps.check_plain(address, self.bytes as u64).map_err(|kind| (lane, kind))
        };
        lanes_of(self.lanes).try_for_each(check)
    }

    /// Whether a lane names a mapping.
    fn is_mapped(&self) -> bool {
        self.space == Space::Shared && self.end > MAPPED
    }

    #[inline(always)]
    pub(super) fn visit_array(
        &self,
        array: &mut [u8],
        mut visit: impl FnMut(&mut [u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        if self.end > array.len() as u64 {
            return Err(self.out_of_bounds(self.first_beyond(array.len())));
        }
        visit(array, self.lanes, Indices { addresses: self.addresses, base: 0, stride: 0 });
        Ok(())
    }

    /// The first active lane whose bytes reach beyond `limit`.
    fn first_beyond(&self, limit: usize) -> usize {
        lanes_of(self.lanes)
            .find(|lane| self.addresses[*lane] + self.bytes as u64 > limit as u64)
            .expect("the lane with the highest address reaches beyond")
    }
}

/// Addresses of the lanes in the spaces that they reach, and which lanes reach which.
pub(super) struct Reach {
    addresses: [u64; WARP_LANES],
    spaces: [(Space, LaneMask); 4],
    bytes: usize,
}

impl Reach {
    #[inline(always)]
    pub(super) fn new(
        instruction: &Instruction,
        operands: &impl Operands,
        mode: &MemoryMode,
        lanes: LaneMask,
    ) -> Self {
        let mut addresses = addresses(instruction, operands, mode.space);
        let spaces = split_by_space(mode.space, &mut addresses, lanes);
        Reach { addresses, spaces, bytes: mode.ty.bytes() * usize::from(mode.vector.max(1)) }
    }

    /// Visits the part of every space that a lane reaches.
    #[inline(always)]
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(Part<'_>) -> Result<(), LaneFault>,
    ) -> Result<(), LaneFault> {
        for (space, lanes) in self.spaces {
            if lanes != 0 {
                visit(Part::new(space, lanes, &self.addresses, self.bytes)?)?;
            }
        }
        Ok(())
    }
}

#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the whole access is in bounds"))
}

/// `ld`.
pub(super) fn load<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    mode: &MemoryMode,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    Reach::new(instruction, operands, mode, lanes).each(|part| {
        if part.is_mapped() {
            return mapped::load(operands, mode, &part, memories);
        }
        if part.space != Space::Param {
            memories.show(AccessKind::Load, &part);
            return part
                .visit(memories, |bytes, lanes, indices| fetch(operands, mode, bytes, lanes, indices));
        }
        let params = memories.params;
        if part.end > params.len() as u64 {
            return Err(part.out_of_bounds(part.first_beyond(params.len())));
        }
        fetch(operands, mode, params, part.lanes, Indices { addresses: part.addresses, base: 0, stride: 0 });
        Ok(())
    })
}

/// Reads every element of the lanes' accesses into its destination.
#[inline(always)]
fn fetch(
    operands: &mut impl Operands,
    mode: &MemoryMode,
    bytes: &[u8],
    lanes: LaneMask,
    indices: Indices<'_>,
) {
    let size = mode.ty.bytes();
    for element in 0..usize::from(mode.vector.max(1)) {
        for half in 0..mode.ty.rows().max(1) {
            let at = element * size + 4 * half;
            let mut row = Row::ZERO;
            match size {
                1 => lanes_of(lanes)
                    .for_each(|lane| row.0[lane] = extend(mode.ty, bytes[indices.of(lane) + at].into())),
                2 => lanes_of(lanes).for_each(|lane| {
                    let raw =
                        u16::from_le_bytes([bytes[indices.of(lane) + at], bytes[indices.of(lane) + at + 1]]);
                    row.0[lane] = extend(mode.ty, raw.into());
                }),
                _ if lanes == ALL_LANES => {
                    for (lane, value) in row.0.iter_mut().enumerate() {
                        *value = word(bytes, indices.of(lane) + at);
                    }
                }
                _ => lanes_of(lanes).for_each(|lane| row.0[lane] = word(bytes, indices.of(lane) + at)),
            }
            operands.write(element, half, lanes, &row);
        }
    }
}

/// `st`. Where lanes write the same bytes, the highest lane wins.
pub(super) fn store<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    mode: &MemoryMode,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    Reach::new(instruction, operands, mode, lanes).each(|part| {
        refuse_parameters(&part)?;
        if part.is_mapped() {
            return mapped::store(operands, mode, &part, memories);
        }
        memories.show_store(&part, operands, mode);
        let size = mode.ty.bytes();
        part.visit(memories, |bytes, lanes, indices| {
            for element in 0..usize::from(mode.vector.max(1)) {
                for half in 0..mode.ty.rows().max(1) {
                    let row = operands.source(1 + element, half);
                    let at = element * size + 4 * half;
                    let width = size.min(4);
                    for lane in lanes_of(lanes) {
                        let place = indices.of(lane) + at;
                        match width {
                            4 => bytes[place..place + 4].copy_from_slice(&row.0[lane].to_le_bytes()),
                            2 => bytes[place..place + 2].copy_from_slice(&(row.0[lane] as u16).to_le_bytes()),
                            _ => bytes[place] = row.0[lane] as u8,
                        }
                    }
                }
            }
        })
    })
}

/// `atom` and `red`: lanes take their turns from the lowest.
pub(super) fn atomic<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    (op, mode): (AtomicOp, &MemoryMode),
    returns: bool,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
    let wide = mode.ty.rows() == 2;
    Reach::new(instruction, operands, mode, lanes).each(|part| {
        refuse_parameters(&part)?;
        memories.show(AccessKind::Atomic, &part);
        part.visit(memories, |bytes, lanes, indices| {
            for lane in lanes_of(lanes) {
                let cell = &mut bytes[indices.of(lane)..][..mode.ty.bytes()];
                let old = read_cell(cell);
                let operand = value(operands, 1, lane, wide);
                let swap = if op == AtomicOp::Cas { value(operands, 2, lane, wide) } else { 0 };
                let new = atomic::apply(op, mode.ty, old, operand, swap);
                cell.copy_from_slice(&new.to_le_bytes()[..mode.ty.bytes()]);
                let register = if wide { old as u32 } else { extend(mode.ty, old as u32) };
                (lo.0[lane], hi.0[lane]) = (register, (old >> 32) as u32);
            }
        })
    })?;
    if returns {
        operands.write(0, 0, lanes, &lo);
        if wide {
            operands.write(0, 1, lanes, &hi);
        }
    }
    Ok(())
}

fn refuse_parameters(part: &Part) -> Result<(), LaneFault> {
    if part.space != Space::Param {
        return Ok(());
    }
    let lane = part.lanes.trailing_zeros() as usize;
    Err((lane, FaultKind::ReadOnly { address: part.addresses[lane] }))
}

fn value(operands: &impl Operands, slot: usize, lane: usize, wide: bool) -> u64 {
    let hi = if wide { operands.source(slot, 1).0[lane] } else { 0 };
    u64::from(hi) << 32 | u64::from(operands.source(slot, 0).0[lane])
}

fn read_cell(cell: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..cell.len()].copy_from_slice(cell);
    u64::from_le_bytes(bytes)
}

/// The natural size of an access must be a power of two for the alignment check.
const _: () = assert!(Ty::B128.bytes().is_power_of_two());
