//! `vprintf`: the words of the argument buffer become operands of one print. And `__assertfail`.

use super::builder::Builder;
use crate::front::ast::{Operand, Place};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Assertion, Constant, PrintFormat, VDst, VReg, VSrc};
use crate::isa::{CacheOp, MAX_PRINTED, MemoryMode, Op, Ordering, Scope, Space, Ty};

/// What the device's printf takes beside its format (CUDA C++ Programming Guide, "Formatted Output").
const MOST_VALUES: usize = 32;

impl<'a> Builder<'a> {
    /// A call of `vprintf(format, arguments)`.
    pub(super) fn vprintf(
        &mut self,
        place: Place,
        results: &'a [Operand],
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        let [format, buffer] = arguments else {
            return Err(Diagnostic::invalid(place, "wrong number of arguments")
                .found(arguments.len().to_string())
                .expected("2: a format and an argument buffer"));
        };
        let format_value = self.argument_register(format, Ty::U64)?;
        let buffer = self.argument_register(buffer, Ty::U64)?;
        let text = self.format_text(format_value, place)?;
        let types = conversions(&text).map_err(|what| {
            Diagnostic::unsupported(place, "print format")
                .found(format!("`{what}`"))
                .expected("integers, characters, floats, pointers or strings")
        })?;
        if types.len() > MOST_VALUES {
            return Err(Diagnostic::invalid(place, "print has too many values")
                .found(types.len().to_string())
                .expected(format!("at most {MOST_VALUES}")));
        }
        let mut src = Vec::new();
        let mut offset = 0_i64;
        for ty in &types {
            let bytes = ty.bytes() as i64;
            offset = (offset + bytes - 1) & -bytes;
            let value = self.fresh(*ty);
            let mode = MemoryMode {
                space: Space::Generic,
                ty: *ty,
                vector: 1,
                cache: CacheOp::All,
                ordering: Ordering::Weak,
                scope: Scope::Cta,
            };
            self.emit(Op::Load(mode), &[VDst::Reg(value)], &[buffer]).offset = offset;
            src.push(VSrc::Reg(value, false));
            offset += bytes;
        }
        let count = types.len() as u64;
        let index = self.out.formats.len() as u32;
        self.out.formats.push(PrintFormat { text, arguments: types });
        if src.is_empty() {
            self.emit(Op::Print { format: index, from: 0 }, &[], &[]);
        }
        for (part, src) in src.chunks(MAX_PRINTED).enumerate() {
            self.emit(Op::Print { format: index, from: (part * MAX_PRINTED) as u8 }, &[], src);
        }
        if let [result] = results
            && let VSrc::Reg(register, _) = self.argument_register(result, Ty::B32)?
        {
            self.emit(Op::Mov(Ty::B32), &[VDst::Reg(register)], &[VSrc::Const(Constant::Bits(count))]);
        }
        Ok(())
    }

    /// A call of `__assertfail(message, file, line, function, size of a character)`.
    pub(super) fn assert_fail(&mut self, arguments: &'a [Operand]) -> Result<(), Fail> {
        let [message, file, line, function, ..] = arguments else {
            self.emit(Op::Trap, &[], &[]);
            return Ok(());
        };
        let mut texts = [String::new(), String::new(), String::new()];
        for (text, operand) in texts.iter_mut().zip([message, file, function]) {
            let value = self.argument_register(operand, Ty::U64)?;
            let chains = self.single.len();
            let known = self.format_text(value, operand.place).ok().filter(|_| {
                // A text that is chosen at run time is not named.
                self.single[chains..].iter().all(|(register, _)| self.writers(*register) == 1)
            });
            self.single.truncate(chains);
            *text = known.unwrap_or_else(|| "a text chosen at run time".to_string());
        }
        let line = self.argument_register(line, Ty::U32)?;
        let [message, file, function] = texts;
        let assertion = self.out.assertions.len() as u32;
        self.out.assertions.push(Assertion { message, file, function });
        self.emit(Op::AssertFail { assertion }, &[], &[line]);
        Ok(())
    }

    /// How many instructions so far write a register.
    fn writers(&self, register: VReg) -> usize {
        self.out.code.iter().filter(|inst| inst.dst.contains(&VDst::Reg(register))).count()
    }

    /// The text that a register points to: followed back through moves to a variable of the module.
    fn format_text(&mut self, mut value: VSrc, place: Place) -> Result<String, Fail> {
        let unknown = || {
            Diagnostic::unsupported(place, "print with a format that is not a constant of the text")
                .expected("a format string")
        };
        // Only what stands before a definition can have made its operand.
        let mut until = self.out.code.len();
        loop {
            match value {
                VSrc::Const(Constant::Symbol { symbol, addend }) => {
                    let bytes =
                        self.globals.variables.get(symbol as usize).map(|variable| variable.init.as_slice());
                    let bytes = bytes
                        .and_then(|bytes| bytes.get(usize::try_from(addend).ok()?..))
                        .ok_or_else(unknown)?;
                    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                    return Ok(String::from_utf8_lossy(&bytes[..end]).into_owned());
                }
                VSrc::Reg(register, false) => {
                    let written = |dst: &[VDst]| dst.contains(&VDst::Reg(register));
                    let before = &self.out.code[..until];
                    until = before.iter().rposition(|inst| written(&inst.dst)).ok_or_else(unknown)?;
                    let definition = &before[until];
                    let (op, src) = (definition.op, definition.src.first().copied());
                    self.single.push((register, place));
                    value = match (op, src) {
                        (Op::Mov(_), Some(src)) => src,
                        _ => return Err(unknown()),
                    };
                }
                _ => return Err(unknown()),
            }
        }
    }

    /// Every register that a format was followed through must be written in one place only.
    pub(super) fn check_single(&mut self) -> Result<(), Fail> {
        let mut chains: Vec<(VReg, Place)> = std::mem::take(&mut self.single);
        chains.sort_unstable();
        chains.dedup();
        for (register, place) in chains {
            if self.writers(register) > 1 {
                return Err(Diagnostic::unsupported(place, "print with a format that is chosen at run time")
                    .expected("a format string"));
            }
        }
        Ok(())
    }
}

/// The types of a format's arguments; the conversion when it cannot be printed.
pub(super) fn conversions(format: &str) -> Result<Vec<Ty>, String> {
    let mut types = Vec::new();
    let mut rest = format.chars();
    while let Some(character) = rest.next() {
        if character != '%' {
            continue;
        }
        let mut long = 0;
        let mut seen = String::from("%");
        loop {
            let Some(next) = rest.next() else { return Err(seen) };
            seen.push(next);
            match next {
                '%' => break,
                '-' | '+' | ' ' | '#' | '.' | '0'..='9' | 'h' => {}
                'l' | 'j' | 'z' | 't' => long += 1,
                // A width from the arguments.
                '*' => types.push(Ty::B32),
                'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'c' => {
                    types.push(if long > 0 { Ty::B64 } else { Ty::B32 });
                    break;
                }
                'p' | 's' => {
                    types.push(Ty::B64);
                    break;
                }
                'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => {
                    types.push(Ty::F64);
                    break;
                }
                _ => return Err(seen),
            }
        }
    }
    Ok(types)
}
