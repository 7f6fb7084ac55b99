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

/// `mma.sync`: dst.. = D; src.. = the registers of A, then of B, then of C.
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
}

impl Mma {
    /// m of one product.
    pub const fn rows(&self) -> u32 {
        match self.layout {
            Layout::Warp { rows } => rows as u32,
            Layout::Quads { .. } => 8,
        }
    }

    /// Elements of A and B that a lane holds of each row or column of its own.
    const fn own(&self) -> u32 {
        match self.layout {
            Layout::Warp { .. } => self.depth as u32 / 4,
            Layout::Quads { .. } => 4,
        }
    }

    /// Registers of A.
    pub const fn a_registers(&self) -> usize {
        let rows = match self.layout {
            Layout::Warp { rows } => rows as u32 / 8,
            Layout::Quads { .. } => 1,
        };
        (rows * self.own() / self.a.per_register()) as usize
    }

    /// Registers of B.
    pub const fn b_registers(&self) -> usize {
        (self.own() / self.b.per_register()) as usize
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

    /// Sources in all.
    pub const fn sources(&self) -> usize {
        self.a_registers() + self.b_registers() + self.c_registers(self.c)
    }

    /// Multiply-adds of the warp.
    pub const fn products(&self) -> u32 {
        let products = match self.layout {
            Layout::Warp { .. } => 1,
            Layout::Quads { .. } => 4,
        };
        products * self.rows() * 8 * self.depth as u32
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
}
