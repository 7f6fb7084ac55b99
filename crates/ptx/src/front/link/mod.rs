//! Several texts as one: what one declares `.extern` is what another defines.
//!
//! The rules are those of PTX's linking directives (PTX ISA, "Linking Directives"):
//!
//! | a name is | and |
//! |---|---|
//! | internal | is its text's own: another text's of the same name is something else |
//! | `.visible`, an entry, an alias | may be defined in one text only |
//! | `.weak` | gives way to a `.visible` one; else the first text's counts |
//! | `.common` | gives way to a `.visible` one; else the largest counts |
//! | `.extern`, or a function without a body | is what another text defines, and is refused where it is used when none does |
//!
//! Lines of the texts follow each other in the linked module ([`Source`]); its errors, and those of its kernels, say
//! which text they mean.

mod image;
mod rename;

use std::collections::BTreeMap;

use super::ast::{DeclSpace, Function, Item, Linkage, Module, Names, Place, Source, Statement, Variable};
use super::diagnostic::{Diagnostic, Diagnostics, Fail};
use super::layout::layout;
pub use image::{Texts, image, is_image, texts};
use rename::Renamer;

/// A name at the top level of one text.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    /// The text.
    text: usize,
    /// Its index among the text's items; nothing for what is declared in a body.
    item: Option<usize>,
    /// Where.
    place: Place,
    class: Class,
    kind: Kind,
}

/// How a symbol links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Internal,
    Strong,
    Weak,
    /// With its size in bytes.
    Common(u64),
    Declared,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function,
    Entry,
    Variable(DeclSpace),
}

/// Links texts in their order; the module has the first one's name and target.
///
/// # Errors
/// Every name that is defined twice, with both places, or declared as something else than it is; a text with addresses of
/// another size.
///
/// # Panics
/// Without texts.
pub fn link(texts: Vec<Module>) -> Result<Module, Diagnostics> {
    assert!(!texts.is_empty(), "there is something to link");
    if texts.len() == 1 {
        return Ok(texts.into_iter().next().expect("there is one text"));
    }
    let mut failures: Vec<Diagnostic> = Vec::new();
    let mut symbols: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
    for (n, text) in texts.iter().enumerate() {
        if text.address_size != texts[0].address_size {
            let failure =
                Diagnostic::invalid(text.address_size_place, "texts with addresses of different sizes")
                    .found(format!("`.address_size {}`", text.address_size))
                    .expected(format!("`.address_size {}`", texts[0].address_size));
            failures.push(named(text, failure));
        }
        for (at, item) in text.items.iter().enumerate() {
            for (inner, (name, place, class, kind)) in symbols_of(item).enumerate() {
                let item = (inner == 0).then_some(at);
                let symbol = Symbol { text: n, item, place, class, kind };
                symbols.entry(text.names.text(name).to_string()).or_default().push(symbol);
            }
        }
    }
    let mut merged = Merged::new(&texts);
    for (name, list) in &symbols {
        merged.resolve(name, list, &mut failures);
    }
    if !failures.is_empty() {
        return Err(Diagnostics(failures));
    }
    Ok(merged.module())
}

fn named(text: &Module, failure: Fail) -> Diagnostic {
    Diagnostics::of_module(text, [failure]).0.remove(0)
}

type Found = (super::ast::Name, Place, Class, Kind);

/// The names that an item gives to its text, its own first.
fn symbols_of(item: &Item) -> Box<dyn Iterator<Item = Found> + '_> {
    match item {
        Item::Variable(variable) => Box::new(std::iter::once(variable_symbol(variable))),
        Item::Alias { name, place, .. } => {
            Box::new(std::iter::once((*name, *place, Class::Strong, Kind::Function)))
        }
        Item::Function(function) => {
            let own = std::iter::once(function_symbol(function));
            Box::new(own.chain(inner(function.body.as_deref().unwrap_or_default())))
        }
    }
}

/// Variables of the text that are declared in a body.
fn inner(statements: &[Statement]) -> Box<dyn Iterator<Item = Found> + '_> {
    Box::new(statements.iter().flat_map(|statement| match statement {
        Statement::Variable(variable) if matches!(variable.space, DeclSpace::Global | DeclSpace::Const) => {
            Box::new(std::iter::once(variable_symbol(variable))) as Box<dyn Iterator<Item = Found>>
        }
        Statement::Block(statements) => inner(statements),
        _ => Box::new(std::iter::empty()),
    }))
}

fn function_symbol(function: &Function) -> Found {
    let class = match (&function.body, function.linkage) {
        (None, _) | (_, Linkage::Extern) => Class::Declared,
        (Some(_), Linkage::Weak | Linkage::Common) => Class::Weak,
        // A kernel is found by its name, whatever it says.
        (Some(_), Linkage::Internal) if !function.entry => Class::Internal,
        (Some(_), Linkage::Internal | Linkage::Visible) => Class::Strong,
    };
    (function.name, function.place, class, if function.entry { Kind::Entry } else { Kind::Function })
}

fn variable_symbol(variable: &Variable) -> Found {
    let class = match variable.linkage {
        // Dynamic shared memory is one for all.
        Linkage::Extern => Class::Declared,
        Linkage::Internal => Class::Internal,
        Linkage::Visible => Class::Strong,
        Linkage::Weak => Class::Weak,
        Linkage::Common => Class::Common(layout(variable).map_or(0, |layout| layout.bytes)),
    };
    (variable.name, variable.place, class, Kind::Variable(variable.space))
}

