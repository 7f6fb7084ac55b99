//! What each instruction does to values: shared by the reference executor and the timed machine.
//!
//! The caller supplies the operands through [`Operands`]: the reference executor its register rows, the
//! timed machine what its operand collectors fetched. Memory, control flow and barriers are the caller's.

mod aligned;
mod approx;
pub mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod float_rules;
mod half_float;
mod in_place;
mod integer;
mod lanewise;
pub mod matrix;
pub mod mbarrier;
pub mod memory;
mod moves;
mod narrow_float;
pub mod print;
mod routine;
mod soft;
mod sparse;
mod video;
mod warp;
mod warpgroup;

#[cfg(test)]
mod tests;

use crate::isa::{Guard, Instruction, Op, PredReg};
use crate::lanes::{ALL_LANES, LaneMask, Row};

pub use in_place::{InPlace, InPlaces};
pub use lanewise::{predicate_source, write_predicate};
pub use moves::picked_element;
pub use routine::{OperandFamily, Routine, routine};
pub use warp::members;

/// Executes an instruction that only computes: everything but memory, control flow, barriers and printing.
///
/// `lanes` are the active lanes that pass the guard ([`guarded`]); nothing else is written, though values
/// are computed for all. Sources that are constants come through [`Operands::source`] like registers.
///
/// # Panics
/// On operations that are the caller's, and on types that an operation does not have: the front end
/// refuses those.
#[inline]
pub fn execute<O: Operands>(instruction: &Instruction, o: &mut O, lanes: LaneMask, context: &WarpContext) {
    match instruction.op {
        Op::Mov(ty) => moves::copy(ty, o, lanes),
        Op::ReadSpecial(special) => moves::read_special(special, instruction, o, lanes, context),
        Op::Pack { whole, pieces } => moves::pack(whole, pieces, o, lanes),
        Op::Unpack { whole, pieces } => moves::unpack(whole, pieces, o, lanes),
        Op::MovFromArray { registers } => moves::from_array(registers, o, lanes),
        Op::MovToArray { registers } => moves::to_array(registers, o, lanes),
        Op::Select(ty) => moves::select(instruction, ty, o, lanes),
        Op::SelectSign { ty, test, ftz } => moves::select_by_sign(ty, test, ftz, o, lanes),
        Op::Cvta { space, to_generic } => moves::convert_address(space, to_generic, o, lanes),
        Op::IsSpace { space, own } => moves::is_space(instruction, (space, own), o, lanes, context),
        Op::Int(op, ty) => integer::arithmetic(op, ty, o, lanes),
        Op::IntUnary(op, ty) => integer::single(op, ty, o, lanes),
        Op::Mul(part, ty) => integer::multiply(part, ty, o, lanes),
        Op::Mad { part, ty, sat } => integer::multiply_add(part, ty, sat, o, lanes),
        Op::Mul24(part, ty) => integer::multiply_24(part, ty, o, lanes),
        Op::Mad24 { part, ty, sat } => integer::multiply_add_24(part, ty, sat, o, lanes),
        Op::Sad(ty) => integer::sum_of_difference(ty, o, lanes),
        Op::AddCarry { ty, carry_in, .. } => integer::carry_sum(instruction, ty, false, carry_in, o, lanes),
        Op::SubBorrow { ty, carry_in, .. } => integer::carry_sum(instruction, ty, true, carry_in, o, lanes),
        Op::MadCarry { part, ty, carry_in, .. } => {
            integer::carry_multiply_add(instruction, part, ty, carry_in, o, lanes);
        }
        Op::Dp4a { a_signed, b_signed } => integer::dot_4(a_signed, b_signed, o, lanes),
        Op::Dp2a { a_signed, b_signed, hi } => integer::dot_2(a_signed, b_signed, hi, o, lanes),
        Op::Logic(op, ty) => bits::logic(op, ty, o, lanes),
        Op::Bit(op, ty) => bits::single(op, ty, o, lanes),
        Op::Lop3(table) => bits::lop3(table, o, lanes),
        Op::Shl(ty) => bits::shift_left(ty, o, lanes),
        Op::Shr(ty) => bits::shift_right(ty, o, lanes),
        Op::Shf { left, wrap } => bits::funnel(left, wrap, o, lanes),
        Op::Bfe(ty) => bits::extract(ty, o, lanes),
        Op::Bfi(ty) => bits::insert(ty, o, lanes),
        Op::Bmsk { wrap } => bits::mask(wrap, o, lanes),
        Op::Szext { signed, wrap } => bits::extend(signed, wrap, o, lanes),
        Op::Video(video) => video::scalar(video, o, lanes),
        Op::VideoMad(video) => video::multiply_add(video, o, lanes),
        Op::VideoSimd(video) => video::simd(video, o, lanes),
        Op::Fns => bits::find_nth_set(o, lanes),
        Op::Prmt(mode) => bits::permute(mode, o, lanes),
        Op::Float(op, ty, mode) => float::arithmetic(op, ty, mode, o, lanes),
        Op::FloatUnary(op, ty, mode) => float::single(op, ty, mode, o, lanes),
        Op::Fma(ty, mode, signs) => float::multiply_add(ty, mode, signs, o, lanes),
        Op::Extremum3 { largest, nan, abs, ftz } => {
            float::extremum_of_three((largest, nan, abs), ftz, o, lanes);
        }
        Op::Cvt { to, from, mode } => convert::convert(to, from, mode, o, lanes),
        Op::TestP(property, ty) => compare::test_property(property, ty, instruction, o, lanes),
        Op::Setp { cmp, ty, combine, ftz } => {
            compare::set_predicate((cmp, ty, combine, ftz), instruction, o, lanes);
        }
        Op::Set { cmp, to, ty, combine, ftz } => {
            compare::set_value((cmp, ty, combine, ftz), to, instruction, o, lanes);
        }
        Op::PredLogic(op) => compare::predicate_logic(op, instruction, o, lanes),
        Op::PredMov => compare::predicate_copy(false, instruction, o, lanes),
        Op::PredNot => compare::predicate_copy(true, instruction, o, lanes),
        Op::Shfl(mode) => warp::shuffle(mode, instruction, o, lanes),
        Op::Vote(mode) => warp::vote(mode, instruction, o, lanes),
        Op::Match { ty, all } => warp::match_values(ty, all, instruction, o, lanes),
        Op::Activemask => warp::active_mask(o, lanes),
        Op::Redux { op, ty } => warp::reduce(op, ty, instruction, o, lanes),
        Op::ReduxFloat { largest, nan, abs } => {
            warp::reduce_float((largest, nan, abs), instruction, o, lanes);
        }
        Op::Mma(mma) => matrix::multiply(&mma, o, lanes),
        Op::DescribedRow(row) => warpgroup::described_row(row, o, lanes, context),
        Op::TransposeMatrix => matrix::transpose(o, lanes),
        Op::Elect => warp::elect(instruction, o, lanes),
        Op::GridDependency | Op::Nop => {}
        Op::Load(_)
        | Op::Store(_)
        | Op::Atomic { .. }
        | Op::Reduce { .. }
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::CopyAsync(_)
        | Op::CopyArrive { .. }
        | Op::CopyCommit
        | Op::Bulk(_)
        | Op::BulkCommit
        | Op::BulkWait { .. }
        | Op::CopyWait { .. }
        | Op::Mbarrier(_)
        | Op::Tile(_)
        | Op::Texture(_)
        | Op::TextureQuery(_)
        | Op::SurfaceLoad(_)
        | Op::SurfaceStore(_)
        | Op::SurfaceReduce { .. }
        | Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Call { .. }
        | Op::Return { .. }
        | Op::Exit
        | Op::Trap
        | Op::AssertFail { .. }
        | Op::Barrier(_)
        | Op::ClusterArrive
        | Op::ClusterWait
        | Op::WarpSync
        | Op::Fence { .. }
        | Op::Prefetch(_)
        | Op::BulkPrefetch(_)
        | Op::Nanosleep
        | Op::Print { .. } => panic!("line {}: {:?} is not a computation", instruction.line, instruction.op),
    }
}

