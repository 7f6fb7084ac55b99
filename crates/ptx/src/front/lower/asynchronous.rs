//! Asynchronous copies and the barriers in shared memory: `cp.async`, `mbarrier`.

use super::builder::Builder;
use super::memory::hints;
use super::operand::{Resolved, count, operands};
use crate::exec::mbarrier::PENDING;
use crate::front::ast::{Instruction, Operand, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VDst, VSrc};
use crate::isa::{
    AsyncCopy, CacheOp, CopySource, FloatMode, Logic, Mbarrier, MbarrierOp, Op, Ordering, Space, Ty,
};

/// Where a barrier is; without a word the address is generic.
const BARRIER_SPACES: [(&str, Space); 3] =
    [("shared", Space::Shared), ("shared::cta", Space::Shared), ("shared::cluster", Space::Shared)];

/// A count of one.
const ONE: VSrc = VSrc::Const(Constant::Bits(1));

impl<'a> Builder<'a> {
    /// `cp`.
    pub(super) fn cp(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("bulk") {
            return self.bulk(i, m);
        }
        m.require(&[("async", ())])?;
        if m.flag("commit_group") {
            return self.bare(i, m, Op::CopyCommit);
        }
        if m.flag("wait_all") {
            return self.bare(i, m, Op::CopyWait { pending: None });
        }
        if m.flag("wait_group") {
            m.finish()?;
            let [groups] = operands(i)?;
            let pending = self.number(groups, "a number of groups")?;
            let Ok(pending) = u32::try_from(pending) else {
                return Err(self.wrong_kind(groups, "a number of groups below 2^32"));
            };
            self.emit(Op::CopyWait { pending: Some(pending) }, &[], &[]);
            return Ok(());
        }
        if m.flag("mbarrier") {
            m.require(&[("arrive", ())])?;
            let counted = m.flag("noinc");
            let space = m.pick(&BARRIER_SPACES).unwrap_or(Space::Generic);
            m.ty(&[Ty::B64])?;
            m.finish()?;
            let [address] = operands(i)?;
            let (base, offset) = self.address(address, space)?;
            self.emit(Op::CopyArrive { space, counted }, &[], &[base]).offset = offset;
            return Ok(());
        }
        self.async_copy(i, m)
    }

    fn async_copy(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let cache = m.require(&[("ca", CacheOp::All), ("cg", CacheOp::Global)])?;
        m.require(&[("shared", ()), ("shared::cta", ())])?;
        m.require(&[("global", ())])?;
        let policy = usize::from(hints(m));
        m.finish()?;
        if !(3 + policy..=4 + policy).contains(&i.operands.len()) {
            return Err(count(i, &format!("{} or {}", 3 + policy, 4 + policy)));
        }
        let (to, from, size) = (&i.operands[0], &i.operands[1], &i.operands[2]);
        let bytes = self.number(size, "4, 8 or 16")?;
        let sizes: &[u64] = if cache == CacheOp::Global { &[16] } else { &[4, 8, 16] };
        if !sizes.contains(&bytes) {
            return Err(Diagnostic::invalid(size.place, "copy of a size that does not exist")
                .found(bytes.to_string())
                .expected(if sizes.len() == 1 { "16 with `.cg`" } else { "4, 8 or 16" }));
        }
        let (shared, shared_offset) = self.address(to, Space::Shared)?;
        let (global, offset) = self.address(from, Space::Global)?;
        let mut src = vec![global, shared];
        let source = match i.operands.get(3) {
            Some(operand) if i.operands.len() == 4 + policy => {
                let ignores = self.is_predicate(operand)?;
                src.push(self.src(operand, if ignores { Ty::Pred } else { Ty::U32 })?);
                if ignores { CopySource::Unless } else { CopySource::Sized }
            }
            _ => CopySource::Whole,
        };
        // Shared addresses are sums of low words.
        let copy = AsyncCopy { bytes: bytes as u8, cache, shared_offset: shared_offset as i32, source };
        self.emit(Op::CopyAsync(copy), &[], &src).offset = offset;
        Ok(())
    }

    /// A constant operand.
    fn number(&self, operand: &Operand, expected: &str) -> Result<u64, Fail> {
        match operand.kind {
            OperandKind::Value(Value::Int(value)) => Ok(value),
            _ => Err(self.wrong_kind(operand, expected)),
        }
    }

