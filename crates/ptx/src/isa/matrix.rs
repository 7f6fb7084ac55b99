//! Matrix instructions: how a warp holds matrices in its registers, and the shapes of products.
//!
//! A product is D = A B + C with A of m by k, B of k by n and C and D of m by n elements. Each lane holds some elements of
//! each, its *fragment*, in ordinary registers.

use super::memory::MemoryMode;
use super::types::{CacheOp, Ordering, Scope, Space, Ty};
use crate::lanes::LaneMask;

/// Type of the elements of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Element {
    F16,
    Bf16,
    /// In a register of 32 bits, of which the low 13 do not count.
    Tf32,
    E4m3,
    E5m2,
    F64,
    S8,
    U8,
    S4,
    U4,
    /// One bit; products are counted, see [`Combine`].
    B1,
}

impl Element {
    /// Bits of an element in its register.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
            Element::S4 | Element::U4 => 4,
            Element::B1 => 1,
        }
    }

    /// Elements in a register: of 64 bits for f64, else of 32.
    pub const fn per_register(self) -> u32 {
        match self {
            Element::F64 => 1,
            _ => 32 / self.bits(),
        }
    }
}

/// Type of the elements of C or D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Accumulator {
    /// Two to a register.
    F16,
    F32,
    F64,
    S32,
}

/// How sums of products are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Products are added; integer sums wrap around.
    Multiply,
    /// Products are added; integer sums stop at the ends of s32 (`.satfinite`).
    Saturate,
    /// Bits that differ are counted (`.xor.popc`).
    Xor,
    /// Bits that are both set are counted (`.and.popc`).
    And,
}

/// How fragments are laid out (PTX ISA, "Matrix Fragments for mma").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// All 32 lanes on one product of `rows` (8 or 16) by 8, A by rows and B by columns. Lane l belongs to group l / 4 and
    /// has place l % 4 in it; the group is a row of A, C and D and a column of B.
    Warp {
        /// m.
        rows: u8,
    },
    /// `m8n8k4` of f16: four products of 8 by 8, each by lanes 4 q to 4 q + 3 and 16 further.
    Quads {
        /// Whether lanes hold rows of A, else columns.
        a_rows: bool,
        /// Whether lanes hold rows of B, else columns.
        b_rows: bool,
    },
}

/// A without half of its elements, which are zero (`mma.sp`). Which ones it has is told by two bits for each, the *metadata*, in
/// a register of some lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparse {
    /// Which of four consecutive lanes have the metadata, where not all have.
    pub selector: u8,
}

/// `mma.sync`: dst.. = D; src.. = the registers of A, then of B, then of C, then of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    /// The layout, which has m and n.
    pub layout: Layout,
    /// k.
    pub depth: u16,
    /// Elements of A.
    pub a: Element,
    /// Elements of B.
    pub b: Element,
    /// Elements of C.
    pub c: Accumulator,
    /// Elements of D.
    pub d: Accumulator,
    /// How products are summed.
    pub combine: Combine,
    /// Whether A has half of its elements only.
    pub sparse: Option<Sparse>,
}

impl Mma {
    /// m of one product.
    pub const fn rows(&self) -> u32 {
        match self.layout {
            Layout::Warp { rows } => rows as u32,
            Layout::Quads { .. } => 8,
        }
    }

    /// Elements that A has of each row.
    pub const fn stored_depth(&self) -> u32 {
        self.depth as u32 / if self.sparse.is_some() { 2 } else { 1 }
    }

    /// Elements that a lane holds of each row or column of its own, of a matrix that has `depth` of it.
    const fn own(&self, depth: u32) -> u32 {
        match self.layout {
            Layout::Warp { .. } => depth / 4,
            Layout::Quads { .. } => 4,
        }
    }

    /// Bits of metadata for a row of A.
    pub const fn metadata_bits(&self) -> u32 {
        // Four for each chunk of 32 bits of f16 or tf32, or of 16 bits of the narrower types, that A has.
        let chunk = match self.a {
            Element::F16 | Element::Bf16 | Element::Tf32 => 32,
            _ => 16,
        };
        4 * self.stored_depth() * self.a.bits() / chunk
    }

    /// Registers of A.
    pub const fn a_registers(&self) -> usize {
        let rows = match self.layout {
            Layout::Warp { rows } => rows as u32 / 8,
            Layout::Quads { .. } => 1,
        };
        (rows * self.own(self.stored_depth()) / self.a.per_register()) as usize
    }

    /// Registers of B.
    pub const fn b_registers(&self) -> usize {
        (self.own(self.depth as u32) / self.b.per_register()) as usize
    }

    /// Registers of C or D with these elements.
    pub const fn c_registers(&self, elements: Accumulator) -> usize {
        let own = match self.layout {
            Layout::Warp { rows } => rows as usize / 4,
            Layout::Quads { .. } => 8,
        };
        match elements {
            Accumulator::F16 => own / 2,
            _ => own,
        }
    }

