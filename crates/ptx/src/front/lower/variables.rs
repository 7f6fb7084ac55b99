//! Variables of the module: places, sizes and initial bytes.

use super::graph::CallGraph;
use super::top_level::{Global, TopLevel};
use crate::front::ast::{self, DeclSpace, DeclType, Item, Linkage, Module, Name, Opaque, Place, Statement};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::{Layout, layout};
use crate::ir::{Variable, window};

/// Most bytes of all initialisers together. ASSUMED: the values that a text of its largest size spells out.
const MAX_INIT: u64 = 1 << 28;

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
    pub names: TopLevel,
    pub variables: Vec<Variable>,
    /// For each variable, whether it is only declared: another text would define it.
    pub external: Vec<bool>,
    /// Lines before the device heap's, if the module has one.
    heap_from: Option<u32>,
    pub shared: Vec<Shared>,
    /// Who calls whom.
    pub graph: CallGraph,
}

/// The address of a function, by its index among the module's items: the same in every kernel.
pub(super) fn function_address(n: usize) -> u64 {
    window::CODE + window::FUNCTION_BYTES * (n as u64 + 1)
}

impl Globals {
    /// Gathers the top level, and variables declared in bodies. Lines after `heap_from` are the device heap's.
    pub(super) fn new(module: &Module, heap_from: Option<u32>, failures: &mut Vec<Fail>) -> Self {
        let mut globals = Globals { heap_from, ..Globals::default() };
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
                        Diagnostic::invalid(*place, "alias target is not a function")
                            .found(format!("`{}`", module.names.text(*aliasee))),
                    ),
                }
            }
        }
        let mut room = MAX_INIT;
        for (variable, at) in initialised {
            match globals.initialise(module, variable, room) {
                Ok((init, relocations)) => {
                    room -= init.len() as u64;
                    globals.variables[at].init = init;
                    globals.variables[at].relocations = relocations;
                }
                Err(failure) => failures.push(failure),
            }
        }
        globals.graph = CallGraph::new(module, &globals.names);
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
                Global::Variable(n) if self.external[*n as usize] => {
                    if !external {
                        return self.define(module, *n as usize, variable, initialised);
                    }
                    true
                }
                Global::Variable(_) => external,
                Global::Opaque(n, kind) if variable.ty == DeclType::Opaque(*kind) => {
                    let n = *n as usize;
                    let again = external || self.external[n];
                    self.external[n] &= external;
                    again
                }
                _ => false,
            };
            return if again { Ok(()) } else { Err(duplicate(module, variable.name, variable.place)) };
        }
        if let DeclType::Opaque(kind) = variable.ty {
            self.reference(module, variable, kind);
            return Ok(());
        }
        if external && variable.init.is_some() {
            return Err(Diagnostic::invalid(variable.place, "initialiser of an external variable")
                .found(format!("`{}`", module.names.text(variable.name)))
                .expected("a declaration, or no `.extern`"));
        }
        let layout = sized(module, variable)?;
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
                self.external.push(external);
                self.variables.push(Variable {
                    name: module.names.text(variable.name).to_string(),
                    constant: variable.space == DeclSpace::Const,
                    opaque: None,
                    align: layout.align,
                    bytes: layout.bytes,
                    init: Vec::new(),
                    relocations: Vec::new(),
                    heap: self.heap_from.is_some_and(|before| variable.place.line > before),
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

    /// A reference to a texture, sampler or surface.
    fn reference(&mut self, module: &Module, variable: &ast::Variable, kind: Opaque) {
        let inert = match () {
            () if !variable.dims.is_empty() => "an array of textures, samplers or surfaces",
            () if variable.init.is_some() => "a texture, sampler or surface with an initialiser",
            () if variable.space != DeclSpace::Opaque => "a texture, sampler or surface in this space",
            () => {
                self.names.insert(variable.name, Global::Opaque(self.variables.len() as u32, kind));
                self.external.push(variable.linkage == Linkage::Extern);
                self.variables.push(Variable {
                    name: module.names.text(variable.name).to_string(),
                    constant: false,
                    opaque: Some(kind),
                    heap: false,
                    align: 8,
                    bytes: 0,
                    init: Vec::new(),
                    relocations: Vec::new(),
                });
                return;
            }
        };
        self.names.insert(variable.name, Global::Inert(inert));
    }

    /// Defines a variable that was declared `.extern` before.
    fn define<'a>(
        &mut self,
        module: &Module,
        n: usize,
        variable: &'a ast::Variable,
        initialised: &mut Vec<(&'a ast::Variable, usize)>,
    ) -> Result<(), Fail> {
        let layout = sized(module, variable)?;
        let known = &mut self.variables[n];
        let space = if known.constant { DeclSpace::Const } else { DeclSpace::Global };
        if variable.space != space {
            return Err(Diagnostic::invalid(
                variable.place,
                "definition in another space than its declaration",
            ));
        }
        (known.bytes, known.align) = (layout.bytes, layout.align);
        self.external[n] = false;
        if variable.init.is_some() {
            initialised.push((variable, n));
        }
        Ok(())
    }
}

/// The layout of a variable, which has a size unless another text defines it.
fn sized(module: &Module, variable: &ast::Variable) -> Result<Layout, Fail> {
    let layout = layout(variable)?;
    if variable.linkage != Linkage::Extern && layout.bytes == 0 && variable.dims.contains(&None) {
        return Err(Diagnostic::invalid(variable.place, "array without a size")
            .found(format!("`{}[]`", module.names.text(variable.name)))
            .expected("a size, an initialiser or `.extern`"));
    }
    Ok(layout)
}

fn duplicate(module: &Module, name: Name, place: Place) -> Fail {
    Diagnostic::invalid(place, "duplicate definition")
        .found(format!("`{}`", module.names.text(name)))
        .expected("a name that the text does not have yet")
}
