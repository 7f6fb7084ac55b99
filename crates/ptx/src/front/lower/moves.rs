//! Moves: plain, packing and unpacking, addresses, `cvta`, `isspacep`.

use super::builder::Builder;
use super::operand::{Resolved, operands};
use super::special::{self, Named};
use crate::front::ast::{Instruction, Operand, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VReg, VSrc};
use crate::isa::{Op, Space, Ty};

const MOVED: [Ty; 14] = [
    Ty::B16,
    Ty::B32,
    Ty::B64,
    Ty::B128,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S16,
    Ty::S32,
    Ty::S64,
    Ty::F32,
    Ty::F64,
    Ty::Pred,
    Ty::F16,
];

/// The plain move of a type.
pub(super) fn move_of(ty: Ty) -> Op {
    if ty == Ty::Pred { Op::PredMov } else { Op::Mov(ty) }
}

impl<'a> Builder<'a> {
    /// `mov`.
    pub(super) fn mov(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let vector = m.silently(&[("v2", 2), ("v4", 4)]);
        let ty = m.ty(&MOVED)?;
        m.finish()?;
        if let Some(vector) = vector {
            return self.mov_vector(i, vector, ty);
        }
        let [d, a] = operands(i)?;
        let (pieces_d, pieces_a) = (self.pieces(d)?, self.pieces(a)?);
        match (pieces_d, pieces_a) {
            (Some(pieces), _) => self.unpack(&pieces, d, a, ty),
            (_, Some(pieces)) => self.pack(d, a, &pieces, ty),
            _ if ty == Ty::Pred => {
                let (d, a) = (self.dst(d, ty)?, self.src(a, ty)?);
                self.emit(Op::PredMov, &[d], &[a]);
                Ok(())
            }
            _ => {
                if let Some(Named::Register(register)) = self.special_of(a)? {
                    let natural = special::type_of(register);
                    if !ty.is_float() && ty.bytes() == natural.bytes() {
                        let d = self.dst(d, ty)?;
                        self.emit(Op::ReadSpecial(register), &[d], &[]);
                        return Ok(());
                    }
                }
                let (d, a) = (self.dst(d, ty)?, self.src(a, ty)?);
                self.emit(Op::Mov(ty), &[d], &[a]);
                Ok(())
            }
        }
    }

    /// `mov.v2`, `mov.v4`: element by element, all read before any is written.
    fn mov_vector(&mut self, i: &'a Instruction, vector: u8, ty: Ty) -> Result<(), Fail> {
        let [d, a] = operands(i)?;
        let mut values = Vec::new();
        for element in self.elements(a, vector)? {
            let (value, copy) = (self.src(&element, ty)?, self.fresh(ty));
            self.emit(move_of(ty), &[VDst::Reg(copy)], &[value]);
            values.push(VSrc::Reg(copy, false));
        }
        for (element, value) in self.elements(d, vector)?.iter().zip(values) {
            let d = self.dst_or_sink(element, ty)?;
            self.emit(move_of(ty), &[d], &[value]);
        }
        Ok(())
    }

    fn special_of(&mut self, operand: &Operand) -> Result<Option<Named>, Fail> {
        Ok(match operand.kind {
            OperandKind::Name(name) => match self.resolve(name, operand.place)? {
                Resolved::Special(special) => Some(special),
                _ => None,
            },
            OperandKind::Component(name, component) => {
                special::special(self.text(name), Some(self.text(component)))
            }
            _ => None,
        })
    }

    /// The pieces of a vector or vector register; nothing for a scalar.
    fn pieces(&mut self, operand: &Operand) -> Result<Option<Vec<Operand>>, Fail> {
        Ok(match operand.kind {
            OperandKind::Vector(ref pieces) => Some(pieces.clone()),
            OperandKind::Name(name) => match self.resolve(name, operand.place)? {
                Resolved::Vector(registers) => Some(self.elements(operand, registers.len() as u8)?),
                _ => None,
            },
            _ => None,
        })
    }

    /// The type of the pieces that a packed value has.
    fn piece(&self, vector: &Operand, pieces: usize, whole: Ty) -> Result<Ty, Fail> {
        let untyped = matches!(whole, Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128);
        match (untyped, pieces, whole.bytes().checked_div(pieces)) {
            (true, 2, Some(8)) => Ok(Ty::B64),
            (true, 2 | 4, Some(4)) if whole != Ty::B128 => Ok(Ty::B32),
            (true, 2 | 4, Some(2)) => Ok(Ty::B16),
            (true, 2 | 4, Some(1)) => Ok(Ty::B8),
            _ => Err(Diagnostic::invalid(vector.place, "vector does not make up the moved type")
                .found(format!("{pieces} elements for {} bytes", whole.bytes()))
                .expected("2 or 4 elements for `.b16`, `.b32` or `.b64`, 2 for `.b128`")),
        }
    }

