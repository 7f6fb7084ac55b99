//! What an instruction does: one value of [`Op`], its types and modifiers included.
//!
//! Operand order is PTX's: destinations in `dst`, sources in `src`, as each variant says. Widths follow
//! from the variant; a value of 8 or 16 bits lives in the low bits of a 32-bit row, upper bits
//! unspecified on read and zero- or sign-extended (by the instruction's type) on write.

use super::asynchronous::{AsyncCopy, Mbarrier};
use super::bulk::BulkCopy;
use super::matrix::{MatrixAccess, Mma};
use super::memory::MemoryMode;
use super::prefetch::{BulkPrefetch, Prefetch};
use super::texture::{SurfaceMode, TextureFetch, TextureQuery};
use super::tile::TileOp;
use super::types::*;
use super::video::{ScalarVideo, SimdVideo, VideoMad};
use super::warpgroup::DescribedRow;

/// Which part of a product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Part {
    Lo,
    Hi,
    /// Twice as wide as the operands.
    Wide,
}

/// Two-operand integer arithmetic with one result of the operands' type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntOp {
    Add,
    /// `add.sat.s32`.
    AddSat,
    Sub,
    /// `sub.sat.s32`.
    SubSat,
    Div,
    Rem,
    Min,
    Max,
    /// `min.relu`: negative results become zero; s32 and s16x2.
    MinRelu,
    /// `max.relu`.
    MaxRelu,
}

/// One-operand integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntUnary {
    Abs,
    Neg,
}

/// Bitwise logic on b16, b32, b64 (predicates: [`Op::PredLogic`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Logic {
    And,
    Or,
    Xor,
}

/// One-operand bit manipulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BitUnary {
    Not,
    /// C's `!`: 1 when zero.
    Cnot,
    Brev,
    /// Result is u32 whatever the operand's width.
    Popc,
    /// Result is u32.
    Clz,
    /// Result is u32; `.shiftamt` gives the shift that normalises.
    Bfind {
        shiftamt: bool,
    },
}

/// Two-operand floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    /// `div.rn`, `div.rz` ...: correctly rounded.
    Div,
    /// `div.approx`: 2 ulp, with divisors up to 2^126.
    DivApprox,
    /// `div.full`.
    DivFull,
    Min {
        nan: bool,
        xorsign_abs: bool,
    },
    Max {
        nan: bool,
        xorsign_abs: bool,
    },
    Copysign,
}

/// One-operand floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatUnary {
    Abs,
    Neg,
    /// Correctly rounded by the mode.
    Rcp,
    Sqrt,
    RcpApprox,
    SqrtApprox,
    RsqrtApprox,
    SinApprox,
    CosApprox,
    Lg2Approx,
    Ex2Approx,
    TanhApprox,
}

/// What a test (`testp`) asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TestP {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// Form of a CTA barrier instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Barrier {
    /// `bar.sync a{, b}`: src = barrier, thread count (constant 0: all threads of the CTA).
    Sync,
    /// `bar.arrive a, b`.
    Arrive,
    /// `bar.red.popc.u32 d, a{, b}, p`.
    RedPopc,
    /// `bar.red.and.pred p, a{, b}, q`.
    RedAnd,
    /// `bar.red.or.pred`.
    RedOr,
}

