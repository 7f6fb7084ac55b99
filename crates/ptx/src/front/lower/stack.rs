//! The stack pointer, and `alloca`, `stacksave` and `stackrestore`.

use super::builder::Builder;
use super::operand::{count, integer_of, operands};
use crate::front::ast::{Instruction, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, Stack, VDst, VInst, VReg, VSrc};
use crate::isa::{FloatMode, IntOp, Logic, Op, Ty};

/// Alignment of what `alloca` gives unless it says otherwise (PTX ISA, "alloca").
const ALLOCA_ALIGN: u64 = 8;
/// Where the stack pointer stays when a program asks for more: beyond all local memory, so that the first access
/// faults, and far from where 32 bits wrap.
const OUT_OF_STACK: u64 = 1 << 30;

impl<'a> Builder<'a> {
    /// The stack pointer: an offset in local memory.
    pub(super) fn pointer(&mut self) -> VReg {
        if let Some(pointer) = self.pointer {
            return pointer;
        }
        let pointer = self.fresh(Ty::U32);
        self.pointer = Some(pointer);
        pointer
    }

    /// Lets the kernel begin with an empty stack, if it has one.
    pub(super) fn place_stack(&mut self) {
        let Some(pointer) = self.pointer else { return };
        let line = self.out.code.first().map_or(1, |inst| inst.line);
        let begin = VInst {
            op: Op::Mov(Ty::U32),
            guard: None,
            dst: vec![VDst::Reg(pointer)],
            src: vec![VSrc::Const(Constant::StackBase)],
            offset: 0,
            contracts: false,
            target: 0,
            line,
        };
        self.out.code.insert(0, begin);
        for place in self.labels.iter_mut().flatten() {
            *place += 1;
        }
        self.out.stack = Some(Stack { pointer, shared: self.shared_registers() });
    }

    /// `alloca`.
    pub(super) fn alloca(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::U32, Ty::U64])?;
        m.finish()?;
        let (d, size, align) = match i.operands.as_slice() {
            [d, size] => (d, size, ALLOCA_ALIGN),
            [d, size, align] => match align.kind {
                OperandKind::Value(Value::Int(value)) if value.is_power_of_two() && value <= 1 << 20 => {
                    (d, size, value.max(ALLOCA_ALIGN))
                }
                _ => return Err(self.wrong_kind(align, "an alignment: a power of two up to 1048576")),
            },
            _ => return Err(count(i, "2 or 3")),
        };
        let (d, size) = (self.dst(d, ty)?, self.src(size, ty)?);
        let bits = |value: u64| VSrc::Const(Constant::Bits(value));
        // What wraps around would be memory of others.
        let bounded = self.fresh(ty);
        self.emit_always(Op::Int(IntOp::Min, ty), &[VDst::Reg(bounded)], &[size, bits(OUT_OF_STACK)]);
        let bounded = if ty == Ty::U64 {
            self.converted(VSrc::Reg(bounded, false), Ty::U32, Ty::U64)
        } else {
            VSrc::Reg(bounded, false)
        };
        let pointer = self.pointer();
        let add = Op::Int(IntOp::Add, Ty::U32);
        let and = Op::Logic(Logic::And, Ty::B32);
        let compute = |b: &mut Self, op: Op, left: VSrc, right: u64| {
            let value = b.fresh(Ty::U32);
            b.emit_always(op, &[VDst::Reg(value)], &[left, bits(right)]);
            VSrc::Reg(value, false)
        };
        let start = compute(self, add, VSrc::Reg(pointer, false), align - 1);
        let start = compute(self, and, start, u64::from(!(align as u32 - 1)));
        let bytes = compute(self, add, bounded, 7);
        let bytes = compute(self, and, bytes, u64::from(!7u32));
        let end = self.fresh(Ty::U32);
        self.emit_always(add, &[VDst::Reg(end)], &[start, bytes]);
        let result = if ty == Ty::U64 { self.converted(start, Ty::U64, Ty::U32) } else { start };
        self.emit(Op::Mov(ty), &[d], &[result]);
        let least = [VSrc::Reg(end, false), bits(OUT_OF_STACK)];
        self.emit(Op::Int(IntOp::Min, Ty::U32), &[VDst::Reg(pointer)], &least);
        Ok(())
    }

    /// `stacksave`.
    pub(super) fn stack_save(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::U32, Ty::U64])?;
        m.finish()?;
        let [d] = operands(i)?;
        let d = self.dst(d, ty)?;
        let pointer = VSrc::Reg(self.pointer(), false);
        let value = if ty == Ty::U64 { self.converted(pointer, Ty::U64, Ty::U32) } else { pointer };
        self.emit(Op::Mov(ty), &[d], &[value]);
        Ok(())
    }

    /// `stackrestore`.
    pub(super) fn stack_restore(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::U32, Ty::U64])?;
        m.finish()?;
        let [a] = operands(i)?;
        let a = match self.src(a, ty)? {
            value @ VSrc::Reg(..) if ty == Ty::U64 => self.converted(value, Ty::U32, Ty::U64),
            VSrc::Reg(register, _) => VSrc::Reg(register, false),
            _ => {
                return Err(Diagnostic::invalid(i.place, "stack restored to a constant")
                    .expected("the result of `stacksave`"));
            }
        };
        let pointer = self.pointer();
        self.emit(Op::Mov(Ty::U32), &[VDst::Reg(pointer)], &[a]);
        Ok(())
    }

    fn converted(&mut self, value: VSrc, to: Ty, from: Ty) -> VSrc {
        let register = self.fresh(to);
        let op = Op::Cvt { to, from: integer_of(from), mode: FloatMode::DEFAULT };
        self.emit_always(op, &[VDst::Reg(register)], &[value]);
        VSrc::Reg(register, false)
    }
}