    fn unpack(&mut self, pieces: &[Operand], d: &Operand, a: &Operand, whole: Ty) -> Result<(), Fail> {
        let piece = self.piece(d, pieces.len(), whole)?;
        let a = self.src(a, whole)?;
        let mut dst = Vec::new();
        for operand in pieces {
            dst.push(self.piece_dst(operand, piece)?);
        }
        self.emit(Op::Unpack { whole, pieces: dst.len() as u8 }, &dst, &[a]);
        Ok(())
    }

    fn piece_dst(&mut self, operand: &Operand, piece: Ty) -> Result<VDst, Fail> {
        if matches!(operand.kind, OperandKind::Sink) {
            return Ok(VDst::None);
        }
        // There are no 8-bit registers in use: bytes live in 16-bit ones.
        let wide = self.dst_relaxed(operand, piece)?;
        match wide.dst {
            VDst::Reg(register) if piece != Ty::B8 && self.ty(register).bytes() != piece.bytes() => {
                Err(self.wrong_kind(operand, &format!("a register of {} bytes", piece.bytes())))
            }
            dst => Ok(dst),
        }
    }

    fn pack(&mut self, d: &Operand, a: &Operand, pieces: &[Operand], whole: Ty) -> Result<(), Fail> {
        let piece = self.piece(a, pieces.len(), whole)?;
        let d = self.dst(d, whole)?;
        let mut src = Vec::new();
        for operand in pieces {
            let value =
                if piece == Ty::B8 { self.src_relaxed(operand, piece) } else { self.src(operand, piece) };
            src.push(value?);
        }
        self.emit(Op::Pack { whole, pieces: src.len() as u8 }, &[d], &src);
        Ok(())
    }

    /// `cvta` and `cvta.to`.
    pub(super) fn cvta(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let to_generic = !m.flag("to");
        let space = m.require(&[
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("shared::cluster", Space::Shared),
            ("local", Space::Local),
            ("const", Space::Const),
            ("param", Space::Param),
            ("param::entry", Space::Param),
        ])?;
        let ty = m.ty(&[Ty::U64, Ty::U32])?;
        m.finish()?;
        if ty == Ty::U32 {
            return Err(Diagnostic::unsupported(i.place, "32-bit generic address").expected("`.u64`"));
        }
        let [d, a] = operands(i)?;
        let (d, a) = (self.dst(d, ty)?, self.src(a, ty)?);
        let op = match space {
            // Global and constant addresses are generic addresses.
            Space::Global | Space::Const => Op::Mov(ty),
            _ => Op::Cvta { space, to_generic },
        };
        self.emit(op, &[d], &[a]);
        Ok(())
    }

    /// `isspacep`.
    pub(super) fn isspacep(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let (space, own) = m.require(&[
            ("global", (Space::Global, false)),
            ("shared", (Space::Shared, true)),
            ("shared::cta", (Space::Shared, true)),
            ("shared::cluster", (Space::Shared, false)),
            ("local", (Space::Local, false)),
            ("const", (Space::Const, false)),
            ("param", (Space::Param, false)),
            ("param::entry", (Space::Param, false)),
        ])?;
        m.finish()?;
        let [d, a] = operands(i)?;
        let (d, a) = (self.dst(d, Ty::Pred)?, self.src(a, Ty::U64)?);
        self.emit(Op::IsSpace { space, own }, &[d], &[a]);
        Ok(())
    }

    /// The second destination of `d|p`, or nothing when only `d` stands there.
    pub(super) fn dst_pair(operand: &Operand) -> (&Operand, Option<&Operand>) {
        match &operand.kind {
            OperandKind::Pair(pair) => (&pair.0, Some(&pair.1)),
            _ => (operand, None),
        }
    }

    /// An optional predicate destination.
    pub(super) fn optional_predicate(&mut self, operand: Option<&Operand>) -> Result<VDst, Fail> {
        operand.map_or(Ok(VDst::None), |operand| self.dst_or_sink(operand, Ty::Pred))
    }

    /// The carry flag: one predicate a kernel, as PTX has one a thread.
    pub(super) fn carry(&mut self) -> VReg {
        if let Some(carry) = self.carry {
            return carry;
        }
        let carry = self.fresh(Ty::Pred);
        self.carry = Some(carry);
        carry
    }

    /// The carry flag as a source.
    pub(super) fn carry_src(&mut self) -> VSrc {
        VSrc::Reg(self.carry(), false)
    }
}
