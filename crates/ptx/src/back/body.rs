//! The code that the back end works on: a kernel's instructions and registers, and how to edit them.

use super::error::BackError;
use crate::ir::{Function, PrintFormat, VDst, VInst, VReg, VSrc};
use crate::isa::{Flow, MAX_DST, MAX_SRC, Op, Ty, Width};
use std::ops::Range;

/// A kernel under work. Branch targets always lie inside `code`, and control never runs off its end.
#[derive(Clone, Debug)]
pub struct Body {
    /// Instructions.
    pub code: Vec<VInst>,
    /// Types of the virtual registers.
    pub registers: Vec<Ty>,
    /// For each register, one whose value it carries: itself, except that temporaries of spills carry what
    /// was spilled, and registers that share a slot count as one ([`Body::root`]).
    carries: Vec<VReg>,
    /// For each register, whether it only carries a value to or from where it was spilled.
    pub temporary: Vec<bool>,
    /// Targets of `brx.idx`.
    pub tables: Vec<Vec<u32>>,
    /// Formats of prints; they give the widths of a print's operands.
    pub formats: Vec<PrintFormat>,
    /// Whether parameters are loaded where the text loads them ([`parameters`](super::parameters)); else they are operands.
    pub loads_parameters: bool,
}

/// Most targets of all instructions together. ASSUMED: tables of 1,000 targets at 4,000 places.
const MAX_JUMPS: usize = 1 << 22;

impl Body {
    /// Takes a function over, checks every operand against what its operation expects, and ends the code
    /// with an exit.
    pub fn new(function: &Function) -> Result<Body, BackError> {
        let tables = &function.branch_tables;
        let jumps: usize = function.code.iter().map(|inst| table_of(inst, tables).len()).sum();
        if jumps > MAX_JUMPS {
            return Err(BackError::TooLarge {
                what: "targets of indexed branches, calls and returns",
                most: MAX_JUMPS,
            });
        }
        let mut body = Body {
            code: function.code.clone(),
            registers: function.registers.clone(),
            carries: (0..function.registers.len() as u32).map(VReg).collect(),
            temporary: vec![false; function.registers.len()],
            tables: function.branch_tables.clone(),
            formats: function.formats.clone(),
            loads_parameters: false,
        };
        let end = body.code.len() as u32;
        let mut reaches_end = body.code.last().is_none_or(|last| !ends_flow(last));
        for inst in &body.code {
            body.check(inst).map_err(|what| BackError::Malformed {
                kernel: function.name.clone(),
                line: inst.line,
                what,
            })?;
            reaches_end |= targets(inst, &body.tables).any(|target| target == end);
        }
        if reaches_end {
            let line = body.code.last().map_or(1, |last| last.line);
            body.code.push(instruction(Op::Exit, vec![], vec![], line));
        }
        Ok(body)
    }

