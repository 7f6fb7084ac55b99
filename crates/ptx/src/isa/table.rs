//! The traits of every operation. There is no arm for the rest: an operation that is added is described here, or
//! nothing compiles.

use super::asynchronous::{CopySource, MbarrierOp};
use super::bulk::BulkWay;
use super::class::{ByWidth, Class};
use super::op::{Barrier, BitUnary, Op, Part};
use super::operands::{Width, Widths};
use super::prefetch::Prefetch;
use super::texture::Geometry;
use super::traits::{Access, Flow, Traits};
use super::types::{CacheOp, Space, Ty, Vote};
use super::video::SecondStep;

/// One operand of a type.
const fn one(ty: Ty) -> Widths {
    some(ty, 1)
}

/// Operands of a type.
const fn some(ty: Ty, count: usize) -> Widths {
    Widths::of(Width::of(ty), count)
}

/// Operands of 32 bits.
const fn rows(count: usize) -> Widths {
    Widths::of(Width::Rows(1), count)
}

/// Predicates.
const fn predicates(count: usize) -> Widths {
    Widths::of(Width::Predicate, count)
}

/// An address of 64 bits, or a handle.
const WIDE: Widths = Widths::of(Width::Rows(2), 1);

/// A texture's or surface's handle and the coordinates in it.
const fn place(geometry: Geometry) -> Widths {
    WIDE.then(Width::Rows(1), geometry.coordinates())
}

/// Lanes that execute an operation together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Those of the mask in a source; all that run when it is absent, as in the forms before `.sync`.
    Source(usize),
    /// All of the warp.
    All,
}

impl Op {
    /// Whether warps meet in it: those of a CTA, or of a cluster.
    pub const fn is_barrier(&self) -> bool {
        matches!(self, Op::Barrier(_) | Op::ClusterArrive | Op::ClusterWait)
    }

    /// The lanes of a warp that execute it together, when it says so.
    pub const fn members(&self) -> Option<Members> {
        match self {
            Op::WarpSync | Op::Elect => Some(Members::Source(0)),
            Op::Vote(_) | Op::Match { .. } | Op::Redux { .. } | Op::ReduxFloat { .. } => {
                Some(Members::Source(1))
            }
            Op::Shfl(_) => Some(Members::Source(3)),
            Op::Mma(_) | Op::LoadMatrix(_) | Op::StoreMatrix(_) | Op::TransposeMatrix => Some(Members::All),
            _ => None,
        }
    }

