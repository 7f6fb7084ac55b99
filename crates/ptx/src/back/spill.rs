//! Values that found no register: rows live in local memory, predicates in a row.

use super::body::{Body, copy, definitions, instruction, uses};
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{CacheOp, Compare, MemoryMode, Op, Ordering, Scope, Space, Ty};

/// Most values spilled to memory: their addresses are constants of the kernel, and there are no more. At 8 bytes each they
/// take the 512 KB of local memory that a thread can have (CUDA C++ Programming Guide, technical specifications per
/// compute capability).
pub const MAX_SPILLS: usize = 65_535;

/// Local memory given to spilled values.
pub struct Slots {
    first: u32,
    next: u32,
    values: usize,
}

impl Slots {
    /// No spills yet; the program itself uses `local_bytes`.
    pub fn new(local_bytes: u32) -> Slots {
        let first = local_bytes.next_multiple_of(8);
        Slots { first, next: first, values: 0 }
    }

    /// Bytes that spills take.
    pub fn bytes(&self) -> u32 {
        self.next - self.first
    }

    /// Local memory of a thread in all.
    pub fn end(&self) -> u32 {
        self.next
    }

    /// Whether there is no place for so many values more.
    pub fn overflow(&self, values: usize) -> bool {
        self.values + values > MAX_SPILLS
    }

    fn take(&mut self, bytes: u32) -> u32 {
        let at = self.next.next_multiple_of(bytes);
        self.next = at + bytes;
        self.values += 1;
        at
    }
}

/// Where a spilled value lives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// Bytes of local memory.
    Memory(u32),
    /// A row that is one where the predicate is true.
    Row(VReg),
}

/// Moves each group of registers (merged by coalescing, so never needed apart) out of the register file. Each
/// use and each definition gets a temporary of its own.
pub fn spill(body: &mut Body, groups: &[Vec<VReg>], slots: &mut Slots) {
    if groups.is_empty() {
        return;
    }
    let mut homes: Vec<Option<Home>> = vec![None; body.registers.len()];
    for group in groups {
        let home = match body.ty(group[0]) {
            Ty::Pred => Home::Row(body.carrier(group[0], Ty::B32)),
            ty => Home::Memory(slots.take(4 * ty.rows() as u32)),
        };
        body.unite(group);
        group.iter().for_each(|reg| homes[reg.0 as usize] = Some(home));
    }
    let home_of = |reg: VReg| homes.get(reg.0 as usize).copied().flatten();
    let mut before: Vec<Vec<VInst>> = Vec::with_capacity(body.code.len());
    let mut after: Vec<Vec<VInst>> = Vec::with_capacity(body.code.len());
    for at in 0..body.code.len() {
        let mut inst = body.code[at].clone();
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        if let Some((dst, src)) = copy(body, &inst)
            && home_of(dst).is_some()
            && home_of(dst) == home_of(src)
        {
            body.code[at] = instruction(Op::Nop, vec![], vec![], inst.line);
            before.push(loads);
            after.push(stores);
            continue;
        }
        let mut renamed: Vec<(VReg, VReg)> = Vec::new();
        // A guarded write keeps the old value in the other lanes, so that value is fetched first.
        let merges = inst.guard.is_some();
        let mut involved: Vec<(VReg, bool, bool)> = Vec::new();
        for reg in uses(&inst) {
            involved.push((reg, true, false));
        }
        for reg in definitions(&inst) {
            match involved.iter_mut().find(|(other, ..)| *other == reg) {
                Some(entry) => entry.2 = true,
                None => involved.push((reg, merges, true)),
            }
        }
        for (reg, read, written) in involved {
            let Some(home) = home_of(reg) else { continue };
            if renamed.iter().any(|(from, _)| *from == reg) {
                continue;
            }
            let ty = body.ty(reg);
            let temporary = body.carrier(reg, ty);
            body.temporary[temporary.0 as usize] = true;
            renamed.push((reg, temporary));
            if read {
                loads.push(fetch(home, temporary, ty, inst.line));
            }
            if written {
                stores.push(keep(home, temporary, ty, inst.line));
            }
        }
        let rename = |reg: &mut VReg| {
            if let Some((_, to)) = renamed.iter().find(|(from, _)| from == reg) {
                *reg = *to;
            }
        };
        if let Some((guard, _)) = &mut inst.guard {
            rename(guard);
        }
        for src in &mut inst.src {
            if let VSrc::Reg(reg, _) = src {
                rename(reg);
            }
        }
        for dst in &mut inst.dst {
            if let VDst::Reg(reg) = dst {
                rename(reg);
            }
        }
        body.code[at] = inst;
        before.push(loads);
        after.push(stores);
    }
    body.weave(before, after);
    body.retain(|_, inst| inst.op != Op::Nop);
}

fn mode(ty: Ty) -> MemoryMode {
    MemoryMode {
        space: Space::Local,
        ty: if ty.rows() == 2 { Ty::B64 } else { Ty::B32 },
        vector: 1,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Cta,
    }
}

fn address(at: u32) -> VSrc {
    VSrc::Const(Constant::Bits(u64::from(at)))
}

fn fetch(home: Home, to: VReg, ty: Ty, line: u32) -> VInst {
    let zero = VSrc::Const(Constant::Bits(0));
    match home {
        Home::Memory(at) => instruction(Op::Load(mode(ty)), vec![VDst::Reg(to)], vec![address(at)], line),
        Home::Row(row) => {
            let test = Op::Setp { cmp: Compare::Ne, ty: Ty::U32, combine: None, ftz: false };
            instruction(test, vec![VDst::Reg(to)], vec![VSrc::Reg(row, false), zero], line)
        }
    }
}

fn keep(home: Home, from: VReg, ty: Ty, line: u32) -> VInst {
    let from = VSrc::Reg(from, false);
    match home {
        Home::Memory(at) => instruction(Op::Store(mode(ty)), vec![], vec![address(at), from], line),
        Home::Row(row) => {
            let bit = |value| VSrc::Const(Constant::Bits(value));
            instruction(Op::Select(Ty::B32), vec![VDst::Reg(row)], vec![bit(1), bit(0), from], line)
        }
    }
}
