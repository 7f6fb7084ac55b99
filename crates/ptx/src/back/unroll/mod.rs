//! Unrolls short loops that a counter ends, as an assembler does.
//!
//! Of a loop whose rounds are known before it runs the body stands as often as it runs, or, where that would be too much code,
//! several times in a loop of fewer rounds. Any other runs four times a round while at least four are left, then twice, then
//! once. What the vendor's assembler was seen to do is in `docs/assembler.md`.

mod copies;
mod counted;

use super::body::{Body, instruction};
use super::cfg::Cfg;
use super::error::BackError;
use super::liveness::Liveness;
use crate::ir::{Constant, VDst, VInst, VSrc};
use crate::isa::{IntOp, Op, Ty};
use copies::{Copies, Weight};
use counted::Counted;

/// What the copies of a loop with known rounds may weigh together, when they do not stand for all rounds.
const PARTIAL: u64 = 330;
/// Instructions of a kernel after which no more loops are unrolled, and most loops that are. ASSUMED: no kernel has as many; text that
/// is made to grow does not grow beyond them.
const MOST_CODE: usize = 1 << 17;
const MOST_LOOPS: usize = 1 << 10;

/// Unrolls every loop that it pays for; those with a line of `rolled` in them stay.
///
/// # Errors
/// When too many values live from block to block.
pub fn unroll(body: &mut Body, rolled: &[u32]) -> Result<(), BackError> {
    let cfg = Cfg::new(body);
    let loops: Vec<_> =
        cfg.order.iter().filter_map(|block| Some((*block, Counted::of(body, &cfg, *block)?))).collect();
    if loops.is_empty() {
        return Ok(());
    }
    let liveness = Liveness::new(body, &cfg)?;
    let mut loops: Vec<_> = loops.into_iter().filter(|(_, counted)| !stays(body, counted, rolled)).collect();
    // From the last to the first, so that the places of those before stay.
    loops.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.range.start));
    for (block, counted) in loops.into_iter().take(MOST_LOOPS) {
        let copies = Copies::new(body, &counted, &liveness.live_out[block.index()]);
        let unrolled = match counted.trips {
            Some(trips) => known(body, &counted, &copies, trips),
            None => unknown(body, &counted, &copies),
        };
        if let Some(code) = unrolled.filter(|code| body.code.len() + code.len() <= MOST_CODE) {
            body.splice(counted.range, code);
        }
    }
    Ok(())
}

/// Whether the text wants a loop as it is: a pragma stands between the instruction before it and its last.
fn stays(body: &Body, counted: &Counted, rolled: &[u32]) -> bool {
    let first = body.code[counted.range.start].line;
    let last = body.code[counted.range.end - 1].line;
    let before = counted.range.start.checked_sub(1).map(|at| body.code[at].line).filter(|line| *line < first);
    let before = before.unwrap_or(first.saturating_sub(4));
    rolled.iter().any(|line| before < *line && *line <= last)
}

/// The code of a loop that runs so often, or nothing where it stays as it is.
fn known(body: &mut Body, counted: &Counted, copies: &Copies, trips: u64) -> Option<Vec<VInst>> {
    let cost = copies.weight().cost.max(1);
    let mut code = Vec::new();
    if whole_pays(trips, cost) {
        copies.append(body, trips, &mut code);
        code.push(test(body, counted));
        return Some(code);
    }
    let most = PARTIAL / cost;
    let factor = (4..=most.min(trips)).rev().min_by_key(|factor| trips % factor)?;
    if !trips.is_multiple_of(factor) {
        copies.append(body, trips % factor, &mut code);
    }
    let start = code.len() as u32;
    copies.append(body, factor, &mut code);
    code.push(test(body, counted));
    let mut back = body.code[counted.range.end - 1].clone();
    back.target = start;
    code.push(back);
    Some(code)
}

/// Whether all rounds may stand one after another. ptxas takes more instructions in all of smaller bodies, since it saves more of
/// them: 500 rounds of 4, eight of 51, two of 131. With 30 instructions added to a body the bound is one and the same.
fn whole_pays(trips: u64, cost: u64) -> bool {
    const ADDED: u64 = 30;
    const MOST: u64 = 310;
    const ROUNDS: u64 = 1024;
    trips <= ROUNDS && trips * cost.saturating_mul(cost) <= MOST * (cost + ADDED)
}