/// The active lanes that pass an instruction's guard.
#[inline]
pub fn guarded(guard: Guard, active: LaneMask, operands: &impl Operands) -> LaneMask {
    match guard {
        Guard::Always => active,
        Guard::If(register) => active & operands.predicate(register),
        Guard::IfNot(register) => active & (operands.predicate(register) ^ ALL_LANES),
    }
}

/// Access to the operands of one instruction.
pub trait Operands {
    /// 32-bit word `half` of source `slot` (a register or constant; absent sources are never asked for).
    fn source(&self, slot: usize, half: usize) -> &Row;
    /// Register `index` of the array in source `slot`; what collects operands has fetched this one only.
    fn element(&self, slot: usize, index: usize) -> &Row {
        self.source(slot, index)
    }
    /// Writes word `half` of destination `slot` in the given lanes; ignored when the destination is absent.
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row);
    /// A predicate register, one bit a lane.
    fn predicate(&self, register: PredReg) -> LaneMask;
    /// Writes a predicate register in the given lanes.
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask);
}

/// What a warp knows of itself: the values of its special registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarpContext {
    /// Threads of a CTA in x, y, z.
    pub ntid: [u32; 3],
    /// CTAs of the grid in x, y, z.
    pub nctaid: [u32; 3],
    /// This CTA's place in the grid.
    pub ctaid: [u32; 3],
    /// CTAs of a cluster in x, y, z, if the launch or the kernel says so; else each CTA is one.
    pub cluster: Option<[u32; 3]>,
    /// The warp's number in its CTA; lane l is thread 32 * warp + l, x fastest.
    pub warp: u32,
    /// `%warpid`, `%nwarpid`, `%smid`, `%nsmid`: the slot where the warp runs.
    pub warp_slot: u32,
    /// Warp slots of the SM.
    pub warp_slots: u32,
    /// The SM.
    pub sm: u32,
    /// SMs of the GPU.
    pub sms: u32,
    /// Launch number.
    pub grid: u64,
    /// Cycle counter (`%clock64`); the reference executor counts instructions.
    pub clock: u64,
    /// Nanoseconds (`%globaltimer`).
    pub nanoseconds: u64,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Bytes of static and dynamic shared memory.
    pub total_shared: u32,
}

impl WarpContext {
    /// CTAs of a cluster in x, y, z.
    pub fn cluster_shape(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3]).map(|side| side.max(1))
    }

    /// The cluster's place among clusters.
    pub fn cluster_id(&self) -> [u32; 3] {
        divided(self.ctaid, self.cluster_shape(), |place, side| place / side)
    }

    /// Clusters of the grid in x, y, z.
    pub fn clusters(&self) -> [u32; 3] {
        divided(self.nctaid, self.cluster_shape(), |count, side| count / side)
    }

    /// The CTA's place in its cluster.
    pub fn place_in_cluster(&self) -> [u32; 3] {
        divided(self.ctaid, self.cluster_shape(), |place, side| place % side)
    }

    /// The CTA's number in its cluster, x fastest.
    pub fn cluster_rank(&self) -> u32 {
        let ([x, y, _], [cx, cy, cz]) = (self.cluster_shape(), self.place_in_cluster());
        (cz * y + cy) * x + cx
    }
}

fn divided(of: [u32; 3], by: [u32; 3], how: impl Fn(u32, u32) -> u32) -> [u32; 3] {
    std::array::from_fn(|axis| how(of[axis], by[axis]))
}
