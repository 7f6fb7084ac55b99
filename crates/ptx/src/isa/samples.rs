//! One operation of every kind, for tests that ask something of all of them.

use super::*;

/// Lists samples; a kind of operation without one does not compile.
macro_rules! samples {
    ($($kind:pat => $sample:expr,)*) => {
        /// One of each.
        pub fn samples() -> Vec<Op> {
            let _all_kinds = |op: &Op| match op { $($kind => ()),* };
            vec![$($sample),*]
        }
    };
}

const MODE: FloatMode = FloatMode::DEFAULT;
const WHOLE: VideoOperand = VideoOperand { part: Part32::WHOLE, signed: false };

fn memory() -> MemoryMode {
    MemoryMode {
        space: Space::Global,
        ty: Ty::U32,
        vector: 2,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Gpu,
    }
}

fn surface() -> SurfaceMode {
    SurfaceMode {
        geometry: Geometry::D2,
        ty: Ty::B32,
        vector: 2,
        outside: Outside::Clamp,
        cache: CacheOp::All,
    }
}

fn matrix() -> MatrixAccess {
    MatrixAccess { space: Space::Shared, count: 4, transposed: false }
}

fn product() -> Mma {
    let layout = Layout::Warp { rows: 16 };
    let (a, c) = (Element::F16, Accumulator::F32);
    Mma {
        layout,
        depth: 16,
        a,
        b: a,
        c,
        d: c,
        combine: Combine::Multiply,
        sparse: Some(Sparse { selector: 0 }),
    }
}

