//! Random programs whose result does not depend on the order in which warps run.
//!
//! Every thread writes only bytes of its own (next to its neighbours': lines are shared on purpose), reads
//! others' bytes only across barriers of its CTA, and shares counters through one commuting operation each.

use proptest::prelude::*;

/// A data register, `%a0` to `%a7`.
pub type Reg = u8;
/// How many data registers there are.
pub const REGS: u8 = 8;

/// A statement that may stand where lanes have diverged.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `d = a op b`.
    Alu { op: usize, d: Reg, a: Reg, b: Reg },
    /// `d = bits of (float(a) op float(b))`.
    Float { op: usize, d: Reg, a: Reg, b: Reg },
    /// The same in double precision.
    Double { op: usize, d: Reg, a: Reg, b: Reg },
    /// `d = a op b` in 8 or 16 bits.
    Narrow { op: usize, d: Reg, a: Reg, b: Reg },
    /// `d = high or low word of a 64-bit computation`.
    Wide { op: usize, d: Reg, a: Reg, b: Reg },
    /// Two sides by a comparison.
    If { cmp: usize, a: Reg, b: Reg, then: Vec<Stmt>, other: Vec<Stmt> },
    /// `a & 3` rounds, different for each lane; each lane leaves early when its register has the bit set.
    Loop { count: Reg, body: Vec<Stmt>, leave: Option<(Reg, u8)>, rest: Vec<Stmt> },
    /// One instruction under a guard.
    Guarded { cmp: usize, a: Reg, b: Reg, d: Reg, value: Reg },
    /// Store into the thread's own place of an output region.
    Store { region: u8, value: Reg, how: usize },
    /// Load from the thread's own place of an output region.
    Load { region: u8, d: Reg, how: usize },
    /// Load a random word, or words, of the input.
    Gather { index: Reg, d: Reg, how: usize },
    /// Many registers alive at once.
    Pressure { index: Reg, d: Reg },
    /// Tickets from atomics, of which only a sum is kept.
    Ticket { shared: bool, index: Reg, how: usize },
    /// Reduction into a counter in global memory.
    Count { counter: usize, index: Reg, value: Reg },
    /// Reduction into a counter in shared memory.
    CountShared { counter: usize, value: Reg },
    /// Store or load a word of the thread's local array, by a register index.
    Local { store: bool, index: Reg, value: Reg },
    /// A call of a device function.
    Call { which: usize, d: Reg, a: Reg, b: Reg },
    /// One of two registers.
    Select { cmp: usize, d: Reg, a: Reg, b: Reg },
}

/// A statement that all threads of the CTA reach together.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Code in which lanes may diverge.
    Code(Vec<Stmt>),
    /// Exchange through shared memory with the thread `distance` further on.
    ExchangeShared { value: Reg, d: Reg, distance: u8 },
    /// Exchange through global memory with a thread of the same CTA.
    ExchangeGlobal { region: u8, value: Reg, d: Reg, distance: u8 },
    /// A shuffle among the warp's lanes.
    Shuffle { kind: usize, d: Reg, a: Reg, lane: u8 },
    /// A vote among the warp's lanes.
    Vote { kind: usize, d: Reg, a: Reg },
    /// A barrier with a reduction.
    BarrierReduce { d: Reg, a: Reg },
    /// A memory fence with this scope.
    Fence { scope: usize },
    /// Exchange through shared memory among the first warps of the CTA only, over a barrier of their own.
    NamedBarrier { warps: u32, value: Reg, d: Reg },
    /// Exchange in the warp through shared memory.
    WarpBarrier { value: Reg, d: Reg, distance: u8 },
    /// The first warp arrives, the second waits for it.
    Arrive { value: Reg, d: Reg },
    /// Threads leave the program: one warp, or lanes by a register.
    Leave { warp: Option<u32>, a: Reg },
}

/// A whole program and how it is launched.
#[derive(Clone, Debug)]
pub struct Program {
    /// Threads of a CTA.
    pub block: u32,
    /// Number of CTAs in the grid.
    pub grid: u32,
    /// Phases, in program order.
    pub phases: Vec<Phase>,
}

fn reg() -> impl Strategy<Value = Reg> {
    0..REGS
}

