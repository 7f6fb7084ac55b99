//! Loads and stores that name a mapping, and the operations on tiles ([`crate::isa::TileOp`]).

use super::fault::FaultKind;
use super::maps::{Home, Tile, WORD};
use super::observer::AccessKind;
use super::part::{LaneFault, Memories, Part, word};
use crate::exec::Operands;
use crate::isa::{Instruction, MAPPED, MemoryMode, Space, TileOp, TileOperands};
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};

/// One word of each lane of an access, where it is.
struct Words {
    addresses: [u64; WARP_LANES],
    global: LaneMask,
    shared: LaneMask,
}

impl Words {
    /// The words at `at` bytes behind the lanes' addresses.
    fn new(
        part: &Part<'_>,
        at: usize,
        writes: bool,
        memories: &mut Memories<'_>,
    ) -> Result<Words, LaneFault> {
        let mut words = Words { addresses: [0; WARP_LANES], global: 0, shared: 0 };
        for lane in lanes_of(part.lanes) {
            let home = memories.maps.home(part.addresses[lane] + at as u64, writes);
            match home.map_err(|kind| (lane, kind))? {
                Home::Global(address) => {
                    words.addresses[lane] = address;
                    words.global |= 1 << lane;
                }
                Home::Shared(offset) => {
                    words.addresses[lane] = offset;
                    words.shared |= 1 << lane;
                }
                Home::CopyOf { shared, global } => {
                    copy_in(lane, (global, shared), memories)?;
                    words.addresses[lane] = shared;
                    words.shared |= 1 << lane;
                }
            }
        }
        Ok(words)
    }

    /// Shows and visits the words of each memory.
    fn each(
        &self,
        kind: AccessKind,
        memories: &mut Memories<'_>,
        mut visit: impl FnMut(&mut [u8], usize),
    ) -> Result<(), LaneFault> {
        if self.global != 0 {
            let part = Part::new(Space::Global, self.global, &self.addresses, WORD as usize)?;
            memories.show(kind, &part);
            part.visit(memories, |bytes, lanes, indices| {
                lanes_of(lanes).for_each(|lane| visit(&mut bytes[indices.of(lane)..], lane));
            })?;
        }
        if self.shared != 0 {
            let part = Part::new(Space::Shared, self.shared, &self.addresses, WORD as usize)?;
            memories.show(kind, &part);
            part.visit_array(memories.shared, |bytes, lanes, indices| {
                lanes_of(lanes).for_each(|lane| visit(&mut bytes[indices.of(lane)..], lane));
            })?;
        }
        Ok(())
    }
}

/// Moves a word of one lane between global and shared memory, and shows it.
fn move_word(
    lane: usize,
    (global, shared): (u64, u64),
    to_shared: bool,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let (from, to) = if to_shared { (Space::Global, Space::Shared) } else { (Space::Shared, Space::Global) };
    for (space, kind) in [(from, AccessKind::Load), (to, AccessKind::Store)] {
        let mut addresses = [0; WARP_LANES];
        addresses[lane] = if space == Space::Global { global } else { shared };
        memories.show(kind, &Part::new(space, 1 << lane, &addresses, WORD as usize)?);
    }
    let outside = FaultKind::OutOfBounds { space: Space::Global, address: global, bytes: WORD as usize };
    let cell = memories.global.bytes_mut(global, WORD as usize).ok_or((lane, outside))?;
    let own = &mut memories.shared[shared as usize..][..WORD as usize];
    if to_shared {
        own.copy_from_slice(cell)
    } else {
        cell.copy_from_slice(own)
    }
    Ok(())
}

/// The first read of a private word. Only the read of global memory is the program's.
fn copy_in(lane: usize, (global, shared): (u64, u64), memories: &mut Memories<'_>) -> Result<(), LaneFault> {
    let mut addresses = [0; WARP_LANES];
    addresses[lane] = global;
    memories.show(AccessKind::Load, &Part::new(Space::Global, 1 << lane, &addresses, WORD as usize)?);
    let outside = FaultKind::OutOfBounds { space: Space::Global, address: global, bytes: WORD as usize };
    let cell = memories.global.bytes(global, WORD as usize).ok_or((lane, outside))?;
    memories.shared[shared as usize..][..WORD as usize].copy_from_slice(cell);
    Ok(())
}

