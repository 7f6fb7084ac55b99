//! Parameters of a kernel as loads, for machines that fetch them from memory.
//!
//! An assembler for NVIDIA's GPUs makes a parameter an operand of the instructions that use it. Where a machine loads it
//! ([`Options::loads_parameters`](super::Options::loads_parameters)), each `ld.param` of the text is a load of parameter
//! space again, one for each element.

use super::body::Body;
use crate::ir::{Constant, VInst, VSrc};
use crate::isa::{CacheOp, MemoryMode, Op, Ordering, Scope, Space, Ty};

/// Makes every copy of a parameter a load. None of these, and none that the text has, is folded into operands later.
pub fn load(body: &mut Body) {
    body.loads_parameters = true;
    for inst in &mut body.code {
        if let Some((ty, offset)) = parameter(inst) {
            inst.op = Op::Load(mode(ty));
            inst.src = vec![VSrc::Const(Constant::Bits(offset.into()))];
        }
    }
}

/// The type and the place of the parameter that an instruction copies; a narrow one is extended like a narrow load.
fn parameter(inst: &VInst) -> Option<(Ty, u32)> {
    let [VSrc::Const(Constant::Param { offset })] = inst.src[..] else { return None };
    match inst.op {
        Op::Mov(ty) | Op::Cvt { from: ty, .. } => Some((ty, offset)),
        _ => None,
    }
}

fn mode(ty: Ty) -> MemoryMode {
    MemoryMode {
        space: Space::Param,
        ty,
        vector: 1,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Cta,
    }
}
