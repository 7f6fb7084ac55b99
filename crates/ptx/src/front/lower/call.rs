//! Calls. Where nothing forbids it, the body of the function stands in place of the call. Functions that recurse,
//! that are called through their address or that allocate on the stack have code of their own (`function.rs`).

use super::builder::{Builder, Frame};
use super::moves::move_of;
use super::operand::Resolved;
use super::scope::Symbol;
use crate::front::ast::{self, DeclSpace, DeclType, Instruction, Item, Operand, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::{in_memory, layout};
use crate::ir::{VDst, VInst, VReg, VSrc};
use crate::isa::{Op, TileOp, Ty};

/// Who passes what to whom.
struct Binding<'a> {
    formal: &'a ast::Variable,
    actual: &'a Operand,
}

/// A result to copy out of the callee: its register, the caller's operand, the type.
type CopyOut = (VReg, Operand, Ty);

impl<'a> Builder<'a> {
    /// `call`.
    pub(super) fn call(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        failures: &mut Vec<Fail>,
    ) -> Result<(), Fail> {
        m.flag("uni");
        m.finish()?;
        let list = |operand: Option<&'a Operand>| match operand.map(|operand| &operand.kind) {
            Some(OperandKind::List(list)) => Some(list.as_slice()),
            _ => None,
        };
        let results = list(i.operands.first());
        let rest = &i.operands[usize::from(results.is_some())..];
        let Some(target) = rest.first() else {
            return Err(
                Diagnostic::invalid(i.place, "call without a function").expected("the name of a function")
            );
        };
        let arguments = list(rest.get(1)).unwrap_or_default();
        let results = results.unwrap_or_default();
        let OperandKind::Name(name) = target.kind else {
            return Err(self.wrong_kind(target, "the name of a function"));
        };
        let hint =
            rest.get(if matches!(rest.get(1).map(|operand| &operand.kind), Some(OperandKind::List(_))) {
                2
            } else {
                1
            });
        let resolved = self.resolve(name, target.place)?;
        let guard = self.guard.take();
        let skip = guard.map(|(predicate, negated)| {
            let skip = self.label();
            let inst =
                self.emit_guarded(Some((predicate, !negated)), Op::Branch { uniform: false }, &[], &[]);
            inst.target = skip.0;
            skip
        });
        match resolved {
            Resolved::Function(n) => {
                let Item::Function(callee) = &self.module.items[n] else {
                    unreachable!("functions are registered by the index of a function");
                };
                // Linkers compare names: another text may have declared a result where there is none, which then is
                // not defined.
                let elsewhere = !self.module.same_text(target.place, callee.place);
                let results = if elsewhere && callee.returns.is_empty() { &[] } else { results };
                self.check_counts(target, (&callee.returns, &callee.params), results, arguments)?;
                if callee.entry {
                    let found = format!("`{}`", self.text(callee.name));
                    return Err(Diagnostic::unsupported(target.place, "call of a kernel").found(found));
                }
                if callee.body.is_none() {
                    self.external(callee, target, results, arguments)?;
                } else if self.globals.graph.recurses(n) || self.globals.graph.allocates(n) {
                    self.call_directly(n, target, results, arguments)?;
                } else {
                    self.expand(callee, target, results, arguments, failures)?;
                }
            }
            Resolved::Register(_) => self.call_through(target, hint, results, arguments)?,
            _ => {
                return Err(self.wrong_kind(target, "the name of a function, or a register with its address"));
            }
        }
        if let Some(skip) = skip {
            self.place_label(skip);
        }
        Ok(())
    }

    /// A call has as many results and arguments as its function.
    pub(super) fn check_counts(
        &self,
        target: &Operand,
        (returns, params): (&[ast::Variable], &[ast::Variable]),
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<(), Fail> {
        if results.len() == returns.len() && arguments.len() == params.len() {
            return Ok(());
        }
        Err(Diagnostic::invalid(target.place, "call does not match its function")
            .found(format!("{} results and {} arguments", results.len(), arguments.len()))
            .expected(format!("{} and {}", returns.len(), params.len())))
    }

    fn expand(
        &mut self,
        callee: &'a ast::Function,
        target: &Operand,
        results: &'a [Operand],
        arguments: &'a [Operand],
        failures: &mut Vec<Fail>,
    ) -> Result<(), Fail> {
        let body = callee.body.as_deref().unwrap_or_default();
        self.count_expansion(target.place)?;
        let bind = |formals: &'a [ast::Variable], actuals: &'a [Operand]| {
            formals.iter().zip(actuals).map(|(formal, actual)| Binding { formal, actual })
        };
        let mut symbols = Vec::new();
        let mut copies = Vec::new();
        for binding in bind(&callee.params, arguments) {
            symbols.push((binding.formal, self.bind_argument(&binding)?));
        }
        for binding in bind(&callee.returns, results) {
            symbols.push((binding.formal, self.bind_result(&binding, &mut copies)?));
        }
        self.enter(target.place)?;
        let caller = std::mem::take(&mut self.scopes);
        let first_label = self.labels.len();
        let end = self.label();
        self.frames.push(Frame { end: Some(end) });
        self.scopes.open();
        for (formal, symbol) in symbols {
            failures.extend(self.declare(formal.name, formal.place, symbol).err());
        }
        self.scopes.open();
        self.statements(body, failures);
        self.frames.pop();
        self.nesting -= 1;
        self.scopes = caller;
        self.drop_last_jump(end.0, first_label);
        self.place_label(end);
        self.guard = None;
        self.line = target.place.line;
        for (register, actual, ty) in copies {
            let dst = self.dst(&actual, ty)?;
            self.emit(move_of(ty), &[dst], &[VSrc::Reg(register, false)]);
        }
        Ok(())
    }

    /// A `ret` at the very end jumps to the next instruction: it goes, unless a label stands behind it.
    pub(super) fn drop_last_jump(&mut self, end: u32, first_label: usize) {
        let here = Some(self.out.code.len() as u32);
        let jumps = matches!(
            self.out.code.last(),
            Some(VInst { op: Op::Branch { .. }, guard: None, target, .. }) if *target == end
        );
        if jumps && !self.labels[first_label..].contains(&here) {
            self.out.code.pop();
        }
    }

    /// What a formal parameter stands for in the callee.
    fn bind_argument(&mut self, binding: &Binding<'a>) -> Result<Symbol, Fail> {
        let Binding { formal, actual } = *binding;
        if let Some(shared) = self.bind_storage(binding)? {
            return Ok(shared);
        }
        // A value for a scalar, or for each element of a vector: registers of the callee's own.
        let (ty, count) = elements(formal)?;
        let mut registers = Vec::with_capacity(count.into());
        for element in self.elements(actual, count)? {
            let value = self.src(&element, ty)?;
            let register = self.fresh(ty);
            self.emit(move_of(ty), &[VDst::Reg(register)], &[value]);
            registers.push(register);
        }
        Ok(own(formal, registers))
    }

    /// What a formal result stands for in the callee; registers are copied out afterwards.
    fn bind_result(&mut self, binding: &Binding<'a>, copies: &mut Vec<CopyOut>) -> Result<Symbol, Fail> {
        let Binding { formal, actual } = *binding;
        if let Some(shared) = self.bind_storage(binding)? {
            return Ok(shared);
        }
        let (ty, count) = elements(formal)?;
        let registers: Vec<VReg> = (0..count).map(|_| self.fresh(ty)).collect();
        if !matches!(actual.kind, OperandKind::Sink) {
            for (register, element) in registers.iter().zip(self.elements(actual, count)?) {
                if !matches!(element.kind, OperandKind::Sink) {
                    self.dst(&element, ty)?;
                    copies.push((*register, element, ty));
                }
            }
        }
        Ok(own(formal, registers))
    }

    /// Caller and callee share a `.param`: it is written before the call and dead after.
    fn bind_storage(&mut self, binding: &Binding<'a>) -> Result<Option<Symbol>, Fail> {
        let Binding { formal, actual } = *binding;
        let OperandKind::Name(name) = actual.kind else { return Ok(None) };
        let Some((_, symbol)) = self.scopes.find(name) else { return Ok(None) };
        let (symbol, bytes) = match symbol {
            Symbol::Argument(register) => (Symbol::Argument(*register), self.ty(*register).bytes() as u64),
            Symbol::Local { bytes, .. } | Symbol::Frame { bytes, .. } => (symbol.clone(), *bytes),
            _ => return Ok(None),
        };
        let wanted = layout(formal)?.bytes;
        let scalar_formal = formal.dims.is_empty() && formal.vector == 1;
        if formal.space != DeclSpace::Param
            || bytes != wanted
            || scalar_formal != matches!(symbol, Symbol::Argument(_))
        {
            return Err(Diagnostic::invalid(actual.place, "argument does not match its parameter")
                .found(format!("`{}` of {bytes} bytes", self.text(name)))
                .expected(format!("`{}` of {wanted} bytes", self.text(formal.name))));
        }
        Ok(Some(symbol))
    }

    /// A function without a body: the few that the runtime gives.
    fn external(
        &mut self,
        callee: &'a ast::Function,
        target: &Operand,
        results: &'a [Operand],
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        match self.text(callee.name) {
            "vprintf" => self.vprintf(target.place, results, arguments),
            "__assertfail" => self.assert_fail(arguments),
            name if let Some(op) = TileOp::of_function(name) => self.tile(op, callee, arguments),
            // The device runtime: `cudaLaunchDevice`, `cudaGetParameterBuffer` and what goes with them.
            name if name.starts_with("cuda") => {
                Err(Diagnostic::unsupported(target.place, "dynamic parallelism")
                    .found(format!("a call of `{name}`"))
                    .expected("a kernel that launches no other: launches come from the host"))
            }
            name => Err(Diagnostic::unsupported(target.place, "call of a function without a body")
                .found(format!("`{name}`"))
                .expected("a function of this text, `malloc`, `free`, `vprintf`, `__assertfail`, `stash_add_map`, `stash_chg_map`, \
                           `dma_load` or `dma_store`")),
        }
    }

    /// The register behind a scalar argument.
    pub(super) fn argument_register(&mut self, operand: &Operand, ty: Ty) -> Result<VSrc, Fail> {
        if let OperandKind::Name(name) = operand.kind
            && let Some((_, Symbol::Argument(register))) = self.scopes.find(name)
        {
            return Ok(VSrc::Reg(*register, false));
        }
        self.src(operand, ty)
    }
}

/// A formal parameter with registers of its own, several for a vector.
pub(super) fn own(formal: &ast::Variable, registers: Vec<VReg>) -> Symbol {
    match (registers.as_slice(), formal.space) {
        ([register], DeclSpace::Param) => Symbol::Argument(*register),
        ([register], _) => Symbol::Register(*register),
        _ => Symbol::Vector(registers),
    }
}

/// The type of a scalar parameter.
pub(super) fn scalar(formal: &ast::Variable) -> Result<Ty, Fail> {
    match elements(formal)? {
        (ty, 1) => Ok(ty),
        _ => Err(Diagnostic::unsupported(formal.place, "vector as a parameter of this function")),
    }
}

/// The registers that a formal parameter takes: their type and number.
pub(super) fn elements(formal: &ast::Variable) -> Result<(Ty, u8), Fail> {
    match formal.ty {
        DeclType::Scalar(ty) if !in_memory(formal) => Ok((ty, formal.vector)),
        _ => Err(Diagnostic::unsupported(formal.place, "value passed to an aggregate parameter")),
    }
}