    /// Rows of 32 bits in each register: two for f64.
    pub const fn register_rows(&self) -> usize {
        match self.a {
            Element::F64 => 2,
            _ => 1,
        }
    }

    /// The source with the metadata, behind those of A, B and C.
    pub const fn metadata_slot(&self) -> usize {
        self.a_registers() + self.b_registers() + self.c_registers(self.c)
    }

    /// Sources in all.
    pub const fn sources(&self) -> usize {
        self.metadata_slot() + self.sparse.is_some() as usize
    }

    /// Multiply-adds of the warp; none where A has nothing.
    pub const fn products(&self) -> u32 {
        let products = match self.layout {
            Layout::Warp { .. } => 1,
            Layout::Quads { .. } => 4,
        };
        products * self.rows() * 8 * self.stored_depth()
    }
}

/// `ldmatrix` and `stmatrix`: matrices of 8 by 8 elements of 16 bits, each row 16 bytes of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixAccess {
    /// Shared or generic; a generic address must lie in shared memory.
    pub space: Space,
    /// Matrices: 1, 2 or 4.
    pub count: u8,
    /// Whether lanes hold columns.
    pub transposed: bool,
}

impl MatrixAccess {
    /// The lanes whose addresses count: eight a matrix.
    pub const fn address_lanes(&self) -> LaneMask {
        LaneMask::MAX >> (32 - 8 * self.count as u32)
    }

    /// What each of those lanes moves: a row.
    pub const fn mode(&self) -> MemoryMode {
        MemoryMode {
            space: self.space,
            ty: Ty::B128,
            vector: 1,
            cache: CacheOp::All,
            ordering: Ordering::Weak,
            scope: Scope::Cta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_those_of_the_isa() {
        use Accumulator::{F16, F32, F64, S32};
        let mma = |rows, depth, element, c| Mma {
            layout: Layout::Warp { rows },
            depth,
            a: element,
            b: element,
            c,
            d: c,
            combine: Combine::Multiply,
            sparse: None,
        };
        let counts =
            |mma: Mma| (mma.a_registers(), mma.b_registers(), mma.c_registers(mma.c), mma.products());
        assert_eq!(counts(mma(16, 16, Element::F16, F32)), (4, 2, 4, 2048));
        assert_eq!(counts(mma(16, 8, Element::Bf16, F32)), (2, 1, 4, 1024));
        assert_eq!(counts(mma(16, 8, Element::F16, F16)), (2, 1, 2, 1024));
        assert_eq!(counts(mma(16, 4, Element::Tf32, F32)), (2, 1, 4, 512));
        assert_eq!(counts(mma(16, 8, Element::Tf32, F32)), (4, 2, 4, 1024));
        assert_eq!(counts(mma(8, 4, Element::F64, F64)), (1, 1, 2, 256));
        assert_eq!(counts(mma(8, 16, Element::S8, S32)), (1, 1, 2, 1024));
        assert_eq!(counts(mma(16, 32, Element::U8, S32)), (4, 2, 4, 4096));
        assert_eq!(counts(mma(16, 64, Element::S4, S32)), (4, 2, 4, 8192));
        assert_eq!(counts(mma(16, 256, Element::B1, S32)), (4, 2, 4, 32768));
        let quads = Layout::Quads { a_rows: true, b_rows: false };
        assert_eq!(counts(Mma { layout: quads, ..mma(8, 4, Element::F16, F32) }), (2, 2, 8, 1024));
    }

    #[test]
    fn a_sparse_product_is_a_dense_one_of_half_the_depth_but_for_b() {
        use Accumulator::{F32, S32};
        let table = [
            (Element::F16, F32, [(16, 16), (32, 32)].as_slice()),
            (Element::Tf32, F32, &[(8, 16), (16, 32)]),
            (Element::S8, S32, &[(32, 32), (64, 64)]),
            (Element::S4, S32, &[(64, 32), (128, 64)]),
            (Element::E4m3, F32, &[(64, 64)]),
        ];
        for (a, c, depths) in table {
            for (depth, metadata_bits) in depths {
                let layout = Layout::Warp { rows: 16 };
                let dense = Mma {
                    layout,
                    depth: depth / 2,
                    a,
                    b: a,
                    c,
                    d: c,
                    combine: Combine::Multiply,
                    sparse: None,
                };
                let sparse = Mma { depth: *depth, sparse: Some(Sparse { selector: 0 }), ..dense };
                assert_eq!(sparse.class(), dense.class());
                assert_eq!(sparse.products(), dense.products());
                assert_eq!(sparse.a_registers(), dense.a_registers());
                assert_eq!(sparse.b_registers(), 2 * dense.b_registers());
                assert_eq!(sparse.sources(), dense.sources() + dense.b_registers() + 1);
                assert_eq!(sparse.metadata_bits(), *metadata_bits, "{a:?}, k {depth}");
            }
        }
    }
}
