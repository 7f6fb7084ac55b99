//! Video instructions: tables worked out from the ISA's pseudocode, and a model on lists of wide integers.

use proptest::prelude::*;

use super::compute32;
use crate::isa::{
    Compare, Op, Part32, ScalarVideo, SecondStep, SimdVideo, VideoMad, VideoNegate, VideoOp, VideoOperand,
};

const B3: Part32 = Part32 { shift: 24, bits: 8 };
const H1: Part32 = Part32 { shift: 16, bits: 16 };
const UNSIGNED: VideoOperand = VideoOperand { part: Part32::WHOLE, signed: false };
const SIGNED: VideoOperand = VideoOperand { part: Part32::WHOLE, signed: true };

fn scalar(op: VideoOp, a: VideoOperand, b: VideoOperand, signed: bool) -> ScalarVideo {
    ScalarVideo { op, a, b, signed, sat: false, second: SecondStep::None }
}

fn run(video: ScalarVideo, sources: &[u32]) -> u32 {
    compute32(Op::Video(video), sources)
}

#[test]
fn scalars_extend_what_they_select() {
    let byte = |signed| VideoOperand { part: B3, signed };
    let half = |signed| VideoOperand { part: H1, signed };
    let word = 0x80ff_1234;
    assert_eq!(run(scalar(VideoOp::Add, byte(true), UNSIGNED, true), &[word, 1]), -127i32 as u32);
    assert_eq!(run(scalar(VideoOp::Add, byte(false), UNSIGNED, true), &[word, 1]), 129);
    assert_eq!(run(scalar(VideoOp::Sub, half(false), half(true), true), &[word, word]), 0x1_0000);
    assert_eq!(run(scalar(VideoOp::AbsDiff, UNSIGNED, SIGNED, false), &[u32::MAX, u32::MAX]), 0);
    assert_eq!(run(scalar(VideoOp::Min, SIGNED, UNSIGNED, true), &[u32::MAX, 7]), u32::MAX);
    assert_eq!(run(scalar(VideoOp::Max, SIGNED, UNSIGNED, true), &[u32::MAX, 7]), 7);
    assert_eq!(run(scalar(VideoOp::Set(Compare::Lt), SIGNED, UNSIGNED, false), &[u32::MAX, 7]), 1);
    assert_eq!(run(scalar(VideoOp::Set(Compare::Lt), UNSIGNED, UNSIGNED, false), &[u32::MAX, 7]), 0);
}

#[test]
fn scalars_clamp_to_what_they_write() {
    let sum = ScalarVideo { sat: true, ..scalar(VideoOp::Add, UNSIGNED, UNSIGNED, false) };
    assert_eq!(run(sum, &[u32::MAX, 2]), u32::MAX);
    assert_eq!(run(ScalarVideo { signed: true, ..sum }, &[u32::MAX, 2]), i32::MAX as u32);
    let difference = ScalarVideo { op: VideoOp::Sub, ..sum };
    assert_eq!(run(difference, &[2, 3]), 0);
    // Merged into a byte, clamped to a byte.
    let merged = ScalarVideo { second: SecondStep::Merge(B3), ..sum };
    assert_eq!(run(merged, &[200, 100, 0x1122_3344]), 0xff22_3344);
    assert_eq!(run(ScalarVideo { sat: false, ..merged }, &[200, 100, 0x1122_3344]), 0x2c22_3344);
    let signed = ScalarVideo { signed: true, ..merged };
    assert_eq!(run(signed, &[200, 100, 0x1122_3344]), 0x7f22_3344);
}

#[test]
fn scalars_combine_with_a_third() {
    let base = scalar(VideoOp::Sub, UNSIGNED, UNSIGNED, true);
    for (second, wanted) in [(SecondStep::Add, -9i32), (SecondStep::Min, -5), (SecondStep::Max, -4)] {
        assert_eq!(run(ScalarVideo { second, ..base }, &[1, 5, -5i32 as u32]), wanted as u32);
    }
    // The third operand has the destination's sign.
    let unsigned = ScalarVideo { second: SecondStep::Max, ..scalar(VideoOp::Add, UNSIGNED, UNSIGNED, false) };
    assert_eq!(run(unsigned, &[1, 5, u32::MAX]), u32::MAX);
    assert_eq!(run(ScalarVideo { signed: true, ..unsigned }, &[1, 5, u32::MAX]), 6);
}

