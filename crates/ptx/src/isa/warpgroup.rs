//! Matrices of a warpgroup in shared memory: what `wgmma` reads by descriptor.
//!
//! A descriptor has 64 bits (PTX ISA, "Matrix descriptor format" of `wgmma`). Lengths and addresses are in units of 16 bytes:
//!
//! | bits     | field                                                     |
//! |----------|-----------------------------------------------------------|
//! | 13 to 0  | where the matrix begins                                   |
//! | 29 to 16 | leading dimension byte offset                             |
//! | 45 to 32 | stride dimension byte offset                              |
//! | 51 to 49 | base offset: the row of the swizzle's pattern at the start |
//! | 63, 62   | swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32         |

/// The warps of a warpgroup.
pub const WARPGROUP_WARPS: u32 = 4;

/// Rows of 16 bytes that lanes find by a descriptor, for `ldmatrix` to load: lane l gets row l % 8 of block l / 8. A block is
/// 8 of m or n by 16 bytes of k, or with `k_major` false 8 of k by 8 elements of m or n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DescribedRow {
    /// Which blocks.
    pub blocks: Blocks,
    /// Whether neighbours in memory are neighbours in k.
    pub k_major: bool,
}

/// Which four blocks of a matrix that is two blocks deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// The 16 rows of A that belong to the warp: two blocks down, then the two of the other half of k.
    OfA,
    /// 16 columns of B from block `first` on: both halves of k of one block, then of the next.
    OfB {
        /// In blocks of 8 columns.
        first: u8,
    },
}
