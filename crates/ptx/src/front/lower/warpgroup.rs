//! `wgmma`: products of four warps, with matrices in shared memory.
//!
//! Each warp of a warpgroup has 16 rows of A and of D and all of B, and a register of D is where `mma` of 16 by 8 has it,
//! eight columns after the other. So a product is the `mma` products that it consists of, and a matrix in shared memory comes by
//! `ldmatrix`, at rows that [`Op::DescribedRow`] finds by the descriptor. All of it happens where the text says
//! `wgmma.mma_async`, one of the times that the ISA allows: nothing is left to wait for.

use super::builder::Builder;
use super::matrix::{ACCUMULATORS, ELEMENTS, go_together, register_of_sum, sums_to};
use super::operand::{count, operands};
use crate::front::ast::{Instruction, Operand, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VDst, VSrc};
use crate::isa::{
    Blocks, Combine, DescribedRow, Element, Layout, Logic, MatrixAccess, Mma, Op, Ordering, Scope, Space, Ty,
};

/// Most columns of a product.
const MOST_COLUMNS: u16 = 256;
/// Bytes that a row of A has in every product.
const DEPTH_BITS: u32 = 256;

/// A product as its opcode says it.
struct Product {
    columns: u16,
    mma: Mma,
}

/// What the operands behind the matrices say.
struct Flags {
    /// Whether D is added to: a predicate, or known.
    adds: VSrc,
    negated: bool,
    a_k_major: bool,
    b_k_major: bool,
}

impl<'a> Builder<'a> {
    /// `wgmma`.
    pub(super) fn wgmma(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        #[derive(Clone, Copy)]
        enum Form {
            Product,
            Fence,
            Commit,
            Wait,
        }
        let form = m.require(&[
            ("mma_async", Form::Product),
            ("fence", Form::Fence),
            ("commit_group", Form::Commit),
            ("wait_group", Form::Wait),
        ])?;
        if m.contains("sp") {
            return Err(self.unsupported(i, "this matrix product"));
        }
        m.require(&[("sync", ())])?;
        m.require(&[("aligned", ())])?;
        match form {
            Form::Product => return self.warpgroup_product(i, m),
            Form::Fence | Form::Commit => {
                m.finish()?;
                let [] = operands(i)?;
            }
            Form::Wait => {
                m.finish()?;
                let [groups] = operands(i)?;
                let OperandKind::Value(Value::Int(_)) = groups.kind else {
                    return Err(self.wrong_kind(groups, "a number of groups"));
                };
            }
        }
        // What products read from shared memory keeps its place behind what was written there before.
        let op = match form {
            Form::Fence => Op::Fence { ordering: Ordering::AcqRel, scope: Scope::Cta },
            _ => Op::Nop,
        };
        self.emit(op, &[], &[]);
        Ok(())
    }

    /// `setmaxnreg`: a warp keeps the registers that it was launched with.
    pub(super) fn set_most_registers(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
    ) -> Result<(), Fail> {
        m.require(&[("inc", ()), ("dec", ())])?;
        m.require(&[("sync", ())])?;
        m.require(&[("aligned", ())])?;
        m.ty(&[Ty::U32])?;
        m.finish()?;
        let [registers] = operands(i)?;
        match registers.kind {
            OperandKind::Value(Value::Int(24..=256)) => {}
            _ => return Err(self.wrong_kind(registers, "a number of registers from 24 to 256")),
        }
        self.emit(Op::Nop, &[], &[]);
        Ok(())
    }

    fn warpgroup_product(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let place = m.place();
        let Some((columns, depth)) = m.read(shape_of) else {
            return Err(Diagnostic::invalid(place, "warpgroup product of a shape that does not exist")
                .found(self.name_of(i))
                .expected("`.m64nNkK` with N a multiple of 8 up to 256"));
        };
        let sum = m.require(&ACCUMULATORS)?;
        let (a, b) = (m.require(&ELEMENTS)?, m.require(&ELEMENTS)?);
        let saturates = m.flag("satfinite");
        let combine = self.combine(a, saturates, m)?;
        m.finish()?;
        let fits = u32::from(depth) * a.bits() == DEPTH_BITS
            && go_together(a, b)
            && sums_to(a, sum)
            && has_columns(a, columns)
            && !matches!(a, Element::F64 | Element::S4 | Element::U4)
            && combine != Combine::Xor;
        if !fits {
            return Err(Diagnostic::invalid(place, "warpgroup product that does not exist")
                .found(self.name_of(i))
                .expected("a shape and types of the PTX ISA's table for `wgmma.mma_async`"));
        }
        let layout = Layout::Warp { rows: 16 };
        let mma = Mma { layout, depth, a, b, c: sum, d: sum, combine, sparse: None };
        self.product_of_warps(i, &Product { columns, mma })
    }

