//! Sparse products against dense matrices: half of a dense A is zero, what is not is packed and described as the PTX ISA says
//! ("Sparse matrix storage"), and D is what the dense matrices give.
//!
//! Metadata reaches the lanes here by CUTLASS's reordering of a whole tile (`host_reorder.h`), not lane by lane.

use super::Slots;
use super::matrix::{encode, encode_sum, fill, number, sum_bits};
use crate::isa::{Accumulator, Combine, Element, Layout, Mma, Op, Sparse};

/// A row of A: for each place in a chunk of it, what may be nonzero there.
struct Chunks {
    /// Elements of a chunk.
    elements: usize,
    /// Elements that are placed together.
    together: usize,
    /// Such places that are taken.
    taken: usize,
}

const fn chunks(element: Element) -> Chunks {
    match element {
        Element::Tf32 => Chunks { elements: 2, together: 1, taken: 1 },
        Element::S4 | Element::U4 => Chunks { elements: 8, together: 2, taken: 2 },
        _ => Chunks { elements: 4, together: 1, taken: 2 },
    }
}

/// The places that are taken of chunk `n` of a row, ascending, and the four bits of metadata for them.
fn pattern(element: Element, row: usize, n: usize) -> (Vec<usize>, u32) {
    let pick = (row * 8 + n).wrapping_mul(2_654_435_761) >> 11;
    if element == Element::Tf32 {
        return if pick.is_multiple_of(2) { (vec![0], 0b0100) } else { (vec![1], 0b1110) };
    }
    let (first, second) = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)][pick % 6];
    (vec![first, second], (first | second << 2) as u32)
}

/// The columns that a row of A has, ascending.
fn columns(element: Element, row: usize, depth: usize) -> Vec<usize> {
    let Chunks { elements, together, taken } = chunks(element);
    let mut columns = Vec::new();
    for n in 0..depth / elements {
        let places = pattern(element, row, n).0;
        assert_eq!(places.len(), taken);
        for place in places {
            columns.extend((0..together).map(|at| n * elements + place * together + at));
        }
    }
    columns
}

/// The metadata of a tile as lanes get it. The tile is two words wide, of 16 bits for elements of 16 or 32 and of 32 bits for
/// others; `word` gives word (row, column).
fn reordered(halves: bool, word: impl Fn(usize, usize) -> Option<u32>) -> [u32; 32] {
    let (group, interleave) = if halves { (32, 4) } else { (16, 2) };
    let mut lanes = [0x4e93_b1d8; 32];
    for row in 0..group {
        for column in 0..2 {
            let Some(word) = word(row, column) else { continue };
            let (mut to, mut beside) = (row % 8 * interleave + row / 8, column);
            // Blocks of two by two go from the order of a Z to that of an N.
            match (to % 2, beside) {
                (0, 1) => (to, beside) = (to + 1, 0),
                (1, 0) => (to, beside) = (to - 1, 1),
                _ => {}
            }
            let at = 2 * to + beside;
            if halves {
                let shift = 16 * (at % 2);
                lanes[at / 2] = lanes[at / 2] & !(0xffff << shift) | word << shift;
            } else {
                lanes[at] = word;
            }
        }
    }
    lanes
}

/// The metadata that lanes have of a product: those that the selector does not name have something else.
fn metadata(element: Element, depth: usize, selector: usize) -> [u32; 32] {
    let halves = matches!(element, Element::F16 | Element::Bf16 | Element::Tf32);
    let each = if halves { 4 } else { 8 };
    let chunks = depth / chunks(element).elements;
    // The part of the tile that the product has: its rows, and its one or two words of each.
    let (first_row, first_column) = match (halves, chunks / each) {
        (true, 1) => (16 * (selector / 2), selector % 2),
        (true, _) => (16 * selector, 0),
        (false, 1) => (0, selector),
        (false, _) => (0, 0),
    };
    reordered(halves, |row, column| {
        let (row, column) = (row.checked_sub(first_row)?, column.checked_sub(first_column)?);
        let word = |chunk| pattern(element, row, chunk).1 << (4 * (chunk % each));
        let inside = row < 16 && column < chunks / each;
        inside.then(|| (column * each..(column + 1) * each).map(word).sum())
    })
}

