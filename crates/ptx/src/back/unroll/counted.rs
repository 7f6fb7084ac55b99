//! Loops of one block that a counter ends.

use super::super::body::{Body, definitions, uses};
use super::super::cfg::{BlockId, Cfg};
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{Class, Compare, Flow, IntOp, Op, Order, Ty};
use std::ops::Range;

/// A block that runs again as long as its counter compares to a bound.
pub(super) struct Counted {
    /// Its instructions; the last is the branch back.
    pub range: Range<usize>,
    /// Where the comparison stands.
    pub test: usize,
    /// What a round adds.
    pub step: i64,
    /// What the counter is compared to.
    pub bound: VSrc,
    /// How: the loop goes on while it holds.
    pub compare: Compare,
    /// Of which type.
    pub ty: Ty,
    /// How often it runs, where that is known.
    pub trips: Option<u64>,
}

/// Rounds that are looked for no further: an assembler would not unroll so long a loop as a whole either.
const MOST_TRIPS: i128 = 1 << 24;
/// Instructions of a loop that is looked at: one that costs so much is not unrolled however few its rounds.
const LONGEST: usize = 512;
/// Blocks before a loop in which its counter's first value is looked for.
const WAY: usize = 8;

impl Counted {
    /// The loop that a block is, if a counter ends it and its lanes need not wait for each other.
    pub fn of(body: &Body, cfg: &Cfg, block: BlockId) -> Option<Counted> {
        let range = cfg.block(block).range();
        let back = &body.code[range.end - 1];
        let (Flow::Branch, Some((predicate, false))) = (back.op.traits().flow, back.guard) else {
            return None;
        };
        if back.target as usize != range.start || !(4..=LONGEST).contains(&range.len()) {
            return None;
        }
        let inside = range.start..range.end - 1;
        let stays = |inst: &VInst| {
            let traits = inst.op.traits();
            // Arrays of registers keep theirs.
            let picks = matches!(inst.op, Op::MovFromArray { .. } | Op::MovToArray { .. });
            let whole = traits.flow == Flow::Next && !is_subroutine(traits.class) && !picks;
            whole && traits.order != Order::Collective
        };
        if !body.code[inside.clone()].iter().all(stays) {
            return None;
        }
        let test = only_write(body, &inside, predicate)?;
        let Op::Setp { cmp, ty, combine: None, .. } = body.code[test].op else { return None };
        let ([VDst::Reg(_), VDst::None] | [VDst::Reg(_)]) = body.code[test].dst[..] else { return None };
        // Nothing but the branch may look at what a copy leaves out.
        if body.code[inside.clone()].iter().any(|inst| uses(inst).any(|read| read == predicate)) {
            return None;
        }
        let whole = matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64);
        let &[VSrc::Reg(counter, _), bound] = &body.code[test].src[..] else { return None };
        if !whole || body.code[test].guard.is_some() {
            return None;
        }
        let update = only_write(body, &inside, counter)?;
        let step = increment(&body.code[update], counter).filter(|_| update < test)?;
        let varies =
            |reg| body.code[inside.clone()].iter().any(|inst| definitions(inst).any(|def| def == reg));
        if step == 0
            || matches!(bound, VSrc::Reg(reg, _) if varies(reg))
            || body.ty(counter).bytes() != ty.bytes()
        {
            return None;
        }
        let mut counted = Counted { range, test, step, bound, compare: cmp, ty, trips: None };
        if let (VSrc::Const(Constant::Bits(bound)), Some(first)) =
            (bound, first_value(body, cfg, block, counter))
        {
            counted.trips = counted.trips_from(first, bound);
        }
        Some(counted)
    }

    /// How often the loop runs from a first value on; nothing where the counter would wrap before.
    fn trips_from(&self, first: u64, bound: u64) -> Option<u64> {
        let (first, bound, step) = (self.number(first), self.number(bound), i128::from(self.step));
        let distance = bound - first;
        let trips = match self.compare {
            Compare::Ne | Compare::Neu => {
                (distance % step == 0).then_some(distance / step).filter(|trips| *trips > 0)
            }
            Compare::Lt | Compare::Ltu if step > 0 => Some(((distance + step - 1).div_euclid(step)).max(1)),
            Compare::Le | Compare::Leu if step > 0 => Some((distance.div_euclid(step) + 1).max(1)),
            Compare::Gt | Compare::Gtu if step < 0 => Some(((-distance - step - 1).div_euclid(-step)).max(1)),
            Compare::Ge | Compare::Geu if step < 0 => Some(((-distance).div_euclid(-step) + 1).max(1)),
            _ => None,
        }?;
        let last = first + trips * step;
        (trips < MOST_TRIPS && (self.least()..=self.greatest()).contains(&last)).then_some(trips as u64)
    }

    /// A counter's bits as a number of the comparison's type.
    pub fn number(&self, bits: u64) -> i128 {
        match (self.ty.bytes(), self.ty.is_signed()) {
            (4, true) => i128::from(bits as i32),
            (4, false) => i128::from(bits as u32),
            (_, true) => i128::from(bits as i64),
            (_, false) => i128::from(bits),
        }
    }

    /// The least number of the comparison's type.
    pub fn least(&self) -> i128 {
        if self.ty.is_signed() { -1 << (8 * self.ty.bytes() - 1) } else { 0 }
    }

    /// The greatest.
    pub fn greatest(&self) -> i128 {
        self.least() + (1 << (8 * self.ty.bytes())) - 1
    }

    /// The strict comparison that says of a counter whether it is before a bound in the direction of its steps, and whether the
    /// bound itself still goes on.
    pub fn ordered(&self) -> Option<(Compare, bool)> {
        match (self.compare, self.step > 0) {
            (Compare::Lt | Compare::Ltu | Compare::Ne | Compare::Neu, true) => Some((Compare::Lt, false)),
            (Compare::Le | Compare::Leu, true) => Some((Compare::Lt, true)),
            (Compare::Gt | Compare::Gtu | Compare::Ne | Compare::Neu, false) => Some((Compare::Gt, false)),
            (Compare::Ge | Compare::Geu, false) => Some((Compare::Gt, true)),
            _ => None,
        }
    }

    /// The type in which it does: bits count as unsigned.
    pub fn ordered_in(&self) -> Ty {
        match self.ty {
            Ty::B32 => Ty::U32,
            Ty::B64 => Ty::U64,
            ty => ty,
        }
    }
}

