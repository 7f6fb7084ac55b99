//! From allocated code to the instructions that a machine issues.

use super::accesses::{Accesses, Numbers};
use super::allocate::Allocation;
use super::arrays;
use super::body::{Body, copy};
use super::cfg::Cfg;
use super::constant::Key;
use super::dominance::reconvergence;
use super::error::BackError;
use super::limits::Options;
use super::waits;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{Dst, Flow, Guard, Instruction, MAX_ROWS, Op, PC_NONE, Pc, PredReg, Reg, Src, Ty, Width};
use crate::program::ConstantRow;
use std::collections::BTreeMap;

/// Decoded code.
pub struct Decoded {
    /// Instructions.
    pub code: Vec<Instruction>,
    /// Their constants.
    pub constants: Vec<ConstantRow>,
    /// Targets of indexed branches.
    pub branch_tables: Vec<Vec<Pc>>,
    /// What each instruction accesses; empty if that is the rows of its operands.
    pub accesses: Vec<Accesses>,
}

/// Drops copies whose two sides share a place, and packs and unpacks that leave everything where it is.
pub fn drop_idle_moves(allocation: &mut Allocation) {
    let Allocation { body, places, .. } = allocation;
    let place = |reg: &VReg| places[reg.0 as usize];
    let idle: Vec<bool> = body.code.iter().map(|inst| is_idle(body, inst, &place)).collect();
    body.retain(|at, _| !idle[at]);
}

fn is_idle(body: &Body, inst: &VInst, place: &impl Fn(&VReg) -> u16) -> bool {
    if let Some((dst, src)) = copy(body, inst) {
        return place(&dst) == place(&src);
    }
    let pieces_at = |whole: &VReg, pieces: &mut dyn Iterator<Item = Option<VReg>>| {
        pieces.enumerate().all(|(half, piece)| piece.is_some_and(|p| place(&p) == place(whole) + half as u16))
    };
    match inst.op {
        Op::Pack { whole, pieces: 2 } if whole.bytes() == 8 => match &inst.dst[0] {
            VDst::Reg(reg) => pieces_at(
                reg,
                &mut inst.src.iter().map(|src| match src {
                    VSrc::Reg(reg, _) => Some(*reg),
                    _ => None,
                }),
            ),
            VDst::None => true,
        },
        Op::Unpack { whole, pieces: 2 } if whole.bytes() == 8 => match &inst.src[0] {
            VSrc::Reg(reg, _) => pieces_at(
                reg,
                &mut inst.dst.iter().map(|dst| match dst {
                    VDst::Reg(reg) => Some(*reg),
                    VDst::None => None,
                }),
            ),
            _ => false,
        },
        _ => false,
    }
}

/// Decodes an allocation for a machine.
pub fn decode(allocation: &Allocation, options: &Options) -> Result<Decoded, BackError> {
    let body = &allocation.body;
    let cfg = Cfg::of_functions(body);
    let meets = reconvergence(body, &cfg);
    let mut constants = Constants::default();
    let code = body.code.iter().enumerate().map(|(at, inst)| {
        let reconverge = match inst.op.traits().flow {
            Flow::Branch | Flow::Indexed { .. } | Flow::Call { .. } => meets[cfg.block_of[at].index()],
            Flow::Next | Flow::Return { .. } | Flow::End => PC_NONE,
        };
        instruction(allocation, inst, reconverge, &mut constants)
    });
    let mut code: Vec<Instruction> = code.collect::<Result<_, _>>()?;
    if options.independent_threads {
        for (instruction, yields) in code.iter_mut().zip(waits::turns(body, &cfg)) {
            instruction.yields = yields;
            instruction.gathers = instruction.op.members().is_some();
        }
    }
    let accesses = if options.accesses.are_rows() {
        Vec::new()
    } else {
        let numbers = Numbers::new(allocation, options.accesses);
        body.code.iter().map(|inst| numbers.accesses(inst)).collect()
    };
    Ok(Decoded { code, constants: constants.rows, branch_tables: body.tables.clone(), accesses })
}

