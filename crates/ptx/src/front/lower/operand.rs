//! Operands by the type that an instruction wants: the fetch is the check.

use super::builder::{Builder, DYNAMIC_SHARED};
use super::scope::{Label, Symbol};
use super::special::{self, Named};
use super::top_level::Global;
use crate::front::ast::{Instruction, Name, Operand, OperandKind, Place, Value};
use crate::front::check::{agrees, agrees_relaxed, expected_register, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, Opaque, VDst, VReg, VSrc};
use crate::isa::{Compare, FloatMode, Op, Space, Special, Ty};

/// Most digits of a member of `%r<n>`: those of the largest n that is parsed.
const MAX_DIGITS: usize = 8;

/// What a name in an operand stands for.
#[derive(Clone, Debug)]
pub(super) enum Resolved {
    Register(VReg),
    Vector(Vec<VReg>),
    Label(Label),
    Targets(u32),
    Special(Named),
    /// Address of a variable in its own space.
    Address {
        space: Space,
        constant: Constant,
    },
    /// A texture or surface reference, whose value is its handle.
    Opaque(Opaque, Constant),
    /// Address in local memory: a register and what is added to it.
    Frame {
        base: VReg,
        offset: u32,
    },
    /// A parameter of the kernel.
    Param {
        offset: u32,
        bytes: u32,
    },
    /// A scalar parameter of an expanded call.
    Argument(VReg),
    /// A function, by its index in the module.
    Function(usize),
    /// What an indirect call is told of its functions: index into the builder's.
    Hint(usize),
    Inert(&'static str),
}

/// A destination that may be wider than what is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideDst {
    /// What the instruction writes.
    pub dst: VDst,
    /// Where the extended value goes afterwards.
    extend: Option<(VReg, VReg)>,
}

impl<'a> Builder<'a> {
    /// What a name stands for.
    pub(super) fn resolve(&mut self, name: Name, place: Place) -> Result<Resolved, Fail> {
        let found = match self.scopes.find(name) {
            Some((_, symbol)) => Some(symbol.clone()),
            None => self.member(name).map(Symbol::Register),
        };
        if let Some(symbol) = found {
            return Ok(match symbol {
                Symbol::Register(register) => Resolved::Register(register),
                Symbol::Vector(registers) => Resolved::Vector(registers),
                Symbol::Range { .. } => return Err(self.undeclared(name, place)),
                Symbol::Label(label) => Resolved::Label(label),
                Symbol::Targets(table) => Resolved::Targets(table),
                Symbol::Shared { offset } => in_space(Space::Shared, offset),
                Symbol::Local { offset, .. } => in_space(Space::Local, offset),
                Symbol::Param { offset, bytes } => Resolved::Param { offset, bytes },
                Symbol::Argument(register) => Resolved::Argument(register),
                Symbol::Frame { base, offset, .. } => Resolved::Frame { base, offset },
                Symbol::Hint(hint) => Resolved::Hint(hint),
                Symbol::Inert(what) => Resolved::Inert(what),
            });
        }
        if let Some(special) = special::special(self.text(name), None) {
            return Ok(Resolved::Special(special));
        }
        let globals = self.globals;
        Ok(match globals.names.get(&name) {
            Some(Global::Variable(symbol) | Global::Opaque(symbol, _))
                if globals.external[*symbol as usize] =>
            {
                return Err(Diagnostic::unsupported(place, "variable of another text")
                    .found(format!("`{}`", self.text(name)))
                    .expected("a variable that this text defines"));
            }
            Some(Global::Variable(symbol)) => {
                let constant = Constant::Symbol { symbol: *symbol, addend: 0 };
                let space =
                    if globals.variables[*symbol as usize].constant { Space::Const } else { Space::Global };
                Resolved::Address { space, constant }
            }
            Some(Global::Shared(n)) => in_space(Space::Shared, self.module_shared(*n)?),
            Some(Global::DynamicShared) => Resolved::Address {
                space: Space::Shared,
                constant: Constant::Symbol { symbol: DYNAMIC_SHARED, addend: 0 },
            },
            Some(Global::Function(n)) => Resolved::Function(*n),
            Some(Global::Inert(what)) => Resolved::Inert(what),
            Some(Global::Opaque(_, Opaque::Sampler)) => Resolved::Inert("a sampler of its own"),
            Some(Global::Opaque(symbol, kind)) => {
                Resolved::Opaque(*kind, Constant::Symbol { symbol: *symbol, addend: 0 })
            }
            None => return Err(self.undeclared(name, place)),
        })
    }

