//! `ldmatrix` and `stmatrix`: rows of matrices in shared memory, to and from the fragments of a warp.

use super::access::Reach;
use super::fault::FaultKind;
use super::observer::AccessKind;
use super::part::{LaneFault, Memories, Part, word};
use crate::exec::memory::Image;
use crate::exec::{Operands, matrix};
use crate::isa::{Instruction, MatrixAccess, Space};
use crate::lanes::{LaneMask, lanes_of};

/// `ldmatrix`. A row whose lane does not take part reads as zero; the ISA leaves that open.
pub(super) fn load<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    access: MatrixAccess,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let mut rows = Image::ZERO;
    Reach::new(instruction, operands, &access.mode(), lanes & access.address_lanes()).each(|part| {
        in_shared(&part)?;
        memories.show(AccessKind::Load, &part);
        part.visit(memories, |bytes, lanes, indices| {
            for lane in lanes_of(lanes) {
                for (n, row) in rows.words[..4].iter_mut().enumerate() {
                    row.0[lane] = word(bytes, indices.of(lane) + 4 * n);
                }
            }
        })
    })?;
    let fragments = matrix::fragments(access, &rows);
    for (slot, fragment) in fragments.iter().enumerate().take(access.count.into()) {
        operands.write(slot, 0, lanes, fragment);
    }
    Ok(())
}

/// `stmatrix`.
pub(super) fn store<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    access: MatrixAccess,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let mut rows = Image::ZERO;
    matrix::rows(access, operands, &mut rows);
    Reach::new(instruction, operands, &access.mode(), lanes & access.address_lanes()).each(|part| {
        in_shared(&part)?;
        memories.show(AccessKind::Store, &part);
        part.visit(memories, |bytes, lanes, indices| {
            for lane in lanes_of(lanes) {
                let to = &mut bytes[indices.of(lane)..][..16];
                for (to, row) in to.chunks_exact_mut(4).zip(&rows.words) {
                    to.copy_from_slice(&row.0[lane].to_le_bytes());
                }
            }
        })
    })
}

/// Refuses what is not in shared memory.
pub(super) fn in_shared(part: &Part<'_>) -> Result<(), LaneFault> {
    if part.space == Space::Shared {
        return Ok(());
    }
    let lane = part.lanes.trailing_zeros() as usize;
    Err((lane, FaultKind::NotShared { space: part.space, address: part.addresses[lane] }))
}