/// Whether an assembler makes a call of what it counts as one instruction here.
fn is_subroutine(class: Class) -> bool {
    use Class::{F32Div, F32Rcp, F32Sqrt, F64Div, F64Rcp, F64Sqrt};
    matches!(class, F32Div | F32Rcp | F32Sqrt | F64Div | F64Rcp | F64Sqrt)
}

/// The only instruction of a range that writes a register.
fn only_write(body: &Body, range: &Range<usize>, reg: VReg) -> Option<usize> {
    let mut writes = range.clone().filter(|at| definitions(&body.code[*at]).any(|def| def == reg));
    let first = writes.next()?;
    writes.next().is_none().then_some(first)
}

/// What an instruction adds to a register in place.
pub(super) fn increment(inst: &VInst, reg: VReg) -> Option<i64> {
    let (Op::Int(op @ (IntOp::Add | IntOp::Sub), ty), None, [VDst::Reg(dst)]) =
        (inst.op, inst.guard, &inst.dst[..])
    else {
        return None;
    };
    let number = |bits: u64| if ty.bytes() == 4 { i64::from(bits as i32) } else { bits as i64 };
    let step = match (op, &inst.src[..]) {
        (IntOp::Add, [VSrc::Reg(src, _), VSrc::Const(Constant::Bits(bits))])
        | (IntOp::Add, [VSrc::Const(Constant::Bits(bits)), VSrc::Reg(src, _)])
            if *src == reg =>
        {
            number(*bits)
        }
        (IntOp::Sub, [VSrc::Reg(src, _), VSrc::Const(Constant::Bits(bits))]) if *src == reg => {
            number(*bits).checked_neg()?
        }
        _ => return None,
    };
    (*dst == reg && ty.bytes() >= 4).then_some(step)
}

/// The constant that a register holds where control comes to a loop from outside.
fn first_value(body: &Body, cfg: &Cfg, block: BlockId, reg: VReg) -> Option<u64> {
    let (mut block, mut inside) = (block, Some(block));
    for _ in 0..WAY {
        let mut from = cfg.block(block).predecessors.iter().filter(|before| Some(**before) != inside);
        let before = *from.next()?;
        if from.next().is_some() {
            return None;
        }
        let write = body.code[cfg.block(before).range()]
            .iter()
            .rev()
            .find(|inst| definitions(inst).any(|def| def == reg));
        if let Some(inst) = write {
            return match (inst.op, inst.guard, &inst.src[..]) {
                (Op::Mov(_), None, [VSrc::Const(Constant::Bits(bits))]) => Some(*bits),
                _ => None,
            };
        }
        (block, inside) = (before, None);
    }
    None
}

/// Whether a range reads a register before it writes it.
pub(super) fn reads_first(code: &[VInst], reg: VReg) -> bool {
    for inst in code {
        if uses(inst).any(|read| read == reg) {
            return true;
        }
        if definitions(inst).any(|def| def == reg) {
            return inst.merges();
        }
    }
    false
}
