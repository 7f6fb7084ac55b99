//! Initial bytes of variables.

use super::function::is_callable;
use super::top_level::Global;
use super::variables::{Globals, function_address};
use crate::front::ast::{self, Init, Module, Name, Place, Value};
use crate::front::check::word;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::layout;
use crate::ir::Relocation;
use crate::isa::Ty;

impl Globals {
    /// The bytes of an initialiser, at most `room`.
    pub(super) fn initialise(
        &self,
        module: &Module,
        variable: &ast::Variable,
        room: u64,
    ) -> Result<(Vec<u8>, Vec<Relocation>), Fail> {
        let layout = layout(variable)?;
        let init = variable.init.as_ref().expect("only initialised variables are gathered");
        let mut writer = Writer {
            globals: self,
            module,
            scalar: layout.scalar,
            bytes: Vec::new(),
            relocations: Vec::new(),
            masked: None,
            room,
        };
        let mut shape: Vec<u64> = variable.dims.iter().map(|size| size.unwrap_or(u64::MAX)).collect();
        if variable.vector > 1 {
            shape.push(u64::from(variable.vector));
        }
        // Bytes of one element at each depth, from the outermost.
        let mut strides = vec![layout.scalar.bytes() as u64];
        for size in shape.iter().skip(1).rev() {
            strides.push(strides[strides.len() - 1].saturating_mul(*size));
        }
        strides.reverse();
        writer.write(init, &shape, &strides, 0)?;
        if writer.bytes.len() as u64 > layout.bytes {
            return Err(Diagnostic::invalid(variable.place, "initialiser longer than its variable")
                .found(format!("{} bytes", writer.bytes.len()))
                .expected(format!("at most {} bytes", layout.bytes)));
        }
        if let Some(masked) = writer.masked {
            return Err(Diagnostic::unsupported(masked.place, "part of an address")
                .expected("all eight bytes of an address in a row"));
        }
        Ok((writer.bytes, writer.relocations))
    }
}

/// An address given byte by byte: `0xff(x), 0xff00(x), ...`.
#[derive(Clone, Copy)]
struct Masked {
    place: Place,
    /// Where its first byte lies.
    start: u64,
    symbol: u32,
    addend: i64,
    bytes: u32,
}

/// Lays initial values down.
struct Writer<'a> {
    globals: &'a Globals,
    module: &'a Module,
    scalar: Ty,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
    masked: Option<Masked>,
    /// Most bytes that may be laid down.
    room: u64,
}

