//! The rules that an instruction must keep: types of operands, order of modifiers.

use super::ast::{Instruction, Modifier, Names, Place};
use super::diagnostic::{Diagnostic, Fail};
use super::parser::type_of;
use crate::isa::Ty;

/// PTX's word for a type.
pub(crate) const fn word(ty: Ty) -> &'static str {
    match ty {
        Ty::U8 => "u8",
        Ty::U16 => "u16",
        Ty::U32 => "u32",
        Ty::U64 => "u64",
        Ty::S8 => "s8",
        Ty::S16 => "s16",
        Ty::S32 => "s32",
        Ty::S64 => "s64",
        Ty::B8 => "b8",
        Ty::B16 => "b16",
        Ty::B32 => "b32",
        Ty::B64 => "b64",
        Ty::B128 => "b128",
        Ty::F16 => "f16",
        Ty::F16x2 => "f16x2",
        Ty::Bf16 => "bf16",
        Ty::Bf16x2 => "bf16x2",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
        Ty::Pred => "pred",
    }
}

/// Whether a type says nothing but its size.
pub(crate) const fn is_untyped(ty: Ty) -> bool {
    matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128)
}

/// Whether a register of type `register` may stand where an instruction wants `wanted`
/// (PTX ISA, "Type Checking Rules": sizes equal; bits agree with all, integers with integers, and
/// floating-point types with themselves).
pub(crate) fn agrees(wanted: Ty, register: Ty) -> bool {
    if wanted == Ty::Pred || register == Ty::Pred {
        return wanted == register;
    }
    wanted.bytes() == register.bytes()
        && (wanted == register
            || is_untyped(wanted)
            || is_untyped(register)
            || (!wanted.is_float() && !register.is_float()))
}

/// As [`agrees`] for `ld`, `st` and `cvt`, whose registers may be wider than the instruction's type
/// (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
pub(crate) fn agrees_relaxed(wanted: Ty, register: Ty) -> bool {
    if agrees(wanted, register) {
        return true;
    }
    if wanted == Ty::Pred || register == Ty::Pred || register.bytes() <= wanted.bytes() {
        return false;
    }
    // A floating-point register holds exactly its type; a floating-point value fits any wider bits.
    !register.is_float() && (!wanted.is_float() || is_untyped(register))
}

/// The types that agree with `wanted`, for messages.
pub(crate) fn expected_register(wanted: Ty, relaxed: bool) -> String {
    let at_least = if relaxed && wanted != Ty::Pred { " or wider" } else { "" };
    match wanted {
        Ty::Pred => "a `.pred` register".to_string(),
        _ => format!("a register that agrees with `.{}`{at_least}", word(wanted)),
    }
}

/// The modifiers of one instruction, taken from left to right. What was asked for in vain since the last
/// one taken is what an error says was expected.
pub(crate) struct Modifiers<'a> {
    names: &'a Names,
    list: &'a [Modifier],
    at: usize,
    /// Place behind the opcode, for missing modifiers.
    end: Place,
    opcode: &'a str,
    asked: Vec<&'static str>,
}

impl<'a> Modifiers<'a> {
    pub(crate) fn new(names: &'a Names, instruction: &'a Instruction) -> Self {
        let opcode = names.text(instruction.opcode);
        Modifiers {
            names,
            list: &instruction.modifiers,
            at: 0,
            end: instruction.place,
            opcode,
            asked: Vec::new(),
        }
    }

    /// The next modifier's word.
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.list.get(self.at).map(|modifier| self.names.text(modifier.name))
    }

    fn step(&mut self) {
        self.at += 1;
        self.asked.clear();
    }

    /// Takes `wanted` if it is next.
    pub(crate) fn flag(&mut self, wanted: &'static str) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.step()
        } else {
            self.asked.push(wanted)
        }
        there
    }

    /// Takes the next modifier if it is in the table.
    pub(crate) fn pick<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Option<T> {
        let next = self.peek();
        match table.iter().find(|(word, _)| Some(*word) == next) {
            Some((_, value)) => {
                self.step();
                Some(*value)
            }
            None => {
                self.asked.extend(table.iter().map(|(word, _)| *word));
                None
            }
        }
    }

    /// Takes the next modifier, which must be in the table.
    pub(crate) fn require<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Result<T, Fail> {
        self.pick(table).ok_or_else(|| self.wrong())
    }

    /// Takes a type if one of `allowed` is next.
    pub(crate) fn ty_if(&mut self, allowed: &[Ty]) -> Option<Ty> {
        match self.peek().and_then(type_of) {
            Some(ty) if allowed.contains(&ty) => {
                self.step();
                Some(ty)
            }
            _ => {
                self.asked.extend(allowed.iter().map(|ty| word(*ty)));
                None
            }
        }
    }

    /// Takes a type, which must be one of `allowed`.
    pub(crate) fn ty(&mut self, allowed: &[Ty]) -> Result<Ty, Fail> {
        self.ty_if(allowed).ok_or_else(|| self.wrong())
    }

    /// The place of the next modifier, or the opcode's when there is none.
    pub(crate) fn place(&self) -> Place {
        self.list.get(self.at).map_or(self.end, |modifier| modifier.place)
    }

    /// Whether any modifier is `wanted`.
    pub(crate) fn contains(&self, wanted: &str) -> bool {
        self.list.iter().any(|modifier| self.names.text(modifier.name) == wanted)
    }

    /// The error for the next modifier.
    pub(crate) fn wrong(&self) -> Fail {
        let expected: Vec<String> = self.asked.iter().map(|word| format!("`.{word}`")).collect();
        let expected =
            if expected.is_empty() { "no further modifier".to_string() } else { expected.join(", ") };
        match self.peek() {
            Some(found) => Diagnostic::invalid(self.place(), format!("bad modifier of `{}`", self.opcode))
                .found(format!("`.{found}`")),
            None => Diagnostic::invalid(self.place(), format!("modifier missing from `{}`", self.opcode))
                .found("none"),
        }
        .expected(expected)
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self) -> Result<(), Fail> {
        if self.at < self.list.len() { Err(self.wrong()) } else { Ok(()) }
    }
}
