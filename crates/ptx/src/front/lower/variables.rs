//! Variables of the module: places, sizes and initial bytes.

use std::collections::HashMap;

use crate::front::ast::{
    self, DeclSpace, DeclType, Init, Item, Linkage, Module, Name, Place, Statement, Value,
};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Relocation, Variable};
use crate::isa::Ty;

/// Most bytes of one variable: more than any GPU has.
const MAX_BYTES: u64 = 1 << 40;

/// Most bytes of one initialiser.
const MAX_INIT: u64 = 1 << 32;

/// What a name at the top level stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Global {
    /// A `.global` or `.const` variable: index into [`Globals::variables`].
    Variable(u32),
    /// A `.shared` variable: index into [`Globals::shared`].
    Shared(usize),
    /// `.extern .shared`: dynamic shared memory.
    DynamicShared,
    /// A function: index into the module's items.
    Function(usize),
    /// A texture, sampler or surface.
    Opaque,
}

/// A module-level `.shared` variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    pub bytes: u64,
    pub align: u32,
    pub place: Place,
}

/// The names of the top level.
#[derive(Debug, Default)]
pub(super) struct Globals {
    pub names: HashMap<Name, Global>,
    pub variables: Vec<Variable>,
    pub shared: Vec<Shared>,
}

/// Size and alignment of a declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub bytes: u64,
    pub align: u32,
    /// Bytes of one scalar.
    pub scalar: Ty,
}

/// Size and alignment of a declared variable; an empty outermost dimension takes its size from the
/// initialiser.
pub(super) fn layout(variable: &ast::Variable) -> Result<Layout, Fail> {
    let DeclType::Scalar(scalar) = variable.ty else {
        return Err(Diagnostic::unsupported(variable.place, "textures, samplers and surfaces"));
    };
    if scalar == Ty::Pred {
        return Err(Diagnostic::invalid(variable.place, "predicate outside registers").found("`.pred`"));
    }
    let element = scalar.bytes() as u64 * u64::from(variable.vector);
    let mut bytes = element;
    for (n, size) in variable.dims.iter().enumerate() {
        let size = match (size, &variable.init) {
            (Some(size), _) => *size,
            (None, Some(Init::List(elements, _))) if n == 0 => elements.len() as u64,
            (None, _) => 0,
        };
        bytes = bytes.checked_mul(size).filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(|| {
            Diagnostic::invalid(variable.place, "variable too large")
                .expected(format!("at most {MAX_BYTES} bytes"))
        })?;
    }
    Ok(Layout { bytes, align: variable.align.unwrap_or(1).max(element as u32), scalar })
}

impl Globals {
    /// Gathers the top level, and variables declared in bodies.
    pub(super) fn new(module: &Module, failures: &mut Vec<Fail>) -> Self {
        let mut globals = Globals::default();
        let mut initialised = Vec::new();
        for (n, item) in module.items.iter().enumerate() {
            match item {
                Item::Variable(variable) => {
                    failures.extend(globals.variable(module, variable, &mut initialised).err());
                }
                Item::Function(function) => {
                    failures.extend(globals.function(module, n, function).err());
                    globals.inner(
                        module,
                        function.body.as_deref().unwrap_or_default(),
                        &mut initialised,
                        failures,
                    );
                }
                Item::Alias { .. } => {}
            }
        }
        for item in &module.items {
            if let Item::Alias { name, aliasee, place } = item {
                match globals.names.get(aliasee) {
                    Some(Global::Function(n)) => {
                        let function = Global::Function(*n);
                        globals.names.insert(*name, function);
                    }
                    _ => failures.push(
                        Diagnostic::invalid(*place, "alias of what is no function")
                            .found(format!("`{}`", module.names.text(*aliasee))),
                    ),
                }
            }
        }
        for (variable, at) in initialised {
            match globals.initialise(module, variable) {
                Ok((init, relocations)) => {
                    globals.variables[at].init = init;
                    globals.variables[at].relocations = relocations;
                }
                Err(failure) => failures.push(failure),
            }
        }
        globals
    }

    /// `.global` and `.const` variables that stand in bodies.
    fn inner<'a>(
        &mut self,
        module: &'a Module,
        statements: &'a [Statement],
        initialised: &mut Vec<(&'a ast::Variable, usize)>,
        failures: &mut Vec<Fail>,
    ) {
        for statement in statements {
            match statement {
                Statement::Variable(variable) => {
                    let dynamic = variable.space == DeclSpace::Shared && variable.linkage == Linkage::Extern;
                    if dynamic || matches!(variable.space, DeclSpace::Global | DeclSpace::Const) {
                        failures.extend(self.variable(module, variable, initialised).err());
                    }
                }
                Statement::Block(inner) => self.inner(module, inner, initialised, failures),
                _ => {}
            }
        }
    }

    fn function(&mut self, module: &Module, n: usize, function: &ast::Function) -> Result<(), Fail> {
        if let Some(known) = self.names.get(&function.name) {
            let Global::Function(before) = *known else {
                return Err(duplicate(module, function.name, function.place));
            };
            let Item::Function(before) = &module.items[before] else { return Ok(()) };
            match (&before.body, &function.body) {
                // A declaration, then the definition, then declarations again.
                (_, None) => return Ok(()),
                (Some(_), Some(_)) => return Err(duplicate(module, function.name, function.place)),
                (None, Some(_)) => {}
            }
        }
        self.names.insert(function.name, Global::Function(n));
        Ok(())
    }

