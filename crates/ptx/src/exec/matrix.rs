//! Matrix products and the moves of matrices between lanes.
//!
//! What the ISA leaves open is fixed here. Products are exact. Those of f16, bf16 and tf32 are added as a GPU adds them
//! (`aligned`); an f16 accumulator is widened before and rounded at the end. Other sums begin with the element of C and
//! take the products in the order of k: in f32, rounded to nearest after each, for elements of 8 bits; in f64 likewise. Integer
//! sums are exact and then wrap around or, with `.satfinite`, stop at the ends of s32.

use half::{bf16, f16};

use super::Operands;
use super::aligned;
use super::float_rules::{finish_f32, finish_f64};
use super::half_float::{narrow, widen};
use super::memory::Image;
use super::narrow_float::Fp8;
use super::sparse;
use crate::isa::{Accumulator, Combine, Element, FloatMode, Layout, MatrixAccess, Mma, Ty};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// Rows or columns of the products of one instruction, at most: two times eight rows, or four products of eight.
const MAX_LINES: usize = 32;
/// k, at most, where elements are computed with one by one.
const MAX_DEPTH: usize = 64;
/// Registers of a fragment, at most.
const MAX_REGISTERS: usize = 8;

/// Where an element lies: which lane, which of the fragment's registers, which part of it from the low end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    lane: usize,
    register: usize,
    part: u32,
}

/// Element (row, k) of A; the rows of the second of four products begin at 8.
fn spot_of_a(mma: &Mma, row: usize, k: usize) -> Spot {
    let each = mma.a.per_register() as usize;
    match mma.layout {
        Layout::Warp { rows } => Spot {
            lane: row % 8 * 4 + k / each % 4,
            register: row / 8 + usize::from(rows / 8) * (k / (4 * each)),
            part: (k % each) as u32,
        },
        Layout::Quads { a_rows: true, .. } => in_quad(row / 8, row % 8, k),
        Layout::Quads { a_rows: false, .. } => in_quad(row / 8, k + row % 8 / 4 * 4, row % 4),
    }
}

/// Element (k, column) of B; the columns of the second of four products begin at 8.
fn spot_of_b(mma: &Mma, k: usize, column: usize) -> Spot {
    let each = mma.b.per_register() as usize;
    match mma.layout {
        Layout::Warp { .. } => {
            Spot { lane: column * 4 + k / each % 4, register: k / (4 * each), part: (k % each) as u32 }
        }
        Layout::Quads { b_rows: false, .. } => in_quad(column / 8, column % 8, k),
        Layout::Quads { b_rows: true, .. } => in_quad(column / 8, k + column % 8 / 4 * 4, column % 4),
    }
}

/// Element (row, column) of C or D with these elements; column counts within the product that has the row.
fn spot_of_c(mma: &Mma, elements: Accumulator, row: usize, column: usize) -> Spot {
    let (lane, n) = match (mma.layout, elements) {
        (Layout::Warp { .. }, _) => (row % 8 * 4 + column / 2, row / 8 * 2 + column % 2),
        (Layout::Quads { .. }, Accumulator::F16) => return in_quad(row / 8, row % 8, column),
        (Layout::Quads { .. }, _) => {
            let place = (row & 1 | column & 2) + (row & 4);
            (in_quad(row / 8, place, 0).lane, row & 2 | column & 4 | column & 1)
        }
    };
    match elements {
        Accumulator::F16 => Spot { lane, register: n / 2, part: n as u32 % 2 },
        _ => Spot { lane, register: n, part: 0 },
    }
}

/// Element n, two to a register, of place 0 to 7 in a quad: the places from 4 on are 16 lanes further.
fn in_quad(quad: usize, place: usize, n: usize) -> Spot {
    Spot { lane: 4 * quad + place % 4 + place / 4 * 16, register: n / 2, part: n as u32 % 2 }
}

/// The fragment of A, B or C: `registers` sources from slot `first` on.
struct Fragment<'a, O> {
    operands: &'a O,
    first: usize,
}