/// `ld` of whole words, some of them mapped.
pub(super) fn load(
    operands: &mut impl Operands,
    mode: &MemoryMode,
    part: &Part<'_>,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    check_words(mode, part)?;
    let mut rows = Vec::new();
    for at in pieces(mode) {
        let mut row = Row::ZERO;
        let words = Words::new(part, at, false, memories)?;
        words.each(AccessKind::Load, memories, |bytes, lane| row.0[lane] = word(bytes, 0))?;
        rows.push(row);
    }
    let halves = mode.ty.rows();
    for (n, row) in rows.iter().enumerate() {
        operands.write(n / halves, n % halves, part.lanes, row);
    }
    Ok(())
}

/// `st` of whole words, some of them mapped. Where lanes write the same word, the highest lane wins.
pub(super) fn store(
    operands: &impl Operands,
    mode: &MemoryMode,
    part: &Part<'_>,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    check_words(mode, part)?;
    let halves = mode.ty.rows();
    for (n, at) in pieces(mode).enumerate() {
        let row = *operands.source(1 + n / halves, n % halves);
        let words = Words::new(part, at, true, memories)?;
        words.each(AccessKind::Store, memories, |bytes, lane| {
            bytes[..WORD as usize].copy_from_slice(&row.0[lane].to_le_bytes());
        })?;
    }
    Ok(())
}

/// Where each word of a lane's access begins.
fn pieces(mode: &MemoryMode) -> impl Iterator<Item = usize> + use<> {
    (0..mode.ty.bytes() * usize::from(mode.vector.max(1))).step_by(WORD as usize)
}

/// Mapped words are accessed whole (Stash, footnote 5).
fn check_words(mode: &MemoryMode, part: &Part<'_>) -> Result<(), LaneFault> {
    let bytes = mode.ty.bytes();
    if bytes as u64 >= WORD {
        return Ok(());
    }
    let is_mapped = |lane: &usize| part.addresses[*lane] >= MAPPED;
    let lane = lanes_of(part.lanes).find(is_mapped).expect("a lane names a mapping");
    let address = part.addresses[lane];
    let reason =
        format!("a mapped word must be accessed whole, found {bytes} bytes at shared address {address:#x}");
    Err((lane, FaultKind::Mapping { reason }))
}

/// An operation on a tile: the operands of the first active lane count.
pub(super) fn tile(
    op: TileOp,
    instruction: &Instruction,
    operands: &impl Operands,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    debug_assert_eq!(instruction.op, crate::isa::Op::Tile(op), "the operation is the instruction's");
    if lanes == 0 {
        return Ok(());
    }
    let lane = lanes.trailing_zeros() as usize;
    let of = TileOperands::of(op, |slot, half| operands.source(slot, half).0[lane]);
    let wrong = |reason| (lane, FaultKind::Mapping { reason: format!("{}: {reason}", op.function()) });
    let shared_bytes = memories.shared.len() as u64;
    match op {
        TileOp::AddMap => memories.maps.add(&of, memories.global, shared_bytes).map_err(wrong),
        TileOp::ChgMap => {
            let seen = memories.maps.change(&of, memories.global, shared_bytes).map_err(wrong)?;
            seen.into_iter()
                .try_for_each(|(shared, global)| move_word(lane, (global, shared), false, memories))
        }
        TileOp::DmaLoad | TileOp::DmaStore => {
            let bytes = transfer(&of, shared_bytes).map_err(wrong)?;
            memories.maps.check_plain_range(bytes.clone()).map_err(|kind| (lane, kind))?;
            let tile = Tile::new(&of).map_err(wrong)?;
            let base = bytes.start;
            bytes.step_by(WORD as usize).try_for_each(|shared| {
                move_word(lane, (tile.address(shared - base), shared), op == TileOp::DmaLoad, memories)
            })
        }
    }
}

/// The bytes of shared memory that a transfer moves.
fn transfer(of: &TileOperands, shared_bytes: u64) -> Result<std::ops::Range<u64>, String> {
    let base = u64::from(of.shared_base);
    if !base.is_multiple_of(WORD) {
        return Err(format!("sharedBase must be a multiple of {WORD}, found {base:#x}"));
    }
    let end = Tile::new(of)?.bytes().and_then(|bytes| base.checked_add(bytes)).unwrap_or(u64::MAX);
    if end > shared_bytes {
        return Err(format!(
            "the tile must end in the CTA's {shared_bytes} bytes of shared memory, found its end at {end}"
        ));
    }
    Ok(base..end)
}
