//! A text's tree with the names and lines of another.

use crate::front::ast::{
    Base, CallHint, Init, Instruction, Item, Name, Names, Operand, OperandKind, Place, Statement, Variable,
};

/// Moves the tree of one text into a module of several.
pub(super) struct Renamer<'n> {
    /// What each name of the text is called in the module: as a symbol, and as a word of the language.
    symbols: Vec<Name>,
    words: Vec<Name>,
    /// Lines of the texts before this one.
    before: u32,
    _names: std::marker::PhantomData<&'n Names>,
}

impl<'n> Renamer<'n> {
    /// From the names of a text to those of the module; `own` gives a symbol another name.
    pub(super) fn new(
        from: &'n Names,
        to: &mut Names,
        before: u32,
        own: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let words: Vec<Name> = from.all().map(|word| to.intern(word)).collect();
        let symbols =
            from.all().zip(&words).map(|(word, same)| own(word).map_or(*same, |own| to.intern(&own)));
        Renamer { symbols: symbols.collect(), words, before, _names: std::marker::PhantomData }
    }

    fn symbol(&self, name: &mut Name) {
        *name = self.symbols[name.0 as usize];
    }

    fn word(&self, name: &mut Name) {
        *name = self.words[name.0 as usize];
    }

    fn place(&self, place: &mut Place) {
        place.line = place.line.saturating_add(self.before);
    }

    pub(super) fn item(&mut self, item: &mut Item) {
        match item {
            Item::Variable(variable) => self.variable(variable),
            Item::Function(function) => {
                self.place(&mut function.place);
                self.symbol(&mut function.name);
                function.returns.iter_mut().for_each(|variable| self.variable(variable));
                function.params.iter_mut().for_each(|variable| self.variable(variable));
                for directive in &mut function.directives {
                    self.place(&mut directive.place);
                    self.word(&mut directive.name);
                }
                self.statements(function.body.as_deref_mut().unwrap_or_default());
            }
            Item::Alias { name, aliasee, place } => {
                self.symbol(name);
                self.symbol(aliasee);
                self.place(place);
            }
        }
    }

    fn variable(&self, variable: &mut Variable) {
        self.place(&mut variable.place);
        self.symbol(&mut variable.name);
        if let Some(init) = &mut variable.init {
            self.init(init);
        }
    }

    fn init(&self, init: &mut Init) {
        match init {
            Init::Value(_, place) => self.place(place),
            Init::Address { name, place, .. } => {
                self.symbol(name);
                self.place(place);
            }
            Init::List(inner, place) => {
                self.place(place);
                inner.iter_mut().for_each(|init| self.init(init));
            }
        }
    }

    fn statements(&self, statements: &mut [Statement]) {
        for statement in statements {
            match statement {
                Statement::Label(name, place) => {
                    self.symbol(name);
                    self.place(place);
                }
                Statement::Variable(variable) => self.variable(variable),
                Statement::Instruction(instruction) => self.instruction(instruction),
                Statement::Block(inner) => self.statements(inner),
                Statement::NoUnroll(place) => self.place(place),
                Statement::BranchTargets { name, place, labels } => {
                    self.symbol(name);
                    self.place(place);
                    self.list(labels);
                }
                Statement::CallHint { name, place, hint } => {
                    self.symbol(name);
                    self.place(place);
                    match hint {
                        CallHint::Prototype { returns, params } => {
                            returns.iter_mut().chain(params).for_each(|variable| self.variable(variable));
                        }
                        CallHint::Targets(names) => self.list(names),
                    }
                }
            }
        }
    }

    fn list(&self, names: &mut [(Name, Place)]) {
        for (name, place) in names {
            self.symbol(name);
            self.place(place);
        }
    }

    fn instruction(&self, instruction: &mut Instruction) {
        self.place(&mut instruction.place);
        if let Some(guard) = &mut instruction.guard {
            self.symbol(&mut guard.name);
            self.place(&mut guard.place);
        }
        self.word(&mut instruction.opcode);
        for modifier in &mut instruction.modifiers {
            self.word(&mut modifier.name);
            self.place(&mut modifier.place);
        }
        instruction.operands.iter_mut().for_each(|operand| self.operand(operand));
    }

    fn operand(&self, operand: &mut Operand) {
        self.place(&mut operand.place);
        self.kind(&mut operand.kind);
    }

    fn kind(&self, kind: &mut OperandKind) {
        match kind {
            OperandKind::Negated(inner) => self.kind(inner),
            OperandKind::Name(name)
            | OperandKind::Lane(name, _)
            | OperandKind::Not(name)
            | OperandKind::Offset(name, _)
            | OperandKind::Indexed { array: name, .. }
            | OperandKind::Memory { base: Base::Name(name), .. } => self.symbol(name),
            OperandKind::Component(name, component) => {
                self.symbol(name);
                self.word(component);
            }
            OperandKind::Element(name, index) => {
                self.symbol(name);
                self.symbol(index);
            }
            OperandKind::Pair(pair) => {
                self.operand(&mut pair.0);
                self.operand(&mut pair.1);
            }
            OperandKind::Vector(inner) | OperandKind::Bracket(inner) | OperandKind::List(inner) => {
                inner.iter_mut().for_each(|operand| self.operand(operand));
            }
            OperandKind::Value(_) | OperandKind::Sink | OperandKind::Memory { base: Base::Absolute, .. } => {}
        }
    }
}