    fn is_predicate(&mut self, operand: &Operand) -> Result<bool, Fail> {
        Ok(match operand.kind {
            OperandKind::Not(_) => true,
            OperandKind::Name(name) => match self.resolve(name, operand.place)? {
                Resolved::Register(register) => self.ty(register) == Ty::Pred,
                _ => false,
            },
            _ => false,
        })
    }

    /// `mbarrier`.
    pub(super) fn mbarrier(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("layout") {
            return Err(self.unsupported(i, "this barrier"));
        }
        if m.flag("pending_count") {
            return self.pending_count(i, m);
        }
        let op = m.require(&[
            ("init", MbarrierOp::Init),
            ("inval", MbarrierOp::Invalidate),
            ("arrive", MbarrierOp::Arrive { drop: false, completes: true }),
            ("arrive_drop", MbarrierOp::Arrive { drop: true, completes: true }),
            ("expect_tx", MbarrierOp::Expect),
            ("complete_tx", MbarrierOp::Complete),
            ("test_wait", MbarrierOp::TestState),
            ("try_wait", MbarrierOp::TestState),
        ])?;
        let op = match op {
            MbarrierOp::Arrive { drop, .. } if m.flag("expect_tx") => MbarrierOp::ArriveExpect { drop },
            MbarrierOp::Arrive { drop, .. } if m.flag("noComplete") => {
                MbarrierOp::Arrive { drop, completes: false }
            }
            MbarrierOp::TestState if m.flag("parity") => MbarrierOp::TestParity,
            other => other,
        };
        // A CTA's barriers order its memory operations whatever is said here: the load/store unit takes them in order.
        if !matches!(op, MbarrierOp::Init | MbarrierOp::Invalidate) {
            let orderings: &[(&str, Ordering)] = if op.is_test() {
                &[("acquire", Ordering::Acquire), ("relaxed", Ordering::Relaxed)]
            } else {
                &[("release", Ordering::Release), ("relaxed", Ordering::Relaxed)]
            };
            m.pick(orderings);
            m.pick(&[("cta", ()), ("cluster", ())]);
        }
        let space = m.pick(&BARRIER_SPACES).unwrap_or(Space::Generic);
        m.ty(&[Ty::B64])?;
        m.finish()?;
        self.barrier_operation(i, Mbarrier { op, space })
    }

    fn barrier_operation(&mut self, i: &'a Instruction, barrier: Mbarrier) -> Result<(), Fail> {
        let op = barrier.op;
        let first = usize::from(op.is_test() || op.returns_state());
        let tries = op.is_test() && i.modifiers.iter().any(|word| self.text(word.name) == "try_wait");
        let (least, most) = match op {
            MbarrierOp::Invalidate => (1, 1),
            MbarrierOp::Arrive { completes: true, .. } => (2, 3),
            // A hint of how long to wait may follow.
            _ if tries => (3, 4),
            _ => (first + 2, first + 2),
        };
        if !(least..=most).contains(&i.operands.len()) {
            let expected = if least == most { least.to_string() } else { format!("{least} or {most}") };
            return Err(count(i, &expected));
        }
        let dst = match i.operands.first() {
            Some(operand) if op.is_test() => vec![self.dst(operand, Ty::Pred)?],
            Some(operand) if op.returns_state() => vec![self.dst_or_sink(operand, Ty::B64)?],
            _ => Vec::new(),
        };
        let (base, offset) = self.address(&i.operands[first], barrier.space)?;
        let operand = match i.operands.get(first + 1) {
            Some(operand) if op == MbarrierOp::TestState => self.src(operand, Ty::B64)?,
            Some(operand) => self.src(operand, Ty::U32)?,
            None => ONE,
        };
        if let (true, Some(hint)) = (tries, i.operands.get(3)) {
            self.src(hint, Ty::U32)?;
        }
        self.emit(Op::Mbarrier(barrier), &dst, &[base, operand]).offset = offset;
        Ok(())
    }

    /// `mbarrier.pending_count`: the low bits of a state.
    fn pending_count(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.ty(&[Ty::B64])?;
        m.finish()?;
        let [d, state] = operands(i)?;
        let (d, state) = (self.dst(d, Ty::U32)?, self.src(state, Ty::B64)?);
        let low = self.fresh(Ty::U32);
        let narrow = Op::Cvt { to: Ty::U32, from: Ty::U64, mode: FloatMode::DEFAULT };
        self.emit_always(narrow, &[VDst::Reg(low)], &[state]);
        let mask = VSrc::Const(Constant::Bits(PENDING));
        self.emit(Op::Logic(Logic::And, Ty::B32), &[d], &[VSrc::Reg(low, false), mask]);
        Ok(())
    }
}