/// Whether a body of unknown rounds may stand four times. ptxas lets it weigh more the more of its loads could overlap.
fn four_pay(weight: &Weight) -> bool {
    const WITHOUT_LOADS: u64 = 18;
    const GLOBAL: u64 = 28;
    const SHARED: u64 = 4;
    const MOST: u64 = 80;
    let global = if weight.global_loads > 0 { GLOBAL } else { 0 };
    weight.cost <= (WITHOUT_LOADS + global + SHARED * weight.shared_loads).min(MOST)
}

/// The code of a loop that runs four times a round, then twice, then once; targets count from its first instruction.
fn unknown(body: &mut Body, counted: &Counted, copies: &Copies) -> Option<Vec<VInst>> {
    let (ordered, inclusive) = counted.ordered()?;
    if !four_pay(&copies.weight()) {
        return None;
    }
    let mut code = Vec::new();
    let four = bound_ahead(body, counted, 3, inclusive, &mut code)?;
    let two = bound_ahead(body, counted, 1, inclusive, &mut code)?;
    let back = body.code[counted.range.end - 1].clone();
    let go = |predicate, negated, target| VInst { guard: Some((predicate, negated)), target, ..back.clone() };
    let ask = |body: &mut Body, bound: VSrc| {
        let predicate = body.fresh(Ty::Pred);
        let mut inst = test(body, counted);
        inst.op = Op::Setp { cmp: ordered, ty: counted.ordered_in(), combine: None, ftz: false };
        inst.dst[0] = VDst::Reg(predicate);
        inst.src[1] = bound;
        (predicate, inst)
    };
    let ended = back.guard.map(|(predicate, _)| predicate)?;
    let mut ends = Vec::new();
    let mut rounds = |body: &mut Body, times: u64, bound: VSrc, code: &mut Vec<VInst>| {
        let (enough, inst) = ask(body, bound);
        code.push(inst);
        let past = code.len();
        code.push(go(enough, true, 0));
        let start = code.len() as u32;
        copies.append(body, times, code);
        // So that only the four run in a loop: of the rest there are fewer.
        if times == 4 {
            let (enough, inst) = ask(body, bound);
            code.push(inst);
            code.push(go(enough, false, start));
        }
        code.push(test(body, counted));
        ends.push(code.len());
        code.push(go(ended, true, 0));
        code[past].target = code.len() as u32;
    };
    rounds(body, 4, four, &mut code);
    rounds(body, 2, two, &mut code);
    let once = code.len() as u32;
    code.extend_from_slice(&body.code[counted.range.clone()]);
    code.last_mut().expect("a loop has a branch").target = once;
    let end = code.len() as u32;
    ends.into_iter().for_each(|at| code[at].target = end);
    Some(code)
}

/// The loop's own comparison.
fn test(body: &Body, counted: &Counted) -> VInst {
    body.code[counted.test].clone()
}

/// What a counter is before while `more` further rounds are sure to follow: the bound, moved back by as many steps, and not
/// beyond the end of the numbers, before which none is. What computes it goes before the loop.
fn bound_ahead(
    body: &mut Body,
    counted: &Counted,
    more: i128,
    inclusive: bool,
    code: &mut Vec<VInst>,
) -> Option<VSrc> {
    let ty = counted.ordered_in();
    let step = i128::from(counted.step);
    let back = more * step - if inclusive { step.signum() } else { 0 };
    if back.unsigned_abs() >= 1 << (8 * ty.bytes() - 2) {
        return None;
    }
    let (op, limit) =
        if step > 0 { (IntOp::Max, counted.least() + back) } else { (IntOp::Min, counted.greatest() + back) };
    let constant = |number: i128| {
        let bits = number as u64;
        VSrc::Const(Constant::Bits(if ty.bytes() == 4 { bits & u64::from(u32::MAX) } else { bits }))
    };
    if let VSrc::Const(Constant::Bits(bits)) = counted.bound {
        let bound = counted.number(bits);
        let within = if step > 0 { bound.max(limit) } else { bound.min(limit) };
        return Some(constant(within - back));
    }
    let line = body.code[counted.range.start].line;
    let [within, moved] = [(); 2].map(|()| body.fresh(ty));
    code.push(instruction(
        Op::Int(op, ty),
        vec![VDst::Reg(within)],
        vec![counted.bound, constant(limit)],
        line,
    ));
    let sources = vec![VSrc::Reg(within, false), constant(-back)];
    code.push(instruction(Op::Int(IntOp::Add, ty), vec![VDst::Reg(moved)], sources, line));
    Some(VSrc::Reg(moved, false))
}