    fn check(&self, inst: &VInst) -> Result<(), String> {
        if inst.dst.len() > MAX_DST || inst.src.len() > MAX_SRC {
            return Err(format!(
                "{} destinations and {} sources; at most {MAX_DST} and {MAX_SRC} are supported",
                inst.dst.len(),
                inst.src.len()
            ));
        }
        if targets(inst, &self.tables).any(|target| target as usize > self.code.len()) {
            return Err("a branch leaves the kernel".into());
        }
        match inst.op.traits().flow {
            Flow::Indexed { table } if self.tables.get(table as usize).is_none_or(Vec::is_empty) => {
                return Err("an indexed branch without targets".into());
            }
            Flow::Call { table } | Flow::Return { table } if table as usize >= self.tables.len() => {
                return Err("a call without a table".into());
            }
            Flow::Call { table } if inst.src.is_empty() && self.tables[table as usize].len() != 1 => {
                return Err("a call of no single function".into());
            }
            Flow::Call { .. } | Flow::Return { .. } if inst.guard.is_some() => {
                return Err("a guarded call or return".into());
            }
            Flow::Next
            | Flow::Branch
            | Flow::Indexed { .. }
            | Flow::Call { .. }
            | Flow::Return { .. }
            | Flow::End => {}
        }
        if let Some((guard, _)) = inst.guard
            && self.ty(guard) != Ty::Pred
        {
            return Err(format!("guard is a {:?}, not a predicate", self.ty(guard)));
        }
        let destinations = inst.op.traits().dst;
        for (slot, dst) in inst.dst.iter().enumerate() {
            let VDst::Reg(reg) = *dst else { continue };
            let width = destinations.width(slot);
            if width != Width::of(self.ty(reg)) {
                return Err(format!(
                    "destination {slot} of {:?} is a {:?}; it writes {width:?}",
                    inst.op,
                    self.ty(reg)
                ));
            }
        }
        for (slot, src) in inst.src.iter().enumerate() {
            let wants = self.source_width(inst, slot);
            let fits = match (*src, wants) {
                (VSrc::None, _) => true,
                (VSrc::PredConst(_), wants) => wants == Width::Predicate,
                (VSrc::Const(_), Width::Rows(rows)) => rows <= 2,
                (VSrc::Const(_), _) => false,
                (VSrc::Reg(reg, negated), wants) => match (Width::of(self.ty(reg)), wants) {
                    (Width::Rows(has), Width::Rows(reads)) => has >= reads && !negated,
                    (has, wants) => has == wants,
                },
            };
            if !fits {
                return Err(format!("source {slot} of {:?} is {src:?}; it reads {wants:?}", inst.op));
            }
        }
        Ok(())
    }

    /// Type of a register.
    pub fn ty(&self, reg: VReg) -> Ty {
        self.registers[reg.0 as usize]
    }

    /// Width of source `slot` of an instruction.
    pub fn source_width(&self, inst: &VInst, slot: usize) -> Width {
        let Op::Print { format, from } = inst.op else { return inst.op.traits().src.width(slot) };
        let format = self.formats.get(format as usize);
        let argument = format.and_then(|format| format.arguments.get(usize::from(from) + slot));
        argument.map_or(Width::Nothing, |ty| Width::of(*ty))
    }

    /// Whether a register only carries another's value to or from where it was spilled.
    pub fn is_temporary(&self, reg: VReg) -> bool {
        self.temporary[reg.0 as usize]
    }

    /// A fresh register.
    pub fn fresh(&mut self, ty: Ty) -> VReg {
        let reg = VReg(self.registers.len() as u32);
        self.registers.push(ty);
        self.carries.push(reg);
        self.temporary.push(false);
        reg
    }

    /// A fresh register that carries the value of `of`, in its own way when `ty` is another type.
    pub fn carrier(&mut self, of: VReg, ty: Ty) -> VReg {
        let reg = self.fresh(ty);
        self.carries[reg.0 as usize] = self.root(of);
        reg
    }

    /// The register whose value a register carries.
    pub fn root(&self, mut reg: VReg) -> VReg {
        while self.carries[reg.0 as usize] != reg {
            reg = self.carries[reg.0 as usize];
        }
        reg
    }

    /// Makes registers carry one value from now on.
    pub fn unite(&mut self, group: &[VReg]) {
        let one = self.root(group[0]);
        for reg in group {
            let other = self.root(*reg);
            self.carries[other.0 as usize] = one;
        }
    }

    /// Drops the instructions that `keep` refuses; branches to a dropped one go to the next kept one.
    pub fn retain(&mut self, keep: impl Fn(usize, &VInst) -> bool) {
        let mut moved = Vec::with_capacity(self.code.len() + 1);
        let mut kept = 0;
        for (at, inst) in self.code.iter().enumerate() {
            moved.push(kept);
            kept += u32::from(keep(at, inst));
        }
        moved.push(kept);
        let mut at = 0;
        self.code.retain(|_| {
            at += 1;
            moved[at] != moved[at - 1]
        });
        self.retarget(&moved);
    }