#[test]
fn shifts_stop_or_wrap() {
    let shift = |left: bool, wrap, a, sat| {
        let op = if left { VideoOp::Shl { wrap } } else { VideoOp::Shr { wrap } };
        ScalarVideo { sat, ..scalar(op, a, UNSIGNED, a.signed) }
    };
    let table = [
        (shift(true, false, UNSIGNED, false), 0xffff_ffff, 31, 0x8000_0000),
        (shift(true, false, UNSIGNED, false), 0xffff_ffff, 40, 0),
        (shift(true, true, UNSIGNED, false), 3, 33, 6),
        (shift(true, false, UNSIGNED, true), 0xffff_ffff, 32, 0xffff_ffff),
        (shift(true, false, SIGNED, true), 0xffff_ffff, 32, 0x8000_0000),
        (shift(true, false, SIGNED, true), 0x4000_0000, 1, 0x7fff_ffff),
        (shift(false, false, SIGNED, false), 0x8000_0000, 99, 0xffff_ffff),
        (shift(false, false, UNSIGNED, false), 0x8000_0000, 99, 0),
        (shift(false, true, UNSIGNED, false), 0x8000_0000, 63, 1),
    ];
    for (video, a, b, wanted) in table {
        assert_eq!(run(video, &[a, b]), wanted, "{video:?} {a:#x} {b}");
    }
}

/// Every row of the ISA's table of signs, with an addend that tells signed from unsigned by the clamp.
#[test]
fn products_follow_the_table_of_signs() {
    let max = u32::MAX;
    let mad = |a, b, negate| VideoMad { a, b, negate, plus_one: false, sat: true, shift: 0 };
    use VideoNegate::{Addend, None, Product};
    let table = [
        // Unsigned: 1 * 1 + (2^32 - 1) is clamped.
        (mad(UNSIGNED, UNSIGNED, None), [1, 1, max], max),
        (mad(UNSIGNED, UNSIGNED, Product), [1, 1, max], -2i32 as u32),
        // The addend is unsigned, the result is not: 1 - (2^32 - 1) is clamped.
        (mad(UNSIGNED, UNSIGNED, Addend), [1, 1, max], i32::MIN as u32),
        (mad(UNSIGNED, SIGNED, None), [2, max, max], -3i32 as u32),
        (mad(UNSIGNED, SIGNED, Product), [2, max, max], 1),
        (mad(UNSIGNED, SIGNED, Addend), [2, max, max], max),
        (mad(SIGNED, UNSIGNED, None), [max, max, 0], i32::MIN as u32),
        (mad(SIGNED, UNSIGNED, Product), [max, max, 0], i32::MAX as u32),
        (mad(SIGNED, UNSIGNED, Addend), [max, 5, 1], -6i32 as u32),
        (mad(SIGNED, SIGNED, None), [max, max, max], 0),
        (mad(SIGNED, SIGNED, Product), [max, max, max], -2i32 as u32),
        (mad(SIGNED, SIGNED, Addend), [max, max, max], 2),
    ];
    for (video, sources, wanted) in table {
        assert_eq!(compute32(Op::VideoMad(video), &sources), wanted, "{video:?} {sources:?}");
    }
    // An average of two: (1 * 3 + 4 + 1) / 2^7 and 2^15, from bits above the word too.
    let po = VideoMad { plus_one: true, sat: false, shift: 7, ..mad(UNSIGNED, UNSIGNED, None) };
    assert_eq!(compute32(Op::VideoMad(po), &[255, 1, 0]), 2);
    let scaled = VideoMad { shift: 15, sat: false, ..mad(UNSIGNED, UNSIGNED, None) };
    assert_eq!(compute32(Op::VideoMad(scaled), &[0x8000_0000, 0x8000, 0]), 0x8000_0000);
    assert_eq!(
        compute32(Op::VideoMad(scaled), &[max, max, 0]),
        ((u64::from(max) * u64::from(max)) >> 15) as u32
    );
}

