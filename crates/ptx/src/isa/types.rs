//! The words PTX instructions are made of: types, spaces, modifiers.

/// A PTX fundamental type (PTX ISA, "Fundamental Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Ty {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    B8,
    B16,
    B32,
    B64,
    B128,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    /// Two unsigned integers of 16 bits in a 32-bit register.
    U16x2,
    /// Two signed integers of 16 bits in a 32-bit register.
    S16x2,
    /// f32 with a significand of 11 bits, in a 32-bit register; only ever converted to.
    Tf32,
    /// Two 8-bit numbers with 4 bits of exponent and 3 of fraction; only ever converted.
    E4m3x2,
    /// Two 8-bit numbers with 5 bits of exponent and 2 of fraction; only ever converted.
    E5m2x2,
    /// So many 32-bit registers side by side, of which an instruction picks one (`mov.indirect`).
    Array(u8),
    Pred,
}

impl Ty {
    /// Size in bytes; a predicate counts as one byte.
    pub const fn bytes(self) -> usize {
        match self {
            Ty::U8 | Ty::S8 | Ty::B8 | Ty::Pred => 1,
            Ty::U16 | Ty::S16 | Ty::B16 | Ty::F16 | Ty::Bf16 | Ty::E4m3x2 | Ty::E5m2x2 => 2,
            Ty::U32 | Ty::S32 | Ty::B32 | Ty::F32 | Ty::Tf32 => 4,
            Ty::F16x2 | Ty::Bf16x2 | Ty::U16x2 | Ty::S16x2 => 4,
            Ty::U64 | Ty::S64 | Ty::B64 | Ty::F64 => 8,
            Ty::B128 => 16,
            Ty::Array(registers) => 4 * registers as usize,
        }
    }

    /// Number of 32-bit register rows a value of this type occupies (1, 2 or 4, or an array's; predicates 0).
    pub const fn rows(self) -> usize {
        match self {
            Ty::Pred => 0,
            _ if self.bytes() <= 4 => 1,
            _ => self.bytes() / 4,
        }
    }

    /// Whether the value is a two's complement number.
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// Whether the value is a floating-point number, or two in one register.
    pub const fn is_float(self) -> bool {
        self.is_half() || matches!(self, Ty::F32 | Ty::F64 | Ty::Tf32 | Ty::E4m3x2 | Ty::E5m2x2)
    }

    /// Whether the value is a 16-bit floating-point number, or two in one register.
    pub const fn is_half(self) -> bool {
        matches!(self, Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2)
    }

    /// The type of the two elements of a 32-bit register; nothing for a scalar.
    pub const fn element(self) -> Option<Ty> {
        match self {
            Ty::F16x2 => Some(Ty::F16),
            Ty::Bf16x2 => Some(Ty::Bf16),
            Ty::U16x2 => Some(Ty::U16),
            Ty::S16x2 => Some(Ty::S16),
            _ => None,
        }
    }
}

/// State space of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

/// Rounding of a floating-point result; the `i` forms round to an integer value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    /// Nearest, ties to even: also the default of instructions without a modifier.
    Rn,
    /// Nearest, ties away from zero.
    Rna,
    Rz,
    Rm,
    Rp,
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// Modifiers of floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMode {
    /// Rounding direction.
    pub rounding: Rounding,
    /// Flush subnormal inputs and results to sign-preserving zero (`.ftz`).
    pub ftz: bool,
    /// Clamp the result to [0, 1], NaN to 0 (`.sat`).
    pub sat: bool,
    /// Negative results become zero, NaN stays (`.relu`).
    pub relu: bool,
    /// Results beyond the largest finite number become that number, NaN stays (`.satfinite`).
    pub finite: bool,
}

impl FloatMode {
    /// Round to nearest even, subnormals kept, no clamping.
    pub const DEFAULT: FloatMode =
        FloatMode { rounding: Rounding::Rn, ftz: false, sat: false, relu: false, finite: false };
}

/// Which terms of a fused multiply-add are negated, as operands of machines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signs {
    /// The product is subtracted.
    pub product: bool,
    /// The addend is subtracted.
    pub addend: bool,
}

impl Signs {
    /// `a * b + c`.
    pub const PLUS: Signs = Signs { product: false, addend: false };
}

/// Comparison of `setp`, `set` and `slct`; the `u` forms are true when an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned `lo ls hi hs` map to `Lt Le Gt Ge` on unsigned types.
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both operands are numbers.
    Num,
    /// An operand is NaN.
    Nan,
}

/// Combination of a comparison with a further predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Cache operator of a load or store (PTX ISA, "Cache Operators").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CacheOp {
    /// `.ca` for loads, `.wb` for stores: all levels.
    All,
    /// `.cg`: L2 only.
    Global,
    /// `.cs`: streaming.
    Streaming,
    /// `.lu`: last use.
    LastUse,
    /// `.cv` for loads, `.wt` for stores: do not trust cached copies.
    Volatile,
    /// `.nc`: the read-only path.
    NonCoherent,
}

/// Memory ordering of a load, store, atomic or fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ordering {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Scope of a memory operation: the set of threads that it orders against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scope {
    Cta,
    Gpu,
    Sys,
}

/// Read-modify-write operation of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// How `shfl` picks its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Reduction of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// Selection mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Permute {
    Default,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// One of the three components of a special register vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A special register (PTX ISA, "Special Registers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    Tid(Axis),
    Ntid(Axis),
    Ctaid(Axis),
    Nctaid(Axis),
    ClusterId(Axis),
    NClusterId(Axis),
    ClusterCtaid(Axis),
    ClusterNctaid(Axis),
    ClusterCtarank,
    ClusterNctarank,
    /// 1 where the launch or the kernel says that CTAs form clusters.
    IsExplicitCluster,
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    EnvReg(u8),
    /// An environment register that the launch has set.
    Environment(u32),
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
}

impl Special {
    /// Whether the register is 64 bits wide.
    pub const fn is_wide(self) -> bool {
        matches!(self, Special::Clock64 | Special::GlobalTimer | Special::GridId)
    }

    /// Whether a thread reads the same value at any time.
    pub const fn is_stable(self) -> bool {
        !matches!(
            self,
            Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::GlobalTimer
                | Special::GlobalTimerLo
                | Special::GlobalTimerHi
        )
    }
}
