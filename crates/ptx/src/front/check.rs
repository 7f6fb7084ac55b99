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
        Ty::U16x2 => "u16x2",
        Ty::S16x2 => "s16x2",
        Ty::Tf32 => "tf32",
        Ty::E4m3x2 => "e4m3x2",
        Ty::E5m2x2 => "e5m2x2",
        Ty::Array(_) => "b32[]",
        Ty::Pred => "pred",
    }
}

/// The type of a modifier: those that registers are declared with, and those that only instructions have.
fn instruction_type(word: &str) -> Option<Ty> {
    type_of(word).or(match word {
        "u16x2" => Some(Ty::U16x2),
        "s16x2" => Some(Ty::S16x2),
        "tf32" => Some(Ty::Tf32),
        "e4m3x2" => Some(Ty::E4m3x2),
        "e5m2x2" => Some(Ty::E5m2x2),
        _ => None,
    })
}

/// Whether a type says nothing but its size.
pub(crate) const fn is_untyped(ty: Ty) -> bool {
    matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128)
}

/// Whether a register of type `register` may stand where an instruction wants `wanted`
/// (PTX ISA, "Type Checking Rules": sizes equal; bits agree with all, integers with integers, and
/// floating-point types with themselves).
pub(crate) fn agrees(wanted: Ty, register: Ty) -> bool {
    let apart = |ty| matches!(ty, Ty::Pred | Ty::Array(_));
    if apart(wanted) || apart(register) {
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
    let apart = |ty| matches!(ty, Ty::Pred | Ty::Array(_));
    if apart(wanted) || apart(register) || register.bytes() <= wanted.bytes() {
        return false;
    }
    // Bits go into and come out of any wider register; numbers keep to their kind.
    is_untyped(wanted) || !register.is_float() && (!wanted.is_float() || is_untyped(register))
}

/// The types that agree with `wanted`, for messages.
pub(crate) fn expected_register(wanted: Ty, relaxed: bool) -> String {
    let at_least = if relaxed && wanted != Ty::Pred { " or wider" } else { "" };
    match wanted {
        Ty::Pred => "a `.pred` register".to_string(),
        _ => format!("a register that agrees with `.{}`{at_least}", word(wanted)),
    }
}

/// Modifiers of PTX 9 that make an instruction another one, which is not executed.
const NOT_EXECUTED: &[&str] =
    &["async", "bulk", "multicast::cluster", "cta_group::1", "cta_group::2", "mmio"];

/// The modifiers of one instruction. Compilers and ptxas take most of them in any order, so a modifier is
/// found wherever it stands; types are taken from left to right. What was asked for in vain is what an
/// error says was expected.
pub(crate) struct Modifiers<'a> {
    names: &'a Names,
    list: &'a [Modifier],
    /// Bit n: modifier n is taken. No instruction has 64.
    taken: u64,
    /// Place of the opcode, for missing modifiers.
    opcode_place: Place,
    opcode: &'a str,
    asked: Vec<&'static str>,
}

/// Most modifiers of an instruction: twice what the longest of PTX 9 has.
const MAX_MODIFIERS: usize = 32;

impl<'a> Modifiers<'a> {
    pub(crate) fn new(names: &'a Names, instruction: &'a Instruction) -> Result<Self, Fail> {
        let list = instruction.modifiers.as_slice();
        if let Some(extra) = list.get(MAX_MODIFIERS) {
            return Err(Diagnostic::invalid(extra.place, "too many modifiers")
                .found(list.len().to_string())
                .expected(format!("at most {MAX_MODIFIERS}")));
        }
        let opcode = names.text(instruction.opcode);
        Ok(Modifiers { names, list, taken: 0, opcode_place: instruction.place, opcode, asked: Vec::new() })
    }

    fn left(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        let list = self.list.iter().enumerate();
        list.filter(|(n, _)| self.taken >> n & 1 == 0)
            .map(|(n, modifier)| (n, self.names.text(modifier.name)))
    }

    /// The first modifier that is left.
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.left().next().map(|(_, word)| word)
    }

    /// Takes the first modifier that is left if `read` understands it.
    pub(crate) fn read<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let (n, word) = self.left().next()?;
        let value = read(word)?;
        self.taken |= 1 << n;
        Some(value)
    }

    /// Takes `wanted` if it is there.
    pub(crate) fn flag(&mut self, wanted: &'static str) -> bool {
        self.pick(&[(wanted, ())]).is_some()
    }

    /// Takes the first modifier that is in the table.
    pub(crate) fn pick<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Option<T> {
        let picked = self.silently(table);
        if picked.is_none() {
            self.asked.extend(table.iter().map(|(word, _)| *word));
        }
        picked
    }

    /// As [`Modifiers::pick`], but errors do not list the table.
    pub(crate) fn silently<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Option<T> {
        let (n, value) = self.left().find_map(|(n, word)| {
            table.iter().find(|(known, _)| *known == word).map(|(_, value)| (n, *value))
        })?;
        self.taken |= 1 << n;
        Some(value)
    }

    /// Takes a modifier of the table, which must be there.
    pub(crate) fn require<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Result<T, Fail> {
        self.pick(table).ok_or_else(|| self.wrong())
    }

    /// Takes the first type, which must be one of `allowed`.
    pub(crate) fn ty(&mut self, allowed: &[Ty]) -> Result<Ty, Fail> {
        let first = self.left().find_map(|(n, word)| instruction_type(word).map(|ty| (n, ty)));
        match first {
            Some((n, ty)) if allowed.contains(&ty) => {
                self.taken |= 1 << n;
                Ok(ty)
            }
            Some((n, ty)) => {
                let allowed: Vec<String> = allowed.iter().map(|ty| format!("`.{}`", word(*ty))).collect();
                Err(Diagnostic::invalid(
                    self.list[n].place,
                    format!("type that `{}` does not take here", self.opcode),
                )
                .found(format!("`.{}`", word(ty)))
                .expected(allowed.join(", ")))
            }
            None => {
                self.asked.extend(allowed.iter().map(|ty| word(*ty)));
                Err(self.wrong())
            }
        }
    }

    /// The place of the first modifier that is left, or the opcode's when there is none.
    pub(crate) fn place(&self) -> Place {
        self.left().next().map_or(self.opcode_place, |(n, _)| self.list[n].place)
    }

    /// Whether any modifier, taken or not, is `wanted`.
    pub(crate) fn contains(&self, wanted: &str) -> bool {
        self.list.iter().any(|modifier| self.names.text(modifier.name) == wanted)
    }

    /// The error for the first modifier that is left.
    pub(crate) fn wrong(&self) -> Fail {
        let expected: Vec<String> = self.asked.iter().map(|word| format!("`.{word}`")).collect();
        let expected =
            if expected.is_empty() { "no further modifier".to_string() } else { expected.join(", ") };
        match self.peek() {
            Some(found) if NOT_EXECUTED.contains(&found) => {
                return Diagnostic::unsupported(self.place(), format!("modifier of `{}`", self.opcode))
                    .found(format!("`.{found}`"));
            }
            Some(found) => Diagnostic::invalid(self.place(), format!("bad modifier of `{}`", self.opcode))
                .found(format!("`.{found}`")),
            None => Diagnostic::invalid(self.place(), format!("modifier missing from `{}`", self.opcode))
                .found("none"),
        }
        .expected(expected)
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self) -> Result<(), Fail> {
        if self.left().next().is_some() { Err(self.wrong()) } else { Ok(()) }
    }
}
