//! What a lane's bulk copy asks for: its pieces, targets and barriers, with their bounds checked.

use strata_ptx::exec::{Operands, memory};
use strata_ptx::isa::{BulkCopy, BulkWay};
use strata_ptx::lanes::lanes_of;
use strata_ptx::reference::OUTSIDE_OF_A_CLUSTER;
use strata_ptx::tensor::{MAP_BYTES, Piece, TensorMap, cut, linear, tile, uniform};

use super::{Block, Job};
use crate::launch::{FaultKind, Launch};
use crate::lsu::instruction::MemoryInstruction;
use crate::lsu::{Lsu, atomics};

/// Addresses and sizes of plain copies are multiples of this.
const UNIT: u64 = 16;

/// Shared addresses of boxes are multiples of this.
const BOX_UNIT: u32 = 128;

impl Lsu {
    /// The block of a lane, with its bounds checked. Adds its pieces, whose shared addresses are within the CTA, and its
    /// targets and barriers to the job's.
    #[allow(clippy::too_many_arguments, reason = "the instruction, and two vectors that are kept")]
    pub(super) fn block<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        copy: BulkCopy,
        lane: usize,
        job: &mut Job,
        pieces: &mut Vec<Piece>,
    ) -> Result<Block, FaultKind> {
        let row = |slot: usize| operands.source(slot, 0).0[lane];
        let across = copy.way == BulkWay::Across;
        let outer = if across {
            u64::from(row(1))
        } else {
            let base = u64::from(operands.source(0, 1).0[lane]) << 32 | u64::from(row(0));
            base.wrapping_add_signed(memory.instruction.offset)
        };
        let inner = if across { row(0) } else { row(1) };
        if across && launch.cluster.is_none() {
            return Err(FaultKind::Mapping { what: OUTSIDE_OF_A_CLUSTER.to_owned() });
        }
        let limit = launch.shared_per_cta();
        let (rank, start) = memory::of_cluster(inner.into());
        let start = start as u32;
        let first_operand = copy.size_slot();
        let (bytes, outside, reduce) = if copy.dimensions == 0 {
            let bytes = row(first_operand);
            for address in [outer, start.into(), bytes.into()] {
                if !address.is_multiple_of(UNIT) {
                    return Err(FaultKind::Misaligned { address, bytes: UNIT as u32 });
                }
            }
            if start.saturating_add(bytes) > limit {
                return Err(FaultKind::OutOfBounds { address: inner.into(), bytes, space: "shared" });
            }
            pieces.extend(linear(outer, start, bytes));
            (bytes, 0, copy.reduce)
        } else {
            let map = map_at(outer, launch)?;
            if map.rank != u32::from(copy.dimensions) {
                let (has, wanted) = (map.rank, copy.dimensions);
                let what = format!("the tensor map has {has} dimensions, the instruction {wanted}");
                return Err(FaultKind::Mapping { what });
            }
            if !start.is_multiple_of(BOX_UNIT) {
                return Err(FaultKind::Misaligned { address: inner.into(), bytes: BOX_UNIT });
            }
            let bytes = map.shared_bytes();
            if start.saturating_add(bytes) > limit {
                return Err(FaultKind::OutOfBounds { address: inner.into(), bytes, space: "shared" });
            }
            let mut coordinates = [0; 5];
            for (n, coordinate) in coordinates.iter_mut().enumerate().take(copy.dimensions.into()) {
                *coordinate = row(first_operand + n) as i32;
            }
            let stores = copy.way == BulkWay::Store && copy.reduce.is_none();
            map.check_start(coordinates, stores).map_err(|error| FaultKind::Mapping { what: error.0 })?;
            let reduce = match copy.reduce {
                None => None,
                Some((op, _)) => {
                    let ty = map.reduced_as(op).map_err(|error| FaultKind::Mapping { what: error.0 })?;
                    Some((op, ty))
                }
            };
            let element = 8 * map.element.bytes();
            let repeated = (0..64).step_by(element as usize).fold(0, |all, at| all | map.outside() << at);
            tile(&map, coordinates, start, pieces);
            (map.box_bytes(), repeated, reduce)
        };
        if let Some((op, ty)) = reduce
            && atomics::at_the_line(op, ty).is_none()
        {
            return Err(FaultKind::Unsupported { what: "a reduction of this type" });
        }
        let mut width = uniform(pieces);
        if let Some((_, ty)) = reduce {
            // One element a lane.
            width = ty.bytes() as u32;
            cut(pieces, width);
        }
        if copy.way == BulkWay::Store {
            // What lies outside of the tensor stays.
            pieces.retain(|piece| piece.global.is_some());
        }
        for piece in pieces.iter() {
            let Some(address) = piece.global else { continue };
            let end = address.saturating_add(piece.bytes.into());
            if across {
                if end > limit.into() {
                    return Err(FaultKind::OutOfBounds { address, bytes: piece.bytes, space: "shared" });
                }
            } else if !self.resolver.is_allocated(launch, memory.pc, address, end) {
                return Err(FaultKind::OutOfBounds { address, bytes: piece.bytes, space: "global" });
            }
        }
        if across {
            // From here on, where the bytes come from is a byte of the scratchpad, too.
            for piece in pieces.iter_mut() {
                piece.global = piece.global.map(|address| address + u64::from(memory.shared_base));
            }
        }
        let first_target = job.targets.len();
        if copy.multicast {
            let mask = row(first_operand + usize::from(copy.dimensions.max(1))) & 0xffff;
            for rank in lanes_of(mask) {
                job.targets.push(self.base_of(memory, Some(rank as u32), inner)?);
            }
        } else {
            job.targets.push(self.base_of(memory, rank, inner)?);
        }
        let targets = job.targets.len() - first_target;
        if copy.way != BulkWay::Store {
            let barrier = row(2);
            let (rank, at) = memory::of_cluster(barrier.into());
            if !at.is_multiple_of(8) {
                return Err(FaultKind::Misaligned { address: barrier.into(), bytes: 8 });
            }
            if at + 8 > u64::from(limit) {
                return Err(FaultKind::OutOfBounds { address: barrier.into(), bytes: 8, space: "shared" });
            }
            if copy.multicast {
                job.barriers.extend(job.targets[first_target..].iter().map(|base| (base + at as u32, bytes)));
            } else {
                job.barriers.push((self.base_of(memory, rank, barrier)? + at as u32, bytes));
            }
        }
        Ok(Block { width, outside, reduce, first_target, targets })
    }

    /// Where the shared memory of a CTA of the cluster begins in the scratchpad.
    fn base_of(
        &self,
        memory: &MemoryInstruction<'_>,
        rank: Option<u32>,
        address: u32,
    ) -> Result<u32, FaultKind> {
        let Some(rank) = rank else { return Ok(memory.shared_base) };
        let space = "shared::cluster";
        self.resolver.base_in_cluster(memory.cta_slot, rank).ok_or(FaultKind::OutOfBounds {
            address: address.into(),
            bytes: 1,
            space,
        })
    }
}

/// The tensor map at a generic address. It comes with the launch, in the kernel's parameters.
pub(super) fn map_at(address: u64, launch: &Launch) -> Result<TensorMap, FaultKind> {
    let (space, at) = memory::resolve(address);
    if space != strata_ptx::isa::Space::Param {
        return Err(FaultKind::Unsupported { what: "a tensor map outside of the kernel's parameters" });
    }
    let bytes = usize::try_from(at).ok().and_then(|at| launch.params.get(at..at + MAP_BYTES));
    let bytes: Option<&[u8; MAP_BYTES]> = bytes.and_then(|bytes| bytes.first_chunk());
    let space = "parameter";
    let bytes = bytes.ok_or(FaultKind::OutOfBounds { address, bytes: MAP_BYTES as u32, space })?;
    TensorMap::decode(bytes).map_err(|error| FaultKind::Mapping { what: error.0 })
}