samples! {
    Op::Mov(_) => Op::Mov(Ty::B32),
    Op::ReadSpecial(_) => Op::ReadSpecial(Special::LaneId),
    Op::Pack { .. } => Op::Pack { whole: Ty::B64, pieces: 2 },
    Op::Unpack { .. } => Op::Unpack { whole: Ty::B64, pieces: 2 },
    Op::MovFromArray { .. } => Op::MovFromArray { registers: 32 },
    Op::MovToArray { .. } => Op::MovToArray { registers: 32 },
    Op::Select(_) => Op::Select(Ty::B32),
    Op::SelectSign { .. } => Op::SelectSign { ty: Ty::B32, test: Ty::S32, ftz: false },
    Op::Int(..) => Op::Int(IntOp::Add, Ty::S32),
    Op::IntUnary(..) => Op::IntUnary(IntUnary::Abs, Ty::S32),
    Op::Mul(..) => Op::Mul(Part::Wide, Ty::U32),
    Op::Mad { .. } => Op::Mad { part: Part::Lo, ty: Ty::U32, sat: false },
    Op::Mul24(..) => Op::Mul24(Part::Lo, Ty::U32),
    Op::Mad24 { .. } => Op::Mad24 { part: Part::Lo, ty: Ty::U32, sat: false },
    Op::Sad(_) => Op::Sad(Ty::U32),
    Op::AddCarry { .. } => Op::AddCarry { ty: Ty::U32, carry_in: true, carry_out: true },
    Op::SubBorrow { .. } => Op::SubBorrow { ty: Ty::U32, carry_in: true, carry_out: true },
    Op::MadCarry { .. } => Op::MadCarry { part: Part::Lo, ty: Ty::U32, carry_in: true, carry_out: true },
    Op::Logic(..) => Op::Logic(Logic::And, Ty::B32),
    Op::Bit(..) => Op::Bit(BitUnary::Popc, Ty::B64),
    Op::Lop3(_) => Op::Lop3(0x96),
    Op::Shl(_) => Op::Shl(Ty::B32),
    Op::Shr(_) => Op::Shr(Ty::B32),
    Op::Shf { .. } => Op::Shf { left: true, wrap: true },
    Op::Bfe(_) => Op::Bfe(Ty::U32),
    Op::Bfi(_) => Op::Bfi(Ty::B32),
    Op::Bmsk { .. } => Op::Bmsk { wrap: true },
    Op::Szext { .. } => Op::Szext { signed: true, wrap: true },
    Op::Fns => Op::Fns,
    Op::Prmt(_) => Op::Prmt(Permute::Default),
    Op::Dp4a { .. } => Op::Dp4a { a_signed: true, b_signed: true },
    Op::Dp2a { .. } => Op::Dp2a { a_signed: true, b_signed: true, hi: true },
    Op::Video(_) => Op::Video(ScalarVideo {
        op: VideoOp::Add,
        a: WHOLE,
        b: WHOLE,
        signed: false,
        sat: false,
        second: SecondStep::Add,
    }),
    Op::VideoMad(_) => Op::VideoMad(VideoMad {
        a: WHOLE,
        b: WHOLE,
        negate: VideoNegate::None,
        plus_one: false,
        sat: false,
        shift: 0,
    }),
    Op::VideoSimd(_) => Op::VideoSimd(SimdVideo {
        op: VideoOp::Add,
        bits: 16,
        pick_a: 0x10,
        pick_b: 0x32,
        a_signed: false,
        b_signed: false,
        signed: false,
        sat: false,
        mask: 3,
        accumulate: false,
    }),
    Op::Float(..) => Op::Float(FloatOp::Mul, Ty::F32, MODE),
    Op::FloatUnary(..) => Op::FloatUnary(FloatUnary::SinApprox, Ty::F32, MODE),
    Op::Fma(..) => Op::Fma(Ty::F64, MODE, Signs::PLUS),
    Op::Extremum3 { .. } => Op::Extremum3 { largest: true, nan: false, abs: false, ftz: false },
    Op::TestP(..) => Op::TestP(TestP::Finite, Ty::F32),
    Op::Cvt { .. } => Op::Cvt { to: Ty::F64, from: Ty::S32, mode: MODE },
    Op::Setp { .. } => Op::Setp { cmp: Compare::Lt, ty: Ty::U32, combine: None, ftz: false },
    Op::Set { .. } => Op::Set { cmp: Compare::Lt, to: Ty::U32, ty: Ty::F32, combine: None, ftz: false },
    Op::PredLogic(_) => Op::PredLogic(Logic::And),
    Op::PredMov => Op::PredMov,
    Op::PredNot => Op::PredNot,
    Op::Load(_) => Op::Load(memory()),
    Op::Store(_) => Op::Store(memory()),
    Op::Atomic { .. } => Op::Atomic { op: AtomicOp::Add, mode: memory() },
    Op::Reduce { .. } => Op::Reduce { op: AtomicOp::Add, mode: memory() },
    Op::Texture(_) => Op::Texture(TextureFetch {
        geometry: Geometry::D2,
        integer: false,
        result: Ty::F32,
        gather: None,
        detail: Detail::Gradients,
    }),
    Op::TextureQuery(_) => Op::TextureQuery(TextureQuery::Width),
    Op::SurfaceLoad(_) => Op::SurfaceLoad(surface()),
    Op::SurfaceStore(_) => Op::SurfaceStore(surface()),
    Op::SurfaceReduce { .. } => Op::SurfaceReduce { op: AtomicOp::Add, mode: surface() },
    Op::Prefetch(_) => Op::Prefetch(Prefetch { space: Space::Global, to: PrefetchTo::L2 }),
    Op::BulkPrefetch(_) => Op::BulkPrefetch(BulkPrefetch { dimensions: 2 }),
    Op::Cvta { .. } => Op::Cvta { space: Space::Shared, to_generic: true },
    Op::IsSpace { .. } => Op::IsSpace { space: Space::Shared, own: true },
    Op::Branch { .. } => Op::Branch { uniform: false },
    Op::BranchIndexed { .. } => Op::BranchIndexed { table: 0 },
    Op::Call { .. } => Op::Call { table: 0, saves: false },
    Op::Return { .. } => Op::Return { table: 0 },
    Op::AssertFail { .. } => Op::AssertFail { assertion: 0 },
    Op::Exit => Op::Exit,
    Op::Trap => Op::Trap,
    Op::Barrier(_) => Op::Barrier(Barrier::RedPopc),
    Op::ClusterArrive => Op::ClusterArrive,
    Op::ClusterWait => Op::ClusterWait,
    Op::WarpSync => Op::WarpSync,
    Op::Fence { .. } => Op::Fence { ordering: Ordering::SeqCst, scope: Scope::Gpu },
    Op::Shfl(_) => Op::Shfl(Shuffle::Bfly),
    Op::Vote(_) => Op::Vote(Vote::Ballot),
    Op::Match { .. } => Op::Match { ty: Ty::U32, all: true },
    Op::Activemask => Op::Activemask,
    Op::Redux { .. } => Op::Redux { op: AtomicOp::Add, ty: Ty::S32 },
    Op::ReduxFloat { .. } => Op::ReduxFloat { largest: false, nan: false, abs: false },
    Op::Mma(_) => Op::Mma(product()),
    Op::LoadMatrix(_) => Op::LoadMatrix(matrix()),
    Op::StoreMatrix(_) => Op::StoreMatrix(matrix()),
    Op::DescribedRow(_) => Op::DescribedRow(DescribedRow { blocks: Blocks::OfA, k_major: true }),
    Op::TransposeMatrix => Op::TransposeMatrix,
    Op::CopyAsync(_) => Op::CopyAsync(AsyncCopy {
        bytes: 16,
        cache: CacheOp::Global,
        shared_offset: 0,
        source: CopySource::Sized,
    }),
    Op::CopyCommit => Op::CopyCommit,
    Op::CopyWait { .. } => Op::CopyWait { pending: None },
    Op::CopyArrive { .. } => Op::CopyArrive { space: Space::Shared, counted: true },
    Op::Bulk(_) => Op::Bulk(BulkCopy { way: BulkWay::Load, dimensions: 2, reduce: None, multicast: true }),
    Op::BulkCommit => Op::BulkCommit,
    Op::BulkWait { .. } => Op::BulkWait { pending: 1, reads: true },
    Op::Mbarrier(_) => Op::Mbarrier(Mbarrier { op: MbarrierOp::TestState, space: Space::Shared }),
    Op::Tile(_) => Op::Tile(TileOp::ChgMap),
    Op::Elect => Op::Elect,
    Op::Print { .. } => Op::Print { format: 0, from: 0 },
    Op::Nanosleep => Op::Nanosleep,
    Op::GridDependency => Op::GridDependency,
    Op::Nop => Op::Nop,
}

