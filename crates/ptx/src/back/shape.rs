//! How wide every operand of every operation is.

use super::body::Body;
use crate::ir::{VInst, VSrc};
use crate::isa::{BitUnary, Op, Part, ScalarVideo, SecondStep, Space, Ty, Vote};

/// What an operand occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The operation has no such operand.
    Nothing,
    /// A predicate register.
    Predicate,
    /// So many 32-bit rows: 1, 2 or 4.
    Rows(usize),
}

impl Width {
    /// What a value of a type occupies.
    pub const fn of(ty: Ty) -> Width {
        match ty {
            Ty::Pred => Width::Predicate,
            _ => Width::Rows(ty.rows()),
        }
    }

    /// The rows; 0 for a predicate or nothing.
    pub const fn rows(self) -> usize {
        match self {
            Width::Rows(rows) => rows,
            _ => 0,
        }
    }
}

const ROW: Width = Width::Rows(1);

/// A type twice as wide.
const fn widened(ty: Ty) -> Width {
    Width::Rows((ty.bytes() * 2).div_ceil(4))
}

/// Width of the piece of a packed value.
const fn piece(whole: Ty, pieces: u8) -> Width {
    Width::Rows((whole.bytes() / pieces as usize).div_ceil(4))
}

/// Width of an address: 32 bits in the windows of a CTA, a thread or a launch, 64 bits elsewhere.
const fn address(space: Space) -> Width {
    match space {
        Space::Shared | Space::Local | Space::Param => ROW,
        Space::Generic | Space::Global | Space::Const => Width::Rows(2),
    }
}

/// Width of a source of a texture or surface instruction: the handle, coordinates, then values.
fn surface(slot: usize, coordinates: usize, value: Width, values: usize) -> Width {
    match slot {
        0 => Width::Rows(2),
        _ if slot <= coordinates => ROW,
        _ if slot <= coordinates + values => value,
        _ => Width::Nothing,
    }
}

/// Picks from a list; beyond it there is nothing.
fn pick(widths: &[Width], slot: usize) -> Width {
    widths.get(slot).copied().unwrap_or(Width::Nothing)
}