    fn product_of_warps(&mut self, i: &'a Instruction, product: &Product) -> Result<(), Fail> {
        let Product { columns, mma } = *product;
        let blocks = usize::from(columns) / 8;
        let [to, from_a, from_b, rest @ ..] = i.operands.as_slice() else {
            return Err(count(i, "4 or more"));
        };
        let own = mma.c_registers(mma.d);
        let ty = register_of_sum(mma.d);
        let dst = self.fragment_dst(to, own * blocks, ty)?;
        let in_registers = matches!(from_a.kind, OperandKind::Vector(_));
        let flags = self.product_flags(i, &mma, in_registers, rest)?;
        let sums = match flags.adds {
            VSrc::PredConst(false) => vec![VSrc::Const(Constant::Bits(0)); own * blocks],
            VSrc::PredConst(true) => self.fragment(to, own * blocks, ty)?,
            adds => {
                let before = self.fragment(to, own * blocks, ty)?;
                before.into_iter().map(|sum| self.sum_or_zero(sum, adds, ty)).collect()
            }
        };
        let mut a = if in_registers {
            self.fragment(from_a, mma.a_registers(), Ty::B32)?
        } else {
            let descriptor = self.src(from_a, Ty::B64)?;
            self.described(descriptor, (Blocks::OfA, flags.a_k_major), 4)
        };
        if flags.negated {
            let sign = match mma.a.bits() {
                8 => 0x8080_8080,
                16 => 0x8000_8000,
                _ => 0x8000_0000,
            };
            for part in &mut a {
                let negated = self.fresh(Ty::B32);
                let sign = VSrc::Const(Constant::Bits(sign));
                self.emit(Op::Logic(Logic::Xor, Ty::B32), &[VDst::Reg(negated)], &[*part, sign]);
                *part = VSrc::Reg(negated, false);
            }
        }
        let descriptor = self.src(from_b, Ty::B64)?;
        for first in (0..blocks).step_by(2) {
            let pair = (blocks - first).min(2);
            let which = Blocks::OfB { first: first as u8 };
            let b = self.described(descriptor, (which, flags.b_k_major), 2 * pair as u8);
            for n in 0..pair {
                let at = own * (first + n)..own * (first + n + 1);
                let sources = [&a[..], &b[2 * n..2 * n + 2], &sums[at.clone()]].concat();
                self.emit(Op::Mma(mma), &dst[at], &sources);
            }
        }
        Ok(())
    }

    /// A register of D where it is added to, else zero.
    fn sum_or_zero(&mut self, sum: VSrc, adds: VSrc, ty: Ty) -> VSrc {
        let kept = self.fresh(ty);
        let zero = VSrc::Const(Constant::Bits(0));
        self.emit(Op::Select(ty), &[VDst::Reg(kept)], &[sum, zero, adds]);
        VSrc::Reg(kept, false)
    }

    /// The operands behind B: scale-d, then for floating-point elements the signs of A and B, then for 16 bits the
    /// majors of the matrices in shared memory.
    fn product_flags(
        &mut self,
        i: &'a Instruction,
        mma: &Mma,
        in_registers: bool,
        rest: &[Operand],
    ) -> Result<Flags, Fail> {
        let is_float = !matches!(mma.a, Element::S8 | Element::U8 | Element::B1);
        let majors = match mma.a {
            Element::F16 | Element::Bf16 => 2 - usize::from(in_registers),
            _ => 0,
        };
        let signs = if is_float { 2 } else { 0 };
        if rest.len() != 1 + signs + majors {
            return Err(count(i, &format!("{}", 4 + signs + majors)));
        }
        let adds = match rest[0].kind {
            OperandKind::Value(Value::Int(value)) => VSrc::PredConst(value != 0),
            _ => self.src(&rest[0], Ty::Pred)?,
        };
        let mut negated = false;
        for sign in &rest[1..1 + signs] {
            match sign.kind {
                OperandKind::Value(Value::Int(1)) => {}
                OperandKind::Value(Value::Int(value)) if value as i32 == -1 => negated = !negated,
                _ => return Err(self.wrong_kind(sign, "1 or -1")),
            }
        }
        let mut k_major = [true; 2];
        for (n, major) in rest[1 + signs..].iter().enumerate() {
            let OperandKind::Value(Value::Int(value @ 0..=1)) = major.kind else {
                return Err(self.wrong_kind(major, "0 (k is the major dimension) or 1"));
            };
            k_major[n + 2 - majors] = value == 0;
        }
        Ok(Flags { adds, negated, a_k_major: k_major[0], b_k_major: k_major[1] })
    }

    /// Rows of a matrix in shared memory, as a fragment.
    fn described(&mut self, descriptor: VSrc, (blocks, k_major): (Blocks, bool), count: u8) -> Vec<VSrc> {
        let address = self.fresh(Ty::U32);
        let row = DescribedRow { blocks, k_major };
        self.emit(Op::DescribedRow(row), &[VDst::Reg(address)], &[descriptor]);
        let parts: Vec<_> = (0..count).map(|_| self.fresh(Ty::B32)).collect();
        let dst: Vec<VDst> = parts.iter().map(|part| VDst::Reg(*part)).collect();
        let access = MatrixAccess { space: Space::Shared, count, transposed: !k_major };
        self.emit(Op::LoadMatrix(access), &dst, &[VSrc::Reg(address, false)]);
        parts.into_iter().map(|part| VSrc::Reg(part, false)).collect()
    }
}

/// N and K of `m64nNkK`.
fn shape_of(word: &str) -> Option<(u16, u16)> {
    let (columns, depth) = word.strip_prefix("m64n")?.split_once('k')?;
    let (columns, depth) = (columns.parse().ok()?, depth.parse().ok()?);
    (columns > 0 && columns % 8 == 0 && columns <= MOST_COLUMNS).then_some((columns, depth))
}

/// Whether products of such elements have so many columns (PTX ISA, "Matrix Shape" of `wgmma`): those of integers and bits
/// have multiples of 16 from 32 on.
fn has_columns(a: Element, columns: u16) -> bool {
    match a {
        Element::S8 | Element::U8 | Element::B1 => columns <= 24 || columns.is_multiple_of(16),
        _ => true,
    }
}
