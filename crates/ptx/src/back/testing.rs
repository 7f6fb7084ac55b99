//! Programs for the tests, and two interpreters of one lane: over virtual registers and over decoded code.

use super::Options;
use super::body::instruction;
use crate::ir::{Constant, Function, LaunchBounds, VDst, VInst, VReg, VSrc};
use crate::isa::{
    CacheOp, Compare, Dst, Guard, IntOp, Logic, MemoryMode, Op, Ordering, Part, Scope, Space, Src, Ty,
};
use crate::program::Kernel;
use std::collections::BTreeMap;

/// A kernel without parameters.
pub fn function(code: Vec<VInst>, registers: Vec<Ty>) -> Function {
    Function {
        name: "test".into(),
        code,
        registers,
        names: Vec::new(),
        branch_tables: Vec::new(),
        addresses: Vec::new(),
        stack: None,
        params: Vec::new(),
        shared_bytes: 0,
        local_bytes: 4,
        launch_bounds: LaunchBounds::default(),
        formats: Vec::new(),
        assertions: Vec::new(),
        rolled: Vec::new(),
        sources: Vec::new(),
    }
}

/// 32-bit addition.
pub const ADD: Op = Op::Int(IntOp::Add, Ty::U32);
/// 64-bit addition.
pub const ADD64: Op = Op::Int(IntOp::Add, Ty::U64);
/// Comparison of 32-bit numbers.
pub const LESS: Op = Op::Setp { cmp: Compare::Lt, ty: Ty::U32, combine: None, ftz: false };

/// Nothing reserved and nothing to spare, so that counts are the fewest.
pub fn plain() -> Options {
    Options { reserved_registers: 0, register_unit: 1, sm_threads: u32::MAX, ..Options::default() }
}

/// The same with fewer registers and predicates.
pub fn options(registers: u32, predicates: u32) -> Options {
    Options { max_registers: registers, max_predicates: predicates, ..plain() }
}

/// An instruction on registers.
pub fn inst(op: Op, dst: &[u32], src: &[VSrc]) -> VInst {
    instruction(op, dst.iter().map(|reg| VDst::Reg(VReg(*reg))).collect(), src.to_vec(), 1)
}

/// A register operand.
pub fn reg(reg: u32) -> VSrc {
    VSrc::Reg(VReg(reg), false)
}

/// An immediate.
pub fn bits(bits: u64) -> VSrc {
    VSrc::Const(Constant::Bits(bits))
}

/// A jump; guarded when `guard` is given.
pub fn branch(target: u32, guard: Option<(u32, bool)>) -> VInst {
    let mut branch = inst(Op::Branch { uniform: false }, &[], &[]);
    branch.guard = guard.map(|(reg, negated)| (VReg(reg), negated));
    branch.target = target;
    branch
}

/// The end of a thread.
pub fn exit() -> VInst {
    inst(Op::Exit, &[], &[])
}

/// A plain access of one element.
pub fn mode(space: Space, ty: Ty) -> MemoryMode {
    MemoryMode { space, ty, vector: 1, cache: CacheOp::All, ordering: Ordering::Weak, scope: Scope::Gpu }
}

/// `st.global`.
pub fn store(address: VSrc, ty: Ty, value: VSrc) -> VInst {
    inst(Op::Store(mode(Space::Global, ty)), &[], &[address, value])
}

/// One store to global memory: address and value.
pub type Output = (u64, u64);

/// How far an interpreter goes.
const STEPS: usize = 4_000;
const OUTPUTS: usize = 200;

/// Bits of a constant in a launch where symbol s lies at (s + 1) << 32 and parameters hold their offset.
fn launched(constant: Constant, rows: usize) -> u64 {
    let value = match constant {
        Constant::Bits(bits) => bits,
        Constant::Symbol { symbol, addend } => (u64::from(symbol + 1) << 32).wrapping_add_signed(addend),
        Constant::Param { offset } => parameter(offset),
        Constant::StackBase => 0,
    };
    if rows == 1 { value & 0xffff_ffff } else { value }
}

fn parameter(offset: u32) -> u64 {
    let word = |at: u32| u64::from(at.wrapping_mul(0x9e37_79b9) | 1);
    word(offset) | word(offset + 4) << 32
}

fn cut(value: u64, ty: Ty) -> u64 {
    if ty.bytes() == 8 { value } else { value & ((1 << (8 * ty.bytes())) - 1) }
}

/// Bits as a number of an integer type.
fn number(value: u64, ty: Ty) -> i128 {
    let unused = 64 - 8 * ty.bytes() as u32;
    if ty.is_signed() { i128::from((value << unused) as i64 >> unused) } else { i128::from(cut(value, ty)) }
}