    /// Puts `before[n]` ahead of instruction n, where branches to n arrive, and `after[n]` behind it.
    pub fn weave(&mut self, mut before: Vec<Vec<VInst>>, mut after: Vec<Vec<VInst>>) {
        let mut moved = Vec::with_capacity(self.code.len() + 1);
        let mut code = Vec::with_capacity(self.code.len());
        // What is woven in never branches, so only the old instructions are retargeted.
        for (at, inst) in std::mem::take(&mut self.code).into_iter().enumerate() {
            moved.push(code.len() as u32);
            code.append(&mut before[at]);
            code.push(inst);
            code.append(&mut after[at]);
        }
        moved.push(code.len() as u32);
        self.code = code;
        self.retarget(&moved);
    }

    /// Puts code in the place of a block. Its branches count from its first instruction; those to the block go there.
    pub fn splice(&mut self, block: Range<usize>, mut code: Vec<VInst>) {
        let moved: Vec<u32> = (0..=self.code.len())
            .map(|at| if at < block.end { at.min(block.start) } else { at + code.len() - block.len() } as u32)
            .collect();
        self.code.drain(block.clone());
        self.retarget(&moved);
        for inst in code.iter_mut().filter(|inst| inst.op.traits().flow.has_target()) {
            inst.target += block.start as u32;
        }
        self.code.splice(block.start..block.start, code);
    }

    fn retarget(&mut self, moved: &[u32]) {
        for inst in &mut self.code {
            if inst.op.traits().flow.has_target() {
                inst.target = moved[inst.target as usize];
            }
        }
        for target in self.tables.iter_mut().flatten() {
            *target = moved[*target as usize];
        }
    }
}

/// An unguarded instruction without offset or target.
pub fn instruction(op: Op, dst: Vec<VDst>, src: Vec<VSrc>, line: u32) -> VInst {
    VInst { op, guard: None, dst, src, offset: 0, contracts: false, target: 0, line }
}

/// Where an instruction may jump to, in order; falling through is not a jump. A call goes to its functions, and
/// they return to all places that their table lists.
pub fn targets<'a>(inst: &'a VInst, tables: &'a [Vec<u32>]) -> impl Iterator<Item = u32> + 'a {
    let flow = inst.op.traits().flow;
    let one = (flow == Flow::Branch).then_some(inst.target);
    one.into_iter().chain(table_of(inst, tables).iter().copied())
}

/// The branch table that an instruction looks up.
fn table_of<'a>(inst: &VInst, tables: &'a [Vec<u32>]) -> &'a [u32] {
    let table = inst.op.traits().flow.table();
    table.and_then(|table| tables.get(table as usize)).map_or(&[][..], Vec::as_slice)
}

/// Whether control never reaches the next instruction.
pub fn ends_flow(inst: &VInst) -> bool {
    inst.guard.is_none() && inst.op.traits().flow != Flow::Next
}

/// The registers an instruction reads, its guard included, in order and with repetition.
pub fn uses(inst: &VInst) -> impl Iterator<Item = VReg> + '_ {
    inst.guard.iter().map(|(guard, _)| *guard).chain(inst.src.iter().filter_map(|src| match src {
        VSrc::Reg(reg, _) => Some(*reg),
        _ => None,
    }))
}

/// The registers an instruction writes.
pub fn definitions(inst: &VInst) -> impl Iterator<Item = VReg> + '_ {
    inst.dst.iter().filter_map(|dst| match dst {
        VDst::Reg(reg) => Some(*reg),
        VDst::None => None,
    })
}

/// The registers of an instruction that only copies one register to another: destination, then source.
pub fn copy(body: &Body, inst: &VInst) -> Option<(VReg, VReg)> {
    match (inst.op, inst.dst.as_slice(), inst.src.as_slice()) {
        (Op::Mov(_) | Op::PredMov, [VDst::Reg(dst)], [VSrc::Reg(src, false)]) => {
            let same_width = Width::of(body.ty(*dst)) == Width::of(body.ty(*src));
            same_width.then_some((*dst, *src))
        }
        _ => None,
    }
}
