//! Prefetches: lines that a program wishes for. They change no value.

use super::types::Space;

/// Where a prefetch brings the line of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefetchTo {
    /// To the L1 data cache.
    L1,
    /// To the uniform cache, for addresses in global memory only (`prefetchu`).
    Uniform,
    /// To the L2 cache; `applypriority` brings a line that is not there, too.
    L2,
    /// To where copies of tensors look for their maps.
    TensorMap,
}

/// `prefetch`, `prefetchu`, `applypriority`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefetch {
    /// Where the address points.
    pub space: Space,
    /// Where its line goes.
    pub to: PrefetchTo,
}

/// `cp.async.bulk.prefetch`: each executing lane wishes for a block of global memory in the L2 cache. src0 is the block's address or
/// the generic address of a tensor's map, src1 the size or the first coordinate. The offset is added to src0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BulkPrefetch {
    /// Dimensions of the tensor; 0 for plain bytes.
    pub dimensions: u8,
}

impl BulkPrefetch {
    /// Sources of 32 bits behind src0.
    pub const fn rows(&self) -> usize {
        if self.dimensions == 0 { 1 } else { self.dimensions as usize }
    }
}
