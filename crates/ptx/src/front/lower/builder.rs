//! A kernel under construction: registers, labels, code, and the walk over statements.

use super::dispatch;
use super::function::{Activation, CalledBody, Convention};
use super::scope::{Label, Scopes, Symbol};
use super::variables::Globals;
use crate::front::ast::{self, DeclSpace, DeclType, Instruction, Linkage, Module, Name, Place, Statement};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::layout;
use crate::ir::{Constant, Function, VDst, VInst, VReg, VSrc};
use crate::isa::{Op, Ty};

/// Most instructions of a kernel after calls are expanded.
const MAX_CODE: usize = 1 << 22;

/// Most calls expanded in a kernel: functions that call each other twice multiply without adding code.
const MAX_EXPANSIONS: u32 = 1 << 16;

/// Deepest nesting of scopes and calls together: what the walk's own stack can carry.
const MAX_NESTING: u32 = 200;

/// Most failures reported of one kernel.
const MAX_FAILURES: usize = 32;

/// Most bytes of local memory a thread and of shared memory a CTA.
const MAX_WINDOW: u64 = 1 << 30;

/// Stands for the first byte of dynamic shared memory until the static part is laid out.
pub(super) const DYNAMIC_SHARED: u32 = u32::MAX;

/// A function whose body is being lowered: around expanded ones stands the kernel, or a function with code of its own.
pub(super) struct Frame {
    /// Where `ret` goes; nothing in a kernel, whose threads end.
    pub end: Option<Label>,
}

