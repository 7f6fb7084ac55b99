//! The timing class of an operation.
//!
//! Sums and products of 16-bit floating-point numbers have classes of their own, one or two to a register: the packed forms do
//! twice the work of an instruction (docs/machines.md). Their minima and maxima have f32's.

use super::matrix::{Element, Mma};
use super::op::{BitUnary, FloatOp, FloatUnary, IntOp};
use super::types::Ty;
use super::video::VideoOp;

/// Timing class: which execution unit and which latency a machine gives the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Class {
    /// Integer add, logic, shift, compare, select, move.
    IntAdd,
    IntMinMax,
    IntMul,
    IntMad,
    IntDiv,
    /// Sums of f16 and bf16.
    F16Add,
    F16Mul,
    F16Fma,
    /// f32 add, multiply-free compare, select.
    F32Add,
    F32MinMax,
    F32Mul,
    F32Fma,
    F32Div,
    /// Reciprocals of f32, correctly rounded.
    F32Rcp,
    /// Square roots of f32, correctly rounded.
    F32Sqrt,
    F64Add,
    F64MinMax,
    F64Mul,
    F64Fma,
    F64Div,
    F64Rcp,
    F64Sqrt,
    /// Approximate functions.
    Sfu,
    Convert,
    /// Shuffles, matches, reductions.
    Warp,
    Vote,
    /// Matrix products of f16, bf16 or 8-bit floating-point numbers, by what A has in a row: 128 bits (k 8 of f16).
    MatrixHalf,
    /// The same with rows of 256 bits (k 16 of f16).
    MatrixHalfDeep,
    /// Matrix products of tf32 with rows of 128 bits (k 4).
    MatrixTf32,
    /// The same with rows of 256 bits (k 8).
    MatrixTf32Deep,
    /// Matrix products of integers and bits with rows of 128 bits (k 16 of s8).
    MatrixInt,
    /// The same with rows of 256 bits (k 32 of s8).
    MatrixIntDeep,
    /// Matrix products of f64, 8 by 8 with k 4.
    MatrixF64,
    /// Loads, stores and atomics of every space, textures and surfaces.
    Memory,
    /// Branches, exits, barriers, fences: handled at issue.
    Control,
}

impl Class {
    /// Number of classes.
    pub const COUNT: usize = Class::Control as usize + 1;

    /// Every class, in declaration order.
    pub const ALL: [Class; Class::COUNT] = [
        Class::IntAdd,
        Class::IntMinMax,
        Class::IntMul,
        Class::IntMad,
        Class::IntDiv,
        Class::F16Add,
        Class::F16Mul,
        Class::F16Fma,
        Class::F32Add,
        Class::F32MinMax,
        Class::F32Mul,
        Class::F32Fma,
        Class::F32Div,
        Class::F32Rcp,
        Class::F32Sqrt,
        Class::F64Add,
        Class::F64MinMax,
        Class::F64Mul,
        Class::F64Fma,
        Class::F64Div,
        Class::F64Rcp,
        Class::F64Sqrt,
        Class::Sfu,
        Class::Convert,
        Class::Warp,
        Class::Vote,
        Class::MatrixHalf,
        Class::MatrixHalfDeep,
        Class::MatrixTf32,
        Class::MatrixTf32Deep,
        Class::MatrixInt,
        Class::MatrixIntDeep,
        Class::MatrixF64,
        Class::Memory,
        Class::Control,
    ];
}

impl IntOp {
    /// The class of two-operand integer arithmetic.
    pub(super) const fn class(self) -> Class {
        match self {
            IntOp::Add | IntOp::AddSat | IntOp::Sub | IntOp::SubSat => Class::IntAdd,
            IntOp::Min | IntOp::Max | IntOp::MinRelu | IntOp::MaxRelu => Class::IntMinMax,
            IntOp::Div | IntOp::Rem => Class::IntDiv,
        }
    }
}

impl BitUnary {
    /// Counting and finding bits runs at the rate of the special function unit (CUDA C++ Programming Guide, table of
    /// arithmetic instruction throughput: 16 a cycle and SM).
    pub(super) const fn class(self) -> Class {
        match self {
            BitUnary::Popc | BitUnary::Clz | BitUnary::Bfind { .. } | BitUnary::Brev => Class::Sfu,
            BitUnary::Not | BitUnary::Cnot => Class::IntAdd,
        }
    }
}