#[test]
fn sums_of_differences_of_bytes() {
    let video = SimdVideo {
        op: VideoOp::AbsDiff,
        bits: 8,
        pick_a: 0x3210,
        pick_b: 0x7654,
        a_signed: false,
        b_signed: false,
        signed: false,
        sat: false,
        mask: 0xf,
        accumulate: true,
    };
    let run = |video| compute32(Op::VideoSimd(video), &[0x01ff_0a80, 0x0300_0b81, 1000]);
    assert_eq!(run(video), 1000 + 2 + 255 + 1 + 1);
    assert_eq!(run(SimdVideo { mask: 0b1010, ..video }), 1000 + 2 + 1);
    assert_eq!(run(SimdVideo { accumulate: false, ..video }), 0x02ff_0101);
    assert_eq!(run(SimdVideo { accumulate: false, mask: 0b0100, ..video }), 0x00ff_03e8);
    let signed = SimdVideo { a_signed: true, b_signed: true, accumulate: false, ..video };
    // |-128 - -127| = 1, |-1 - 0| = 1.
    assert_eq!(run(signed), 0x0201_0101);
}

fn any_operand() -> impl Strategy<Value = VideoOperand> {
    let part = prop_oneof![
        Just(Part32::WHOLE),
        (0u8..4).prop_map(|n| Part32 { shift: 8 * n, bits: 8 }),
        (0u8..2).prop_map(|n| Part32 { shift: 16 * n, bits: 16 }),
    ];
    (part, any::<bool>()).prop_map(|(part, signed)| VideoOperand { part, signed })
}

/// A number from little-endian bytes.
fn number(bytes: &[u8], signed: bool) -> i128 {
    let magnitude = bytes.iter().rev().fold(0, |sum, byte| sum * 256 + i128::from(*byte));
    let full = 1 << (8 * bytes.len());
    if signed && magnitude >= full / 2 { magnitude - full } else { magnitude }
}

fn selected(operand: VideoOperand, word: u32) -> i128 {
    let at = usize::from(operand.part.shift / 8);
    number(&word.to_le_bytes()[at..][..usize::from(operand.part.bits / 8)], operand.signed)
}

fn clamped(value: i128, bytes: usize, signed: bool) -> i128 {
    let full = 1i128 << (8 * bytes);
    if signed { value.max(-full / 2).min(full / 2 - 1) } else { value.max(0).min(full - 1) }
}

fn model(op: VideoOp, a: i128, b: i128) -> i128 {
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => {
            if a > b {
                a - b
            } else {
                b - a
            }
        }
        VideoOp::Average => {
            if a + b >= 0 {
                (a + b + 1).div_euclid(2)
            } else {
                (a + b).div_euclid(2)
            }
        }
        VideoOp::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        VideoOp::Max => {
            if a < b {
                b
            } else {
                a
            }
        }
        VideoOp::Shl { wrap } => a * (1 << if wrap { b % 32 } else { b.min(32) }),
        VideoOp::Shr { wrap } => a.div_euclid(1 << if wrap { b % 32 } else { b.min(32) }),
        VideoOp::Set(Compare::Ne) => i128::from(a != b),
        VideoOp::Set(Compare::Le) => i128::from(a <= b),
        VideoOp::Set(Compare::Eq) => i128::from(a == b),
        VideoOp::Set(Compare::Lt) => i128::from(a < b),
        VideoOp::Set(Compare::Ge) => i128::from(a >= b),
        VideoOp::Set(Compare::Gt) => i128::from(a > b),
        other => unreachable!("{other:?} is not drawn"),
    }
}

