//! `cp.async.bulk`: here a copy is complete when it is issued, which is one of the orders that the ISA allows.

use super::fault::FaultKind;
use super::observer::AccessKind;
use super::part::{LaneFault, Memories, Part};
use crate::exec::{Operands, atomic, mbarrier, memory};
use crate::isa::{AtomicOp, BulkCopy, BulkWay, Instruction, MbarrierOp, Space, Ty};
use crate::lanes::{LaneMask, WARP_LANES, lanes_of};
use crate::tensor::{MAP_BYTES, Piece, TensorMap, linear, tile, uniform};

/// Sizes and addresses of plain copies are multiples of this.
const UNIT: u32 = 16;

/// What a copy within shared memory is told where a GPU knows no such instruction.
pub const OUTSIDE_OF_A_CLUSTER: &str = "a copy from shared::cta to shared::cluster: found a launch without clusters, expected one with clusters, be they of one CTA";

/// What one lane copies.
struct Block {
    pieces: Vec<Piece>,
    width: u32,
    /// Bytes that the barrier counts.
    bytes: u32,
    outside: u64,
    element: u32,
    reduce: Option<(AtomicOp, Ty)>,
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`: lanes take their turns from the lowest.
pub(super) fn copy<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    (copy, in_cluster): (BulkCopy, bool),
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    if copy.way == BulkWay::Across && !in_cluster && lanes != 0 {
        let reason = OUTSIDE_OF_A_CLUSTER.to_owned();
        return Err((lanes.trailing_zeros() as usize, FaultKind::Mapping { reason }));
    }
    for lane in lanes_of(lanes) {
        one(instruction, operands, copy, lane, memories).map_err(|kind| (lane, kind))?;
    }
    Ok(())
}

fn one<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    copy: BulkCopy,
    lane: usize,
    memories: &mut Memories<'_>,
) -> Result<(), FaultKind> {
    let row = |slot: usize| operands.source(slot, 0).0[lane];
    let outer = match copy.way {
        BulkWay::Across => u64::from(row(1)),
        BulkWay::Load | BulkWay::Store => {
            let base = u64::from(operands.source(0, 1).0[lane]) << 32 | u64::from(row(0));
            base.wrapping_add_signed(instruction.offset)
        }
    };
    let inner = if copy.way == BulkWay::Across { row(0) } else { row(1) };
    let block = block(copy, outer, inner, |n| row(copy.size_slot() + n), memories)?;
    let outer_space = if copy.way == BulkWay::Across { Space::Shared } else { Space::Global };
    let mask_slot = copy.size_slot() + usize::from(copy.dimensions.max(1));
    let targets = if copy.multicast { row(mask_slot) } else { 0 };
    for pieces in block.pieces.chunks(WARP_LANES) {
        match copy.way {
            BulkWay::Store => to_global(&block, pieces, memories)?,
            BulkWay::Load | BulkWay::Across => {
                let bytes = gather(&block, pieces, outer_space, memories)?;
                for_each_target(copy, targets, |rank| scatter(&block, pieces, &bytes, rank, memories))?;
            }
        }
    }
    if copy.way != BulkWay::Store {
        for_each_target(copy, targets, |rank| count(row(2), rank, block.bytes, memories))?;
    }
    Ok(())
}

/// Runs `what` for the CTAs that the bytes go to: by number in the cluster, or where the address says.
fn for_each_target(
    copy: BulkCopy,
    mask: u32,
    mut what: impl FnMut(Option<u32>) -> Result<(), FaultKind>,
) -> Result<(), FaultKind> {
    if !copy.multicast {
        return what(None);
    }
    lanes_of(mask & 0xffff).try_for_each(|rank| what(Some(rank as u32)))
}

/// The block of a lane.
fn block(
    copy: BulkCopy,
    outer: u64,
    inner: u32,
    operand: impl Fn(usize) -> u32,
    memories: &Memories<'_>,
) -> Result<Block, FaultKind> {
    if copy.dimensions == 0 {
        let bytes = operand(0);
        for address in [outer, inner.into(), bytes.into()] {
            if address % u64::from(UNIT) != 0 {
                return Err(FaultKind::Misaligned { space: Space::Shared, address, bytes: UNIT as usize });
            }
        }
        if bytes > 1 << memory::CTA_SHARED_BITS {
            let (address, bytes) = (inner.into(), bytes as usize);
            return Err(FaultKind::OutOfBounds { space: Space::Shared, address, bytes });
        }
        let mut pieces = linear(outer, inner, bytes).collect();
        let width = uniform(&mut pieces);
        return Ok(Block { pieces, width, bytes, outside: 0, element: 1, reduce: copy.reduce });
    }
    let map = map_at(outer, memories)?;
    let mut coordinates = [0; 5];
    for (n, coordinate) in coordinates.iter_mut().enumerate().take(copy.dimensions.into()) {
        *coordinate = operand(n) as i32;
    }
    if map.rank != u32::from(copy.dimensions) {
        let reason =
            format!("the tensor map has {} dimensions, the instruction {}", map.rank, copy.dimensions);
        return Err(FaultKind::Mapping { reason });
    }
    if !inner.is_multiple_of(128) {
        return Err(FaultKind::Misaligned { space: Space::Shared, address: inner.into(), bytes: 128 });
    }
    let stores = copy.way == BulkWay::Store && copy.reduce.is_none();
    map.check_start(coordinates, stores).map_err(|error| FaultKind::Mapping { reason: error.0 })?;
    let reduce = match copy.reduce {
        Some((op, _)) => {
            Some((op, map.reduced_as(op).map_err(|error| FaultKind::Mapping { reason: error.0 })?))
        }
        None => None,
    };
    let mut pieces = Vec::new();
    tile(&map, coordinates, inner, &mut pieces);
    let width = uniform(&mut pieces);
    let bytes = map.box_bytes();
    Ok(Block { pieces, width, bytes, outside: map.outside(), element: map.element.bytes(), reduce })
}

/// The tensor map at a generic address.
fn map_at(address: u64, memories: &Memories<'_>) -> Result<TensorMap, FaultKind> {
    let (space, at) = memory::resolve(address);
    let bytes = match space {
        Space::Param => usize::try_from(at).ok().and_then(|at| memories.params.get(at..at + MAP_BYTES)),
        Space::Global => memories.global.bytes(at, MAP_BYTES),
        _ => None,
    };
    let bytes: Option<&[u8; MAP_BYTES]> = bytes.and_then(|bytes| bytes.first_chunk());
    let bytes = bytes.ok_or(FaultKind::OutOfBounds { space, address, bytes: MAP_BYTES })?;
    TensorMap::decode(bytes).map_err(|error| FaultKind::Mapping { reason: error.0 })
}

/// The bytes of pieces outside of shared memory, 16 for each.
fn gather(
    block: &Block,
    pieces: &[Piece],
    space: Space,
    memories: &mut Memories<'_>,
) -> Result<[[u8; 16]; WARP_LANES], FaultKind> {
    let mut bytes = [[0; 16]; WARP_LANES];
    let mut addresses = [0; WARP_LANES];
    let mut readers: LaneMask = 0;
    let fill = block.outside.to_le_bytes();
    for (n, piece) in pieces.iter().enumerate() {
        match piece.global {
            Some(address) => {
                addresses[n] = address;
                readers |= 1 << n;
            }
            None => {
                for (at, byte) in bytes[n].iter_mut().enumerate() {
                    *byte = fill[at % block.element as usize];
                }
            }
        }
    }
    if readers != 0 {
        let width = block.width as usize;
        let part = Part::new(space, readers, &addresses, width).map_err(|(_, kind)| kind)?;
        memories.show(AccessKind::Load, &part);
        part.visit(memories, |memory, lanes, indices| {
            for lane in lanes_of(lanes) {
                bytes[lane][..width].copy_from_slice(&memory[indices.of(lane)..][..width]);
            }
        })
        .map_err(|(_, kind)| kind)?;
    }
    Ok(bytes)
}

/// Puts bytes where pieces are in shared memory: the CTA's own, or that of a CTA of the cluster.
fn scatter(
    block: &Block,
    pieces: &[Piece],
    bytes: &[[u8; 16]; WARP_LANES],
    rank: Option<u32>,
    memories: &mut Memories<'_>,
) -> Result<(), FaultKind> {
    let (addresses, lanes) = shared_addresses(pieces, rank);
    let width = block.width as usize;
    let part = Part::new(Space::Shared, lanes, &addresses, width).map_err(|(_, kind)| kind)?;
    write(block, &part, bytes, memories)
}

/// Moves pieces from shared to global memory; those outside of the tensor stay.
fn to_global(block: &Block, pieces: &[Piece], memories: &mut Memories<'_>) -> Result<(), FaultKind> {
    let (addresses, lanes) = shared_addresses(pieces, None);
    let width = block.width as usize;
    let mut bytes = [[0; 16]; WARP_LANES];
    let part = Part::new(Space::Shared, lanes, &addresses, width).map_err(|(_, kind)| kind)?;
    memories.show(AccessKind::Load, &part);
    part.visit(memories, |memory, lanes, indices| {
        for lane in lanes_of(lanes) {
            bytes[lane][..width].copy_from_slice(&memory[indices.of(lane)..][..width]);
        }
    })
    .map_err(|(_, kind)| kind)?;
    let mut addresses = [0; WARP_LANES];
    let mut writers: LaneMask = 0;
    for (n, piece) in pieces.iter().enumerate() {
        if let Some(address) = piece.global {
            addresses[n] = address;
            writers |= 1 << n;
        }
    }
    if writers == 0 {
        return Ok(());
    }
    let part = Part::new(Space::Global, writers, &addresses, width).map_err(|(_, kind)| kind)?;
    write(block, &part, &bytes, memories)
}

/// Writes pieces, or combines them with what is there.
fn write(
    block: &Block,
    part: &Part<'_>,
    bytes: &[[u8; 16]; WARP_LANES],
    memories: &mut Memories<'_>,
) -> Result<(), FaultKind> {
    let width = block.width as usize;
    let kind = if block.reduce.is_some() { AccessKind::Atomic } else { AccessKind::Store };
    memories.show(kind, part);
    part.visit(memories, |memory, lanes, indices| {
        for lane in lanes_of(lanes) {
            let to = &mut memory[indices.of(lane)..][..width];
            combine(block.reduce, to, &bytes[lane][..width]);
        }
    })
    .map_err(|(_, kind)| kind)
}

fn shared_addresses(pieces: &[Piece], rank: Option<u32>) -> ([u64; WARP_LANES], LaneMask) {
    let mut addresses = [0; WARP_LANES];
    for (address, piece) in addresses.iter_mut().zip(pieces) {
        *address = memory::in_cluster(piece.shared, rank).into();
    }
    (addresses, LaneMask::MAX >> (WARP_LANES - pieces.len()))
}

/// Writes bytes over others, or combines them element by element.
fn combine(reduce: Option<(AtomicOp, Ty)>, to: &mut [u8], from: &[u8]) {
    let Some((op, ty)) = reduce else {
        to.copy_from_slice(from);
        return;
    };
    let size = ty.bytes();
    for (to, from) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        let value = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(bytes);
            u64::from_le_bytes(wide)
        };
        let new = atomic::apply(op, ty, value(to), value(from), 0);
        to.copy_from_slice(&new.to_le_bytes()[..size]);
    }
}

/// Tells a barrier that bytes have come.
fn count(barrier: u32, rank: Option<u32>, bytes: u32, memories: &mut Memories<'_>) -> Result<(), FaultKind> {
    let addresses = [memory::in_cluster(barrier, rank).into(); WARP_LANES];
    let part = Part::new(Space::Shared, 1, &addresses, 8).map_err(|(_, kind)| kind)?;
    memories.show(AccessKind::Atomic, &part);
    part.visit(memories, |memory, lanes, indices| {
        for lane in lanes_of(lanes) {
            let cell = memory[indices.of(lane)..].first_chunk_mut().expect("the whole barrier is in bounds");
            let (after, _) = mbarrier::apply(MbarrierOp::Complete, u64::from_le_bytes(*cell), bytes.into());
            *cell = after.to_le_bytes();
        }
    })
    .map_err(|(_, kind)| kind)
}