/// Shared and local memory, zero at first; addresses are 32 bits.
#[derive(Default)]
struct Memory {
    bytes: BTreeMap<(bool, u32), u8>,
}

impl Memory {
    fn load(&self, space: Space, address: u64) -> u64 {
        let byte = |n: u32| {
            let at = (space == Space::Shared, (address as u32).wrapping_add(n));
            u64::from(self.bytes.get(&at).copied().unwrap_or(0)) << (8 * n)
        };
        (0..8).map(byte).sum()
    }

    fn store(&mut self, space: Space, address: u64, value: u64, bytes: usize) {
        for (n, byte) in value.to_le_bytes().into_iter().take(bytes).enumerate() {
            self.bytes.insert((space == Space::Shared, (address as u32).wrapping_add(n as u32)), byte);
        }
    }
}

/// What the operations that the generator uses do.
fn evaluate(op: &Op, src: &[u64], memory: &mut Memory, offset: i64) -> Vec<u64> {
    match *op {
        Op::Mov(ty) => vec![cut(src[0], ty)],
        Op::PredMov => vec![src[0]],
        Op::PredNot => vec![src[0] ^ 1],
        Op::PredLogic(Logic::Xor) => vec![src[0] ^ src[1]],
        Op::Int(IntOp::Add, ty) => vec![cut(src[0].wrapping_add(src[1]), ty)],
        Op::Int(IntOp::Sub, ty) => vec![cut(src[0].wrapping_sub(src[1]), ty)],
        Op::Int(op @ (IntOp::Min | IntOp::Max), ty) => {
            let least = number(src[0], ty) < number(src[1], ty);
            vec![cut(if least == (op == IntOp::Min) { src[0] } else { src[1] }, ty)]
        }
        Op::Shl(ty) => vec![cut(src[0].checked_shl(src[1] as u32).unwrap_or(0), ty)],
        Op::Mad { part: Part::Wide, .. } => {
            vec![(src[0] & 0xffff_ffff).wrapping_mul(src[1] & 0xffff_ffff).wrapping_add(src[2])]
        }
        Op::Mul(Part::Wide, _) => vec![(src[0] & 0xffff_ffff).wrapping_mul(src[1] & 0xffff_ffff)],
        // What narrowing makes of the two above.
        Op::Mad { part: Part::Lo, ty, .. } => vec![cut(src[0].wrapping_mul(src[1]).wrapping_add(src[2]), ty)],
        Op::Mul(Part::Lo, ty) => vec![cut(src[0].wrapping_mul(src[1]), ty)],
        Op::Cvta { .. } => vec![src[0]],
        Op::Select(ty) => vec![cut(if src[2] != 0 { src[0] } else { src[1] }, ty)],
        Op::Pack { .. } => vec![src[0] & 0xffff_ffff | src[1] << 32],
        Op::Unpack { .. } => vec![src[0] & 0xffff_ffff, src[0] >> 32],
        Op::Setp { cmp, ty, .. } => {
            let (left, right) = (number(src[0], ty), number(src[1], ty));
            let holds = match cmp {
                Compare::Lt => left < right,
                Compare::Le => left <= right,
                Compare::Gt => left > right,
                Compare::Ge => left >= right,
                Compare::Ne => left != right,
                _ => panic!("the generator makes no such comparison"),
            };
            vec![u64::from(holds), u64::from(!holds)]
        }
        Op::Load(mode) if mode.space == Space::Param => {
            vec![cut(parameter(src[0].wrapping_add_signed(offset) as u32), mode.ty)]
        }
        Op::Load(mode) => {
            let place = |n: u8| offset + i64::from(n) * mode.ty.bytes() as i64;
            let load = |n| cut(memory.load(mode.space, src[0].wrapping_add_signed(place(n))), mode.ty);
            (0..mode.vector).map(load).collect()
        }
        Op::Store(mode) => {
            for (n, value) in src[1..].iter().take(mode.vector.into()).enumerate() {
                let place = offset + (n * mode.ty.bytes()) as i64;
                memory.store(mode.space, src[0].wrapping_add_signed(place), *value, mode.ty.bytes());
            }
            Vec::new()
        }
        _ => panic!("the generator makes no {op:?}"),
    }
}

