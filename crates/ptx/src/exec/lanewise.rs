//! Lane loops: an operation on scalars applied to whole rows.
//!
//! Every helper computes all 32 lanes into a temporary and then merges the active ones, so that the loops
//! have no branch on the mask and vectorise.

use super::Operands;
use crate::isa::{Dst, Instruction, Src};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, mask_of};

/// A value that lives in one or two rows.
pub trait Scalar: Copy {
    /// Whether it takes two rows.
    const WIDE: bool;
    /// Reads the value from its bits; bits above its width are ignored.
    fn from_bits(bits: u64) -> Self;
    /// The bits as a register holds them: narrow integers extended to 32 bits by their signedness.
    fn into_bits(self) -> u64;
}

macro_rules! integer_scalar {
    ($($ty:ty, $wide:expr, $register:ty;)*) => {$(
        impl Scalar for $ty {
            const WIDE: bool = $wide;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $ty
            }
            #[inline(always)]
            fn into_bits(self) -> u64 {
                self as $register as u64
            }
        }
    )*};
}

integer_scalar! {
    u8, false, u32;
    i8, false, i32;
    u16, false, u32;
    i16, false, i32;
    u32, false, u32;
    i32, false, u32;
    u64, true, u64;
    i64, true, u64;
}

impl Scalar for f32 {
    const WIDE: bool = false;
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
    #[inline(always)]
    fn into_bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Scalar for f64 {
    const WIDE: bool = true;
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn into_bits(self) -> u64 {
        self.to_bits()
    }
}

/// A source of one or two rows, borrowed.
#[derive(Clone, Copy)]
struct Column<'a> {
    lo: &'a Row,
    hi: &'a Row,
}

impl<'a> Column<'a> {
    #[inline(always)]
    fn of<T: Scalar>(operands: &'a impl Operands, slot: usize) -> Self {
        let lo = operands.source(slot, 0);
        Column { lo, hi: if T::WIDE { operands.source(slot, 1) } else { lo } }
    }

    #[inline(always)]
    fn get<T: Scalar>(self, lane: usize) -> T {
        let lo = u64::from(self.lo.0[lane]);
        T::from_bits(if T::WIDE { u64::from(self.hi.0[lane]) << 32 | lo } else { lo })
    }
}

/// Computes `f` for every lane and writes the active lanes of destination 0.
#[inline(always)]
pub fn write_lanes<T: Scalar>(operands: &mut impl Operands, lanes: LaneMask, f: impl Fn(usize) -> T) {
    let (lo, hi) = compute(f);
    finish::<T>(operands, lanes, &lo, &hi);
}

/// dst0 = f(src0).
#[inline(always)]
pub fn unary<A: Scalar, T: Scalar>(operands: &mut impl Operands, lanes: LaneMask, f: impl Fn(A) -> T) {
    let (lo, hi) = {
        let a = Column::of::<A>(operands, 0);
        compute(|lane| f(a.get(lane)))
    };
    finish::<T>(operands, lanes, &lo, &hi);
}

/// dst0 = f(src0, src1).
#[inline(always)]
pub fn binary<A: Scalar, B: Scalar, T: Scalar>(
    operands: &mut impl Operands,
    lanes: LaneMask,
    f: impl Fn(A, B) -> T,
) {
    let (lo, hi) = {
        let (a, b) = (Column::of::<A>(operands, 0), Column::of::<B>(operands, 1));
        compute(|lane| f(a.get(lane), b.get(lane)))
    };
    finish::<T>(operands, lanes, &lo, &hi);
}

/// dst0 = f(src0, src1, src2).
#[inline(always)]
pub fn ternary<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    operands: &mut impl Operands,
    lanes: LaneMask,
    f: impl Fn(A, B, C) -> T,
) {
    let (lo, hi) = {
        let (a, b) = (Column::of::<A>(operands, 0), Column::of::<B>(operands, 1));
        let c = Column::of::<C>(operands, 2);
        compute(|lane| f(a.get(lane), b.get(lane), c.get(lane)))
    };
    finish::<T>(operands, lanes, &lo, &hi);
}

