//! Bulk copies: one lane moves a block of memory, or a box of a tensor.

use super::types::{AtomicOp, Ty};

/// Which way the bytes go, and who is told that they have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BulkWay {
    /// From global to shared memory; a barrier there counts the bytes.
    Load,
    /// From shared to global memory; the lane's bulk group counts the copy.
    Store,
    /// From the CTA's shared memory to that of a CTA of the cluster; a barrier there counts the bytes.
    Across,
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`: each executing lane makes a copy of its own.
///
/// | way    | sources                                                                                    |
/// |--------|--------------------------------------------------------------------------------------------|
/// | load   | global address or map, shared address, barrier, size or coordinates, mask of CTAs if `multicast` |
/// | store  | global address or map, shared address, size or coordinates                                 |
/// | across | shared address to, shared address from, barrier, size                                      |
///
/// The instruction's offset is added to the global address or that of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BulkCopy {
    /// Which way.
    pub way: BulkWay,
    /// Dimensions of the tensor whose map src0 is the generic address of; 0 for plain bytes.
    pub dimensions: u8,
    /// What is done with the bytes that are there already, if they are not overwritten, and to elements of which type; a
    /// tensor's map has the type.
    pub reduce: Option<(AtomicOp, Ty)>,
    /// Whether the bytes go to each CTA of a mask.
    pub multicast: bool,
}

impl BulkCopy {
    /// Sources of 32 bits behind src0, or all of them for copies between CTAs.
    pub const fn rows(&self) -> usize {
        let size = if self.dimensions == 0 { 1 } else { self.dimensions as usize };
        match self.way {
            BulkWay::Load => 2 + size + self.multicast as usize,
            BulkWay::Store => 1 + size,
            BulkWay::Across => 4,
        }
    }

    /// The slot of the size, or of the first coordinate.
    pub const fn size_slot(&self) -> usize {
        match self.way {
            BulkWay::Load | BulkWay::Across => 3,
            BulkWay::Store => 2,
        }
    }
}