impl<O: Operands> Fragment<'_, O> {
    fn word(&self, spot: Spot) -> u32 {
        self.operands.source(self.first + spot.register, 0).0[spot.lane]
    }

    fn double(&self, spot: Spot) -> f64 {
        let high = self.operands.source(self.first + spot.register, 1).0[spot.lane];
        f64::from_bits(u64::from(high) << 32 | u64::from(self.word(spot)))
    }

    /// The bits of an element of up to 32 bits.
    fn bits(&self, spot: Spot, element: Element) -> u32 {
        let bits = element.bits();
        self.word(spot) >> (spot.part * bits) & (u32::MAX >> (32 - bits))
    }

    fn single(&self, spot: Spot, element: Element) -> f32 {
        let bits = self.bits(spot, element);
        match element {
            Element::F16 => f16::from_bits(bits as u16).to_f32(),
            Element::Bf16 => bf16::from_bits(bits as u16).to_f32(),
            Element::Tf32 => f32::from_bits(bits & !0x1fff),
            Element::E4m3 => Fp8::of(Ty::E4m3x2).decode(bits as u8).to_f32(),
            Element::E5m2 => Fp8::of(Ty::E5m2x2).decode(bits as u8).to_f32(),
            other => panic!("{other:?} is not a floating-point element of up to 32 bits"),
        }
    }

    fn integer(&self, spot: Spot, element: Element) -> i32 {
        let bits = self.bits(spot, element);
        match element {
            Element::S8 => i32::from(bits as i8),
            Element::S4 => (bits << 28) as i32 >> 28,
            Element::U8 | Element::U4 => bits as i32,
            other => panic!("{other:?} is not an integer element"),
        }
    }

    /// An element of C in f16 or f32.
    fn accumulator(&self, spot: Spot, elements: Accumulator) -> f32 {
        match elements {
            Accumulator::F16 => widen(false, (self.word(spot) >> (16 * spot.part)) as u16),
            _ => f32::from_bits(self.word(spot)),
        }
    }
}

/// D on its way to the registers.
struct Result {
    low: [Row; MAX_REGISTERS],
    high: [Row; MAX_REGISTERS],
}

impl Result {
    fn put(&mut self, spot: Spot, elements: Accumulator, value: u32) {
        let word = &mut self.low[spot.register].0[spot.lane];
        match elements {
            Accumulator::F16 => {
                let bits = u32::from(narrow(false, f32::from_bits(value)));
                *word |= bits << (16 * spot.part);
            }
            _ => *word = value,
        }
    }
}

/// Visits every element of D with its row of A and its column of B, each in the order of k; `step` elements at a time.
fn visit<T: Copy>(
    mma: &Mma,
    (step, metadata): (usize, Option<&Row>),
    a: impl Fn(Spot) -> T,
    b: impl Fn(Spot) -> T,
    mut element: impl FnMut(usize, usize, &mut dyn Iterator<Item = (T, T)>),
) {
    if let Some(metadata) = metadata {
        return visit_sparse(mma, metadata, a, b, element);
    }
    let depth = usize::from(mma.depth) / step;
    let products = if matches!(mma.layout, Layout::Quads { .. }) { 4 } else { 1 };
    let first = a(Spot { lane: 0, register: 0, part: 0 });
    let (mut rows, mut columns) = ([[first; MAX_DEPTH]; MAX_LINES], [[first; MAX_DEPTH]; MAX_LINES]);
    let lines = products * mma.rows() as usize;
    for (n, row) in rows.iter_mut().enumerate().take(lines) {
        row[..depth].iter_mut().enumerate().for_each(|(k, to)| *to = a(spot_of_a(mma, n, k * step)));
    }
    for (n, column) in columns.iter_mut().enumerate().take(products * 8) {
        column[..depth].iter_mut().enumerate().for_each(|(k, to)| *to = b(spot_of_b(mma, k * step, n)));
    }
    for (n, row) in rows.iter().enumerate().take(lines) {
        let product = if products == 4 { n / 8 } else { 0 };
        for place in 0..8 {
            let column = &columns[8 * product + place];
            element(n, place, &mut row[..depth].iter().copied().zip(column.iter().copied()));
        }
    }
}

/// As [`visit`] where A has half of its elements: these in the order in which A has them.
fn visit_sparse<T: Copy>(
    mma: &Mma,
    metadata: &Row,
    a: impl Fn(Spot) -> T,
    b: impl Fn(Spot) -> T,
    mut element: impl FnMut(usize, usize, &mut dyn Iterator<Item = (T, T)>),
) {
    const ROWS: usize = 16;
    const COLUMNS: usize = 8;
    let (depth, stored) = (usize::from(mma.depth), mma.stored_depth() as usize);
    let first = b(Spot { lane: 0, register: 0, part: 0 });
    let mut columns = [[first; 2 * MAX_DEPTH]; COLUMNS];
    for (n, column) in columns.iter_mut().enumerate() {
        column[..depth].iter_mut().enumerate().for_each(|(k, to)| *to = b(spot_of_b(mma, k, n)));
    }
    let mut row = [(first, 0); MAX_DEPTH];
    for n in 0..ROWS {
        for (at, to) in row[..stored].iter_mut().enumerate() {
            *to = (a(spot_of_a(mma, n, at)), sparse::column(mma, metadata, n, at));
        }
        for (place, column) in columns.iter().enumerate() {
            element(n, place, &mut row[..stored].iter().map(|(a, k)| (*a, column[*k])));
        }
    }
}

/// `mma`.
pub(super) fn multiply(mma: &Mma, o: &mut impl Operands, lanes: LaneMask) {
    let mut result = Result { low: [Row::ZERO; MAX_REGISTERS], high: [Row::ZERO; MAX_REGISTERS] };
    sums(mma, o, &mut result);
    for register in 0..mma.c_registers(mma.d) {
        o.write(register, 0, lanes, &result.low[register]);
        if mma.d == Accumulator::F64 {
            o.write(register, 1, lanes, &result.high[register]);
        }
    }
}

