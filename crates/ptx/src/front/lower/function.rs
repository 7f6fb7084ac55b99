//! Functions with code of their own, and how they are called.
//!
//! The calling convention. Functions of one shape (sizes of results and parameters) share virtual registers:
//!
//! - a scalar argument or result, or an element of a vector, travels in a register of its own, one that lies in memory as its address in local
//!   memory, where the caller has it: caller and callee share a `.param`, which is dead after the call;
//! - the link register gets the number of the place to return to, in a table that the shape has for all its calls.
//!
//! The callee copies arguments and link to registers of its own at its entry, and its results from there at its end;
//! allocation makes most of these copies disappear. A function has one end, so that its lanes meet before they
//! return. Every other register of a function belongs to it alone: allocation sees the whole program, so what a
//! caller needs after a call is kept apart from what the callee uses, and nothing need be saved. Only where a
//! function may be entered again before it returns, its caller saves what it needs (`back/frames.rs`).
//!
//! The stack pointer is the offset in local memory of the first free byte. A function that recurses takes its `.local`
//! variables from there at its entry and gives them back at its end; other functions have their variables at fixed
//! places, since each is active once.

use super::builder::{Builder, Frame};
use super::call::{elements, own};
use super::graph::{Shape, Slot};
use super::operand::Resolved;
use super::scope::{Label, Scopes, Symbol};
use super::variables::function_address;
use crate::front::ast::{self, CallHint, Item, Module, Operand, OperandKind, Place};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::{in_memory, layout};
use crate::ir::{Constant, VDst, VReg, VSrc};
use crate::isa::{IntOp, Logic, Op, Ty};

/// Most functions with code of their own and most calls of them in a kernel: every one of a shape may return to every
/// call of it.
const MAX_BODIES: usize = 1 << 10;
const MAX_SITES: usize = 1 << 12;

/// Instructions at the entry of a function that make its frame.
const FRAME_CODE: usize = 4;

/// How functions of a shape are called.
pub(super) struct Convention {
    shape: Shape,
    arguments: Vec<VReg>,
    results: Vec<VReg>,
    link: VReg,
    /// The branch table of the places to return to.
    sites: u32,
}

/// A function with code of its own.
pub(super) struct CalledBody {
    /// Its index among the module's items.
    item: usize,
    /// Where its code begins.
    entry: Label,
    /// The branch table with this entry alone.
    table: u32,
}

/// The function with code of its own whose body is being lowered.
pub(super) struct Activation {
    /// Its index among the module's items.
    item: usize,
    /// Whether it may be entered again before it returns.
    pub recurses: bool,
    /// Holds the offset of its frame.
    pub base: VReg,
    /// Its size so far.
    pub frame_bytes: u32,
    /// Its alignment.
    pub frame_align: u32,
}

/// A call of one or several functions of a shape.
struct Site<'a> {
    /// The branch table of their entries.
    table: u32,
    /// The address, for several.
    address: Option<VSrc>,
    /// Whether the caller may be entered again before they return.
    saves: bool,
    returns: &'a [ast::Variable],
    params: &'a [ast::Variable],
}

/// Whether an item is a function that can be called.
pub(super) fn is_callable(module: &Module, n: usize) -> bool {
    matches!(&module.items[n], Item::Function(function) if function.body.is_some() && !function.entry)
}

impl<'a> Builder<'a> {
    /// The address of a function.
    pub(super) fn function_address(&self, n: usize, place: Place) -> Result<u64, Fail> {
        if is_callable(self.module, n) {
            return Ok(function_address(n));
        }
        let Item::Function(function) = &self.module.items[n] else {
            unreachable!("functions are registered by the index of a function");
        };
        Err(Diagnostic::unsupported(place, "address of a kernel or of a function without a body")
            .found(format!("`{}`", self.text(function.name)))
            .expected("a function of this text"))
    }