    fn undeclared(&self, name: Name, place: Place) -> Fail {
        let text = self.text(name);
        let expected = if text.starts_with('%') { "a declared register" } else { "a declared name" };
        Diagnostic::invalid(place, "undeclared name").found(format!("`{text}`")).expected(expected)
    }

    /// The register of `%r12` under `.reg .b32 %r<20>`, made when first named: a range costs nothing.
    fn member(&mut self, name: Name) -> Option<VReg> {
        let text = self.text(name);
        let prefix = text.trim_end_matches(|character: char| character.is_ascii_digit());
        // `%r1<10>` declares `%r10`: every split of the digits may be the prefix, the longest first. The number
        // of a member has few digits.
        let shortest = prefix.len().max(text.len().saturating_sub(MAX_DIGITS));
        for split in (shortest..text.len()).rev() {
            let (prefix, digits) = text.split_at(split);
            if digits.len() > 1 && digits.starts_with('0') {
                continue;
            }
            let Some(stem) = self.module.names.get(prefix) else { continue };
            let Some((depth, Symbol::Range { ty, count })) = self.scopes.find(stem) else { continue };
            let (ty, count) = (*ty, *count);
            if digits.parse::<u32>().is_ok_and(|number| number < count) {
                let register = self.named(ty, text);
                self.scopes.declare_at(depth, name, Symbol::Register(register));
                return Some(register);
            }
        }
        None
    }

    /// The register of a name, whatever its type; nothing for other things.
    pub(super) fn register_named(&mut self, name: Name, place: Place) -> Result<Option<VReg>, Fail> {
        Ok(match self.resolve(name, place)? {
            Resolved::Register(register) => Some(register),
            _ => None,
        })
    }

    /// A predicate register of a guard.
    pub(super) fn predicate_register(&mut self, name: Name, place: Place) -> Result<VReg, Fail> {
        match self.resolve(name, place)? {
            Resolved::Register(register) => self.checked(register, Ty::Pred, false, name, place),
            _ => Err(self.not_a_register(name, place, Ty::Pred)),
        }
    }

    fn not_a_register(&self, name: Name, place: Place, wanted: Ty) -> Fail {
        Diagnostic::invalid(place, "operand of the wrong kind")
            .found(format!("`{}`", self.text(name)))
            .expected(expected_register(wanted, false))
    }

    fn checked(
        &self,
        register: VReg,
        wanted: Ty,
        relaxed: bool,
        name: Name,
        place: Place,
    ) -> Result<VReg, Fail> {
        let ty = self.ty(register);
        if if relaxed { agrees_relaxed(wanted, ty) } else { agrees(wanted, ty) } {
            return Ok(register);
        }
        Err(Diagnostic::invalid(place, "operand of the wrong type")
            .found(format!("`.{}` register `{}`", word(ty), self.text(name)))
            .expected(expected_register(wanted, relaxed)))
    }

