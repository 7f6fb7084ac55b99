//! Matrix products against the fragment tables of the PTX ISA, written down in its own direction: from lane and element
//! to row and column.

use half::{bf16, f16};

use super::Slots;
use crate::exec::matrix;
use crate::exec::memory::Image;
use crate::isa::{Accumulator, Combine, Element, Layout, MatrixAccess, Mma, Op, Space};

/// Row and column of element i of a fragment in a lane.
type Table = fn(lane: usize, i: usize) -> (usize, usize);

/// A shape with its tables of A, B and C, for 32 lanes on one product.
struct Shape {
    rows: u8,
    depth: u16,
    a: Table,
    b: Table,
    c: Table,
}

fn group(lane: usize) -> usize {
    lane >> 2
}

fn place(lane: usize) -> usize {
    lane % 4
}

/// Every table of C and D but that of `m8n8k4` of f16.
fn sums(lane: usize, i: usize) -> (usize, usize) {
    (if i < 2 { group(lane) } else { group(lane) + 8 }, place(lane) * 2 + (i & 1))
}

const HALF_8: Shape = Shape {
    rows: 16,
    depth: 8,
    a: |lane, i| (if i < 2 { group(lane) } else { group(lane) + 8 }, place(lane) * 2 + (i & 1)),
    b: |lane, i| (place(lane) * 2 + i, group(lane)),
    c: sums,
};
const HALF_16: Shape = Shape {
    rows: 16,
    depth: 16,
    a: |lane, i| {
        let row = if i < 2 || (4..6).contains(&i) { group(lane) } else { group(lane) + 8 };
        (row, place(lane) * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
    },
    b: |lane, i| (place(lane) * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, group(lane)),
    c: sums,
};
const TF32_4: Shape = Shape {
    rows: 16,
    depth: 4,
    a: |lane, i| (if i == 0 { group(lane) } else { group(lane) + 8 }, place(lane)),
    b: |lane, _| (place(lane), group(lane)),
    c: sums,
};
const TF32_8: Shape = Shape {
    rows: 16,
    depth: 8,
    a: |lane, i| {
        let row = if i == 0 || i == 2 { group(lane) } else { group(lane) + 8 };
        (row, if i < 2 { place(lane) } else { place(lane) + 4 })
    },
    b: |lane, i| (if i == 0 { place(lane) } else { place(lane) + 4 }, group(lane)),
    c: sums,
};
const F64_4: Shape = Shape {
    rows: 8,
    depth: 4,
    a: |lane, _| (group(lane), place(lane)),
    b: |lane, _| (place(lane), group(lane)),
    c: sums,
};
const BYTE_16_SMALL: Shape = Shape {
    rows: 8,
    depth: 16,
    a: |lane, i| (group(lane), place(lane) * 4 + i),
    b: |lane, i| (place(lane) * 4 + i, group(lane)),
    c: sums,
};
const BYTE_16: Shape = Shape {
    rows: 16,
    depth: 16,
    a: |lane, i| (if i < 4 { group(lane) } else { group(lane) + 8 }, place(lane) * 4 + (i & 3)),
    b: |lane, i| (place(lane) * 4 + i, group(lane)),
    c: sums,
};
const BYTE_32: Shape = Shape {
    rows: 16,
    depth: 32,
    a: |lane, i| {
        let row = if i < 4 || (8..12).contains(&i) { group(lane) } else { group(lane) + 8 };
        (row, place(lane) * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
    },
    b: |lane, i| (place(lane) * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, group(lane)),
    c: sums,
};
const NIBBLE_32_SMALL: Shape = Shape {
    rows: 8,
    depth: 32,
    a: |lane, i| (group(lane), place(lane) * 8 + i),
    b: |lane, i| (place(lane) * 8 + i, group(lane)),
    c: sums,
};
const NIBBLE_32: Shape = Shape {
    rows: 16,
    depth: 32,
    a: |lane, i| (if i < 8 { group(lane) } else { group(lane) + 8 }, place(lane) * 8 + (i & 7)),
    b: |lane, i| (place(lane) * 8 + i, group(lane)),
    c: sums,
};
const NIBBLE_64: Shape = Shape {
    rows: 16,
    depth: 64,
    a: |lane, i| {
        let row = if i < 8 || (16..24).contains(&i) { group(lane) } else { group(lane) + 8 };
        (row, place(lane) * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
    },
    b: |lane, i| (place(lane) * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, group(lane)),
    c: sums,
};
const BIT_128_SMALL: Shape = Shape {
    rows: 8,
    depth: 128,
    a: |lane, i| (group(lane), place(lane) * 32 + i),
    b: |lane, i| (place(lane) * 32 + i, group(lane)),
    c: sums,
};
const BIT_128: Shape = Shape {
    rows: 16,
    depth: 128,
    a: |lane, i| (if i < 32 { group(lane) } else { group(lane) + 8 }, place(lane) * 32 + (i & 31)),
    b: |lane, i| (place(lane) * 32 + i, group(lane)),
    c: sums,
};
const BIT_256: Shape = Shape {
    rows: 16,
    depth: 256,
    a: |lane, i| {
        let row = if i < 32 || (64..96).contains(&i) { group(lane) } else { group(lane) + 8 };
        (row, place(lane) * 32 + (i & 31) + if i < 64 { 0 } else { 128 })
    },
    b: |lane, i| (place(lane) * 32 + (i & 31) + if i < 32 { 0 } else { 128 }, group(lane)),
    c: sums,
};

/// A number that every type which takes part has: small, of both signs where the type has them.
pub(super) fn number(element: Element, n: usize) -> i64 {
    let n = ((n * 2_654_435_761) >> 7) as i64;
    match element {
        Element::B1 => n & 1,
        Element::U4 => n & 15,
        Element::S4 => (n & 15) - 8,
        Element::U8 => n & 255,
        Element::S8 => (n & 255) - 128,
        _ => (n & 15) - 8,
    }
}

/// The bits of a number in a type.
pub(super) fn encode(element: Element, number: i64) -> u64 {
    match element {
        Element::F16 => f16::from_f64(number as f64).to_bits().into(),
        Element::Bf16 => bf16::from_f64(number as f64).to_bits().into(),
        // Bits that tf32 does not have must not count.
        Element::Tf32 => u64::from((number as f32).to_bits() | 0x1fff),
        Element::F64 => (number as f64).to_bits(),
        Element::E4m3 => {
            let sign = if number < 0 { 0x80 } else { 0 };
            // 1 to 8 with three bits of fraction and a bias of 7.
            let codes = [0u64, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50];
            sign | codes[number.unsigned_abs() as usize]
        }
        Element::E5m2 => {
            let sign = if number < 0 { 0x80 } else { 0 };
            // With two bits of fraction and a bias of 15; every one of 0 to 8 fits.
            let codes = [0u64, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47, 0x48];
            sign | codes[number.unsigned_abs() as usize]
        }
        Element::S8 | Element::U8 => number as u64 & 0xff,
        Element::S4 | Element::U4 => number as u64 & 0xf,
        Element::B1 => number as u64 & 1,
    }
}

pub(super) fn encode_sum(elements: Accumulator, number: i64) -> u64 {
    match elements {
        Accumulator::F16 => f16::from_f64(number as f64).to_bits().into(),
        Accumulator::F32 => (number as f32).to_bits().into(),
        Accumulator::F64 => (number as f64).to_bits(),
        Accumulator::S32 => number as u64 & 0xffff_ffff,
    }
}

pub(super) const fn sum_bits(elements: Accumulator) -> u32 {
    match elements {
        Accumulator::F16 => 16,
        Accumulator::F64 => 64,
        _ => 32,
    }
}

/// Puts element i of every lane, `bits` wide, into the sources from slot `first` on.
pub(super) fn fill(
    slots: &mut Slots,
    first: usize,
    elements: usize,
    bits: u32,
    value: impl Fn(usize, usize) -> u64,
) -> usize {
    let each = if bits == 64 { 1 } else { (32 / bits) as usize };
    for lane in 0..32 {
        for i in 0..elements {
            let (slot, shift) = (first + i / each, bits * (i % each) as u32);
            slots.instruction.src[slot] = crate::isa::Src::Reg(crate::isa::Reg(0));
            let value = value(lane, i);
            slots.sources[slot][0].0[lane] |= (value << shift) as u32;
            if bits == 64 {
                slots.sources[slot][1].0[lane] = (value >> 32) as u32;
            }
        }
    }
    first + elements / each
}

fn check(shape: &Shape, a: Element, b: Element, c: Accumulator, combine: Combine) {
    let (rows, depth) = (usize::from(shape.rows), usize::from(shape.depth));
    let mma = Mma {
        layout: Layout::Warp { rows: shape.rows },
        depth: shape.depth,
        a,
        b,
        c,
        d: c,
        combine,
        sparse: None,
    };
    let left = |row: usize, k: usize| number(a, row * depth + k + 1);
    let right = |k: usize, column: usize| number(b, k * 8 + column + 5000);
    let old = |row: usize, column: usize| ((row * 8 + column) as i64 % 41) - 20;
    let mut slots = Slots::new(Op::Mma(mma));
    let own = |columns: usize| columns * depth / 32;
    let next = fill(&mut slots, 0, own(rows), a.bits(), |lane, i| {
        let (row, k) = (shape.a)(lane, i);
        encode(a, left(row, k))
    });
    assert_eq!(next, mma.a_registers());
    let next = fill(&mut slots, next, own(8), b.bits(), |lane, i| {
        let (k, column) = (shape.b)(lane, i);
        encode(b, right(k, column))
    });
    let elements = rows * 8 / 32;
    let last = fill(&mut slots, next, elements, sum_bits(c), |lane, i| {
        let (row, column) = (shape.c)(lane, i);
        encode_sum(c, old(row, column))
    });
    assert_eq!(last, mma.sources());
    let slots = slots.run();
    let each = if sum_bits(c) == 16 { 2 } else { 1 };
    for lane in 0..32 {
        for i in 0..elements {
            let (row, column) = (shape.c)(lane, i);
            let product = |k| match combine {
                Combine::Xor => left(row, k) ^ right(k, column),
                Combine::And => left(row, k) & right(k, column),
                _ => left(row, k) * right(k, column),
            };
            let wanted = encode_sum(c, old(row, column) + (0..depth).map(product).sum::<i64>());
            let result = &slots.results[i / each];
            let bits = u64::from(result[1].0[lane]) << 32 | u64::from(result[0].0[lane]);
            let found = match sum_bits(c) {
                64 => bits,
                16 => bits >> (16 * (i % 2)) & 0xffff,
                _ => bits & 0xffff_ffff,
            };
            assert_eq!(found, wanted, "{mma:?}: lane {lane}, element {i} is D[{row}][{column}]");
        }
    }
}

#[test]
fn products_of_every_shape_and_type() {
    use Accumulator::{F16, F32, F64, S32};
    for element in [Element::F16, Element::Bf16] {
        check(&HALF_8, element, element, F32, Combine::Multiply);
        check(&HALF_16, element, element, F32, Combine::Multiply);
    }
    check(&HALF_8, Element::F16, Element::F16, F16, Combine::Multiply);
    check(&HALF_16, Element::F16, Element::F16, F16, Combine::Multiply);
    check(&TF32_4, Element::Tf32, Element::Tf32, F32, Combine::Multiply);
    check(&TF32_8, Element::Tf32, Element::Tf32, F32, Combine::Multiply);
    check(&F64_4, Element::F64, Element::F64, F64, Combine::Multiply);
    for a in [Element::S8, Element::U8] {
        for b in [Element::S8, Element::U8] {
            for shape in [&BYTE_16_SMALL, &BYTE_16, &BYTE_32] {
                check(shape, a, b, S32, Combine::Multiply);
                check(shape, a, b, S32, Combine::Saturate);
            }
        }
    }
    for a in [Element::E4m3, Element::E5m2] {
        for b in [Element::E4m3, Element::E5m2] {
            check(&BYTE_16, a, b, F32, Combine::Multiply);
            check(&BYTE_32, a, b, F32, Combine::Multiply);
            check(&BYTE_32, a, b, F16, Combine::Multiply);
        }
    }
    for a in [Element::S4, Element::U4] {
        for b in [Element::S4, Element::U4] {
            for shape in [&NIBBLE_32_SMALL, &NIBBLE_32, &NIBBLE_64] {
                check(shape, a, b, S32, Combine::Multiply);
                check(shape, a, b, S32, Combine::Saturate);
            }
        }
    }
    for combine in [Combine::Xor, Combine::And] {
        check(&BIT_128_SMALL, Element::B1, Element::B1, S32, combine);
        check(&BIT_128, Element::B1, Element::B1, S32, combine);
        check(&BIT_256, Element::B1, Element::B1, S32, combine);
    }
}

/// The tables of `m8n8k4` of f16, within the product that a lane works on.
mod quads {
    pub fn product(lane: usize) -> usize {
        lane % 16 / 4
    }

    pub fn by_line(lane: usize, i: usize) -> (usize, usize) {
        (lane % 4 + if lane < 16 { 0 } else { 4 }, i)
    }

    pub fn across(lane: usize, i: usize) -> (usize, usize) {
        (i % 4 + if lane < 16 { 0 } else { 4 }, lane % 4)
    }

    pub fn sum(lane: usize, i: usize) -> (usize, usize) {
        let row = (lane & 1) + (i & 2);
        (row + if lane < 16 { 0 } else { 4 }, (i & 4) + (lane & 2) + (i & 1))
    }
}

#[test]
fn four_products_at_once() {
    for case in 0..16 {
        let [a_rows, b_rows] = [case & 1 != 0, case & 2 != 0];
        let [c, d] = [4, 8].map(|bit| if case & bit == 0 { Accumulator::F16 } else { Accumulator::F32 });
        let mma = Mma {
            layout: Layout::Quads { a_rows, b_rows },
            depth: 4,
            a: Element::F16,
            b: Element::F16,
            c,
            d,
            combine: Combine::Multiply,
            sparse: None,
        };
        let left = |q: usize, row: usize, k: usize| number(Element::F16, q * 32 + row * 4 + k);
        let right = |q: usize, k: usize, column: usize| number(Element::F16, 900 + q * 32 + k * 8 + column);
        let old = |q: usize, row: usize, column: usize| (q * 64 + row * 8 + column) as i64;
        let table = |elements| if elements == Accumulator::F16 { quads::by_line } else { quads::sum };
        let mut slots = Slots::new(Op::Mma(mma));
        let next = fill(&mut slots, 0, 4, 16, |lane, i| {
            let (row, k) = if a_rows { quads::by_line(lane, i) } else { quads::across(lane, i) };
            encode(Element::F16, left(quads::product(lane), row, k))
        });
        let next = fill(&mut slots, next, 4, 16, |lane, i| {
            let (column, k) = if b_rows { quads::across(lane, i) } else { quads::by_line(lane, i) };
            encode(Element::F16, right(quads::product(lane), k, column))
        });
        let last = fill(&mut slots, next, 8, sum_bits(c), |lane, i| {
            let (row, column) = table(c)(lane, i);
            encode_sum(c, old(quads::product(lane), row, column))
        });
        assert_eq!(last, mma.sources());
        let slots = slots.run();
        let each = if d == Accumulator::F16 { 2 } else { 1 };
        for lane in 0..32 {
            for i in 0..8 {
                let (q, (row, column)) = (quads::product(lane), table(d)(lane, i));
                let products: i64 = (0..4).map(|k| left(q, row, k) * right(q, k, column)).sum();
                let wanted = encode_sum(d, old(q, row, column) + products);
                let word = u64::from(slots.results[i / each][0].0[lane]);
                let found = if each == 2 { word >> (16 * (i % 2)) & 0xffff } else { word };
                assert_eq!(found, wanted, "{mma:?}: lane {lane}, element {i}");
            }
        }
    }
}

/// An `m16n8k16` of f16 with C, the first row of A and the first column of B given; D[0][0].
fn first_element(c: f32, products: &[(f32, f32)]) -> f32 {
    let mma = Mma {
        layout: Layout::Warp { rows: 16 },
        depth: 16,
        a: Element::F16,
        b: Element::F16,
        c: Accumulator::F32,
        d: Accumulator::F32,
        combine: Combine::Multiply,
        sparse: None,
    };
    let mut slots = Slots::new(Op::Mma(mma));
    let factor = |k: usize| products.get(k).copied().unwrap_or((0.0, 0.0));
    let next = fill(&mut slots, 0, 8, 16, |lane, i| {
        let (row, k) = (HALF_16.a)(lane, i);
        if row == 0 { f16::from_f32(factor(k).0).to_bits().into() } else { 0 }
    });
    let next = fill(&mut slots, next, 4, 16, |lane, i| {
        let (k, column) = (HALF_16.b)(lane, i);
        if column == 0 { f16::from_f32(factor(k).1).to_bits().into() } else { 0 }
    });
    fill(&mut slots, next, 4, 32, |lane, i| if lane == 0 && i == 0 { c.to_bits().into() } else { 0 });
    f32::from_bits(slots.run().results[0][0].0[0])
}

#[test]
fn sums_are_made_at_once_and_cut() {
    let (big, one) = ((4096.0, 4096.0), (1.0, 1.0));
    // 2^24 + 1 has no f32 and is cut; two ones and three make two of them, wherever the large product stands.
    assert_eq!(first_element(1.0, &[big]), 16_777_216.0);
    assert_eq!(first_element(0.0, &[big, one, one]), 16_777_218.0);
    assert_eq!(first_element(0.0, &[one, one, big]), 16_777_218.0);
    assert_eq!(first_element(0.0, &[one, big, one, one]), 16_777_218.0);
    // The product itself is exact: 2047^2 has 22 bits, and the last of them stays.
    assert_eq!(first_element(-4_190_208.0, &[(2047.0, 2047.0)]), 1.0);
    assert_eq!(first_element(0.0, &[(f32::INFINITY, 0.0)]).to_bits(), 0x7fff_ffff);
    assert_eq!(first_element(0.0, &[(65504.0, 65504.0)]), 65504.0 * 65504.0);
}

#[test]
fn integer_sums_wrap_or_stop() {
    let run = |combine| {
        let mma = Mma {
            layout: Layout::Warp { rows: 8 },
            depth: 16,
            a: Element::S8,
            b: Element::S8,
            c: Accumulator::S32,
            d: Accumulator::S32,
            combine,
            sparse: None,
        };
        let slots = Slots::new(Op::Mma(mma))
            .source_value(0, 0x7f7f_7f7f)
            .source_lanes(1, |lane| if lane / 4 == 0 { 0x7f7f_7f7f } else { 0x8080_8080 })
            .source_value(2, 0x7fff_fff0)
            .source_value(3, 0x8000_0010)
            .run();
        (slots.results[0][0].0[0] as i32, slots.results[1][0].0[0] as i32)
    };
    let (up, down) = (16 * 127 * 127, -16 * 127 * 128);
    let wrapped = (0x7fff_fff0i32.wrapping_add(up), (0x8000_0010u32 as i32).wrapping_add(down));
    assert_eq!(run(Combine::Multiply), wrapped);
    assert_eq!(run(Combine::Saturate), (i32::MAX, i32::MIN));
}

/// A matrix of 8 by 8 elements: row, column and number.
fn element(n: usize, row: usize, column: usize) -> u32 {
    (n << 8 | row << 4 | column) as u32
}

#[test]
fn matrices_are_distributed_by_rows_and_by_columns() {
    for count in [1u8, 2, 4] {
        for transposed in [false, true] {
            let access = MatrixAccess { space: Space::Shared, count, transposed };
            let mut rows = Image::ZERO;
            for lane in 0..8 * usize::from(count) {
                for word in 0..4 {
                    let [low, high] = [0, 1].map(|part| element(lane / 8, lane % 8, 2 * word + part));
                    rows.words[word].0[lane] = high << 16 | low;
                }
            }
            let fragments = matrix::fragments(access, &rows);
            for (n, fragment) in fragments.iter().enumerate() {
                for (lane, word) in fragment.0.iter().enumerate() {
                    let at = |part| {
                        let (row, column) = (lane / 4, 2 * (lane % 4) + part);
                        if transposed { element(n, column, row) } else { element(n, row, column) }
                    };
                    let wanted = if n < count.into() { at(1) << 16 | at(0) } else { 0 };
                    assert_eq!(*word, wanted, "{access:?}: matrix {n}, lane {lane}");
                }
            }
            // Storing is the way back.
            let mut slots = Slots::new(Op::StoreMatrix(access));
            for (n, fragment) in fragments.iter().enumerate() {
                slots.sources[1 + n][0] = *fragment;
                slots.instruction.src[1 + n] = crate::isa::Src::Reg(crate::isa::Reg(0));
            }
            let mut back = Image::ZERO;
            matrix::rows(access, &slots, &mut back);
            assert_eq!(back, rows, "{access:?}");
        }
    }
}

#[test]
fn a_matrix_is_transposed_in_registers() {
    let word = |row: usize, pair: usize| element(0, row, 2 * pair + 1) << 16 | element(0, row, 2 * pair);
    let slots = Slots::new(Op::TransposeMatrix)
        .source_lanes(0, |lane| word(lane as usize / 4, lane as usize % 4))
        .run();
    let wanted = |lane: usize| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        element(0, column + 1, row) << 16 | element(0, column, row)
    };
    assert_eq!(slots.words(), std::array::from_fn(wanted));
}

/// What the oracle `products` consists of.
pub(super) const TESTS: &[fn()] = &[
    products_of_every_shape_and_type,
    four_products_at_once,
    sums_are_made_at_once_and_cut,
    integer_sums_wrap_or_stop,
    a_matrix_is_transposed_in_registers,
];
