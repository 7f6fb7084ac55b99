//! Shapes of `wmma` products, and where the elements of their fragments lie in memory.

use crate::isa::{Accumulator, Element, Ty};

/// m, n and k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) m: u16,
    pub(super) n: u16,
    pub(super) k: u16,
}

const fn shape(m: u16, n: u16, k: u16) -> Shape {
    Shape { m, n, k }
}

/// By name.
pub(super) const SHAPES: [(&str, Shape); 7] = [
    ("m16n16k16", shape(16, 16, 16)),
    ("m32n8k16", shape(32, 8, 16)),
    ("m8n32k16", shape(8, 32, 16)),
    ("m16n16k8", shape(16, 16, 8)),
    ("m8n8k4", shape(8, 8, 4)),
    ("m8n8k32", shape(8, 8, 32)),
    ("m8n8k128", shape(8, 8, 128)),
];

impl Shape {
    /// Whether the transpose is what is computed.
    pub(super) fn is_turned(self) -> bool {
        self.m == 8 && self.n == 32
    }

    /// The products that the whole is made of: rows of one, and how many below and beside each other, turned if need be.
    pub(super) fn products(self) -> (u16, u16, u16) {
        let (m, n) = if self.is_turned() { (self.n, self.m) } else { (self.m, self.n) };
        let rows = m.min(16);
        (rows, m / rows, n / 8)
    }

    /// Whether elements of this type have the shape.
    pub(super) fn takes(self, element: Element) -> bool {
        let k = match element {
            Element::F16 | Element::Bf16 | Element::S8 | Element::U8 => return self.k == 16,
            Element::Tf32 => 8,
            Element::F64 => 4,
            Element::S4 | Element::U4 => 32,
            Element::B1 => 128,
            Element::E4m3 | Element::E5m2 => return false,
        };
        self.k == k
    }

    /// Whether products of this shape are summed in this type.
    pub(super) fn sums(self, elements: Accumulator) -> bool {
        match elements {
            Accumulator::F16 => self.k == 16,
            Accumulator::F32 => self.k == 16 || self.k == 8,
            Accumulator::F64 => self.k == 4,
            Accumulator::S32 => matches!(self.k, 16 | 32 | 128),
        }
    }
}

/// Where the first element of a register lies. In memory the element at (x, y) is number x * stride + y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) x: u16,
    pub(super) y: u16,
}

/// How a fragment lies in memory.
pub(super) struct Image {
    /// Bits of an element.
    pub(super) bits: u32,
    /// Elements of a register.
    pub(super) each: u16,
    /// Whether the elements of a register are neighbours in memory, else they are a stride apart.
    pub(super) is_along: bool,
    /// Distance in x of the lanes of neighbouring groups, and of neighbouring places in a group.
    pub(super) lane_x: (u16, u16),
    /// As `lane_x`, in y.
    pub(super) lane_y: (u16, u16),
    /// The registers of lane 0.
    pub(super) pieces: Vec<Piece>,
    /// Elements from one x to the next when the text does not say.
    pub(super) stride: u16,
}

impl Image {
    /// A or B; `by_rows` is its layout.
    pub(super) fn of_factor(shape: Shape, element: Element, is_a: bool, by_rows: bool) -> Image {
        let each = element.per_register() as u16;
        let (rows, below, beside) = shape.products();
        // The first factor of the products that are computed has rows, the second columns: lines of k elements.
        let first = is_a != shape.is_turned();
        let is_along = by_rows == is_a;
        let mut pieces = Vec::new();
        let (products, halves) = if first { (below, rows / 8) } else { (beside, 1) };
        for product in 0..products {
            for k in (0..shape.k).step_by(4 * usize::from(each)) {
                for half in 0..halves {
                    let line = product * (8 * halves) + 8 * half;
                    pieces.push(if is_along { Piece { x: line, y: k } } else { Piece { x: k, y: line } });
                }
            }
        }
        let lines = if is_a { shape.m } else { shape.n };
        let (groups, places) = ((1, 0), (0, each));
        Image {
            bits: element.bits(),
            each,
            is_along,
            lane_x: if is_along { groups } else { places },
            lane_y: if is_along { places } else { groups },
            pieces,
            stride: if is_along { shape.k } else { lines },
        }
    }

    /// C or D; `by_rows` is its layout.
    pub(super) fn of_sum(shape: Shape, elements: Accumulator, by_rows: bool) -> Image {
        let (rows, below, beside) = shape.products();
        let is_along = by_rows != shape.is_turned();
        let mut pieces = Vec::new();
        let each = if elements == Accumulator::F16 { 2 } else { 1 };
        for (down, across) in (0..below).flat_map(|down| (0..beside).map(move |across| (down, across))) {
            for half in 0..rows / 8 {
                for column in (0..2).step_by(each.into()) {
                    let (row, column) = (down * rows + 8 * half, across * 8 + column);
                    pieces.push(if is_along {
                        Piece { x: row, y: column }
                    } else {
                        Piece { x: column, y: row }
                    });
                }
            }
        }
        let bits = match elements {
            Accumulator::F16 => 16,
            Accumulator::F32 | Accumulator::S32 => 32,
            Accumulator::F64 => 64,
        };
        let (groups, places) = ((1, 0), (0, 2));
        Image {
            bits,
            each,
            is_along,
            lane_x: if is_along { groups } else { places },
            lane_y: if is_along { places } else { groups },
            pieces,
            stride: if by_rows { shape.n } else { shape.m },
        }
    }

    /// Type of one element that is moved by itself.
    pub(super) fn element_type(&self) -> Ty {
        match self.bits {
            64 => Ty::B64,
            32 => Ty::B32,
            16 => Ty::B16,
            _ => Ty::B8,
        }
    }

    /// Type of a register.
    pub(super) fn register_type(&self) -> Ty {
        if self.bits == 64 { Ty::B64 } else { Ty::B32 }
    }
}