    /// The register of an operand; nothing for constants and addresses.
    pub(super) fn register(
        &mut self,
        operand: &Operand,
        wanted: Ty,
        relaxed: bool,
    ) -> Result<Option<VReg>, Fail> {
        let place = operand.place;
        match operand.kind {
            OperandKind::Name(name) => match self.resolve(name, place)? {
                Resolved::Register(register) => {
                    self.checked(register, wanted, relaxed, name, place).map(Some)
                }
                _ => Ok(None),
            },
            OperandKind::Lane(name, lane) => match self.resolve(name, place)? {
                Resolved::Vector(registers) => match registers.get(usize::from(lane)) {
                    Some(register) => self.checked(*register, wanted, relaxed, name, place).map(Some),
                    None => Ok(None),
                },
                _ => Ok(None),
            },
            OperandKind::Component(name, component) => {
                let (text, component) = (self.text(name), self.text(component));
                if special::special(text, Some(component)).is_some() {
                    return Ok(None);
                }
                if special::is_vector(text) {
                    return Err(Diagnostic::invalid(place, "no such component of a special register")
                        .found(format!("`{text}.{component}`"))
                        .expected("`.x`, `.y`, `.z` or `.w`"));
                }
                let Resolved::Vector(registers) = self.resolve(name, place)? else {
                    return Err(Diagnostic::invalid(place, "component of a value that is not a vector")
                        .found(format!("`{text}.{component}`")));
                };
                let lane = |letters: [&str; 4]| letters.iter().position(|letter| *letter == component);
                let lane = lane(["x", "y", "z", "w"]).or_else(|| lane(["r", "g", "b", "a"]));
                match lane.and_then(|lane| registers.get(lane)) {
                    Some(register) => self.checked(*register, wanted, relaxed, name, place).map(Some),
                    None => Err(Diagnostic::invalid(place, "no such component")
                        .found(format!("`.{component}`"))
                        .expected("`.x`, `.y`, `.z` or `.w` within the vector")),
                }
            }
            _ => Ok(None),
        }
    }

    /// A source of exactly the type wanted.
    pub(super) fn src(&mut self, operand: &Operand, wanted: Ty) -> Result<VSrc, Fail> {
        self.source(operand, wanted, false)
    }

    /// A source that may be wider than the type wanted.
    pub(super) fn src_relaxed(&mut self, operand: &Operand, wanted: Ty) -> Result<VSrc, Fail> {
        self.source(operand, wanted, true)
    }

    fn source(&mut self, operand: &Operand, wanted: Ty, relaxed: bool) -> Result<VSrc, Fail> {
        if let Some(register) = self.register(operand, wanted, relaxed)? {
            return Ok(VSrc::Reg(register, false));
        }
        let place = operand.place;
        match &operand.kind {
            OperandKind::Value(value) => immediate(*value, wanted, place),
            OperandKind::Not(name) if wanted == Ty::Pred => {
                Ok(VSrc::Reg(self.predicate_register(*name, place)?, true))
            }
            OperandKind::Name(name) => match self.resolve(*name, place)? {
                Resolved::Special(special) => self.read_special(*name, special, wanted, place),
                _ => self.address_value(*name, 0, wanted, place),
            },
            OperandKind::Component(name, component) => {
                match special::special(self.text(*name), Some(self.text(*component))) {
                    Some(special) => self.read_special(*name, special, wanted, place),
                    None => Err(self.wrong_kind(operand, "a register or a constant")),
                }
            }
            OperandKind::Offset(name, addend) => self.address_value(*name, *addend, wanted, place),
            OperandKind::Indexed { array, index, step } => {
                self.address_value(*array, index.wrapping_mul(i64::from(*step)), wanted, place)
            }
            _ => Err(self.wrong_kind(operand, "a register or a constant")),
        }
    }