fn instruction(
    allocation: &Allocation,
    inst: &VInst,
    reconverge: Pc,
    constants: &mut Constants,
) -> Result<Instruction, BackError> {
    let body = &allocation.body;
    let traits = inst.op.traits();
    let mut out = Instruction {
        offset: inst.offset,
        target: if traits.flow.has_target() { inst.target } else { PC_NONE },
        reconverge,
        line: inst.line,
        ..Instruction::new(if arrays::known_element(inst).is_some() { Op::Mov(Ty::B32) } else { inst.op })
    };
    if let Some((guard, negated)) = inst.guard {
        let register = PredReg(allocation.place(guard));
        out.guard = if negated { Guard::IfNot(register) } else { Guard::If(register) };
        out.pred_reads |= 1 << register.0;
    }
    if let Some(number) = arrays::known_element(inst) {
        element_move(allocation, inst, number, constants, &mut out)?;
        return Ok(out);
    }
    let mut wide: Vec<(usize, usize, u8)> = Vec::new();
    let mut array = None;
    for (slot, src) in inst.src.iter().enumerate() {
        let width = body.source_width(inst, slot);
        out.src[slot] = match *src {
            VSrc::None => Src::None,
            VSrc::PredConst(set) => Src::PredConst(set),
            VSrc::Const(constant) => Src::Const(constants.place(constant, width)?),
            VSrc::Reg(reg, negated) if width == Width::Predicate => {
                let register = PredReg(allocation.place(reg));
                out.pred_reads |= 1 << register.0;
                Src::Pred(register, negated)
            }
            VSrc::Reg(reg, _) if matches!(body.ty(reg), Ty::Array(_)) => {
                let first = allocation.place(reg);
                array = Some((slot, first, width.rows() as u8));
                Src::Reg(Reg(first))
            }
            VSrc::Reg(reg, _) => {
                wide.push((width.rows(), slot, allocation.place(reg)));
                Src::Reg(Reg(allocation.place(reg)))
            }
        };
    }
    // Rows of one source must lie together in the list, and narrow sources may be part of wide ones: wide ones
    // go first.
    wide.sort_by_key(|(rows, slot, _)| (usize::MAX - rows, *slot));
    let mut read_rows: Vec<u8> = wide.iter().flat_map(|(rows, _, at)| *at..*at + *rows as u8).collect();
    read_rows.sort_unstable();
    read_rows.dedup();
    if read_rows.len() > MAX_ROWS {
        return Err(BackError::TooManyRows { line: inst.line, rows: read_rows.len() });
    }
    for (rows, slot, at) in wide {
        for row in at..at + rows as u8 {
            let place = out.reads.push(Reg(row));
            if row == at {
                out.row_of[slot] = place as u8;
            }
            out.read_set.insert(Reg(row));
        }
    }
    // One register of an array is read, after those that say which; any of them may be.
    if let Some((slot, first, rows)) = array {
        out.row_of[slot] = out.reads.as_slice().len() as u8;
        (first..first + rows).for_each(|row| out.read_set.insert(Reg(row)));
    }
    for (slot, dst) in inst.dst.iter().enumerate() {
        let VDst::Reg(reg) = *dst else { continue };
        let at = allocation.place(reg);
        out.dst[slot] = match traits.dst.width(slot) {
            Width::Predicate => {
                out.pred_writes |= 1 << at;
                Dst::Pred(PredReg(at))
            }
            width => {
                let is_array = matches!(body.ty(reg), Ty::Array(_));
                for row in at..at + width.rows() as u8 {
                    if !is_array {
                        out.writes.push(Reg(row));
                    }
                    out.write_set.insert(Reg(row));
                }
                Dst::Reg(Reg(at))
            }
        };
    }
    Ok(out)
}

/// A move from or to register `number` of an array is an ordinary one.
fn element_move(
    allocation: &Allocation,
    inst: &VInst,
    number: u8,
    constants: &mut Constants,
    out: &mut Instruction,
) -> Result<(), BackError> {
    let place = |reg: VReg| allocation.place(reg);
    let is_to = matches!(inst.op, Op::MovToArray { .. });
    let VDst::Reg(dst) = inst.dst[0] else { return Ok(()) };
    let to = Reg(place(dst) + if is_to { number } else { 0 });
    out.src[0] = match inst.src[1] {
        VSrc::Reg(src, _) => {
            let from = Reg(place(src) + if is_to { 0 } else { number });
            out.reads.push(from);
            out.read_set.insert(from);
            Src::Reg(from)
        }
        VSrc::Const(constant) => Src::Const(constants.place(constant, Width::Rows(1))?),
        VSrc::None | VSrc::PredConst(_) => Src::None,
    };
    out.dst[0] = Dst::Reg(to);
    out.writes.push(to);
    out.write_set.insert(to);
    Ok(())
}

/// The constant rows of a kernel, each value once.
#[derive(Default)]
struct Constants {
    rows: Vec<ConstantRow>,
    places: BTreeMap<(Key, usize), u16>,
}

impl Constants {
    fn place(&mut self, value: Constant, width: Width) -> Result<u16, BackError> {
        let key = (Key::from(value), width.rows());
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        let place = self.rows.len();
        let last = place + width.rows();
        if last > usize::from(u16::MAX) {
            return Err(BackError::TooManyConstants);
        }
        self.rows.extend((0..width.rows() as u8).map(|half| ConstantRow { value, half }));
        self.places.insert(key, place as u16);
        Ok(place as u16)
    }
}