fn sums(mma: &Mma, operands: &impl Operands, result: &mut Result) {
    let a = Fragment { operands, first: 0 };
    let b = Fragment { operands, first: mma.a_registers() };
    let c = Fragment { operands, first: mma.a_registers() + mma.b_registers() };
    let metadata = mma.sparse.map(|_| operands.source(mma.metadata_slot(), 0));
    let spots = |row, column| (spot_of_c(mma, mma.c, row, column), spot_of_c(mma, mma.d, row, column));
    match mma.a {
        Element::F64 => visit(
            mma,
            (1, metadata),
            |spot| a.double(spot),
            |spot| b.double(spot),
            |row, column, pairs| {
                let (from, to) = spots(row, column);
                let sum =
                    pairs.fold(c.double(from), |sum, (a, b)| finish_f64(a.mul_add(b, sum), [a, b, sum]));
                result.low[to.register].0[to.lane] = sum.to_bits() as u32;
                result.high[to.register].0[to.lane] = (sum.to_bits() >> 32) as u32;
            },
        ),
        Element::B1 => visit(
            mma,
            (32, metadata),
            |spot| a.word(spot),
            |spot| b.word(spot),
            |row, column, pairs| {
                let (from, to) = spots(row, column);
                let both = |a: u32, b: u32| if mma.combine == Combine::Xor { a ^ b } else { a & b };
                let ones: u32 = pairs.map(|(a, b)| both(a, b).count_ones()).sum();
                result.put(to, mma.d, c.word(from).wrapping_add(ones));
            },
        ),
        Element::S8 | Element::U8 | Element::S4 | Element::U4 => {
            let (left, right) = (|spot| a.integer(spot, mma.a), |spot| b.integer(spot, mma.b));
            visit(mma, (1, metadata), left, right, |row, column, pairs| {
                let (from, to) = spots(row, column);
                let products: i64 = pairs.map(|(a, b)| i64::from(a * b)).sum();
                let sum = i64::from(c.word(from) as i32) + products;
                let ends = (i64::from(i32::MIN), i64::from(i32::MAX));
                let sum = if mma.combine == Combine::Saturate { sum.clamp(ends.0, ends.1) } else { sum };
                result.put(to, mma.d, sum as u32);
            });
        }
        Element::F16 | Element::Bf16 | Element::Tf32 | Element::E4m3 | Element::E5m2 => {
            let (left, right) = (|spot| a.single(spot, mma.a), |spot| b.single(spot, mma.b));
            visit(mma, (1, metadata), left, right, |row, column, pairs| {
                let (from, to) = spots(row, column);
                let first = c.accumulator(from, mma.c);
                let sum = match mma.a {
                    Element::E4m3 | Element::E5m2 => pairs.fold(first, |sum, (a, b)| a.mul_add(b, sum)),
                    _ => aligned::sum(first, pairs),
                };
                result.put(to, mma.d, finish_f32(FloatMode::DEFAULT, sum).to_bits());
            });
        }
    }
}

/// `movmatrix`: element (r, c) is part c % 2 of lane 4 r + c / 2.
pub(super) fn transpose(o: &mut impl Operands, lanes: LaneMask) {
    let moved = turned(o.source(0, 0));
    o.write(0, 0, lanes, &moved);
}

/// A matrix of 16-bit elements with rows and columns exchanged.
fn turned(matrix: &Row) -> Row {
    Row(std::array::from_fn(|lane| {
        let (row, pair) = (lane / 4, lane % 4);
        let element = |column: usize| matrix.0[4 * column + row / 2] >> (16 * (row % 2)) & 0xffff;
        element(2 * pair) | element(2 * pair + 1) << 16
    }))
}

/// `ldmatrix`: the fragments of up to four matrices out of their rows, which lanes 8 n to 8 n + 7 of `rows` have
/// loaded for matrix n: 16 bytes each, as four words.
pub fn fragments(access: MatrixAccess, rows: &Image) -> [Row; 4] {
    std::array::from_fn(|n| {
        if n >= usize::from(access.count) {
            return Row::ZERO;
        }
        let matrix = Row(std::array::from_fn(|lane| rows.words[lane % 4].0[8 * n + lane / 4]));
        if access.transposed { turned(&matrix) } else { matrix }
    })
}

/// `stmatrix`: the rows that lanes 8 n to 8 n + 7 are to store for matrix n, whose fragment is source 1 + n.
pub fn rows(access: MatrixAccess, o: &impl Operands, image: &mut Image) {
    for n in 0..usize::from(access.count) {
        let fragment = o.source(1 + n, 0);
        let matrix = if access.transposed { turned(fragment) } else { *fragment };
        for (lane, word) in matrix.0.iter().enumerate() {
            image.words[lane % 4].0[8 * n + lane / 4] = *word;
        }
    }
}

const _: () = assert!(WARP_LANES == 4 * 8, "a matrix of 8 by 8 pairs has a word in each lane");
