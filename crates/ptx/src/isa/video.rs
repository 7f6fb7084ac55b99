//! The video instructions: arithmetic on parts of 32-bit registers, with a second step.
//!
//! PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".

use super::types::Compare;

/// What is computed of two selected operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VideoOp {
    Add,
    Sub,
    AbsDiff,
    /// Rounded up at zero and above, down below; SIMD forms only.
    Average,
    Min,
    Max,
    /// Scalar forms only; `wrap` takes the amount modulo 32, else it stops at 32.
    Shl {
        wrap: bool,
    },
    Shr {
        wrap: bool,
    },
    /// 1 where the comparison holds, else 0.
    Set(Compare),
}

/// A contiguous part of a 32-bit register: `.b0` to `.b3`, `.h0`, `.h1`, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part32 {
    /// Its lowest bit.
    pub shift: u8,
    /// Its width: 8, 16 or 32.
    pub bits: u8,
}

impl Part32 {
    /// The whole register.
    pub const WHOLE: Part32 = Part32 { shift: 0, bits: 32 };
}

/// An operand of a scalar video instruction: a part, sign- or zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoOperand {
    /// Which bits.
    pub part: Part32,
    /// Whether they are extended by their sign.
    pub signed: bool,
}

/// What becomes of the first result, and what part src2 plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SecondStep {
    /// It is the result; there is no src2.
    None,
    /// It takes the place of a part of src2.
    Merge(Part32),
    /// It is combined with src2, read as signed like the destination.
    Add,
    Min,
    Max,
}

/// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarVideo {
    /// The operation.
    pub op: VideoOp,
    /// src0.
    pub a: VideoOperand,
    /// src1.
    pub b: VideoOperand,
    /// Whether the destination and src2 are signed.
    pub signed: bool,
    /// Clamp the first result to the destination's type, or to the part it is merged into.
    pub sat: bool,
    /// The second step.
    pub second: SecondStep,
}

/// What of `vmad` is negated, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VideoNegate {
    None,
    Product,
    Addend,
}

/// `vmad`: (src0 * src1 + src2 + `plus_one`) >> `shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMad {
    /// src0.
    pub a: VideoOperand,
    /// src1.
    pub b: VideoOperand,
    /// What is negated.
    pub negate: VideoNegate,
    /// `.po`: one more.
    pub plus_one: bool,
    /// Clamp to 32 bits.
    pub sat: bool,
    /// 0, 7 or 15.
    pub shift: u8,
}

/// `vadd2`, `vadd4` and their kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimdVideo {
    /// The operation.
    pub op: VideoOp,
    /// Bits of an element: 16 (two elements) or 8 (four).
    pub bits: u8,
    /// For each element from the lowest, a nibble: which element of src1:src0 is its left operand.
    pub pick_a: u16,
    /// As `pick_a`, the right operand.
    pub pick_b: u16,
    /// Whether the left operands are signed.
    pub a_signed: bool,
    /// Whether the right operands are signed.
    pub b_signed: bool,
    /// Whether the results are signed, for clamping.
    pub signed: bool,
    /// Clamp results to an element.
    pub sat: bool,
    /// Bit n: element n counts; others are src2's, or add nothing.
    pub mask: u8,
    /// dst0 = src2 + the sum of the elements, instead of the elements themselves.
    pub accumulate: bool,
}
