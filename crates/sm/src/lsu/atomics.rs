//! The atomics that the memory system performs.

use strata_memory::atomic::{AtomicOp, AtomicType};
use strata_ptx::isa::{self, Ty};

/// Maps an atomic of the instruction set to the memory system's operation on a line; `None` when it has none.
pub fn at_the_line(op: isa::AtomicOp, ty: Ty) -> Option<(AtomicOp, AtomicType)> {
    use isa::AtomicOp as Isa;
    let performed = match op {
        Isa::Add => AtomicOp::Add,
        Isa::Min => AtomicOp::Min,
        Isa::Max => AtomicOp::Max,
        Isa::Inc => AtomicOp::Inc,
        Isa::Dec => AtomicOp::Dec,
        Isa::And => AtomicOp::And,
        Isa::Or => AtomicOp::Or,
        Isa::Xor => AtomicOp::Xor,
        Isa::Exch => AtomicOp::Exch,
        Isa::Cas => AtomicOp::Cas,
    };
    let operands = match (ty, op) {
        (Ty::U16 | Ty::B16 | Ty::S16, Isa::Cas) => AtomicType::U16,
        (Ty::U32 | Ty::B32, _) => AtomicType::U32,
        (Ty::S32, _) => AtomicType::S32,
        (Ty::U64 | Ty::B64, _) => AtomicType::U64,
        (Ty::S64, _) => AtomicType::S64,
        (Ty::F32, Isa::Add | Isa::Exch) => AtomicType::F32,
        (Ty::F64, Isa::Add | Isa::Exch) => AtomicType::F64,
        (Ty::F16, Isa::Add) => AtomicType::F16,
        (Ty::Bf16, Isa::Add) => AtomicType::Bf16,
        (Ty::F16x2, Isa::Add) => AtomicType::F16x2,
        (Ty::Bf16x2, Isa::Add) => AtomicType::Bf16x2,
        _ => return None,
    };
    Some((performed, operands))
}