/// Width of destination `slot`.
pub fn destination(op: &Op, slot: usize) -> Width {
    use Width::Predicate;
    match *op {
        Op::Mov(ty)
        | Op::Select(ty)
        | Op::SelectSign { ty, .. }
        | Op::Int(_, ty)
        | Op::IntUnary(_, ty)
        | Op::Sad(ty)
        | Op::Logic(_, ty)
        | Op::Shl(ty)
        | Op::Shr(ty)
        | Op::Bfe(ty)
        | Op::Bfi(ty)
        | Op::Float(_, ty, _)
        | Op::FloatUnary(_, ty, _)
        | Op::Fma(ty, _)
        | Op::Cvt { to: ty, .. }
        | Op::Set { to: ty, .. } => pick(&[Width::of(ty)], slot),
        Op::ReadSpecial(special) => pick(&[Width::Rows(1 + special.is_wide() as usize)], slot),
        Op::Pack { whole, .. } => pick(&[Width::of(whole)], slot),
        Op::Unpack { whole, pieces } if slot < pieces as usize => piece(whole, pieces),
        Op::Unpack { .. } => Width::Nothing,
        Op::Mul(Part::Wide, ty) | Op::Mad { part: Part::Wide, ty, .. } => pick(&[widened(ty)], slot),
        Op::Mul(_, ty) | Op::Mad { ty, .. } => pick(&[Width::of(ty)], slot),
        Op::AddCarry { ty, .. } | Op::SubBorrow { ty, .. } | Op::MadCarry { ty, .. } => {
            pick(&[Width::of(ty), Predicate], slot)
        }
        Op::Bit(BitUnary::Popc | BitUnary::Clz | BitUnary::Bfind { .. }, _) => pick(&[ROW], slot),
        Op::Bit(_, ty) => pick(&[Width::of(ty)], slot),
        Op::Mul24(..)
        | Op::Mad24 { .. }
        | Op::Lop3(_)
        | Op::Shf { .. }
        | Op::Bmsk { .. }
        | Op::Szext { .. }
        | Op::Fns
        | Op::Prmt(_)
        | Op::Dp4a { .. }
        | Op::Dp2a { .. }
        | Op::Video(_)
        | Op::VideoMad(_)
        | Op::VideoSimd(_)
        | Op::Extremum3 { .. }
        | Op::Activemask
        | Op::Redux { .. }
        | Op::ReduxFloat { .. }
        | Op::Vote(Vote::Ballot) => pick(&[ROW], slot),
        Op::TestP(..) | Op::PredLogic(_) | Op::PredMov | Op::PredNot | Op::IsSpace(_) | Op::Vote(_) => {
            pick(&[Predicate], slot)
        }
        Op::Setp { .. } => pick(&[Predicate, Predicate], slot),
        Op::Load(mode) if slot < mode.vector as usize => Width::of(mode.ty),
        Op::Texture(fetch) if slot < fetch.results() => ROW,
        Op::SurfaceLoad(mode) if slot < mode.vector as usize => Width::of(mode.ty),
        Op::TextureQuery(_) => pick(&[ROW], slot),
        Op::Atomic { mode, .. } => pick(&[Width::of(mode.ty)], slot),
        Op::Cvta { .. } => pick(&[Width::Rows(2)], slot),
        Op::Shfl(_) | Op::Match { .. } | Op::Elect => pick(&[ROW, Predicate], slot),
        Op::Barrier(barrier) => {
            use crate::isa::Barrier::*;
            match barrier {
                Sync | Arrive => Width::Nothing,
                RedPopc => pick(&[ROW], slot),
                RedAnd | RedOr => pick(&[Predicate], slot),
            }
        }
        Op::Load(_)
        | Op::Texture(_)
        | Op::SurfaceLoad(_)
        | Op::SurfaceStore(_)
        | Op::SurfaceReduce { .. }
        | Op::Store(_)
        | Op::Reduce { .. }
        | Op::Prefetch(_)
        | Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Call { .. }
        | Op::Return { .. }
        | Op::Exit
        | Op::Trap
        | Op::AssertFail { .. }
        | Op::WarpSync
        | Op::Fence { .. }
        | Op::Print { .. }
        | Op::Nanosleep
        | Op::Nop => Width::Nothing,
    }
}

