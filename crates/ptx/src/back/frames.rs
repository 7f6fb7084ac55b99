//! Registers around calls that recurse.
//!
//! A kernel and the functions behind it are one program with one set of registers: the control flow graph enters
//! functions and comes back, so allocation gives the registers of a function places apart from whatever its callers
//! need afterwards, and a kernel has as many registers as the deepest need on any path. Only a function that may be
//! entered again before it returns needs more: each activation has values of its own for the same registers. So
//! its caller, the only one that knows which of its values live on, stores those on the stack before such a call and
//! loads them after, by ordinary accesses of local memory.
//!
//! From then on a recursive program is as plain as any other: nothing else in the back end knows of frames.

use super::body::{Body, instruction};
use super::cfg::Cfg;
use super::error::BackError;
use super::liveness::Liveness;
use crate::ir::{Constant, Stack, VDst, VInst, VReg, VSrc};
use crate::isa::{CacheOp, Compare, IntOp, MemoryMode, Op, Ordering, Scope, Space, Ty};

/// Most values saved around calls, summed over the calls: each is a store and a load. ASSUMED: far above what compilers
/// emit.
const MAX_SAVED: usize = 1 << 20;

/// Stores what lives across each call that recurses before it, and loads it where the call returns: at an
/// instruction of its own that nothing else jumps to.
pub fn save_across_calls(body: &mut Body, stack: &Stack) -> Result<(), BackError> {
    let calls: Vec<usize> =
        (0..body.code.len()).filter(|at| matches!(body.code[*at].op, Op::Call { saves: true, .. })).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let cfg = Cfg::of_functions(body);
    let liveness = Liveness::new(body, &cfg)?;
    let live_across = |call: usize| &liveness.live_out[cfg.block_of[call].index()];
    if calls.iter().map(|call| live_across(*call).len()).sum::<usize>() > MAX_SAVED {
        return Err(BackError::TooLarge { what: "values to save around calls", most: MAX_SAVED });
    }
    let mut is_kept = vec![true; body.registers.len()];
    stack.shared.iter().chain([&stack.pointer]).for_each(|reg| is_kept[reg.0 as usize] = false);
    let mut before = vec![Vec::new(); body.code.len()];
    let mut after = vec![Vec::new(); body.code.len()];
    for call in calls {
        let back = body.code[call].target as usize;
        let live = live_across(call).iter().filter(|reg| is_kept[**reg as usize]);
        let mut live: Vec<VReg> = live.map(|reg| VReg(*reg)).collect();
        if live.is_empty() {
            // Even a function that keeps nothing takes some stack: recursion without end finds its end.
            live.push(stack.pointer);
        }
        // The widest first, so that all are aligned.
        live.sort_by_key(|reg| (std::cmp::Reverse(body.ty(*reg).rows()), *reg));
        (before[call], after[back]) = around(body, stack.pointer, &live, body.code[call].line);
    }
    body.weave(before, after);
    Ok(())
}

/// What stores registers on the stack, and what takes them from there again.
fn around(body: &mut Body, pointer: VReg, live: &[VReg], line: u32) -> (Vec<VInst>, Vec<VInst>) {
    let (mut push, mut pop) = (Vec::new(), Vec::new());
    let mut offset = 0_i64;
    for &reg in live {
        let ty = body.ty(reg);
        if ty == Ty::Pred {
            let (saved, loaded) = (body.fresh(Ty::B32), body.fresh(Ty::B32));
            let source = vec![bits(1), bits(0), VSrc::Reg(reg, false)];
            push.push(instruction(Op::Select(Ty::B32), vec![VDst::Reg(saved)], source, line));
            push.push(store(pointer, offset, Ty::B32, saved, line));
            pop.push(load(pointer, offset, Ty::B32, loaded, line));
            let test = Op::Setp { cmp: Compare::Ne, ty: Ty::U32, combine: None, ftz: false };
            let source = vec![VSrc::Reg(loaded, false), bits(0)];
            pop.push(instruction(test, vec![VDst::Reg(reg)], source, line));
            offset += 4;
            continue;
        }
        let part = if ty.rows() == 2 { Ty::B64 } else { Ty::B32 };
        push.push(store(pointer, offset, part, reg, line));
        if reg != pointer {
            pop.push(load(pointer, offset, part, reg, line));
        }
        offset += part.bytes() as i64;
    }
    let bytes = (offset as u64).next_multiple_of(8);
    let step = |op| {
        let source = vec![VSrc::Reg(pointer, false), bits(bytes)];
        instruction(Op::Int(op, Ty::U32), vec![VDst::Reg(pointer)], source, line)
    };
    push.push(step(IntOp::Add));
    pop.insert(0, step(IntOp::Sub));
    (push, pop)
}

fn bits(value: u64) -> VSrc {
    VSrc::Const(Constant::Bits(value))
}

fn mode(ty: Ty) -> MemoryMode {
    MemoryMode {
        space: Space::Local,
        ty,
        vector: 1,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Cta,
    }
}

fn store(pointer: VReg, offset: i64, ty: Ty, value: VReg, line: u32) -> VInst {
    let source = vec![VSrc::Reg(pointer, false), VSrc::Reg(value, false)];
    VInst { offset, ..instruction(Op::Store(mode(ty)), vec![], source, line) }
}

fn load(pointer: VReg, offset: i64, ty: Ty, to: VReg, line: u32) -> VInst {
    let source = vec![VSrc::Reg(pointer, false)];
    VInst { offset, ..instruction(Op::Load(mode(ty)), vec![VDst::Reg(to)], source, line) }
}
