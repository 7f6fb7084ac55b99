//! What memory instructions say besides their operands.

use super::types::{CacheOp, Ordering, Scope, Space, Ty};

/// What a memory instruction moves and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryMode {
    /// Where the address points.
    pub space: Space,
    /// Type of one element; decides width and extension.
    pub ty: Ty,
    /// Elements per lane: 1, 2, 4 (8 for b32 on the newest targets).
    pub vector: u8,
    /// Cache operator.
    pub cache: CacheOp,
    /// Ordering.
    pub ordering: Ordering,
    /// Scope of the ordering.
    pub scope: Scope,
}

impl MemoryMode {
    /// Whether accesses after it wait for it, or it waits for those before it.
    pub const fn is_fence(&self) -> bool {
        matches!(self.ordering, Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }
}
