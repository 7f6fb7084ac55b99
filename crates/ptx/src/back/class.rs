//! The timing class of each operation.
//!
//! Arithmetic of 16-bit floating-point numbers has the classes of f32, one or two to a register: the packed forms do
//! twice the work of an instruction, as on the hardware, where the same pipes do both (docs/machines.md).

use crate::isa::{BitUnary, Class, FloatOp, FloatUnary, IntOp, Op, ScalarVideo, SimdVideo, Ty, VideoOp};

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
        Op::Load(_) | Op::Store(_) | Op::Atomic { .. } | Op::Reduce { .. } | Op::Prefetch(_) => Class::Memory,
        Op::Texture(_)
        | Op::TextureQuery(_)
        | Op::SurfaceLoad(_)
        | Op::SurfaceStore(_)
        | Op::SurfaceReduce { .. } => Class::Memory,
        Op::Shfl(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux { .. }
        | Op::ReduxFloat { .. }
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
        | Op::Fence { .. } => Class::Control,
    }
}