/// Runs a function as written.
pub fn run_virtual(function: &Function) -> Vec<Output> {
    let mut values = vec![0u64; function.registers.len()];
    let (mut pc, mut outputs, mut memory) = (0, Vec::new(), Memory::default());
    for _ in 0..STEPS {
        let Some(inst) = function.code.get(pc) else { break };
        pc += 1;
        if inst.guard.is_some_and(|(guard, negated)| (values[guard.0 as usize] != 0) == negated) {
            continue;
        }
        let rows = |slot: usize| match inst.op {
            Op::Store(mode) if slot > 0 => mode.ty.rows(),
            _ => 2,
        };
        let src: Vec<u64> = inst
            .src
            .iter()
            .enumerate()
            .map(|(slot, src)| match *src {
                VSrc::Reg(reg, negated) => values[reg.0 as usize] ^ u64::from(negated),
                VSrc::Const(constant) => launched(constant, rows(slot)),
                VSrc::PredConst(set) => u64::from(set),
                VSrc::None => 0,
            })
            .collect();
        match inst.op {
            Op::Branch { .. } => pc = inst.target as usize,
            Op::BranchIndexed { table } => {
                pc = function.branch_tables[table as usize][src[0] as usize] as usize;
            }
            Op::Exit => break,
            Op::Store(mode) if mode.space == Space::Global => {
                outputs.push((src[0].wrapping_add_signed(inst.offset), cut(src[1], mode.ty)));
            }
            ref op => {
                for (dst, value) in inst.dst.iter().zip(evaluate(op, &src, &mut memory, inst.offset)) {
                    if let VDst::Reg(reg) = dst {
                        values[reg.0 as usize] = value;
                    }
                }
            }
        }
        if outputs.len() == OUTPUTS {
            break;
        }
    }
    outputs
}

/// Runs decoded code; operands come through the lists that the operand collectors use.
pub fn run_decoded(kernel: &Kernel) -> Vec<Output> {
    let mut rows = [0xdead_beefu32; 256];
    let mut predicates = 0u32;
    let (mut pc, mut outputs, mut memory) = (0, Vec::new(), Memory::default());
    for _ in 0..STEPS {
        let Some(inst) = kernel.code.get(pc) else { panic!("control ran off the end") };
        pc += 1;
        let holds = match inst.guard {
            Guard::Always => true,
            Guard::If(p) => predicates >> p.0 & 1 == 1,
            Guard::IfNot(p) => predicates >> p.0 & 1 == 0,
        };
        if !holds {
            continue;
        }
        let wide = |slot: usize| match inst.op {
            Op::Mov(ty) | Op::Int(_, ty) | Op::Shl(ty) | Op::Setp { ty, .. } => ty.bytes() == 8,
            Op::Select(ty) => slot < 2 && ty.bytes() == 8,
            Op::Unpack { .. } | Op::Cvta { .. } => true,
            Op::Mad { part: Part::Wide, .. } => slot == 2,
            Op::Store(mode) if slot > 0 => mode.ty.bytes() == 8,
            Op::Store(mode) | Op::Load(mode) => mode.space == Space::Global,
            _ => false,
        };
        let fetch = |slot: usize| match inst.src[slot] {
            Src::None => 0,
            Src::Reg(_) => {
                let at = inst.row_of[slot] as usize;
                let word = |half: usize| u64::from(rows[inst.reads.as_slice()[at + half].0 as usize]);
                if wide(slot) { word(0) | word(1) << 32 } else { word(0) }
            }
            Src::Const(at) => {
                let word = |half: usize| {
                    let row = kernel.constants[at as usize + half];
                    assert_eq!(usize::from(row.half), half);
                    launched(row.value, 2) >> (32 * half) & 0xffff_ffff
                };
                if wide(slot) { word(0) | word(1) << 32 } else { word(0) }
            }
            Src::Pred(p, negated) => u64::from((predicates >> p.0 & 1 == 1) ^ negated),
            Src::PredConst(set) => u64::from(set),
        };
        let src: Vec<u64> = (0..inst.src.len()).map(fetch).collect();
        match inst.op {
            Op::Branch { .. } => pc = inst.target as usize,
            Op::BranchIndexed { table } => {
                pc = kernel.branch_tables[table as usize][src[0] as usize] as usize;
            }
            Op::Exit => break,
            Op::Store(mode) if mode.space == Space::Global => {
                outputs.push((src[0].wrapping_add_signed(inst.offset), cut(src[1], mode.ty)));
            }
            ref op => {
                let results = evaluate(op, &src, &mut memory, inst.offset);
                let mut written = 0;
                for (slot, value) in results.into_iter().enumerate() {
                    match inst.dst[slot] {
                        Dst::None => (),
                        Dst::Pred(p) => predicates = predicates & !(1 << p.0) | (value as u32 & 1) << p.0,
                        Dst::Reg(reg) => {
                            let count = op.traits().dst.width(slot).rows();
                            for half in 0..count {
                                let row = inst.writes.as_slice()[written];
                                assert_eq!(usize::from(row.0), usize::from(reg.0) + half);
                                rows[row.0 as usize] = (value >> (32 * half)) as u32;
                                written += 1;
                            }
                        }
                    }
                }
            }
        }
        if outputs.len() == OUTPUTS {
            break;
        }
    }
    outputs
}