impl VideoOp {
    /// A video instruction is as its first step; what is done by four or two elements, and what a second step adds, is
    /// one pass all the same.
    pub(super) const fn class(self) -> Class {
        match self {
            VideoOp::Min | VideoOp::Max => Class::IntMinMax,
            VideoOp::Add
            | VideoOp::Sub
            | VideoOp::AbsDiff
            | VideoOp::Average
            | VideoOp::Shl { .. }
            | VideoOp::Shr { .. }
            | VideoOp::Set(_) => Class::IntAdd,
        }
    }
}

impl Ty {
    /// The class of comparing or choosing values of this type.
    pub(super) const fn class(self) -> Class {
        match self {
            Ty::F64 => Class::F64Add,
            _ if self.is_float() => Class::F32Add,
            _ => Class::IntAdd,
        }
    }
}

/// Classes of the same arithmetic in 16, 32 and 64 bits.
pub(super) struct ByWidth {
    half: Class,
    single: Class,
    double: Class,
}

impl ByWidth {
    /// Fused multiply-adds.
    pub(super) const FMA: ByWidth =
        ByWidth { half: Class::F16Fma, single: Class::F32Fma, double: Class::F64Fma };

    /// Of arithmetic that in 16 bits is as in 32.
    const fn of(single: Class, double: Class) -> ByWidth {
        ByWidth { half: single, single, double }
    }

    /// The class of values of this type.
    pub(super) const fn for_type(self, ty: Ty) -> Class {
        match ty {
            Ty::F64 => self.double,
            ty if ty.is_half() => self.half,
            _ => self.single,
        }
    }
}

impl FloatOp {
    /// The classes of two-operand floating-point arithmetic.
    pub(super) const fn classes(self) -> ByWidth {
        match self {
            FloatOp::Add | FloatOp::Sub => {
                ByWidth { half: Class::F16Add, single: Class::F32Add, double: Class::F64Add }
            }
            FloatOp::Mul => ByWidth { half: Class::F16Mul, single: Class::F32Mul, double: Class::F64Mul },
            FloatOp::Div | FloatOp::DivApprox | FloatOp::DivFull => ByWidth::of(Class::F32Div, Class::F64Div),
            FloatOp::Min { .. } | FloatOp::Max { .. } => ByWidth::of(Class::F32MinMax, Class::F64MinMax),
            FloatOp::Copysign => ByWidth::of(Class::IntAdd, Class::IntAdd),
        }
    }
}

impl FloatUnary {
    /// The classes of one-operand floating-point arithmetic.
    pub(super) const fn classes(self) -> ByWidth {
        match self {
            FloatUnary::Abs | FloatUnary::Neg => ByWidth::of(Class::F32Add, Class::F64Add),
            FloatUnary::Rcp => ByWidth::of(Class::F32Rcp, Class::F64Rcp),
            FloatUnary::Sqrt => ByWidth::of(Class::F32Sqrt, Class::F64Sqrt),
            FloatUnary::RcpApprox
            | FloatUnary::SqrtApprox
            | FloatUnary::RsqrtApprox
            | FloatUnary::SinApprox
            | FloatUnary::CosApprox
            | FloatUnary::Lg2Approx
            | FloatUnary::Ex2Approx
            | FloatUnary::TanhApprox => ByWidth::of(Class::Sfu, Class::Sfu),
        }
    }
}

impl Mma {
    /// The class of a matrix product: by type and by the bits that A has in a row. A product of 8 rows has the class
    /// of its kind with 16. ASSUMED: a sparse product takes as long as the dense one with the same registers of A.
    pub(super) const fn class(&self) -> Class {
        let is_deep = self.stored_depth() * self.a.bits() > 128;
        let (shallow, deep) = match self.a {
            Element::F16 | Element::Bf16 | Element::E4m3 | Element::E5m2 => {
                (Class::MatrixHalf, Class::MatrixHalfDeep)
            }
            Element::Tf32 => (Class::MatrixTf32, Class::MatrixTf32Deep),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => {
                (Class::MatrixInt, Class::MatrixIntDeep)
            }
            Element::F64 => (Class::MatrixF64, Class::MatrixF64),
        };
        if is_deep { deep } else { shallow }
    }
}