/// An operation with everything but its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// dst0 = src0; 16, 32 or 64 bit.
    Mov(Ty),
    /// dst0 = special register.
    ReadSpecial(Special),
    /// dst0 (b32 or b64 or b16 pieces) = concatenation: `mov.b64 d, {a, b}`; `whole` is the packed type and
    /// the pieces follow in src from the low end.
    Pack { whole: Ty, pieces: u8 },
    /// dst0.. = pieces of src0 from the low end: `mov.b64 {a, b}, d`.
    Unpack { whole: Ty, pieces: u8 },
    /// dst0 = the register of the array src1 that src0 picks ([`picked_element`](crate::exec::picked_element)), of so
    /// many: `mov.indirect` from an array.
    MovFromArray { registers: u8 },
    /// The register of the array dst0 that src0 picks = src1; the array's others keep what they have.
    MovToArray { registers: u8 },
    /// dst0 = pred src2 ? src0 : src1 (`selp`).
    Select(Ty),
    /// dst0 = src2 >= 0 ? src0 : src1 (`slct`); `test` is s32 or f32.
    SelectSign { ty: Ty, test: Ty, ftz: bool },
    /// dst0 = src0 op src1; the packed 16-bit types too (add, min, max).
    Int(IntOp, Ty),
    /// dst0 = op src0.
    IntUnary(IntUnary, Ty),
    /// dst0 = part of src0 * src1; operands of type `Ty`.
    Mul(Part, Ty),
    /// dst0 = part of (src0 * src1) + src2; `sat` only for hi.s32. src2 is wide when the part is wide.
    Mad { part: Part, ty: Ty, sat: bool },
    /// 24-bit multiply; `Ty` is u32 or s32, part lo or hi.
    Mul24(Part, Ty),
    /// 24-bit multiply-add.
    Mad24 { part: Part, ty: Ty, sat: bool },
    /// dst0 = src2 + |src0 - src1|.
    Sad(Ty),
    /// Extended precision: dst0 = src0 + src1 (+ carry when `carry_in`); the carry flag is
    /// an ordinary predicate operand: src2 when `carry_in`, dst1 when `carry_out`.
    AddCarry { ty: Ty, carry_in: bool, carry_out: bool },
    /// dst0 = src0 + !src1 + carry: as [`Op::AddCarry`]; without `carry_in` the carry is 1.
    SubBorrow { ty: Ty, carry_in: bool, carry_out: bool },
    /// dst0 = part of src0 * src1 + src2 (+ carry src3 when `carry_in`); dst1 = carry when `carry_out`.
    MadCarry { part: Part, ty: Ty, carry_in: bool, carry_out: bool },
    /// dst0 = src0 op src1, bitwise.
    Logic(Logic, Ty),
    /// dst0 = op src0.
    Bit(BitUnary, Ty),
    /// Three-input logic: dst0 = table(src0, src1, src2).
    Lop3(u8),
    /// dst0 = src0 << min(src1, width).
    Shl(Ty),
    /// dst0 = src0 >> min(src1, width); arithmetic for signed types.
    Shr(Ty),
    /// Funnel shift: dst0 from src1:src0 by src2; `wrap` takes the amount modulo 32, else clamps.
    Shf { left: bool, wrap: bool },
    /// dst0 = field of src0 at src1, length src2.
    Bfe(Ty),
    /// dst0 = src1 with src0 inserted at src2, length src3.
    Bfi(Ty),
    /// dst0 = mask at src0 of length src1.
    Bmsk { wrap: bool },
    /// dst0 = the low src1 bits of src0, extended.
    Szext { signed: bool, wrap: bool },
    /// dst0 = position of the src2-th set bit of src0 from src1 (`fns.b32`).
    Fns,
    /// dst0 = bytes of src0, src1 picked by src2.
    Prmt(Permute),
    /// dst0 = src2 + dot(src0, src1), four bytes (`dp4a`) each signed or not.
    Dp4a { a_signed: bool, b_signed: bool },
    /// dst0 = src2 + dot of two 16-bit with two 8-bit values.
    Dp2a { a_signed: bool, b_signed: bool, hi: bool },
    /// dst0 = scalar video operation on parts of src0 and src1; src2 when a second operation or a merge follows.
    Video(ScalarVideo),
    /// dst0 = product of parts of src0 and src1, plus src2.
    VideoMad(VideoMad),
    /// dst0 = the same operation on two half-words or four bytes picked from src0 and src1; src2 is merged with or
    /// added to.
    VideoSimd(SimdVideo),
    /// dst0 = src0 op src1 in a floating-point type, packed halves included.
    Float(FloatOp, Ty, FloatMode),
    /// dst0 = op src0.
    FloatUnary(FloatUnary, Ty, FloatMode),
    /// dst0 = src0 * src1 + src2, either term negated as told, one rounding.
    Fma(Ty, FloatMode, Signs),
    /// dst0 = least or greatest of src0, src1, src2 in f32, of magnitudes when `abs`.
    Extremum3 { largest: bool, nan: bool, abs: bool, ftz: bool },
    /// dst0 predicate = test of src0.
    TestP(TestP, Ty),
    /// dst0 = src0 converted. A pair made of two f32 takes its upper element from src0, its lower from src1.
    Cvt { to: Ty, from: Ty, mode: FloatMode },
    /// dst0 predicate (and dst1 = the complement's combination when present) =
    /// (src0 cmp src1) combined with predicate src2 when `combine` is given. Of packed halves dst0 is the answer
    /// for the lower, dst1 for the upper.
    Setp { cmp: Compare, ty: Ty, combine: Option<BoolOp>, ftz: bool },
    /// As [`Op::Setp`] but dst0 is `to`: all ones or zero of an integer type, 1.0 or 0.0 of a floating-point one.
    /// Packed halves give two answers, of 16 bits each.
    Set { cmp: Compare, to: Ty, ty: Ty, combine: Option<BoolOp>, ftz: bool },
    /// dst0 = src0 op src1, predicates.
    PredLogic(Logic),
    /// dst0 = src0, predicates.
    PredMov,
    /// dst0 = !src0, predicates.
    PredNot,
    /// dst.. = memory at src0 + offset.
    Load(MemoryMode),
    /// memory at src0 + offset = src1...
    Store(MemoryMode),
    /// dst0 = old value of memory at src0 + offset; operand src1 (and src2 for cas).
    Atomic { op: AtomicOp, mode: MemoryMode },
    /// As [`Op::Atomic`] without a result (`red`).
    Reduce { op: AtomicOp, mode: MemoryMode },
    /// dst.. = what the texture of handle src0 has at the coordinates src1.., a layer's number first.
    Texture(TextureFetch),
    /// dst0 = an attribute of the texture or surface of handle src0.
    TextureQuery(TextureQuery),
    /// dst.. = bytes of the surface of handle src0 at the coordinates src1...
    SurfaceLoad(SurfaceMode),
    /// bytes of the surface of handle src0 at the coordinates src1.. = the sources behind them.
    SurfaceStore(SurfaceMode),
    /// Read-modify-write of the surface of handle src0 at the coordinates src1.. with the source behind them.
    SurfaceReduce { op: AtomicOp, mode: SurfaceMode },
    /// The line at src0 + offset is wished for; no effect on values.
    Prefetch(Prefetch),
    /// Blocks are wished for; no effect on values.
    BulkPrefetch(BulkPrefetch),
    /// dst0 = generic address of src0 in a space; `to_generic` false is the other direction.
    Cvta { space: Space, to_generic: bool },
    /// dst0 predicate = generic address src0 lies in space; with `own`, in what the CTA itself has of it.
    IsSpace { space: Space, own: bool },
    /// Jump to the instruction's target; `uniform` promises no divergence (`bra.uni`).
    Branch { uniform: bool },
    /// Jump to `targets[src0]` of the program's branch tables (`brx.idx`).
    BranchIndexed { table: u32 },
    /// Call of a function that has code of its own. Each lane goes to the entry in `table` (of the program's branch
    /// tables) whose function has the address src0; without src0 the table has one entry. They come back to the
    /// instruction's target. `saves`: the caller may be entered again before that (before allocation only).
    Call { table: u32, saves: bool },
    /// The end of such a function: each lane goes to entry src0 of `table`, where it was called.
    Return { table: u32 },
    /// As [`Op::Trap`], for an assertion: `assertion` indexes the program's assertions, src0 is its line.
    AssertFail { assertion: u32 },
    /// The lanes end.
    Exit,
    /// The lanes stop the kernel with an error.
    Trap,
    /// CTA barrier.
    Barrier(Barrier),
    /// `barrier.cluster.arrive`.
    ClusterArrive,
    /// `barrier.cluster.wait`.
    ClusterWait,
    /// `bar.warp.sync src0`.
    WarpSync,
    /// `membar`, `fence`.
    Fence { ordering: Ordering, scope: Scope },
    /// dst0 = value (b32, src0) of a lane chosen by src1 (lane or delta) and src2 (clamp and segment mask);
    /// dst1 predicate when present = in range. src3 = member mask.
    Shfl(Shuffle),
    /// dst0 = vote over predicate src0 among the members src1; ballot gives b32, others a predicate.
    Vote(Vote),
    /// dst0 = lanes whose src0 equals mine among members src1; `all`: dst1 predicate, dst0 mask or 0.
    Match { ty: Ty, all: bool },
    /// dst0 = mask of active lanes.
    Activemask,
    /// dst0 = reduction of src0 over the members src1 (`redux.sync`; add min max and or xor).
    Redux { op: AtomicOp, ty: Ty },
    /// dst0 = least or greatest f32 of src0 over the members src1, of magnitudes when `abs`.
    ReduxFloat { largest: bool, nan: bool, abs: bool },
    /// dst.. = a matrix product of the whole warp, over the registers of A, B and C in src.
    Mma(Mma),
    /// dst.. = matrices in shared memory whose rows begin at src0 + offset of lanes 0 to 7, 8 to 15 ... (`ldmatrix`).
    LoadMatrix(MatrixAccess),
    /// The rows of matrices in shared memory = src1.. (`stmatrix`).
    StoreMatrix(MatrixAccess),
    /// dst0 = where the lane's row of a matrix begins in shared memory, by the descriptor src0 (`wgmma`).
    DescribedRow(DescribedRow),
    /// dst0 = the 8 by 8 matrix of 16-bit elements in src0, transposed (`movmatrix`).
    TransposeMatrix,
    /// A copy from global to shared memory that the warp does not wait for.
    CopyAsync(AsyncCopy),
    /// The copies since the last of these become a group (`cp.async.commit_group`).
    CopyCommit,
    /// Waits until all but the last `pending` groups of copies are complete, or without it every copy.
    CopyWait { pending: Option<u32> },
    /// One arrival of each lane at the barrier at src0 + offset when its earlier copies are complete. `counted` says that
    /// the barrier expects it; else it expects one more from now on (`cp.async.mbarrier.arrive`).
    CopyArrive { space: Space, counted: bool },
    /// A copy of a block or box that the warp does not wait for.
    Bulk(BulkCopy),
    /// The stores in bulk since the last of these become a group (`cp.async.bulk.commit_group`).
    BulkCommit,
    /// Waits until all but the last `pending` groups of stores in bulk are complete, or with `reads` have read shared
    /// memory (`cp.async.bulk.wait_group`).
    BulkWait { pending: u32, reads: bool },
    /// An operation on a barrier in shared memory.
    Mbarrier(Mbarrier),
    /// An operation of the CTA on a tile of global memory.
    Tile(TileOp),
    /// dst1 predicate = I am the elected lane; dst0 = its id (`elect.sync`).
    Elect,
    /// Hands the arguments of `format` (index into the program's formats) over from number `from` on, as many as
    /// there are sources; prints when the last is there.
    Print { format: u32, from: u8 },
    /// `nanosleep src0`.
    Nanosleep,
    /// `griddepcontrol`: without effect, since a launch is complete when the next one begins.
    GridDependency,
    /// No effect.
    Nop,
}