    fn variable<'a>(
        &mut self,
        module: &Module,
        variable: &'a ast::Variable,
        initialised: &mut Vec<(&'a ast::Variable, usize)>,
    ) -> Result<(), Fail> {
        let external = variable.linkage == Linkage::Extern;
        if let Some(known) = self.names.get(&variable.name) {
            // Declared before as external, or the same dynamic shared memory again.
            let again = match known {
                Global::DynamicShared => external && variable.space == DeclSpace::Shared,
                Global::Variable(n) => {
                    if !external && self.variables[*n as usize].bytes == 0 {
                        return Err(Diagnostic::unsupported(
                            variable.place,
                            "definition after an external declaration",
                        ));
                    }
                    external
                }
                _ => false,
            };
            return if again { Ok(()) } else { Err(duplicate(module, variable.name, variable.place)) };
        }
        if variable.ty == DeclType::Opaque {
            self.names.insert(variable.name, Global::Opaque);
            return Ok(());
        }
        let layout = layout(variable)?;
        let sized = layout.bytes > 0 || !variable.dims.contains(&None);
        if !external && !sized {
            return Err(Diagnostic::invalid(variable.place, "array without a size")
                .found(format!("`{}[]`", module.names.text(variable.name)))
                .expected("a size, an initialiser or `.extern`"));
        }
        let global = match variable.space {
            DeclSpace::Shared if external => Global::DynamicShared,
            DeclSpace::Shared => {
                if variable.init.is_some() {
                    return Err(Diagnostic::invalid(variable.place, "initialiser of shared memory"));
                }
                self.shared.push(Shared { bytes: layout.bytes, align: layout.align, place: variable.place });
                Global::Shared(self.shared.len() - 1)
            }
            DeclSpace::Global | DeclSpace::Const => {
                if variable.init.is_some() {
                    initialised.push((variable, self.variables.len()));
                }
                self.variables.push(Variable {
                    name: module.names.text(variable.name).to_string(),
                    constant: variable.space == DeclSpace::Const,
                    align: layout.align,
                    bytes: layout.bytes,
                    init: Vec::new(),
                    relocations: Vec::new(),
                });
                Global::Variable(self.variables.len() as u32 - 1)
            }
            _ => {
                return Err(Diagnostic::invalid(variable.place, "variable of this space outside a function")
                    .expected("`.global`, `.const` or `.shared`"));
            }
        };
        self.names.insert(variable.name, global);
        Ok(())
    }

    /// The bytes of an initialiser.
    fn initialise(
        &self,
        module: &Module,
        variable: &ast::Variable,
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
        if layout.bytes > MAX_INIT {
            return Err(Diagnostic::invalid(variable.place, "initialised variable too large")
                .expected(format!("at most {MAX_INIT} bytes")));
        }
        writer.write(init, &shape, &strides, 0, variable.place)?;
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

fn duplicate(module: &Module, name: Name, place: Place) -> Fail {
    Diagnostic::invalid(place, "duplicate definition")
        .found(format!("`{}`", module.names.text(name)))
        .expected("a name that the text does not have yet")
}

/// An address given byte by byte: `0xff(x), 0xff00(x), ...`.
#[derive(Clone, Copy)]
struct Masked {
    place: Place,
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
}

impl Writer<'_> {
    /// Writes at byte `at`; `strides[0]` is the size of the thing written when it is an element.
    fn write(
        &mut self,
        init: &Init,
        shape: &[u64],
        strides: &[u64],
        at: u64,
        place: Place,
    ) -> Result<(), Fail> {
        match init {
            Init::List(elements, place) => {
                let Some((count, inner)) = shape.split_first() else {
                    if elements.len() == 1 {
                        return self.write(&elements[0], shape, strides, at, *place);
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
                    self.write(element, shape, strides, at + n as u64 * stride, *place)?;
                }
                Ok(())
            }
            Init::Value(value, place) => self.value(*value, at, *place),
            Init::Address { name, place, addend, mask, .. } => {
                let Some(Global::Variable(symbol)) = self.globals.names.get(name) else {
                    let found = format!("`{}`", self.module.names.text(*name));
                    return Err(match self.globals.names.get(name) {
                        None => Diagnostic::invalid(*place, "undeclared name").found(found),
                        Some(_) => {
                            Diagnostic::unsupported(*place, "address of this symbol in an initialiser")
                                .found(found)
                        }
                    }
                    .expected("a `.global` or `.const` variable"));
                };
                let _ = at;
                self.address(*symbol, *addend, *mask, at, *place)
            }
        }
        .map_err(|failure| {
            if failure.line == 0 { Diagnostic::invalid(place, failure.message) } else { failure }
        })
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let end = at as usize + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at as usize..end].copy_from_slice(bytes);
    }

    fn value(&mut self, value: Value, at: u64, place: Place) -> Result<(), Fail> {
        let mismatch = |found: &str| {
            Diagnostic::invalid(place, "initial value of the wrong type")
                .found(found)
                .expected(format!("a value of `.{}`", crate::front::check::word(self.scalar)))
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
        self.put(at, &bytes[..self.scalar.bytes().min(8)]);
        Ok(())
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
            self.put(at, &[0; 8]);
            self.relocations.push(Relocation { at, symbol, addend });
            return Ok(());
        };
        let before = self.masked.take().unwrap_or(Masked { place, symbol, addend, bytes: 0 });
        let wanted = 0xff_u64 << (8 * before.bytes);
        if self.scalar.bytes() != 1 || mask != wanted || before.symbol != symbol || before.addend != addend {
            return Err(Diagnostic::unsupported(place, "part of an address")
                .found(format!("mask {mask:#x}"))
                .expected("all eight bytes of an address in a row"));
        }
        self.put(at, &[0]);
        let bytes = before.bytes + 1;
        if bytes == 8 {
            self.relocations.push(Relocation { at: at - 7, symbol, addend });
        } else {
            self.masked = Some(Masked { bytes, ..before });
        }
        Ok(())
    }
}