/// The module under construction.
struct Merged<'a> {
    texts: &'a [Module],
    /// Line before the first of each text.
    lines: Vec<u32>,
    /// Items that give way to another text's.
    dropped: Vec<(usize, usize)>,
    /// Names that are another's in the whole: of which text, and what they are called.
    renamed: Vec<(usize, String, String)>,
}

impl<'a> Merged<'a> {
    fn new(texts: &'a [Module]) -> Merged<'a> {
        let mut lines = Vec::new();
        let mut end = 0_u32;
        for text in texts {
            lines.push(end);
            end = end.saturating_add(text.lines);
        }
        Merged { texts, lines, dropped: Vec::new(), renamed: Vec::new() }
    }

    /// Decides which of the symbols of one name counts.
    fn resolve(&mut self, name: &str, list: &[Symbol], failures: &mut Vec<Diagnostic>) {
        let mut is_taken = list.iter().any(|symbol| symbol.class != Class::Internal);
        // Internal symbols of the second and later texts get names of their own.
        let mut owner = None;
        for symbol in list.iter().filter(|symbol| symbol.class == Class::Internal) {
            if owner == Some(symbol.text) {
                continue;
            }
            let has_internal =
                |text: usize| list.iter().any(|other| other.text == text && other.class == Class::Internal);
            // A declaration and its definition in one text are one thing.
            let others = list.iter().any(|other| {
                other.text != symbol.text && other.class != Class::Internal && !has_internal(other.text)
            });
            if is_taken && others || owner.is_some() {
                let own = format!("{name}@{}", symbol.text);
                self.renamed.push((symbol.text, name.to_string(), own));
            }
            is_taken = true;
            owner = Some(symbol.text);
        }
        let internal = |symbol: &&Symbol| {
            list.iter().any(|other| other.text == symbol.text && other.class == Class::Internal)
        };
        let shared: Vec<&Symbol> = list.iter().filter(|symbol| !internal(symbol)).collect();
        let Some(chosen) = self.chosen(name, &shared, failures) else { return };
        for symbol in &shared {
            if symbol.kind != chosen.kind {
                let failure = Diagnostic::invalid(symbol.place, "name has another kind in another text")
                    .found(format!("`{name}` as {}", symbol.kind.words()))
                    .expected(format!("{}, as in {}", chosen.kind.words(), self.place(chosen)));
                failures.push(named(&self.texts[symbol.text], failure));
            } else if !std::ptr::eq(*symbol, chosen) && symbol.class != Class::Declared {
                self.dropped.extend(symbol.item.map(|item| (symbol.text, item)));
            }
        }
    }

    /// The definition that counts; none when there are only declarations.
    fn chosen<'s>(
        &self,
        name: &str,
        shared: &[&'s Symbol],
        failures: &mut Vec<Diagnostic>,
    ) -> Option<&'s Symbol> {
        let mut strong = shared.iter().filter(|symbol| symbol.class == Class::Strong);
        if let Some(first) = strong.next() {
            for second in strong {
                // Within one text the text's own check finds it, or an entry is declared first.
                if second.text == first.text {
                    continue;
                }
                let failure = Diagnostic::invalid(second.place, "duplicate definition")
                    .found(format!("`{name}`"))
                    .expected(format!("one definition; the other is {}", self.place(first)));
                failures.push(named(&self.texts[second.text], failure));
            }
            return Some(first);
        }
        let size = |symbol: &Symbol| if let Class::Common(bytes) = symbol.class { bytes } else { u64::MAX };
        let mut best: Option<&Symbol> = None;
        for symbol in shared.iter().filter(|symbol| symbol.class != Class::Declared) {
            if best.is_none_or(|best| size(symbol) > size(best)) {
                best = Some(symbol);
            }
        }
        best
    }

    fn place(&self, symbol: &Symbol) -> String {
        let text = &self.texts[symbol.text];
        let (name, line) = text.source(symbol.place.line);
        format!("{name}:{line}:{}", symbol.place.column)
    }

    fn module(self) -> Module {
        let first = &self.texts[0];
        let mut names = Names::default();
        let mut items = Vec::new();
        let mut sources = Vec::new();
        for (n, text) in self.texts.iter().enumerate() {
            let before = self.lines[n];
            let of_text =
                |source: &Source| Source { name: source.name.clone(), before: source.before + before };
            if text.sources.is_empty() {
                sources.push(Source { name: text.name.clone(), before });
            } else {
                sources.extend(text.sources.iter().map(of_text));
            }
            let own = |name: &str| {
                let found = self.renamed.iter().find(|(text, known, _)| *text == n && known == name);
                found.map(|(_, _, own)| own.clone())
            };
            let mut renamer = Renamer::new(&text.names, &mut names, before, own);
            for (at, item) in text.items.iter().enumerate() {
                if self.dropped.contains(&(n, at)) {
                    continue;
                }
                let mut item = item.clone();
                renamer.item(&mut item);
                items.push(item);
            }
        }
        let lines = self
            .lines
            .last()
            .copied()
            .unwrap_or(0)
            .saturating_add(self.texts.last().map_or(0, |text| text.lines));
        Module {
            name: first.name.clone(),
            names,
            version: first.version.clone(),
            target: first.target.clone(),
            address_size: first.address_size,
            address_size_place: first.address_size_place,
            items,
            lines,
            sources,
            heap_bytes: first.heap_bytes,
        }
    }
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Function => "a function",
            Kind::Entry => "a kernel",
            Kind::Variable(DeclSpace::Global) => "a `.global` variable",
            Kind::Variable(DeclSpace::Const) => "a `.const` variable",
            Kind::Variable(DeclSpace::Shared) => "a `.shared` variable",
            Kind::Variable(_) => "a variable",
        }
    }
}