/// A kernel under construction.
pub(super) struct Builder<'a> {
    pub module: &'a Module,
    pub globals: &'a Globals,
    pub out: Function,
    pub scopes: Scopes,
    pub frames: Vec<Frame>,
    /// Instruction index of each label.
    pub labels: Vec<Option<u32>>,
    /// The carry flag of `add.cc` and its kin, once used.
    pub carry: Option<VReg>,
    /// Registers that a print relies on being written once.
    pub single: Vec<(VReg, Place)>,
    /// Condition of the instruction being lowered.
    pub guard: Option<(VReg, bool)>,
    /// Its line.
    pub line: u32,
    /// Scopes and calls around it.
    pub nesting: u32,
    /// Calls expanded so far.
    pub expansions: u32,
    /// What indirect calls are told.
    pub hints: Vec<&'a ast::CallHint>,
    /// Functions with code of their own, in the order of their first call.
    pub bodies: Vec<CalledBody>,
    /// How they are called, by shape.
    pub conventions: Vec<Convention>,
    /// The one whose body is being lowered.
    pub activation: Option<Activation>,
    /// The stack pointer, once used.
    pub pointer: Option<VReg>,
    /// Calls of such functions so far.
    pub sites: usize,
    /// Module-level `.shared` variables given a place so far, in order of first use.
    shared: Vec<(usize, u32)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(module: &'a Module, globals: &'a Globals) -> Self {
        let out = Function {
            name: String::new(),
            code: Vec::new(),
            registers: Vec::new(),
            names: Vec::new(),
            branch_tables: Vec::new(),
            addresses: Vec::new(),
            stack: None,
            params: Vec::new(),
            shared_bytes: 0,
            local_bytes: 0,
            launch_bounds: Default::default(),
            formats: Vec::new(),
            assertions: Vec::new(),
            rolled: Vec::new(),
            sources: module.sources.clone(),
        };
        Builder {
            module,
            globals,
            out,
            scopes: Scopes::default(),
            frames: Vec::new(),
            labels: Vec::new(),
            carry: None,
            single: Vec::new(),
            guard: None,
            line: 0,
            nesting: 0,
            expansions: 0,
            hints: Vec::new(),
            bodies: Vec::new(),
            conventions: Vec::new(),
            activation: None,
            pointer: None,
            sites: 0,
            shared: Vec::new(),
        }
    }

    /// Lowers a kernel; nothing when it failed.
    pub(super) fn kernel(
        mut self,
        function: &'a ast::Function,
        failures: &mut Vec<Fail>,
    ) -> Option<Function> {
        let before = failures.len();
        self.out.name = self.text(function.name).to_string();
        self.frames.push(Frame { end: None });
        self.scopes.open();
        let head = self.kernel_params(function).and_then(|()| self.launch_bounds(function));
        failures.extend(head.err());
        self.scopes.open();
        self.statements(function.body.as_deref().unwrap_or_default(), failures);
        self.scopes.close();
        self.scopes.close();
        if failures.len() == before {
            self.line = self.out.code.last().map_or(function.place.line, |last| last.line);
            self.end_code();
        }
        self.called_bodies(failures);
        if failures.len() == before {
            failures.extend(self.finish().err());
        }
        (failures.len() == before).then_some(self.out)
    }

    /// The text of a name.
    pub(super) fn text(&self, name: Name) -> &'a str {
        self.module.names.text(name)
    }

    /// A fresh register.
    pub(super) fn fresh(&mut self, ty: Ty) -> VReg {
        self.out.registers.push(ty);
        VReg(self.out.registers.len() as u32 - 1)
    }

    /// A fresh register with a name in the text.
    pub(super) fn named(&mut self, ty: Ty, name: impl Into<String>) -> VReg {
        let register = self.fresh(ty);
        self.out.names.push((register, name.into()));
        register
    }

    /// The type of a register.
    pub(super) fn ty(&self, register: VReg) -> Ty {
        self.out.registers[register.0 as usize]
    }

    /// A fresh label, not yet placed.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places a label here.
    pub(super) fn place_label(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.out.code.len() as u32);
    }

    /// Adds an instruction under the current guard.
    pub(super) fn emit(&mut self, op: Op, dst: &[VDst], src: &[VSrc]) -> &mut VInst {
        let guard = self.guard;
        self.emit_guarded(guard, op, dst, src)
    }

    /// Adds an instruction that every lane may do: it has no effect but on a fresh register.
    pub(super) fn emit_always(&mut self, op: Op, dst: &[VDst], src: &[VSrc]) -> &mut VInst {
        self.emit_guarded(None, op, dst, src)
    }

    pub(super) fn emit_guarded(
        &mut self,
        guard: Option<(VReg, bool)>,
        op: Op,
        dst: &[VDst],
        src: &[VSrc],
    ) -> &mut VInst {
        self.out.code.push(VInst {
            op,
            guard,
            dst: dst.to_vec(),
            src: src.to_vec(),
            offset: 0,
            contracts: false,
            target: 0,
            line: self.line,
        });
        self.out.code.last_mut().expect("an instruction was pushed")
    }

    /// Local memory: in a place of its own, or in the frame of a function that each activation of it has anew.
    pub(super) fn storage(&mut self, bytes: u64, align: u32, place: Place) -> Result<Symbol, Fail> {
        if let Some(activation) = &mut self.activation
            && activation.recurses
        {
            let offset = allocate(&mut activation.frame_bytes, bytes, align, place, "local")?;
            activation.frame_align = activation.frame_align.max(align);
            return Ok(Symbol::Frame { base: activation.base, offset, bytes });
        }
        let offset = allocate(&mut self.out.local_bytes, bytes, align, place, "local")?;
        Ok(Symbol::Local { offset, bytes })
    }

    /// Lowers statements; labels of this scope are known before, so that branches may go forward.
    pub(super) fn statements(&mut self, statements: &'a [Statement], failures: &mut Vec<Fail>) {
        for statement in statements {
            let (name, place) = match statement {
                Statement::Label(name, place) => (name, place),
                Statement::BranchTargets { name, place, .. } => (name, place),
                Statement::CallHint { name, place, .. } => (name, place),
                _ => continue,
            };
            let symbol = match statement {
                Statement::Label(..) => Symbol::Label(self.label()),
                Statement::CallHint { hint, .. } => {
                    self.hints.push(hint);
                    Symbol::Hint(self.hints.len() - 1)
                }
                _ => {
                    self.out.branch_tables.push(Vec::new());
                    Symbol::Targets(self.out.branch_tables.len() as u32 - 1)
                }
            };
            failures.extend(self.declare(*name, *place, symbol).err());
        }
        let many = failures.len() + MAX_FAILURES;
        for statement in statements {
            if failures.len() >= many {
                return;
            }
            match statement {
                Statement::Label(name, _) => {
                    if let Some((_, Symbol::Label(label))) = self.scopes.find(*name) {
                        let label = *label;
                        self.place_label(label);
                    }
                }
                Statement::Variable(variable) => failures.extend(self.variable(variable).err()),
                Statement::Block(inner) => {
                    let place = Place { line: self.line.max(1), column: 1 };
                    if let Err(failure) = self.enter(place) {
                        failures.push(failure);
                        return;
                    }
                    self.scopes.open();
                    self.statements(inner, failures);
                    self.scopes.close();
                    self.nesting -= 1;
                }
                Statement::BranchTargets { name, labels, .. } => {
                    failures.extend(self.branch_targets(*name, labels).err());
                }
                Statement::CallHint { .. } => {}
                Statement::NoUnroll(place) => self.out.rolled.push(place.line),
                Statement::Instruction(instruction) => {
                    let step = self.instruction(instruction, failures);
                    failures.extend(step.err());
                    if self.out.code.len() > MAX_CODE {
                        failures.push(
                            Diagnostic::unsupported(
                                instruction.place,
                                "kernel too long after expanding calls",
                            )
                            .expected(format!("at most {MAX_CODE} instructions")),
                        );
                        return;
                    }
                }
            }
        }
    }

    fn instruction(&mut self, instruction: &'a Instruction, failures: &mut Vec<Fail>) -> Result<(), Fail> {
        self.line = instruction.place.line;
        self.guard = match instruction.guard {
            Some(guard) => Some((self.predicate_register(guard.name, guard.place)?, guard.negated)),
            None => None,
        };
        dispatch::instruction(self, instruction, failures)
    }

    /// Goes one scope or call deeper.
    pub(super) fn enter(&mut self, place: Place) -> Result<(), Fail> {
        if self.nesting == MAX_NESTING {
            return Err(Diagnostic::unsupported(place, "scopes and calls nested too deeply")
                .expected(format!("at most {MAX_NESTING} levels")));
        }
        self.nesting += 1;
        Ok(())
    }

    /// Counts an expansion of a call.
    pub(super) fn count_expansion(&mut self, place: Place) -> Result<(), Fail> {
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            return Err(Diagnostic::unsupported(place, "too many calls in a kernel")
                .expected(format!("at most {MAX_EXPANSIONS} calls when each is expanded")));
        }
        Ok(())
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: Name, place: Place, symbol: Symbol) -> Result<(), Fail> {
        if self.scopes.declare(name, symbol) {
            return Ok(());
        }
        Err(Diagnostic::invalid(place, "duplicate definition")
            .found(format!("`{}`", self.text(name)))
            .expected("a name that its scope does not have yet"))
    }

    fn variable(&mut self, variable: &'a ast::Variable) -> Result<(), Fail> {
        let symbol = match variable.space {
            DeclSpace::Reg => self.declared_register(variable)?,
            DeclSpace::Local => {
                let layout = layout(variable)?;
                self.storage(layout.bytes, layout.align, variable.place)?
            }
            // Dynamic shared memory belongs to the module wherever it is declared.
            DeclSpace::Shared if variable.linkage == Linkage::Extern => return Ok(()),
            DeclSpace::Shared => {
                let layout = layout(variable)?;
                let bytes = &mut self.out.shared_bytes;
                Symbol::Shared {
                    offset: allocate(bytes, layout.bytes, layout.align, variable.place, "shared")?,
                }
            }
            DeclSpace::Param => self.argument(variable)?,
            // Variables of the module may be declared in a body; they were gathered before.
            DeclSpace::Global | DeclSpace::Const => return Ok(()),
            DeclSpace::Opaque => Symbol::Inert("a texture, sampler or surface"),
        };
        self.declare(variable.name, variable.place, symbol)
    }

    fn declared_register(&mut self, variable: &ast::Variable) -> Result<Symbol, Fail> {
        let DeclType::Scalar(ty) = variable.ty else {
            return Err(Diagnostic::invalid(variable.place, "register of an opaque type"));
        };
        if !variable.dims.is_empty() {
            return Ok(Symbol::Register(self.register_array(variable, ty)?));
        }
        Ok(match (variable.range, variable.vector) {
            (Some(count), _) => Symbol::Range { ty, count },
            (None, 1) => Symbol::Register(self.named(ty, self.text(variable.name))),
            (None, elements) => Symbol::Vector(
                (0..usize::from(elements))
                    .map(|lane| {
                        let component = ["x", "y", "z", "w"].get(lane).copied().unwrap_or("?");
                        self.named(ty, format!("{}.{component}", self.text(variable.name)))
                    })
                    .collect(),
            ),
        })
    }

    /// Window offset of the n-th module-level shared variable: only those that a kernel names take space.
    pub(super) fn module_shared(&mut self, n: usize) -> Result<u32, Fail> {
        if let Some((_, offset)) = self.shared.iter().find(|(known, _)| *known == n) {
            return Ok(*offset);
        }
        let shared = &self.globals.shared[n];
        let offset =
            allocate(&mut self.out.shared_bytes, shared.bytes, shared.align, shared.place, "shared")?;
        self.shared.push((n, offset));
        Ok(offset)
    }

    /// Ends the kernel's own code.
    fn end_code(&mut self) {
        let ends = matches!(
            self.out.code.last(),
            Some(VInst { op: Op::Exit | Op::Trap | Op::Branch { .. }, guard: None, .. })
        );
        let end = Some(self.out.code.len() as u32);
        if !ends || self.labels.contains(&end) {
            self.emit_always(Op::Exit, &[], &[]);
        }
    }

    /// Resolves labels.
    fn finish(&mut self) -> Result<(), Fail> {
        self.place_stack();
        for inst in &mut self.out.code {
            if matches!(inst.op, Op::Branch { .. } | Op::Call { .. }) {
                inst.target = self.labels[inst.target as usize].expect("a label's scope was lowered whole");
            }
        }
        for target in self.out.branch_tables.iter_mut().flatten() {
            *target = self.labels[*target as usize].expect("a label's scope was lowered whole");
        }
        self.place_dynamic_shared();
        self.check_single()
    }

    /// Dynamic shared memory begins where static shared memory ends, which is known only now.
    fn place_dynamic_shared(&mut self) {
        let start = self.out.shared_bytes.next_multiple_of(16);
        for src in self.out.code.iter_mut().flat_map(|inst| &mut inst.src) {
            if let VSrc::Const(constant @ Constant::Symbol { symbol: DYNAMIC_SHARED, .. }) = src
                && let Constant::Symbol { addend, .. } = *constant
            {
                self.out.shared_bytes = start;
                *constant = Constant::Bits(u64::from(start).wrapping_add_signed(addend));
            }
        }
    }
}

/// Takes bytes from a segment that grows.
fn allocate(used: &mut u32, bytes: u64, align: u32, place: Place, what: &str) -> Result<u32, Fail> {
    let offset = used.next_multiple_of(align.max(1));
    let end = u64::from(offset).saturating_add(bytes);
    if end > MAX_WINDOW {
        return Err(Diagnostic::invalid(place, format!("too much {what} memory"))
            .found(format!("{end} bytes"))
            .expected(format!("at most {MAX_WINDOW} bytes")));
    }
    *used = end as u32;
    Ok(offset)
}