/// Width of source `slot` of an instruction.
pub fn source(body: &Body, inst: &VInst, slot: usize) -> Width {
    use Width::{Predicate, Rows};
    match inst.op {
        Op::Mov(ty) => pick(&[Width::of(ty)], slot),
        Op::Pack { whole, pieces } if slot < pieces as usize => piece(whole, pieces),
        Op::Unpack { whole, .. } => pick(&[Width::of(whole)], slot),
        Op::Select(ty) => pick(&[Width::of(ty), Width::of(ty), Predicate], slot),
        Op::SelectSign { ty, test, .. } => pick(&[Width::of(ty), Width::of(ty), Width::of(test)], slot),
        Op::IntUnary(_, ty) | Op::Bit(_, ty) | Op::FloatUnary(_, ty, _) | Op::TestP(_, ty) => {
            pick(&[Width::of(ty)], slot)
        }
        Op::Int(_, ty) | Op::Logic(_, ty) | Op::Float(_, ty, _) | Op::Mul(_, ty) => {
            pick(&[Width::of(ty); 2], slot)
        }
        Op::Mad { part: Part::Wide, ty, .. } => pick(&[Width::of(ty), Width::of(ty), widened(ty)], slot),
        Op::Mad { ty, .. } | Op::Fma(ty, _) => pick(&[Width::of(ty); 3], slot),
        // |a - b| + c: all three of the same type.
        Op::Sad(ty) => pick(&[Width::of(ty); 3], slot),
        Op::AddCarry { ty, .. } | Op::SubBorrow { ty, .. } => {
            pick(&[Width::of(ty), Width::of(ty), Predicate], slot)
        }
        Op::MadCarry { ty, .. } => pick(&[Width::of(ty), Width::of(ty), Width::of(ty), Predicate], slot),
        Op::Shl(ty) | Op::Shr(ty) => pick(&[Width::of(ty), ROW], slot),
        Op::Bfe(ty) => pick(&[Width::of(ty), ROW, ROW], slot),
        Op::Bfi(ty) => pick(&[Width::of(ty), Width::of(ty), ROW, ROW], slot),
        Op::Mul24(..) | Op::Bmsk { .. } | Op::Szext { .. } | Op::Redux { .. } | Op::ReduxFloat { .. } => {
            pick(&[ROW; 2], slot)
        }
        Op::Video(ScalarVideo { second: SecondStep::None, .. }) => pick(&[ROW; 2], slot),
        Op::Mad24 { .. }
        | Op::Video(_)
        | Op::VideoMad(_)
        | Op::VideoSimd(_)
        | Op::Extremum3 { .. }
        | Op::Lop3(_)
        | Op::Shf { .. }
        | Op::Fns
        | Op::Prmt(_)
        | Op::Dp4a { .. }
        | Op::Dp2a { .. } => pick(&[ROW; 3], slot),
        Op::Shfl(_) => pick(&[ROW; 4], slot),
        // Two singles make a pair.
        Op::Cvt { to: Ty::F16x2 | Ty::Bf16x2 | Ty::E4m3x2 | Ty::E5m2x2, from: Ty::F32, .. } => {
            pick(&[ROW; 2], slot)
        }
        Op::Cvt { from, .. } => pick(&[Width::of(from)], slot),
        Op::Setp { ty, .. } | Op::Set { ty, .. } => pick(&[Width::of(ty), Width::of(ty), Predicate], slot),
        Op::PredLogic(_) => pick(&[Predicate; 2], slot),
        Op::PredMov | Op::PredNot => pick(&[Predicate], slot),
        Op::Load(mode) => pick(&[address(mode.space)], slot),
        Op::Texture(fetch) => surface(slot, fetch.geometry.coordinates(), Width::Nothing, 0),
        Op::TextureQuery(_) => surface(slot, 0, Width::Nothing, 0),
        Op::SurfaceLoad(mode) => surface(slot, mode.geometry.coordinates(), Width::Nothing, 0),
        Op::SurfaceStore(mode) => {
            surface(slot, mode.geometry.coordinates(), Width::of(mode.ty), mode.vector.into())
        }
        Op::SurfaceReduce { mode, .. } => surface(slot, mode.geometry.coordinates(), Width::of(mode.ty), 1),
        Op::Prefetch(space) => pick(&[address(space)], slot),
        Op::Store(mode) => match slot {
            0 => address(mode.space),
            _ if slot <= mode.vector as usize => Width::of(mode.ty),
            _ => Width::Nothing,
        },
        Op::Atomic { mode, .. } | Op::Reduce { mode, .. } => {
            pick(&[address(mode.space), Width::of(mode.ty), Width::of(mode.ty)], slot)
        }
        Op::Cvta { .. } | Op::IsSpace(_) => pick(&[Rows(2)], slot),
        Op::Vote(_) => pick(&[Predicate, ROW], slot),
        Op::Match { ty, .. } => pick(&[Width::of(ty), ROW], slot),
        Op::BranchIndexed { .. }
        | Op::Return { .. }
        | Op::AssertFail { .. }
        | Op::WarpSync
        | Op::Elect
        | Op::Nanosleep => pick(&[ROW], slot),
        Op::Call { .. } => pick(&[Rows(2)], slot),
        // The thread count may be left out, so the predicate of a reduction is known by its kind.
        Op::Barrier(_) => match inst.src[slot] {
            VSrc::Reg(reg, _) if body.ty(reg) == Ty::Pred => Predicate,
            VSrc::PredConst(_) => Predicate,
            _ => ROW,
        },
        Op::Print { format, from } => {
            let format = body.formats.get(format as usize);
            format
                .and_then(|format| format.arguments.get(usize::from(from) + slot))
                .map_or(Width::Nothing, |ty| Width::of(*ty))
        }
        Op::Pack { .. }
        | Op::ReadSpecial(_)
        | Op::Activemask
        | Op::Branch { .. }
        | Op::Exit
        | Op::Trap
        | Op::Fence { .. }
        | Op::Nop => Width::Nothing,
    }
}