/// dst0 = f(src0, src1, src2, src3).
#[inline(always)]
pub fn quaternary<A: Scalar, B: Scalar, C: Scalar, D: Scalar, T: Scalar>(
    operands: &mut impl Operands,
    lanes: LaneMask,
    f: impl Fn(A, B, C, D) -> T,
) {
    let (lo, hi) = {
        let (a, b) = (Column::of::<A>(operands, 0), Column::of::<B>(operands, 1));
        let (c, d) = (Column::of::<C>(operands, 2), Column::of::<D>(operands, 3));
        compute(|lane| f(a.get(lane), b.get(lane), c.get(lane), d.get(lane)))
    };
    finish::<T>(operands, lanes, &lo, &hi);
}

/// One bit a lane: f(src0).
#[inline(always)]
pub fn test<A: Scalar>(operands: &impl Operands, f: impl Fn(A) -> bool) -> LaneMask {
    let a = Column::of::<A>(operands, 0);
    mask_of(|lane| f(a.get(lane)))
}

/// One bit a lane: f(src0, src1).
#[inline(always)]
pub fn compare<A: Scalar>(operands: &impl Operands, f: impl Fn(A, A) -> bool) -> LaneMask {
    let (a, b) = (Column::of::<A>(operands, 0), Column::of::<A>(operands, 1));
    mask_of(|lane| f(a.get(lane), b.get(lane)))
}

#[inline(always)]
fn compute<T: Scalar>(f: impl Fn(usize) -> T) -> (Row, Row) {
    let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
    for lane in 0..WARP_LANES {
        let bits = f(lane).into_bits();
        lo.0[lane] = bits as u32;
        if T::WIDE {
            hi.0[lane] = (bits >> 32) as u32;
        }
    }
    (lo, hi)
}

#[inline(always)]
fn finish<T: Scalar>(operands: &mut impl Operands, lanes: LaneMask, lo: &Row, hi: &Row) {
    operands.write(0, 0, lanes, lo);
    if T::WIDE {
        operands.write(0, 1, lanes, hi);
    }
}

/// The 64-bit value of a source in one lane.
#[inline(always)]
pub fn wide_source(operands: &impl Operands, slot: usize, lane: usize) -> u64 {
    u64::from(operands.source(slot, 1).0[lane]) << 32 | u64::from(operands.source(slot, 0).0[lane])
}

/// A predicate source, one bit a lane.
///
/// # Panics
/// When the source is not a predicate: the decoder never builds such an instruction.
#[inline]
pub fn predicate_source(instruction: &Instruction, operands: &impl Operands, slot: usize) -> LaneMask {
    match instruction.src[slot] {
        Src::Pred(register, negated) => operands.predicate(register) ^ if negated { ALL_LANES } else { 0 },
        Src::PredConst(value) => {
            if value {
                ALL_LANES
            } else {
                0
            }
        }
        other => panic!("line {}: source {slot} must be a predicate, not {other:?}", instruction.line),
    }
}

/// Writes a predicate destination; ignored when the destination is absent.
///
/// # Panics
/// When the destination is a register: the decoder never builds such an instruction.
#[inline]
pub fn write_predicate(
    instruction: &Instruction,
    operands: &mut impl Operands,
    slot: usize,
    lanes: LaneMask,
    value: LaneMask,
) {
    match instruction.dst[slot] {
        Dst::Pred(register) => operands.write_predicate(register, lanes, value),
        Dst::None => {}
        Dst::Reg(_) => panic!("line {}: destination {slot} must be a predicate", instruction.line),
    }
}

/// Runs `$body` with `$T` bound to the Rust integer of a PTX type of 16, 32 or 64 bits.
macro_rules! for_integer {
    ($ty:expr, $T:ident => $body:expr) => {{
        use $crate::isa::Ty;
        match $ty {
            Ty::U32 | Ty::B32 => {
                type $T = u32;
                $body
            }
            Ty::S32 => {
                type $T = i32;
                $body
            }
            Ty::U64 | Ty::B64 => {
                type $T = u64;
                $body
            }
            Ty::S64 => {
                type $T = i64;
                $body
            }
            Ty::U16 | Ty::B16 => {
                type $T = u16;
                $body
            }
            Ty::S16 => {
                type $T = i16;
                $body
            }
            other => panic!("integer operation on {other:?}: the front end admits 16, 32 and 64 bits only"),
        }
    }};
}

/// Runs `$body` with `$T` bound to the unsigned Rust integer as wide as a PTX type of 16, 32 or 64 bits.
macro_rules! for_bits {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty.bytes() {
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            1 | 2 => {
                type $T = u16;
                $body
            }
            other => panic!("bitwise operation on {other} bytes: the front end admits 2, 4 and 8 only"),
        }
    };
}

pub(crate) use {for_bits, for_integer};
