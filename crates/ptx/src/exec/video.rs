//! The video instructions (PTX ISA, "Video Instructions": the pseudocode there).

use super::Operands;
use super::lanewise::{binary, ternary};
use crate::isa::{
    Compare, Part32, ScalarVideo, SecondStep, SimdVideo, VideoMad, VideoNegate, VideoOp, VideoOperand,
};
use crate::lanes::LaneMask;

/// The low `bits` of a word, extended.
#[inline(always)]
fn extend(word: u32, bits: u32, signed: bool) -> i64 {
    let top = 64 - bits;
    let shifted = u64::from(word) << top;
    if signed { shifted as i64 >> top } else { (shifted >> top) as i64 }
}

/// The smallest and the largest number of a width.
const fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

impl VideoOperand {
    #[inline(always)]
    fn of(self, word: u32) -> i64 {
        extend(word >> self.part.shift, self.part.bits.into(), self.signed)
    }
}

/// The orders that `vset` has; the front end admits no other.
#[inline(always)]
fn holds(relation: Compare, a: i64, b: i64) -> bool {
    match relation {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
        other => unreachable!("{other:?} does not compare integers"),
    }
}

/// The first result. A shifted operand of 33 bits may need 65: more than 63 become the largest number whose low
/// word is right, so that neither a later clamp nor the lack of one is changed.
#[inline(always)]
fn first(op: VideoOp, a: i64, b: i64) -> i64 {
    let amount = |wrap: bool| if wrap { b & 31 } else { b.min(32) };
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        VideoOp::Average => {
            let sum = a + b;
            (sum + i64::from(sum >= 0)) >> 1
        }
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::Shl { wrap } => {
            let exact = i128::from(a) << amount(wrap);
            // Beyond 63 bits only an amount of 32 leads, and then the low word is zero.
            i64::try_from(exact).unwrap_or(i64::MAX & !0xffff_ffff)
        }
        VideoOp::Shr { wrap } => a >> amount(wrap),
        VideoOp::Set(relation) => holds(relation, a, b).into(),
    }
}

/// `vadd` to `vset`.
pub(super) fn scalar(video: ScalarVideo, o: &mut impl Operands, lanes: LaneMask) {
    let ScalarVideo { op, a, b, signed, sat, second } = video;
    let clamped_to = match second {
        SecondStep::Merge(part) => part.bits.into(),
        _ => 32,
    };
    let (low, high) = range(clamped_to, signed);
    let compute = |x: u32, y: u32| {
        let result = first(op, a.of(x), b.of(y));
        if sat { result.clamp(low, high) } else { result }
    };
    if second == SecondStep::None {
        return binary(o, lanes, |x: u32, y: u32| compute(x, y) as u32);
    }
    let addend = VideoOperand { part: Part32::WHOLE, signed };
    ternary(o, lanes, |x: u32, y: u32, c: u32| {
        let result = compute(x, y);
        match second {
            SecondStep::Merge(part) => {
                let field = (u32::MAX >> (32 - part.bits)) << part.shift;
                (c & !field) | ((result as u32) << part.shift & field)
            }
            SecondStep::Min => result.min(addend.of(c)) as u32,
            SecondStep::Max => result.max(addend.of(c)) as u32,
            SecondStep::Add | SecondStep::None => result.wrapping_add(addend.of(c)) as u32,
        }
    });
}

/// `vmad`.
pub(super) fn multiply_add(video: VideoMad, o: &mut impl Operands, lanes: LaneMask) {
    let VideoMad { a, b, negate, plus_one, sat, shift } = video;
    let negated = negate != VideoNegate::None;
    let signed = a.signed || b.signed || negated;
    // The addend of a negated product is signed too, but that of a difference of unsigned ones is not.
    let addend =
        VideoOperand { part: Part32::WHOLE, signed: a.signed || b.signed || negate == VideoNegate::Product };
    let (low, high) = range(32, signed);
    ternary(o, lanes, |x: u32, y: u32, c: u32| {
        let (product, c) = (i128::from(a.of(x)) * i128::from(b.of(y)), i128::from(addend.of(c)));
        let sum = match negate {
            VideoNegate::None => product + c + i128::from(plus_one),
            VideoNegate::Product => c - product,
            VideoNegate::Addend => product - c,
        };
        let result = sum >> shift;
        (if sat { result.clamp(low.into(), high.into()) } else { result }) as u32
    });
}

/// Where the elements of a SIMD operand begin in src1:src0, from the lowest element.
fn shifts(pick: u16, bits: u8) -> [u32; 4] {
    std::array::from_fn(|element| u32::from(pick >> (4 * element) & 0xf) * u32::from(bits))
}

/// `vadd2`, `vadd4` and their kin.
pub(super) fn simd(video: SimdVideo, o: &mut impl Operands, lanes: LaneMask) {
    // A closure of its own for each operation, so that the loops over lanes have no branch on it.
    match video.op {
        VideoOp::Add => each(video, o, lanes, |a, b| a + b),
        VideoOp::Sub => each(video, o, lanes, |a, b| a - b),
        VideoOp::AbsDiff => each(video, o, lanes, |a, b| (a - b).abs()),
        VideoOp::Average => each(video, o, lanes, |a, b| (a + b + i32::from(a + b >= 0)) >> 1),
        VideoOp::Min => each(video, o, lanes, i32::min),
        VideoOp::Max => each(video, o, lanes, i32::max),
        VideoOp::Set(relation) => {
            each(video, o, lanes, |a, b| holds(relation, a.into(), b.into()).into());
        }
        VideoOp::Shl { .. } | VideoOp::Shr { .. } => {
            panic!("{:?} has no SIMD form: the front end refuses it", video.op)
        }
    }
}

#[inline(always)]
fn each(video: SimdVideo, o: &mut impl Operands, lanes: LaneMask, f: impl Fn(i32, i32) -> i32) {
    if video.bits == 8 {
        elements::<4>(video, o, lanes, f);
    } else {
        elements::<2>(video, o, lanes, f);
    }
}

#[inline(always)]
fn elements<const N: usize>(
    video: SimdVideo,
    o: &mut impl Operands,
    lanes: LaneMask,
    f: impl Fn(i32, i32) -> i32,
) {
    let SimdVideo { pick_a, pick_b, a_signed, b_signed, signed, sat, mask, accumulate, .. } = video;
    let bits = 32 / N as u32;
    let (shift_a, shift_b) = (shifts(pick_a, video.bits), shifts(pick_b, video.bits));
    let (low, high) = range(bits, signed);
    let (low, high) = if sat { (low as i32, high as i32) } else { (i32::MIN, i32::MAX) };
    let counts: [bool; N] = std::array::from_fn(|element| mask >> element & 1 == 1);
    ternary(o, lanes, |x: u32, y: u32, c: u32| {
        let both = u64::from(y) << 32 | u64::from(x);
        let pick = |shift: u32, signed: bool| extend((both >> shift) as u32, bits, signed) as i32;
        let mut word = c;
        for element in 0..N {
            let a = pick(shift_a[element], a_signed);
            let b = pick(shift_b[element], b_signed);
            let result = f(a, b).clamp(low, high) as u32;
            if !counts[element] {
                continue;
            }
            if accumulate {
                word = word.wrapping_add(result);
            } else {
                let at = bits * element as u32;
                let field = (u32::MAX >> (32 - bits)) << at;
                word = (word & !field) | (result << at & field);
            }
        }
        word
    });
}