fn check(a: Element, b: Element, c: Accumulator, depth: usize, selector: usize, combine: Combine) {
    let sparse = Some(Sparse { selector: selector as u8 });
    let layout = Layout::Warp { rows: 16 };
    let mma = Mma { layout, depth: depth as u16, a, b, c, d: c, combine, sparse };
    let stored = depth / 2;
    let has = |row: usize, k: usize| columns(a, row, depth).binary_search(&k).is_ok();
    let left = |row: usize, k: usize| if has(row, k) { number(a, row * depth + k + 1) } else { 0 };
    let right = |k: usize, column: usize| number(b, k * 8 + column + 5000);
    let old = |row: usize, column: usize| ((row * 8 + column) as i64 % 41) - 20;
    let mut slots = Slots::new(Op::Mma(mma));

    // A lane has of its group's row and of the one eight further what A has in as many neighbouring columns as a register
    // holds of A, and of two registers a row in the columns half a row further.
    let each = (32 / a.bits()) as usize;
    let next = fill(&mut slots, 0, 16 * stored / 32, a.bits(), |lane, i| {
        let (register, part) = (i / each, i % each);
        let row = lane / 4 + 8 * (register % 2);
        let at = (register / 2 * 4 + lane % 4) * each + part;
        encode(a, left(row, columns(a, row, depth)[at]))
    });
    assert_eq!(next, mma.a_registers());
    // Each register of B holds neighbouring rows of the group's column, four lanes all that a register further on skips.
    let next = fill(&mut slots, next, 8 * depth / 32, b.bits(), |lane, i| {
        encode(b, right(lane % 4 * each + i % each + i / each * 4 * each, lane / 4))
    });
    let place = |lane: usize, i: usize| (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
    let next = fill(&mut slots, next, 4, sum_bits(c), |lane, i| {
        let (row, column) = place(lane, i);
        encode_sum(c, old(row, column))
    });
    let words = metadata(a, depth, selector);
    let last = fill(&mut slots, next, 1, 32, |lane, _| words[lane].into());
    assert_eq!(last, mma.sources());

    let slots = slots.run();
    let per_register = if sum_bits(c) == 16 { 2 } else { 1 };
    for lane in 0..32 {
        for i in 0..4 {
            let (row, column) = place(lane, i);
            let products: i64 = (0..depth).map(|k| left(row, k) * right(k, column)).sum();
            let wanted = encode_sum(c, old(row, column) + products);
            let word = u64::from(slots.results[i / per_register][0].0[lane]);
            let found = if per_register == 2 { word >> (16 * (i % 2)) & 0xffff } else { word };
            assert_eq!(found, wanted, "{mma:?}: lane {lane}, element {i} is D[{row}][{column}]");
        }
    }
}

/// Every test, for `oracles.rs`.
pub const TESTS: &[fn()] = &[sparse_products_are_those_of_the_dense_matrix];

#[test]
fn sparse_products_are_those_of_the_dense_matrix() {
    use Accumulator::{F16, F32, S32};
    let product = Combine::Multiply;
    for selector in 0..4 {
        check(Element::F16, Element::F16, F32, 16, selector, product);
        check(Element::F16, Element::F16, F16, 16, selector, product);
        check(Element::Bf16, Element::Bf16, F32, 16, selector, product);
        check(Element::Tf32, Element::Tf32, F32, 8, selector, product);
    }
    for selector in 0..2 {
        check(Element::F16, Element::F16, F32, 32, selector, product);
        check(Element::F16, Element::F16, F16, 32, selector, product);
        check(Element::Bf16, Element::Bf16, F32, 32, selector, product);
        check(Element::Tf32, Element::Tf32, F32, 16, selector, product);
    }
    for combine in [Combine::Multiply, Combine::Saturate] {
        for a in [Element::S8, Element::U8] {
            for b in [Element::S8, Element::U8] {
                (0..2).for_each(|selector| check(a, b, S32, 32, selector, combine));
                check(a, b, S32, 64, 0, combine);
            }
        }
        for a in [Element::S4, Element::U4] {
            for b in [Element::S4, Element::U4] {
                (0..2).for_each(|selector| check(a, b, S32, 64, selector, combine));
                check(a, b, S32, 128, 0, combine);
            }
        }
    }
    for a in [Element::E4m3, Element::E5m2] {
        for b in [Element::E4m3, Element::E5m2] {
            check(a, b, F32, 64, 0, product);
            check(a, b, F16, 64, 0, product);
        }
    }
}
