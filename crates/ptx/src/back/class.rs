//! The timing class of each operation.
//!
//! Arithmetic of 16-bit floating-point numbers has the classes of f32, one or two to a register: the packed forms do
//! twice the work of an instruction, as on the hardware, where the same pipes do both (docs/machines.md).

use crate::isa::{
    BitUnary, Class, Element, FloatOp, FloatUnary, IntOp, Mma, Op, ScalarVideo, SimdVideo, Ty, VideoOp,
};

/// Which unit and latency an operation has.
pub fn of(op: &Op) -> Class {
    match *op {
        Op::Mov(_)
        | Op::ReadSpecial(_)
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::IntUnary(..)
        | Op::AddCarry { .. }
        | Op::SubBorrow { .. }
        | Op::Logic(..)
        | Op::Lop3(_)
        | Op::Shl(_)
        | Op::Shr(_)
        | Op::Shf { .. }
        | Op::Bfe(_)
        | Op::Bfi(_)
        | Op::Bmsk { .. }
        | Op::Szext { .. }
        | Op::Fns
        | Op::Prmt(_)
        | Op::Sad(_)
        | Op::PredLogic(_)
        | Op::PredMov
        | Op::PredNot
        | Op::Cvta { .. }
        | Op::IsSpace(_)
        | Op::Activemask
        | Op::Nop
        | Op::Print { .. }
        | Op::Nanosleep => Class::IntAdd,
        Op::Int(IntOp::Min | IntOp::Max | IntOp::MinRelu | IntOp::MaxRelu, _) => Class::IntMinMax,
        Op::Int(IntOp::Div | IntOp::Rem, _) => Class::IntDiv,
        Op::Int(..) => Class::IntAdd,
        // Counting and finding bits runs at the rate of the special function unit (CUDA C++ Programming
        // Guide, table of arithmetic instruction throughput: 16 a cycle and SM).
        Op::Bit(BitUnary::Popc | BitUnary::Clz | BitUnary::Bfind { .. } | BitUnary::Brev, _) => Class::Sfu,
        Op::Bit(..) => Class::IntAdd,
        // A video instruction is as its first step; what is done by four or two elements, and what a second step
        // adds, is one pass all the same.
        Op::Video(ScalarVideo { op, .. }) | Op::VideoSimd(SimdVideo { op, .. }) => match op {
            VideoOp::Min | VideoOp::Max => Class::IntMinMax,
            _ => Class::IntAdd,
        },
        Op::VideoMad(_) => Class::IntMad,
        Op::Mul(..) | Op::Mul24(..) => Class::IntMul,
        Op::Mad { .. } | Op::Mad24 { .. } | Op::MadCarry { .. } | Op::Dp4a { .. } | Op::Dp2a { .. } => {
            Class::IntMad
        }
        Op::Select(ty) | Op::SelectSign { ty, .. } | Op::Setp { ty, .. } | Op::Set { ty, .. } => match ty {
            Ty::F64 => Class::F64Add,
            _ if ty.is_float() => Class::F32Add,
            _ => Class::IntAdd,
        },
        Op::Extremum3 { .. } => Class::F32MinMax,
        Op::TestP(_, ty) => {
            if ty == Ty::F64 {
                Class::F64Add
            } else {
                Class::F32Add
            }
        }
        Op::Float(float, ty, _) => {
            let double = ty == Ty::F64;
            match float {
                FloatOp::Add | FloatOp::Sub if double => Class::F64Add,
                FloatOp::Add | FloatOp::Sub => Class::F32Add,
                FloatOp::Mul if double => Class::F64Mul,
                FloatOp::Mul => Class::F32Mul,
                FloatOp::Div | FloatOp::DivApprox if double => Class::F64Div,
                FloatOp::Div | FloatOp::DivApprox => Class::F32Div,
                FloatOp::Min { .. } | FloatOp::Max { .. } if double => Class::F64MinMax,
                FloatOp::Min { .. } | FloatOp::Max { .. } => Class::F32MinMax,
                FloatOp::Copysign => Class::IntAdd,
            }
        }
        Op::FloatUnary(FloatUnary::Abs | FloatUnary::Neg, Ty::F64, _) => Class::F64Add,
        Op::FloatUnary(FloatUnary::Abs | FloatUnary::Neg, ..) => Class::F32Add,
        Op::FloatUnary(FloatUnary::Rcp | FloatUnary::Sqrt, Ty::F64, _) => Class::F64Div,
        Op::FloatUnary(FloatUnary::Rcp | FloatUnary::Sqrt, ..) => Class::F32Div,
        Op::FloatUnary(..) => Class::Sfu,
        Op::Fma(Ty::F64, _) => Class::F64Fma,
        Op::Fma(..) => Class::F32Fma,
        Op::Cvt { .. } => Class::Convert,
        Op::Load(_)
        | Op::Store(_)
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::CopyAsync(_)
        | Op::CopyCommit
        | Op::CopyArrive { .. }
        | Op::Mbarrier(_)
        | Op::Atomic { .. }
        | Op::Reduce { .. }
        | Op::Prefetch(_)
        | Op::Texture(_)
        | Op::TextureQuery(_)
        | Op::SurfaceLoad(_)
        | Op::SurfaceStore(_)
        | Op::SurfaceReduce { .. } => Class::Memory,
        Op::Mma(mma) => of_product(&mma),
        Op::Shfl(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux { .. }
        | Op::ReduxFloat { .. }
        | Op::TransposeMatrix
        | Op::Elect => Class::Warp,
        Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Call { .. }
        | Op::Return { .. }
        | Op::Exit
        | Op::Trap
        | Op::AssertFail { .. }
        | Op::Barrier(_)
        | Op::WarpSync
        | Op::CopyWait { .. }
        | Op::Fence { .. } => Class::Control,
    }
}

/// The class of a matrix product: by type and by the bits that A has in a row. A product of 8 rows has the class of
/// its kind with 16.
fn of_product(mma: &Mma) -> Class {
    let is_deep = u32::from(mma.depth) * mma.a.bits() > 128;
    let (shallow, deep) = match mma.a {
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