    /// The value of the special register at a place, by the type that is wanted there.
    fn read_special(&mut self, name: Name, special: Named, wanted: Ty, place: Place) -> Result<VSrc, Fail> {
        let (ty, fixed) = match special {
            Named::Register(special) => (special::type_of(special), 0),
            Named::Fixed(ty, bits) => (ty, bits),
            Named::Refused => {
                return Err(Diagnostic::unsupported(place, "special register")
                    .found(format!("`{}`", self.text(name))));
            }
        };
        // A 64-bit register may be read in its low half, and a 32-bit one by old texts as 16 bits.
        if (wanted == Ty::Pred) != (ty == Ty::Pred) || wanted.is_float() || wanted.bytes() > ty.bytes() {
            return Err(Diagnostic::invalid(place, "special register of another type")
                .found(format!("`.{}`", word(ty)))
                .expected(expected_register(wanted, false)));
        }
        if special == Named::Register(Special::IsExplicitCluster) {
            let (value, truth) = (self.fresh(Ty::U32), self.fresh(Ty::Pred));
            self.emit_always(Op::ReadSpecial(Special::IsExplicitCluster), &[VDst::Reg(value)], &[]);
            let differs = Op::Setp { cmp: Compare::Ne, ty: Ty::U32, combine: None, ftz: false };
            let zero = VSrc::Const(Constant::Bits(0));
            self.emit_always(differs, &[VDst::Reg(truth)], &[VSrc::Reg(value, false), zero]);
            return Ok(VSrc::Reg(truth, false));
        }
        if let Named::Register(special) = special {
            let value = self.fresh(ty);
            self.emit_always(Op::ReadSpecial(special), &[VDst::Reg(value)], &[]);
            return Ok(VSrc::Reg(value, false));
        }
        Ok(if ty == Ty::Pred { VSrc::PredConst(fixed != 0) } else { VSrc::Const(Constant::Bits(fixed)) })
    }

    /// A destination of exactly the type wanted.
    pub(super) fn dst(&mut self, operand: &Operand, wanted: Ty) -> Result<VDst, Fail> {
        self.dst_register(operand, wanted).map(VDst::Reg)
    }

    /// As [`Builder::dst`], as a register.
    pub(super) fn dst_register(&mut self, operand: &Operand, wanted: Ty) -> Result<VReg, Fail> {
        self.register(operand, wanted, false)?
            .ok_or_else(|| self.wrong_kind(operand, &expected_register(wanted, false)))
    }

    /// A destination or the bit bucket `_`.
    pub(super) fn dst_or_sink(&mut self, operand: &Operand, wanted: Ty) -> Result<VDst, Fail> {
        if matches!(operand.kind, OperandKind::Sink) { Ok(VDst::None) } else { self.dst(operand, wanted) }
    }

    /// A destination that may be wider than `wanted`: [`Builder::extend`] fills the rest.
    pub(super) fn dst_relaxed(&mut self, operand: &Operand, wanted: Ty) -> Result<WideDst, Fail> {
        if matches!(operand.kind, OperandKind::Sink) {
            return Ok(WideDst { dst: VDst::None, extend: None });
        }
        let Some(register) = self.register(operand, wanted, true)? else {
            return Err(self.wrong_kind(operand, &expected_register(wanted, true)));
        };
        // One row is extended as it is written; a second row needs an instruction of its own.
        if self.ty(register).rows() <= wanted.rows() {
            return Ok(WideDst { dst: VDst::Reg(register), extend: None });
        }
        let narrow = self.fresh(wanted);
        Ok(WideDst { dst: VDst::Reg(narrow), extend: Some((narrow, register)) })
    }

    /// Extends what was written as `ty` to the width of the destination.
    pub(super) fn extend(&mut self, wide: WideDst, ty: Ty) {
        let Some((narrow, register)) = wide.extend else { return };
        let to = if ty.is_signed() { Ty::S64 } else { Ty::U64 };
        let op = Op::Cvt { to, from: integer_of(ty), mode: FloatMode::DEFAULT };
        self.emit(op, &[VDst::Reg(register)], &[VSrc::Reg(narrow, false)]);
    }