impl Writer<'_> {
    /// Writes at byte `at`; `strides[0]` is the size of the thing written when it is an element.
    fn write(&mut self, init: &Init, shape: &[u64], strides: &[u64], at: u64) -> Result<(), Fail> {
        match init {
            Init::List(elements, place) => {
                let Some((count, inner)) = shape.split_first() else {
                    if elements.len() == 1 {
                        return self.write(&elements[0], shape, strides, at);
                    }
                    return Err(Diagnostic::invalid(*place, "braces around a scalar").expected("a number"));
                };
                // Nested lists fill their own row; a flat list fills the array in order.
                let nested = matches!(elements.first(), Some(Init::List(..)));
                let flat = strides[strides.len() - 1];
                let room = if nested || inner.is_empty() {
                    *count
                } else {
                    count.saturating_mul(strides[0] / flat.max(1))
                };
                if elements.len() as u64 > room {
                    return Err(Diagnostic::invalid(*place, "too many initial values")
                        .found(format!("{} values", elements.len()))
                        .expected(format!("at most {room}")));
                }
                let stride = if nested { strides[0] } else { flat };
                for (n, element) in elements.iter().enumerate() {
                    let shape: &[u64] = if nested { inner } else { &[] };
                    let strides = if nested && strides.len() > 1 {
                        &strides[1..]
                    } else {
                        &strides[strides.len() - 1..]
                    };
                    self.write(
                        element,
                        shape,
                        strides,
                        at.saturating_add((n as u64).saturating_mul(stride)),
                    )?;
                }
                Ok(())
            }
            Init::Value(value, place) => self.value(*value, at, *place),
            Init::Address { name, place, addend, mask, .. } => {
                if let Some(Global::Function(n)) = self.globals.names.get(name) {
                    return self.function((*n, *name), *addend, *mask, at, *place);
                }
                let Some(Global::Variable(symbol)) = self.globals.names.get(name) else {
                    let found = format!("`{}`", self.module.names.text(*name));
                    return Err(match self.globals.names.get(name) {
                        None => Diagnostic::invalid(*place, "undeclared name").found(found),
                        Some(_) => {
                            Diagnostic::unsupported(*place, "address of this symbol in an initialiser")
                                .found(found)
                        }
                    }
                    .expected("a `.global` or `.const` variable, or a function"));
                };

                self.address(*symbol, *addend, *mask, at, *place)
            }
        }
    }

    /// The address of a function, or the byte of it that a mask picks.
    fn function(
        &mut self,
        (n, name): (usize, Name),
        addend: i64,
        mask: Option<u64>,
        at: u64,
        place: Place,
    ) -> Result<(), Fail> {
        let found = format!("`{}`", self.module.names.text(name));
        if !is_callable(self.module, n) {
            return Err(Diagnostic::unsupported(
                place,
                "address of a kernel or of a function without a body",
            )
            .found(found)
            .expected("a function of this text"));
        }
        let address = function_address(n).wrapping_add_signed(addend);
        match mask {
            None if self.scalar.bytes() == 8 && !self.scalar.is_float() => {
                self.put(at, &address.to_le_bytes(), place)
            }
            None => {
                Err(Diagnostic::invalid(place, "address in a narrow variable").expected("`.u64` or `.b64`"))
            }
            Some(mask) => {
                let bytes = self.scalar.bytes().min(8);
                let part = (address & mask).checked_shr(mask.trailing_zeros()).unwrap_or(0);
                self.put(at, &part.to_le_bytes()[..bytes], place)
            }
        }
    }

    fn put(&mut self, at: u64, bytes: &[u8], place: Place) -> Result<(), Fail> {
        let end = at.saturating_add(bytes.len() as u64);
        if end > self.room {
            return Err(Diagnostic::invalid(place, "initialisers too large")
                .found(format!("a value at byte {at}"))
                .expected(format!("at most {} bytes", self.room)));
        }
        let end = end as usize;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn value(&mut self, value: Value, at: u64, place: Place) -> Result<(), Fail> {
        let mismatch = |found: &str| {
            Diagnostic::invalid(place, "initial value of the wrong type")
                .found(found)
                .expected(format!("a value of `.{}`", word(self.scalar)))
        };
        let bits = match (self.scalar, value) {
            (Ty::F64, Value::F64(bits)) => bits,
            (Ty::F64, Value::F32(bits)) => f64::from(f32::from_bits(bits)).to_bits(),
            (Ty::F64, Value::Int(value)) => (value as i64 as f64).to_bits(),
            (Ty::F32 | Ty::B32, Value::F32(bits)) => u64::from(bits),
            (Ty::B64, Value::F64(bits)) => bits,
            (Ty::F32, Value::F64(bits)) => u64::from((f64::from_bits(bits) as f32).to_bits()),
            (Ty::F32, Value::Int(value)) => u64::from((value as i64 as f32).to_bits()),
            (ty, Value::Int(value)) if !ty.is_float() => value,
            (_, Value::Int(_)) => return Err(mismatch("an integer")),
            _ => return Err(mismatch("a floating-point number")),
        };
        let bytes = bits.to_le_bytes();
        self.put(at, &bytes[..self.scalar.bytes().min(8)], place)
    }

    fn address(
        &mut self,
        symbol: u32,
        addend: i64,
        mask: Option<u64>,
        at: u64,
        place: Place,
    ) -> Result<(), Fail> {
        let Some(mask) = mask else {
            if self.scalar.bytes() != 8 || self.scalar.is_float() {
                return Err(
                    Diagnostic::invalid(place, "address in a narrow variable").expected("`.u64` or `.b64`")
                );
            }
            self.put(at, &[0; 8], place)?;
            self.relocations.push(Relocation { at, symbol, addend });
            return Ok(());
        };
        let before = self.masked.take().unwrap_or(Masked { place, start: at, symbol, addend, bytes: 0 });
        let wanted = 0xff_u64 << (8 * before.bytes);
        let follows = at == before.start + u64::from(before.bytes);
        let same = before.symbol == symbol && before.addend == addend;
        if self.scalar.bytes() != 1 || mask != wanted || !follows || !same {
            return Err(Diagnostic::unsupported(place, "part of an address")
                .found(format!("mask {mask:#x}"))
                .expected("all eight bytes of an address in a row"));
        }
        self.put(at, &[0], place)?;
        let bytes = before.bytes + 1;
        if bytes == 8 {
            self.relocations.push(Relocation { at: before.start, symbol, addend });
        } else {
            self.masked = Some(Masked { bytes, ..before });
        }
        Ok(())
    }
}