fn stmt() -> impl Strategy<Value = Stmt> {
    let pick = any::<usize>();
    let leaf = prop_oneof![
        8 => (pick, reg(), reg(), reg()).prop_map(|(op, d, a, b)| Stmt::Alu { op, d, a, b }),
        2 => (pick, reg(), reg(), reg()).prop_map(|(op, d, a, b)| Stmt::Float { op, d, a, b }),
        2 => (pick, reg(), reg(), reg()).prop_map(|(op, d, a, b)| Stmt::Wide { op, d, a, b }),
        2 => (pick, reg(), reg(), reg(), reg())
            .prop_map(|(cmp, a, b, d, value)| Stmt::Guarded { cmp, a, b, d, value }),
        2 => (pick, reg(), reg(), reg()).prop_map(|(op, d, a, b)| Stmt::Double { op, d, a, b }),
        2 => (pick, reg(), reg(), reg()).prop_map(|(op, d, a, b)| Stmt::Narrow { op, d, a, b }),
        3 => (0..9_u8, reg(), pick).prop_map(|(region, value, how)| Stmt::Store { region, value, how }),
        3 => (0..9_u8, reg(), pick).prop_map(|(region, d, how)| Stmt::Load { region, d, how }),
        2 => (reg(), reg(), pick).prop_map(|(index, d, how)| Stmt::Gather { index, d, how }),
        1 => (reg(), reg()).prop_map(|(index, d)| Stmt::Pressure { index, d }),
        1 => (any::<bool>(), reg(), pick).prop_map(|(shared, index, how)| Stmt::Ticket { shared, index, how }),
        2 => (pick, reg(), reg()).prop_map(|(counter, index, value)| Stmt::Count { counter, index, value }),
        1 => (pick, reg()).prop_map(|(counter, value)| Stmt::CountShared { counter, value }),
        2 => (any::<bool>(), reg(), reg()).prop_map(|(store, index, value)| Stmt::Local { store, index, value }),
        1 => (pick, reg(), reg(), reg()).prop_map(|(which, d, a, b)| Stmt::Call { which, d, a, b }),
        1 => (pick, reg(), reg(), reg()).prop_map(|(cmp, d, a, b)| Stmt::Select { cmp, d, a, b }),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            (
                any::<usize>(),
                reg(),
                reg(),
                prop::collection::vec(inner.clone(), 0..4),
                prop::collection::vec(inner.clone(), 0..4)
            )
                .prop_map(|(cmp, a, b, then, other)| Stmt::If { cmp, a, b, then, other }),
            (
                reg(),
                prop::collection::vec(inner.clone(), 1..4),
                prop::option::of((reg(), 0..32_u8)),
                prop::collection::vec(inner, 0..3)
            )
                .prop_map(|(count, body, leave, rest)| Stmt::Loop { count, body, leave, rest }),
        ]
    })
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        6 => prop::collection::vec(stmt(), 1..8).prop_map(Phase::Code),
        1 => (reg(), reg(), 0..64_u8)
            .prop_map(|(value, d, distance)| Phase::ExchangeShared { value, d, distance }),
        1 => (0..9_u8, reg(), reg(), 0..64_u8)
            .prop_map(|(region, value, d, distance)| Phase::ExchangeGlobal { region, value, d, distance }),
        1 => (any::<usize>(), reg(), reg(), 0..32_u8)
            .prop_map(|(kind, d, a, lane)| Phase::Shuffle { kind, d, a, lane }),
        1 => (any::<usize>(), reg(), reg()).prop_map(|(kind, d, a)| Phase::Vote { kind, d, a }),
        1 => (reg(), reg()).prop_map(|(d, a)| Phase::BarrierReduce { d, a }),
        1 => any::<usize>().prop_map(|scope| Phase::Fence { scope }),
        1 => (1..5_u32, reg(), reg()).prop_map(|(warps, value, d)| Phase::NamedBarrier { warps, value, d }),
        1 => (reg(), reg(), 0..32_u8)
            .prop_map(|(value, d, distance)| Phase::WarpBarrier { value, d, distance }),
        1 => (reg(), reg()).prop_map(|(value, d)| Phase::Arrive { value, d }),
        1 => (prop::option::of(0..4_u32), reg()).prop_map(|(warp, a)| Phase::Leave { warp, a }),
    ]
}

/// Programs of a few to a few dozen statements on one to six CTAs.
pub fn program() -> impl Strategy<Value = Program> {
    (prop::sample::select(vec![32_u32, 40, 64, 96, 128]), 1..7_u32, prop::collection::vec(phase(), 1..7))
        .prop_map(|(block, grid, phases)| Program { block, grid, phases })
}