const OPERATIONS: [VideoOp; 16] = [
    VideoOp::Add,
    VideoOp::Sub,
    VideoOp::AbsDiff,
    VideoOp::Min,
    VideoOp::Max,
    VideoOp::Set(Compare::Ne),
    VideoOp::Set(Compare::Le),
    VideoOp::Set(Compare::Eq),
    VideoOp::Set(Compare::Lt),
    VideoOp::Set(Compare::Ge),
    VideoOp::Set(Compare::Gt),
    VideoOp::Average,
    VideoOp::Shl { wrap: false },
    VideoOp::Shl { wrap: true },
    VideoOp::Shr { wrap: false },
    VideoOp::Shr { wrap: true },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn scalars_equal_the_model(
        op in prop::sample::select(OPERATIONS.to_vec()), a in any_operand(), b in any_operand(),
        signed: bool, sat: bool, step in 0..5, part in any_operand(), words: [u32; 3],
    ) {
        // Amounts of shifts are unsigned.
        let shifts = matches!(op, VideoOp::Shl { .. } | VideoOp::Shr { .. });
        let b = VideoOperand { signed: b.signed && !shifts, ..b };
        let second = match step {
            0 => SecondStep::None,
            1 => SecondStep::Add,
            2 => SecondStep::Min,
            3 => SecondStep::Max,
            _ => SecondStep::Merge(part.part),
        };
        let first = model(op, selected(a, words[0]), selected(b, words[1]));
        let bytes = if let SecondStep::Merge(part) = second { usize::from(part.bits / 8) } else { 4 };
        let first = if sat { clamped(first, bytes, signed) } else { first };
        let third = number(&words[2].to_le_bytes(), signed);
        let wanted = match second {
            SecondStep::None => first as u32,
            SecondStep::Add => (first + third) as u32,
            SecondStep::Min => first.min(third) as u32,
            SecondStep::Max => first.max(third) as u32,
            SecondStep::Merge(part) => {
                let mut merged = words[2].to_le_bytes();
                let at = usize::from(part.shift / 8);
                merged[at..at + bytes].copy_from_slice(&(first as u32).to_le_bytes()[..bytes]);
                u32::from_le_bytes(merged)
            }
        };
        let video = ScalarVideo { op, a, b, signed, sat, second };
        let sources = if second == SecondStep::None { &words[..2] } else { &words[..] };
        prop_assert_eq!(run(video, sources), wanted);
    }

    #[test]
    fn elements_equal_the_model(
        op in prop::sample::select(OPERATIONS[..12].to_vec()), quad: bool, picks: [[u8; 4]; 2],
        signs: [bool; 3], sat: bool, mask in 0u8..16, accumulate: bool, words: [u32; 3],
    ) {
        let (bytes, elements) = if quad { (1, 4) } else { (2, 2) };
        let picks = picks.map(|pick| pick.map(|place| usize::from(place) % (2 * elements)));
        let nibbles = |pick: [usize; 4]| (0..elements).map(|n| (pick[n] as u16) << (4 * n)).sum();
        let video = SimdVideo {
            op, bits: 8 * bytes as u8, pick_a: nibbles(picks[0]), pick_b: nibbles(picks[1]),
            a_signed: signs[0], b_signed: signs[1], signed: signs[2], sat, mask: mask & ((1 << elements) - 1) as u8,
            accumulate,
        };
        let pool: Vec<u8> = [words[0].to_le_bytes(), words[1].to_le_bytes()].concat();
        let mut sum = i128::from(words[2]);
        let mut merged = words[2].to_le_bytes();
        for n in 0..elements {
            let element = |pick: usize, signed| number(&pool[pick * bytes..][..bytes], signed);
            let result = model(op, element(picks[0][n], signs[0]), element(picks[1][n], signs[1]));
            let result = if sat { clamped(result, bytes, signs[2]) } else { result };
            if mask >> n & 1 == 1 {
                sum += result;
                merged[n * bytes..][..bytes].copy_from_slice(&(result as u32).to_le_bytes()[..bytes]);
            }
        }
        let wanted = if accumulate { sum as u32 } else { u32::from_le_bytes(merged) };
        prop_assert_eq!(compute32(Op::VideoSimd(video), &words), wanted);
    }
}

/// What the oracle `video` consists of.
pub(super) const TESTS: &[fn()] = &[
    scalars_extend_what_they_select,
    scalars_clamp_to_what_they_write,
    scalars_combine_with_a_third,
    shifts_stop_or_wrap,
    products_follow_the_table_of_signs,
    sums_of_differences_of_bytes,
    scalars_equal_the_model,
    elements_equal_the_model,
];