    fn function_item(&self, n: usize) -> &'a ast::Function {
        match &self.module.items[n] {
            Item::Function(function) => function,
            _ => unreachable!("functions are registered by the index of a function"),
        }
    }

    /// A call of a function with code of its own by its name.
    pub(super) fn call_directly(
        &mut self,
        n: usize,
        target: &Operand,
        results: &'a [Operand],
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        let body = self.body(n, target.place)?;
        let function = self.function_item(n);
        let site = Site {
            table: self.bodies[body].table,
            address: None,
            saves: self.comes_back(n),
            returns: &function.returns,
            params: &function.params,
        };
        self.call_site(&site, target.place, results, arguments)
    }

    /// A call through a register.
    pub(super) fn call_through(
        &mut self,
        target: &Operand,
        hint: Option<&Operand>,
        results: &'a [Operand],
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        let address = self.src(target, Ty::U64)?;
        let named = match hint.map(|hint| (&hint.kind, hint.place)) {
            Some((OperandKind::Name(name), place)) => Some(self.resolve(*name, place)?),
            _ => None,
        };
        let Some(Resolved::Hint(hint)) = named else {
            return Err(Diagnostic::invalid(target.place, "indirect call without a prototype")
                .expected("the name of a `.callprototype` or `.calltargets` behind the arguments"));
        };
        let hint: &'a CallHint = self.hints[hint];
        let graph = &self.globals.graph;
        let mut functions = graph.candidates(self.module, &self.globals.names, hint);
        let (returns, params) = match hint {
            CallHint::Prototype { returns, params } => (returns, params),
            CallHint::Targets(names) => {
                let Some(first) = functions.first() else {
                    return Err(Diagnostic::unsupported(target.place, "call of functions without a body")
                        .found(format!("{} targets", names.len()))
                        .expected("functions of this text"));
                };
                let first = self.function_item(*first);
                (&first.returns, &first.params)
            }
        };
        self.check_counts(target, (returns, params), results, arguments)?;
        let shape = self.shape(returns, params)?;
        functions.retain(|n| {
            let function = self.function_item(*n);
            Shape::new(&function.returns, &function.params).as_ref() == Some(&shape)
        });
        let mut saves = false;
        let mut entries = Vec::new();
        for n in &functions {
            let body = self.body(*n, target.place)?;
            entries.push(self.bodies[body].entry.0);
            saves |= self.comes_back(*n);
        }
        let table = self.branch_table(entries);
        self.out.addresses.resize(table as usize + 1, Vec::new());
        self.out.addresses[table as usize] = functions.into_iter().map(function_address).collect();
        let site = Site { table, address: Some(address), saves, returns, params };
        self.call_site(&site, target.place, results, arguments)
    }

    /// Whether a call of a function may enter the one that is being lowered again.
    fn comes_back(&self, n: usize) -> bool {
        self.activation.as_ref().is_some_and(|activation| self.globals.graph.comes_back(activation.item, n))
    }

    fn branch_table(&mut self, entries: Vec<u32>) -> u32 {
        self.out.branch_tables.push(entries);
        self.out.branch_tables.len() as u32 - 1
    }

    /// The code of a function: its place among the bodies, to be lowered after the kernel.
    fn body(&mut self, n: usize, place: Place) -> Result<usize, Fail> {
        if let Some(known) = self.bodies.iter().position(|body| body.item == n) {
            return Ok(known);
        }
        if self.bodies.len() == MAX_BODIES {
            return Err(Diagnostic::unsupported(place, "too many functions in a kernel")
                .expected(format!("at most {MAX_BODIES} that recurse or are called through their address")));
        }
        let entry = self.label();
        let table = self.branch_table(vec![entry.0]);
        self.bodies.push(CalledBody { item: n, entry, table });
        Ok(self.bodies.len() - 1)
    }

    fn shape(&self, returns: &[ast::Variable], params: &[ast::Variable]) -> Result<Shape, Fail> {
        for variable in returns.iter().chain(params) {
            let layout = layout(variable)?;
            if !in_memory(variable) && layout.scalar.bytes() > 8 {
                return Err(Diagnostic::unsupported(variable.place, "call parameter of this size")
                    .found(format!("{} bytes", layout.scalar.bytes()))
                    .expected("at most 8 bytes, or an array of bytes"));
            }
        }
        Ok(Shape::new(returns, params).expect("every parameter has a layout"))
    }

    /// How functions of a shape are called.
    fn convention(&mut self, shape: Shape) -> usize {
        if let Some(known) = self.conventions.iter().position(|convention| convention.shape == shape) {
            return known;
        }
        let mut registers = |slots: &[Slot]| -> Vec<VReg> {
            slots
                .iter()
                .map(|slot| self.fresh(if *slot == Slot::Scalar(8) { Ty::B64 } else { Ty::B32 }))
                .collect()
        };
        let (arguments, results) = (registers(&shape.params), registers(&shape.returns));
        let link = self.fresh(Ty::U32);
        let sites = self.branch_table(Vec::new());
        self.conventions.push(Convention { shape, arguments, results, link, sites });
        self.conventions.len() - 1
    }

    fn call_site(
        &mut self,
        site: &Site<'a>,
        place: Place,
        results: &'a [Operand],
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        self.sites += 1;
        if self.sites > MAX_SITES {
            return Err(Diagnostic::unsupported(place, "too many calls in a kernel")
                .expected(format!("at most {MAX_SITES} of functions that are not expanded")));
        }
        let shape = self.shape(site.returns, site.params)?;
        let convention = self.convention(shape);
        // All values first: the registers of the convention may carry nothing else meanwhile.
        let mut values = Vec::new();
        for (formal, actual) in site.params.iter().zip(arguments) {
            for value in self.passed(formal, actual)? {
                values.push((self.conventions[convention].arguments[values.len()], value));
            }
        }
        let mut taken = Vec::new();
        let mut slot = 0;
        for (formal, actual) in site.returns.iter().zip(results) {
            let registers = &self.conventions[convention].results[slot..];
            if in_memory(formal) {
                let register = registers[0];
                slot += 1;
                values.extend(self.passed(formal, actual)?.into_iter().map(|value| (register, value)));
            } else {
                let registers = registers[..usize::from(formal.vector)].to_vec();
                slot += registers.len();
                taken.extend(registers.into_iter().zip(self.result(formal, actual)?));
            }
        }
        for (register, value) in values {
            self.copy_whole(register, value);
        }
        let Convention { link, sites, .. } = self.conventions[convention];
        let back = self.label();
        let number = self.out.branch_tables[sites as usize].len() as u64;
        self.out.branch_tables[sites as usize].push(back.0);
        self.copy_whole(link, VSrc::Const(Constant::Bits(number)));
        if site.saves {
            self.pointer();
        }
        let address: Vec<VSrc> = site.address.into_iter().collect();
        self.emit(Op::Call { table: site.table, saves: site.saves }, &[], &address).target = back.0;
        self.place_label(back);
        // Here registers are loaded again, wherever else control may join.
        self.emit(Op::Nop, &[], &[]);
        for (register, to) in taken {
            if let VDst::Reg(to) = to {
                self.copy_whole(to, VSrc::Reg(register, false));
            }
        }
        Ok(())
    }

    /// A register as wide as another gets its bits.
    fn copy_whole(&mut self, to: VReg, from: VSrc) {
        let ty = if self.ty(to).rows() == 2 { Ty::B64 } else { Ty::B32 };
        self.emit(Op::Mov(ty), &[VDst::Reg(to)], &[from]);
    }

    /// What is passed for a parameter: its value, the elements of a vector, or where it lies.
    fn passed(&mut self, formal: &ast::Variable, actual: &'a Operand) -> Result<Vec<VSrc>, Fail> {
        let wanted = layout(formal)?;
        if !in_memory(formal) {
            if let Some(register) = self.argument_of(formal, actual, wanted.bytes)? {
                return Ok(vec![VSrc::Reg(register, false)]);
            }
            return self.fragment(actual, formal.vector.into(), wanted.scalar);
        }
        let OperandKind::Name(name) = actual.kind else {
            return Err(self.wrong_kind(actual, "the name of a `.param` array"));
        };
        match self.scopes.find(name).map(|(_, symbol)| symbol.clone()) {
            Some(Symbol::Local { bytes, .. } | Symbol::Frame { bytes, .. }) if bytes == wanted.bytes => {
                Ok(vec![self.address_value(name, 0, Ty::U32, actual.place)?])
            }
            _ => Err(Diagnostic::invalid(actual.place, "argument does not match its parameter")
                .found(format!("`{}`", self.text(name)))
                .expected(format!("`{}` of {} bytes", self.text(formal.name), wanted.bytes))),
        }
    }

    /// Where a scalar result goes, or the elements of a vector.
    fn result(&mut self, formal: &ast::Variable, actual: &'a Operand) -> Result<Vec<VDst>, Fail> {
        let wanted = layout(formal)?;
        if let Some(register) = self.argument_of(formal, actual, wanted.bytes)? {
            return Ok(vec![VDst::Reg(register)]);
        }
        if matches!(actual.kind, OperandKind::Sink) {
            return Ok(vec![VDst::None; formal.vector.into()]);
        }
        self.fragment_dst(actual, formal.vector.into(), wanted.scalar)
    }

    /// The register of a scalar `.param` that is passed.
    fn argument_of(
        &self,
        formal: &ast::Variable,
        actual: &Operand,
        bytes: u64,
    ) -> Result<Option<VReg>, Fail> {
        let OperandKind::Name(name) = actual.kind else { return Ok(None) };
        let Some((_, Symbol::Argument(register))) = self.scopes.find(name) else { return Ok(None) };
        let found = self.ty(*register).bytes() as u64;
        if found == bytes {
            return Ok(Some(*register));
        }
        Err(Diagnostic::invalid(actual.place, "argument does not match its parameter")
            .found(format!("`{}` of {found} bytes", self.text(name)))
            .expected(format!("`{}` of {bytes} bytes", self.text(formal.name))))
    }

    /// Lowers the functions that the kernel calls, and those that they call, behind its code.
    pub(super) fn called_bodies(&mut self, failures: &mut Vec<Fail>) {
        let mut next = 0;
        while next < self.bodies.len() {
            let CalledBody { item, entry, .. } = self.bodies[next];
            if let Err(failure) = self.called_body(item, entry, failures) {
                failures.push(failure);
            }
            next += 1;
        }
    }

    fn called_body(&mut self, item: usize, entry: Label, failures: &mut Vec<Fail>) -> Result<(), Fail> {
        let function = self.function_item(item);
        self.scopes = Scopes::default();
        self.guard = None;
        self.carry = None;
        self.line = function.place.line;
        self.place_label(entry);
        let shape = self.shape(&function.returns, &function.params)?;
        let convention = self.convention(shape);
        let back = self.fresh(Ty::U32);
        self.copy_whole(back, VSrc::Reg(self.conventions[convention].link, false));
        let base = self.fresh(Ty::U32);
        let recurses = self.globals.graph.recurses(item);
        self.activation = Some(Activation { item, recurses, base, frame_bytes: 0, frame_align: 1 });
        // The frame's size is known when the body is lowered.
        let framed = recurses || self.globals.graph.allocates(item);
        let frame = self.out.code.len();
        let before = self.fresh(Ty::U32);
        for _ in 0..if framed { FRAME_CODE } else { 0 } {
            self.emit(Op::Nop, &[], &[]);
        }
        let first_label = self.labels.len();
        let end = self.label();
        self.frames = vec![Frame { end: Some(end) }];
        self.scopes.open();
        let Convention { arguments, results: returned, .. } = &self.conventions[convention];
        let (mut arguments, mut returned) = (arguments.clone().into_iter(), returned.clone().into_iter());
        for formal in &function.params {
            self.declare_formal(formal, &mut arguments, true)?;
        }
        let mut results = Vec::new();
        for formal in &function.returns {
            let pairs = self.declare_formal(formal, &mut returned, in_memory(formal))?;
            if !in_memory(formal) {
                results.extend(pairs);
            }
        }
        self.scopes.open();
        self.statements(function.body.as_deref().unwrap_or_default(), failures);
        self.drop_last_jump(end.0, first_label);
        self.place_label(end);
        self.guard = None;
        for (register, own) in results {
            self.copy_whole(register, VSrc::Reg(own, false));
        }
        if framed {
            self.frame(frame, before);
        }
        let table = self.conventions[convention].sites;
        self.emit(Op::Return { table }, &[], &[VSrc::Reg(back, false)]);
        self.activation = None;
        Ok(())
    }

    /// A parameter or result of the function that is being lowered: registers of its own, which get what is passed in those of
    /// the convention that are next. Gives the pairs of both.
    fn declare_formal(
        &mut self,
        formal: &ast::Variable,
        from: &mut impl Iterator<Item = VReg>,
        passed: bool,
    ) -> Result<Vec<(VReg, VReg)>, Fail> {
        let layout = layout(formal)?;
        let (ty, count) = if in_memory(formal) { (Ty::U32, 1) } else { elements(formal)? };
        let mut pairs = Vec::with_capacity(count.into());
        for from in from.take(count.into()) {
            let register = self.fresh(ty);
            if passed {
                self.copy_whole(register, VSrc::Reg(from, false));
            }
            pairs.push((from, register));
        }
        let registers: Vec<VReg> = pairs.iter().map(|(_, register)| *register).collect();
        let symbol = if in_memory(formal) {
            Symbol::Frame { base: registers[0], offset: 0, bytes: layout.bytes }
        } else {
            own(formal, registers)
        };
        self.declare(formal.name, formal.place, symbol)?;
        Ok(pairs)
    }

    /// Fills in the entry of a function with a frame, at instruction `at`: where its frame begins, and the stack pointer
    /// behind it. At its end, which is here, the stack is as it was `before`.
    fn frame(&mut self, at: usize, before: VReg) {
        let Some(Activation { base, frame_bytes, frame_align, item, .. }) = self.activation else { return };
        if frame_bytes == 0 && !self.globals.graph.allocates(item) {
            return;
        }
        let pointer = self.pointer();
        let bits = |bits: u32| VSrc::Const(Constant::Bits(u64::from(bits)));
        let align = frame_align.max(8);
        let bytes = frame_bytes.next_multiple_of(8);
        let sum = Op::Int(IntOp::Add, Ty::U32);
        let entry: [(Op, VReg, Vec<VSrc>); FRAME_CODE] = [
            (Op::Mov(Ty::U32), before, vec![VSrc::Reg(pointer, false)]),
            (sum, base, vec![VSrc::Reg(before, false), bits(align - 1)]),
            (Op::Logic(Logic::And, Ty::B32), base, vec![VSrc::Reg(base, false), bits(!(align - 1))]),
            (sum, pointer, vec![VSrc::Reg(base, false), bits(bytes)]),
        ];
        for (n, (op, dst, src)) in entry.into_iter().enumerate() {
            // The stack pointer is a multiple of 8.
            let (op, src) = match (n, align) {
                (1, 8) => (Op::Mov(Ty::U32), vec![VSrc::Reg(before, false)]),
                (2, 8) => continue,
                _ => (op, src),
            };
            let inst = &mut self.out.code[at + n];
            (inst.op, inst.dst, inst.src) = (op, vec![VDst::Reg(dst)], src);
        }
        self.emit(Op::Mov(Ty::U32), &[VDst::Reg(pointer)], &[VSrc::Reg(before, false)]);
    }

    /// The registers that carry what calls pass.
    pub(super) fn shared_registers(&self) -> Vec<VReg> {
        let of = |convention: &Convention| {
            let registers = convention.arguments.iter().chain(&convention.results);
            registers.copied().chain([convention.link]).collect::<Vec<_>>()
        };
        self.conventions.iter().flat_map(of).collect()
    }
}