    /// What is true of this operation.
    #[deny(clippy::wildcard_enum_match_arm)]
    pub const fn traits(&self) -> Traits {
        use Class::{Control, Convert, F32MinMax, IntAdd, IntMad, IntMul, Warp};
        use Traits as T;
        use Width::{Predicate, Rows};
        const ROW: Width = Rows(1);
        match *self {
            Op::Mov(ty) => T::lanes(IntAdd).to(one(ty)).from(one(ty)),
            Op::ReadSpecial(special) => {
                let read = T::lanes(IntAdd).to(Widths::of(Rows(1 + special.is_wide() as usize), 1));
                if special.is_stable() { read } else { Traits { has_effect: true, ..read.wall() } }
            }
            Op::Pack { whole, pieces } => {
                T::lanes(IntAdd).to(one(whole)).from(Widths::of(Width::piece(whole, pieces), pieces as usize))
            }
            Op::Unpack { whole, pieces } => {
                T::lanes(IntAdd).to(Widths::of(Width::piece(whole, pieces), pieces as usize)).from(one(whole))
            }
            Op::MovFromArray { registers } => {
                T::lanes(IntAdd).to(rows(1)).from(rows(1).then(Rows(registers as usize), 1))
            }
            Op::MovToArray { registers } => {
                T::lanes(IntAdd).to(Widths::of(Rows(registers as usize), 1)).from(rows(2))
            }
            Op::Select(ty) => T::lanes(ty.class()).to(one(ty)).from(some(ty, 2).then(Predicate, 1)),
            Op::SelectSign { ty, test, ftz: _ } => {
                T::lanes(ty.class()).to(one(ty)).from(some(ty, 2).then(Width::of(test), 1))
            }
            Op::Int(op, ty) => T::lanes(op.class()).to(one(ty)).from(some(ty, 2)),
            Op::IntUnary(_, ty) => T::lanes(IntAdd).to(one(ty)).from(one(ty)),
            Op::Mul(Part::Wide, ty) => {
                T::lanes(IntMul).to(Widths::of(Width::widened(ty), 1)).from(some(ty, 2))
            }
            Op::Mul(Part::Lo | Part::Hi, ty) => T::lanes(IntMul).to(one(ty)).from(some(ty, 2)),
            Op::Mad { part: Part::Wide, ty, sat: _ } => {
                let wide = Width::widened(ty);
                T::lanes(IntMad).to(Widths::of(wide, 1)).from(some(ty, 2).then(wide, 1))
            }
            Op::Mad { part: Part::Lo | Part::Hi, ty, sat: _ } => {
                T::lanes(IntMad).to(one(ty)).from(some(ty, 3))
            }
            Op::Mul24(..) => T::lanes(IntMul).to(rows(1)).from(rows(2)),
            Op::Mad24 { .. } => T::lanes(IntMad).to(rows(1)).from(rows(3)),
            Op::Sad(ty) => T::lanes(IntAdd).to(one(ty)).from(some(ty, 3)),
            Op::AddCarry { ty, .. } | Op::SubBorrow { ty, .. } => {
                T::lanes(IntAdd).to(one(ty).then(Predicate, 1)).from(some(ty, 2).then(Predicate, 1))
            }
            Op::MadCarry { ty, .. } => {
                T::lanes(IntMad).to(one(ty).then(Predicate, 1)).from(some(ty, 3).then(Predicate, 1))
            }
            Op::Logic(_, ty) => T::lanes(IntAdd).to(one(ty)).from(some(ty, 2)),
            Op::Bit(op @ (BitUnary::Popc | BitUnary::Clz | BitUnary::Bfind { .. }), ty) => {
                T::lanes(op.class()).to(rows(1)).from(one(ty))
            }
            Op::Bit(op @ (BitUnary::Not | BitUnary::Cnot | BitUnary::Brev), ty) => {
                T::lanes(op.class()).to(one(ty)).from(one(ty))
            }
            Op::Lop3(_) | Op::Shf { .. } | Op::Fns | Op::Prmt(_) => {
                T::lanes(IntAdd).to(rows(1)).from(rows(3))
            }
            Op::Shl(ty) | Op::Shr(ty) => T::lanes(IntAdd).to(one(ty)).from(one(ty).then(ROW, 1)),
            Op::Bfe(ty) => T::lanes(IntAdd).to(one(ty)).from(one(ty).then(ROW, 2)),
            Op::Bfi(ty) => T::lanes(IntAdd).to(one(ty)).from(some(ty, 2).then(ROW, 2)),
            Op::Bmsk { .. } | Op::Szext { .. } => T::lanes(IntAdd).to(rows(1)).from(rows(2)),
            Op::Dp4a { .. } | Op::Dp2a { .. } | Op::VideoMad(_) => T::lanes(IntMad).to(rows(1)).from(rows(3)),
            Op::Video(video) => {
                let sources = if matches!(video.second, SecondStep::None) { 2 } else { 3 };
                T::lanes(video.op.class()).to(rows(1)).from(rows(sources))
            }
            Op::VideoSimd(video) => T::lanes(video.op.class()).to(rows(1)).from(rows(3)),
            Op::Float(op, ty, _) => T::lanes(op.classes().for_type(ty)).to(one(ty)).from(some(ty, 2)),
            Op::FloatUnary(op, ty, _) => T::lanes(op.classes().for_type(ty)).to(one(ty)).from(one(ty)),
            Op::Fma(ty, ..) => T::lanes(ByWidth::FMA.for_type(ty)).to(one(ty)).from(some(ty, 3)),
            Op::Extremum3 { .. } => T::lanes(F32MinMax).to(rows(1)).from(rows(3)),
            Op::TestP(_, ty) => {
                let class = if matches!(ty, Ty::F64) { Class::F64Add } else { Class::F32Add };
                T::lanes(class).to(predicates(1)).from(one(ty))
            }
            // Two singles make a pair.
            Op::Cvt {
                to: to @ (Ty::F16x2 | Ty::Bf16x2 | Ty::E4m3x2 | Ty::E5m2x2),
                from: Ty::F32,
                mode: _,
            } => T::lanes(Convert).to(one(to)).from(rows(2)),
            Op::Cvt { to, from, mode: _ } => T::lanes(Convert).to(one(to)).from(one(from)),
            Op::Setp { ty, .. } => {
                T::lanes(ty.class()).to(predicates(2)).from(some(ty, 2).then(Predicate, 1))
            }
            Op::Set { to, ty, .. } => T::lanes(ty.class()).to(one(to)).from(some(ty, 2).then(Predicate, 1)),
            Op::PredLogic(_) => T::lanes(IntAdd).to(predicates(1)).from(predicates(2)),
            Op::PredMov | Op::PredNot => T::lanes(IntAdd).to(predicates(1)).from(predicates(1)),
            Op::Cvta { .. } => T::lanes(IntAdd).to(WIDE).from(WIDE),
            Op::IsSpace { .. } => T::lanes(IntAdd).to(predicates(1)).from(WIDE),
            Op::Nop => T::lanes(IntAdd),
            // ASSUMED: an instruction of one issue slot, and a place that no access is moved across.
            Op::GridDependency => Traits { has_effect: true, ..T::lanes(IntAdd).wall() },

            Op::Load(mode) => T::memory()
                .accesses(Access::at(mode))
                .to(some(mode.ty, mode.vector as usize))
                .from(Widths::of(Width::address(mode.space), 1)),
            Op::Store(mode) => T::memory().accesses(Access::at(mode).writing()).from(
                Widths::of(Width::address(mode.space), 1).then(Width::of(mode.ty), mode.vector as usize),
            ),
            Op::Atomic { op: _, mode } => T::memory()
                .accesses(Access::at(mode).atomic())
                .to(one(mode.ty))
                .from(Widths::of(Width::address(mode.space), 1).then(Width::of(mode.ty), 2)),
            Op::Reduce { op: _, mode } => T::memory()
                .accesses(Access::at(mode).atomic())
                .from(Widths::of(Width::address(mode.space), 1).then(Width::of(mode.ty), 2)),
            // The program has put it where it is for the time until its line is used.
            Op::Prefetch(Prefetch { space, to: _ }) => {
                T::memory().wall().at(space).from(Widths::of(Width::address(space), 1))
            }
            Op::BulkPrefetch(prefetch) => {
                T::memory().wall().at(Space::Global).from(WIDE.then(ROW, prefetch.rows()))
            }
            // The lanes whose addresses count are not those that get the bytes.
            Op::LoadMatrix(matrix) => T::memory()
                .accesses(Access { is_addressed: false, ..Access::at(matrix.mode()) })
                .at(matrix.space)
                .to(rows(matrix.count as usize))
                .from(Widths::of(Width::address(matrix.space), 1)),
            Op::StoreMatrix(matrix) => T::memory()
                .accesses(Access { is_addressed: false, ..Access::at(matrix.mode()).writing() })
                .at(matrix.space)
                .from(Widths::of(Width::address(matrix.space), 1).then(ROW, matrix.count as usize)),
            Op::CopyAsync(copy) => {
                let addresses = WIDE.then(ROW, 1);
                let from = match copy.source {
                    CopySource::Whole => addresses,
                    CopySource::Sized => WIDE.then(ROW, 2),
                    CopySource::Unless => addresses.then(Predicate, 1),
                };
                T::memory().wall().at(Space::Global).from(from)
            }
            Op::CopyCommit => T::memory().wall(),
            Op::CopyArrive { space, counted: _ } => {
                T::memory().wall().at(space).from(Widths::of(Width::address(space), 1))
            }
            Op::Bulk(copy) => {
                let from = match copy.way {
                    BulkWay::Across => rows(copy.rows()),
                    BulkWay::Load | BulkWay::Store => WIDE.then(ROW, copy.rows()),
                };
                T::memory().wall().at(Space::Global).from(from)
            }
            Op::BulkCommit => T::memory().wall(),
            Op::Mbarrier(barrier) => {
                let operand = if matches!(barrier.op, MbarrierOp::TestState) { Rows(2) } else { ROW };
                let to = if barrier.op.is_test() {
                    predicates(1)
                } else if barrier.op.returns_state() {
                    WIDE
                } else {
                    Widths::NONE
                };
                let from = Widths::of(Width::address(barrier.space), 1).then(operand, 1);
                T::memory().wall().at(barrier.space).to(to).from(from)
            }
            Op::Tile(op) => T::memory().wall().from(op.sources()),
            Op::Texture(fetch) => T::texels()
                .accesses(Access::of_texels(CacheOp::NonCoherent))
                .to(rows(fetch.results()))
                .from(WIDE.then(ROW, fetch.geometry.coordinates() + fetch.details())),
            Op::TextureQuery(query) => {
                let from = if query.is_of_level() { WIDE.then(ROW, 1) } else { WIDE };
                T::texels().to(rows(1)).from(from)
            }
            Op::SurfaceLoad(mode) => T::texels()
                .accesses(Access::of_texels(CacheOp::All))
                .to(some(mode.ty, mode.vector as usize))
                .from(place(mode.geometry)),
            Op::SurfaceStore(mode) => T::texels()
                .accesses(Access::of_texels(CacheOp::All).writing())
                .from(place(mode.geometry).then(Width::of(mode.ty), mode.vector as usize)),
            Op::SurfaceReduce { op: _, mode } => T::texels()
                .accesses(Access::of_texels(CacheOp::All).atomic())
                .from(place(mode.geometry).then(Width::of(mode.ty), 1)),

            Op::Shfl(_) => T::collective().to(rows(1).then(Predicate, 1)).from(rows(4)),
            Op::Vote(Vote::Ballot) => {
                T::collective_of(Class::Vote).to(rows(1)).from(predicates(1).then(ROW, 1))
            }
            Op::Vote(Vote::All | Vote::Any | Vote::Uni) => {
                T::collective_of(Class::Vote).to(predicates(1)).from(predicates(1).then(ROW, 1))
            }
            Op::Match { ty, all: _ } => {
                T::collective().to(rows(1).then(Predicate, 1)).from(one(ty).then(ROW, 1))
            }
            Op::Redux { .. } | Op::ReduxFloat { .. } => T::collective().to(rows(1)).from(rows(2)),
            Op::Elect => T::collective().to(rows(1).then(Predicate, 1)).from(rows(1)),
            // Which lanes are active depends on the place.
            Op::Activemask => T::lanes(IntAdd).wall().to(rows(1)),
            // `.aligned`: all lanes are here by the program's own word, so that there is nothing to wait for (PTX ISA,
            // `mma`, `movmatrix`).
            Op::Mma(mma) => {
                let row = Rows(mma.register_rows());
                T::lanes(mma.class())
                    .to(Widths::of(row, mma.c_registers(mma.d)))
                    .from(Widths::of(row, mma.sources()))
            }
            Op::DescribedRow(_) => T::lanes(IntAdd).to(rows(1)).from(WIDE),
            Op::TransposeMatrix => T::lanes(Warp).to(rows(1)).from(rows(1)),

            Op::Branch { uniform: _ } => T::control(Control).goes(Flow::Branch),
            Op::BranchIndexed { table } => T::control(Control).goes(Flow::Indexed { table }).from(rows(1)),
            Op::Call { table, saves: _ } => T::control(Control).goes(Flow::Call { table }).from(WIDE),
            Op::Return { table } => T::control(Control).goes(Flow::Return { table }).from(rows(1)),
            Op::Exit => T::control(Control).goes(Flow::End).after_memory(),
            Op::Trap => T::control(Control).goes(Flow::End),
            Op::AssertFail { assertion: _ } => T::control(Control).goes(Flow::End).from(rows(1)),
            Op::Barrier(barrier) => {
                let meets = T::control(Control).after_memory();
                match barrier {
                    Barrier::Sync | Barrier::Arrive => meets.from(rows(2)),
                    Barrier::RedPopc => meets.to(rows(1)).from(rows(2).then(Predicate, 1)),
                    Barrier::RedAnd | Barrier::RedOr => {
                        meets.to(predicates(1)).from(rows(2).then(Predicate, 1))
                    }
                }
            }
            Op::ClusterArrive | Op::ClusterWait => T::control(Control).after_memory(),
            Op::WarpSync => T::control(Control).from(rows(1)),
            Op::Fence { .. } => T::control(Control).after_memory(),
            Op::BulkWait { .. } => T::control(Control).after_memory(),
            Op::CopyWait { pending: _ } => T::control(Control).after_memory(),
            Op::Print { .. } => T::control(IntAdd),
            Op::Nanosleep => T::control(IntAdd).from(rows(1)),
        }
    }
}