    /// The error for an operand of the wrong shape.
    pub(super) fn wrong_kind(&self, operand: &Operand, expected: &str) -> Fail {
        let found = match operand.kind {
            OperandKind::Name(name) | OperandKind::Lane(name, _) => format!("`{}`", self.text(name)),
            OperandKind::Component(name, component) => {
                format!("`{}.{}`", self.text(name), self.text(component))
            }
            OperandKind::Element(name, index) => format!("`{}[{}]`", self.text(name), self.text(index)),
            OperandKind::Not(name) => format!("`!{}`", self.text(name)),
            OperandKind::Negated(_) => "a negated operand".to_string(),
            OperandKind::Offset(..) | OperandKind::Indexed { .. } => "an address".to_string(),
            OperandKind::Value(_) => "a constant".to_string(),
            OperandKind::Sink => "`_`".to_string(),
            OperandKind::Pair(_) => "a pair `a|b`".to_string(),
            OperandKind::Vector(_) => "a vector".to_string(),
            OperandKind::Memory { .. } => "an address in brackets".to_string(),
            OperandKind::Bracket(_) => "a list in brackets".to_string(),
            OperandKind::List(_) => "a list in parentheses".to_string(),
        };
        Diagnostic::invalid(operand.place, "operand of the wrong kind").found(found).expected(expected)
    }

    /// `d, a, b` of one type.
    pub(super) fn binary(&mut self, i: &Instruction, ty: Ty, op: Op) -> Result<(), Fail> {
        let [d, a, b] = operands(i)?;
        let (d, a, b) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, ty)?);
        self.emit(op, &[d], &[a, b]);
        Ok(())
    }

    /// `d, a` of one type.
    pub(super) fn unary(&mut self, i: &Instruction, ty: Ty, op: Op) -> Result<(), Fail> {
        let [d, a] = operands(i)?;
        let (d, a) = (self.dst(d, ty)?, self.src(a, ty)?);
        self.emit(op, &[d], &[a]);
        Ok(())
    }
}

/// The operands, which must be `N`.
pub(super) fn operands<const N: usize>(i: &Instruction) -> Result<&[Operand; N], Fail> {
    i.operands.as_slice().try_into().map_err(|_| count(i, &N.to_string()))
}

/// The error for a wrong number of operands.
pub(super) fn count(i: &Instruction, expected: &str) -> Fail {
    let place = i.operands.last().map_or(i.place, |operand| operand.place);
    Diagnostic::invalid(place, "wrong number of operands")
        .found(i.operands.len().to_string())
        .expected(expected)
}

fn in_space(space: Space, offset: u32) -> Resolved {
    Resolved::Address { space, constant: Constant::Bits(u64::from(offset)) }
}

/// The unsigned or signed integer type as wide as a type.
pub(super) fn integer_of(ty: Ty) -> Ty {
    match ty.bytes() {
        _ if ty.is_signed() => ty,
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}

/// A constant operand: its bits in the type wanted.
fn immediate(value: Value, wanted: Ty, place: Place) -> Result<VSrc, Fail> {
    let bits = match (wanted, value) {
        (Ty::Pred, Value::Int(value)) => return Ok(VSrc::PredConst(value != 0)),
        (Ty::F32, Value::F64(bits)) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Ty::F32 | Ty::B32, Value::F32(bits)) => u64::from(bits),
        (Ty::F64, Value::F32(bits)) => f64::from(f32::from_bits(bits)).to_bits(),
        (Ty::F64 | Ty::B64, Value::F64(bits)) => bits,
        (ty, Value::Int(value)) if !ty.is_float() => value,
        (_, value) => {
            let found = if matches!(value, Value::Int(_)) { "an integer" } else { "a floating-point number" };
            return Err(Diagnostic::invalid(place, "constant of the wrong type")
                .found(found)
                .expected(format!("a constant of `.{}`", word(wanted))));
        }
    };
    let kept = 8 * wanted.bytes().min(8) as u32;
    Ok(VSrc::Const(Constant::Bits(bits & (u64::MAX >> (64 - kept)))))
}