#[test]
fn the_table_holds_together() {
    for op in samples() {
        let Traits { executor, flow, has_effect, order, address, fences, dst, src, class, .. } = op.traits();
        if dst.count() == 0 && op != Op::Nop {
            assert!(has_effect, "{op:?} gives nothing and does nothing");
        }
        if flow != Flow::Next {
            assert_eq!(executor, Executor::Control, "{op:?} decides where lanes go on");
        }
        if executor == Executor::Control {
            assert!(has_effect && order == Order::Wall, "nothing passes {op:?}");
        }
        if order == Order::Collective {
            assert!(has_effect, "lanes wait in {op:?} whoever reads what it gives");
        }
        let in_unit = matches!(executor, Executor::Memory | Executor::Texels);
        assert_eq!(class == Class::Memory, in_unit, "{op:?}");
        if let Order::Access(access) = order {
            assert!(in_unit && (has_effect || access.mode.space == Space::Param), "{op:?}");
        }
        if address.is_some() {
            let width = Width::address(address.unwrap_or(Space::Generic));
            assert_eq!((executor, src.width(0)), (Executor::Memory, width), "{op:?}");
        }
        assert!(!fences, "{op:?} is weak");
        assert!(dst.count() <= MAX_DST && src.count() <= MAX_SRC, "{op:?}");
    }
}

#[test]
fn an_ordered_access_fences_and_stays_in_its_place() {
    for ordering in [Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst] {
        let mode = MemoryMode { ordering, ..memory() };
        let load = Op::Load(mode).traits();
        assert!(load.fences && load.order == Order::Wall);
        let atomic = Op::Atomic { op: AtomicOp::Add, mode }.traits();
        assert!(atomic.fences && matches!(atomic.order, Order::Access(access) if access.is_atomic));
    }
    for ordering in [Ordering::Volatile, Ordering::Relaxed] {
        let load = Op::Load(MemoryMode { ordering, ..memory() }).traits();
        assert!(!load.fences && load.order == Order::Wall);
    }
    let parameter = Op::Load(MemoryMode { space: Space::Param, ..memory() }).traits();
    assert!(!parameter.has_effect);
}
