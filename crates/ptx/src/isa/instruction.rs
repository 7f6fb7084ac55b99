//! One decoded instruction: compact, with physical registers, ready to issue.

use super::class::Class;
use super::op::Op;
use super::traits::Executor;
use strata_warp::{Reg, Row};

/// Index of an instruction in its kernel.
pub type Pc = u32;

/// "No instruction": the reconvergence point of a branch whose sides meet only at exit.
pub const PC_NONE: Pc = u32::MAX;

/// Most destinations of an instruction (a matrix product of quads).
pub const MAX_DST: usize = 8;
/// Most sources of an instruction (a sparse matrix product).
pub const MAX_SRC: usize = 13;
/// Most arguments that one print instruction hands over.
pub const MAX_PRINTED: usize = 6;
/// Most 32-bit rows that an instruction reads or writes.
pub const MAX_ROWS: usize = 13;

/// A physical predicate register of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PredReg(pub u8);

/// The condition of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Unconditional.
    Always,
    /// Lanes where the predicate is true.
    If(PredReg),
    /// Lanes where the predicate is false.
    IfNot(PredReg),
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    /// Absent.
    None,
    /// A register, or the pair or quadruple that starts there, as the operation's type says.
    Reg(Reg),
    /// A row of the launch's constant rows: immediates, addresses and kernel parameters. A 64-bit value
    /// takes `(n, n + 1)`.
    Const(u16),
    /// A predicate, possibly negated.
    Pred(PredReg, bool),
    /// The predicate constant.
    PredConst(bool),
}

/// A destination operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// Absent, or the bit bucket `_`.
    None,
    /// A register, or the pair or quadruple that starts there.
    Reg(Reg),
    /// A predicate.
    Pred(PredReg),
}

/// A short list of registers without repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegList {
    regs: [Reg; MAX_ROWS],
    len: u8,
}

impl RegList {
    /// Nothing.
    pub const EMPTY: RegList = RegList { regs: [Reg(0); MAX_ROWS], len: 0 };

    /// Adds a register unless it is there already; returns its place.
    ///
    /// # Panics
    /// When more than [`MAX_ROWS`] registers are pushed: the decoder never builds such an instruction.
    pub fn push(&mut self, reg: Reg) -> usize {
        if let Some(place) = self.as_slice().iter().position(|r| *r == reg) {
            return place;
        }
        self.regs[self.len as usize] = reg;
        self.len += 1;
        self.len as usize - 1
    }

    /// The registers in order of first appearance.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Reg] {
        &self.regs[..self.len as usize]
    }
}

/// A set of physical registers: 256 bits, tested as four words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RegSet(pub [u64; 4]);

impl RegSet {
    /// The empty set.
    pub const EMPTY: RegSet = RegSet([0; 4]);

    /// Adds a register.
    #[inline]
    pub fn insert(&mut self, reg: Reg) {
        self.0[(reg.0 >> 6) as usize] |= 1 << (reg.0 & 63);
    }

    /// Takes a register out.
    #[inline]
    pub fn remove(&mut self, reg: Reg) {
        self.0[(reg.0 >> 6) as usize] &= !(1 << (reg.0 & 63));
    }

    /// Whether a register is in the set.
    #[inline]
    pub fn contains(&self, reg: Reg) -> bool {
        self.0[(reg.0 >> 6) as usize] >> (reg.0 & 63) & 1 == 1
    }

    /// Whether the sets share a register.
    #[inline]
    pub fn intersects(&self, other: &RegSet) -> bool {
        (self.0[0] & other.0[0])
            | (self.0[1] & other.0[1])
            | (self.0[2] & other.0[2])
            | (self.0[3] & other.0[3])
            != 0
    }

    /// Adds all of `other`.
    #[inline]
    pub fn union_with(&mut self, other: &RegSet) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Whether nothing is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// For which lanes.
    pub guard: Guard,
    /// Destinations, as [`Op`] says.
    pub dst: [Dst; MAX_DST],
    /// Sources, as [`Op`] says.
    pub src: [Src; MAX_SRC],
    /// Byte offset added to the address of a memory instruction.
    pub offset: i64,
    /// Where a branch goes.
    pub target: Pc,
    /// Where the lanes of a divergent branch meet again ([`PC_NONE`]: at exit).
    pub reconverge: Pc,
    /// Whether lanes that turn back here give way to others of their warp ([`crate::simt`]): with independent threads, in a
    /// loop that those may have to end.
    pub yields: bool,
    /// Whether it waits for the lanes of the warp that it names ([`Op::members`]): with independent threads.
    pub gathers: bool,
    /// Timing class.
    pub class: Class,
    /// Who carries it out.
    pub executor: Executor,
    /// Whether it waits until the load/store unit has all that the warp issued before.
    pub follows_memory: bool,
    /// Whether it is an access that later ones must wait for.
    pub fences: bool,
    /// Destinations that the operation has; some may be absent.
    pub results: u8,
    /// Rows of each in which an executor hands it over: a predicate takes one too.
    pub result_rows: u8,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Register rows read, each once; the operand collector fetches these. Source slot `s`, half `h` is
    /// found at `reads[row_of[s] + h]` when the source is a register; the row picked from an array follows them all.
    pub reads: RegList,
    /// For each source slot that is a register: the place of its first row in `reads`.
    pub row_of: [u8; MAX_SRC],
    /// Register rows written, each once; not those of an array, of which one is picked.
    pub writes: RegList,
    /// Reads and writes together with predicates: what the scoreboard asks. Bit n = predicate n.
    pub read_set: RegSet,
    /// Registers written, as a set.
    pub write_set: RegSet,
    /// Predicates read, the guard's included; bit n = predicate n.
    pub pred_reads: u32,
    /// Predicates written; bit n = predicate n.
    pub pred_writes: u32,
}

impl Instruction {
    /// An operation for all lanes, as yet without operands.
    pub fn new(op: Op) -> Instruction {
        let traits = op.traits();
        Instruction {
            op,
            guard: Guard::Always,
            dst: [Dst::None; MAX_DST],
            src: [Src::None; MAX_SRC],
            offset: 0,
            target: PC_NONE,
            reconverge: PC_NONE,
            yields: false,
            gathers: false,
            class: traits.class,
            executor: traits.executor,
            follows_memory: traits.follows_memory,
            fences: traits.fences,
            results: traits.dst.count() as u8,
            result_rows: traits.dst.width(0).rows().max(1) as u8,
            line: 0,
            reads: RegList::EMPTY,
            row_of: [0; MAX_SRC],
            writes: RegList::EMPTY,
            read_set: RegSet::EMPTY,
            write_set: RegSet::EMPTY,
            pred_reads: 0,
            pred_writes: 0,
        }
    }
}

/// A constant row: a value every lane sees alike.
pub type ConstRow = Row;
