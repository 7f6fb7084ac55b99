//! Loads, stores and atomics of one warp against the reference executor's memories.

use super::fault::FaultKind;
use super::mapped;
use super::observer::AccessKind;
use super::part::{Indices, LaneFault, Memories, Part, word};
use crate::exec::memory::{addresses, extend, split_by_space};
use crate::exec::{Operands, atomic};
use crate::isa::{AtomicOp, Instruction, MemoryMode, Space, Ty};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

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
        part.read_array(memories.params, |bytes, lanes, indices| fetch(operands, mode, bytes, lanes, indices))
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

/// `atom` and `red`: lanes take their turns from the lowest. Counts the values that they change.
pub(super) fn atomic<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    (op, mode): (AtomicOp, &MemoryMode),
    returns: bool,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
    changes: &mut u64,
) -> Result<(), LaneFault> {
    if mode.ty == Ty::B128 {
        return wide_atomic(instruction, operands, (op, mode), returns, lanes, memories, changes);
    }
    let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
    let wide = mode.ty.rows() == 2;
    Reach::new(instruction, operands, mode, lanes).each(|part| {
        refuse_parameters(&part)?;
        memories.show(AccessKind::Atomic, &part);
        let old = (&mut lo, &mut hi);
        part.visit(memories, |bytes, lanes, indices| {
            let cells = (bytes, indices);
            *changes += match mode.ty.bytes() {
                4 => take_turns::<4>(operands, (op, mode.ty), lanes, cells, (&mut *old.0, &mut *old.1)),
                8 => take_turns::<8>(operands, (op, mode.ty), lanes, cells, (&mut *old.0, &mut *old.1)),
                _ => take_turns::<2>(operands, (op, mode.ty), lanes, cells, (&mut *old.0, &mut *old.1)),
            };
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

/// Lanes read, change and write values of `N` bytes one after the other. Returns how many values they have changed.
#[inline(always)]
fn take_turns<const N: usize>(
    operands: &impl Operands,
    (op, ty): (AtomicOp, Ty),
    lanes: LaneMask,
    (bytes, indices): (&mut [u8], Indices<'_>),
    (lo, hi): (&mut Row, &mut Row),
) -> u64 {
    let rows = |slot: usize| (operands.source(slot, 0), (N == 8).then(|| operands.source(slot, 1)));
    let value = |(lo, hi): (&Row, Option<&Row>), lane: usize| {
        hi.map_or(0, |hi| u64::from(hi.0[lane]) << 32) | u64::from(lo.0[lane])
    };
    let first = rows(1);
    let second = (op == AtomicOp::Cas).then(|| rows(2));
    let mut changes = 0;
    for lane in lanes_of(lanes) {
        let cell: &mut [u8; N] =
            bytes[indices.of(lane)..].first_chunk_mut().expect("an access lies in its memory");
        let mut old = [0; 8];
        old[..N].copy_from_slice(cell);
        let old = u64::from_le_bytes(old);
        let (operand, swap) = (value(first, lane), second.map_or(0, |rows| value(rows, lane)));
        let new = match (op, ty) {
            (AtomicOp::Add, Ty::U32 | Ty::S32) => (old as u32).wrapping_add(operand as u32).into(),
            _ => atomic::apply(op, ty, old, operand, swap),
        };
        changes += u64::from(old != new);
        cell.copy_from_slice(&new.to_le_bytes()[..N]);
        let register = if N == 8 { old as u32 } else { extend(ty, old as u32) };
        (lo.0[lane], hi.0[lane]) = (register, (old >> 32) as u32);
    }
    changes
}

/// As [`atomic`], of 128 bits.
fn wide_atomic<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    (op, mode): (AtomicOp, &MemoryMode),
    returns: bool,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
    changes: &mut u64,
) -> Result<(), LaneFault> {
    let mut rows = [Row::ZERO; 4];
    Reach::new(instruction, operands, mode, lanes).each(|part| {
        refuse_parameters(&part)?;
        memories.show(AccessKind::Atomic, &part);
        part.visit(memories, |bytes, lanes, indices| {
            for lane in lanes_of(lanes) {
                let value = |slot: usize| {
                    (0..4).fold(0, |all, n| all | u128::from(operands.source(slot, n).0[lane]) << (32 * n))
                };
                let cell = bytes[indices.of(lane)..].first_chunk_mut();
                let cell: &mut [u8; 16] = cell.expect("an access lies in its memory");
                let old = u128::from_le_bytes(*cell);
                let swap = if op == AtomicOp::Cas { value(2) } else { 0 };
                let new = atomic::apply_wide(op, old, value(1), swap);
                *changes += u64::from(new != old);
                *cell = new.to_le_bytes();
                rows.iter_mut().enumerate().for_each(|(n, row)| row.0[lane] = (old >> (32 * n)) as u32);
            }
        })
    })?;
    if returns {
        rows.iter().enumerate().for_each(|(n, row)| operands.write(0, n, lanes, row));
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

/// The natural size of an access must be a power of two for the alignment check.
const _: () = assert!(Ty::B128.bytes().is_power_of_two());
