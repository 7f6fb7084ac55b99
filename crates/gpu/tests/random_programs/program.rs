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
    /// `d = high or low word of a 64-bit computation`.
    Wide { op: usize, d: Reg, a: Reg, b: Reg },
    /// Two sides by a comparison.
    If { cmp: usize, a: Reg, b: Reg, then: Vec<Stmt>, other: Vec<Stmt> },
    /// `a & 3` rounds, different for each lane.
    Loop { count: Reg, body: Vec<Stmt> },
    /// One instruction under a guard.
    Guarded { cmp: usize, a: Reg, b: Reg, d: Reg, value: Reg },
    /// Store into the thread's own place of an output region.
    Store { region: u8, value: Reg },
    /// Load from the thread's own place of an output region.
    Load { region: u8, d: Reg },
    /// Load a random word of the input.
    Gather { index: Reg, d: Reg },
    /// Reduction into a counter in global memory.
    Count { counter: usize, index: Reg, value: Reg },
    /// Reduction into a counter in shared memory.
    CountShared { counter: usize, value: Reg },
    /// Store or load a word of the thread's local array, by a register index.
    Local { store: bool, index: Reg, value: Reg },
    /// A call of a device function.
    Call { d: Reg, a: Reg, b: Reg },
    /// Leave the program when the comparison holds (at the top level only where no barrier follows).
    Select { cmp: usize, d: Reg, a: Reg, b: Reg },
}

/// A statement that all threads of the CTA reach together.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Diverging code.
    Code(Vec<Stmt>),
    /// Exchange through shared memory with the thread `distance` further on.
    ExchangeShared { value: Reg, d: Reg, distance: u8 },
    /// Exchange through global memory with a thread of the same CTA.
    ExchangeGlobal { region: u8, value: Reg, d: Reg, distance: u8 },
    /// A shuffle among the warp's lanes.
    Shuffle { kind: usize, d: Reg, a: Reg, lane: u8 },
    /// A vote.
    Vote { kind: usize, d: Reg, a: Reg },
    /// A barrier with a reduction.
    BarrierReduce { d: Reg, a: Reg },
    /// A fence.
    Fence { scope: usize },
}

/// A whole program and how it is launched.
#[derive(Clone, Debug)]
pub struct Program {
    /// Threads of a CTA.
    pub block: u32,
    /// CTAs.
    pub grid: u32,
    /// Phases in order.
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
        3 => (0..8_u8, reg()).prop_map(|(region, value)| Stmt::Store { region, value }),
        3 => (0..8_u8, reg()).prop_map(|(region, d)| Stmt::Load { region, d }),
        2 => (reg(), reg()).prop_map(|(index, d)| Stmt::Gather { index, d }),
        2 => (pick, reg(), reg()).prop_map(|(counter, index, value)| Stmt::Count { counter, index, value }),
        1 => (pick, reg()).prop_map(|(counter, value)| Stmt::CountShared { counter, value }),
        2 => (any::<bool>(), reg(), reg()).prop_map(|(store, index, value)| Stmt::Local { store, index, value }),
        1 => (reg(), reg(), reg()).prop_map(|(d, a, b)| Stmt::Call { d, a, b }),
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
            (reg(), prop::collection::vec(inner, 1..4)).prop_map(|(count, body)| Stmt::Loop { count, body }),
        ]
    })
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        6 => prop::collection::vec(stmt(), 1..8).prop_map(Phase::Code),
        1 => (reg(), reg(), 0..64_u8)
            .prop_map(|(value, d, distance)| Phase::ExchangeShared { value, d, distance }),
        1 => (0..8_u8, reg(), reg(), 0..64_u8)
            .prop_map(|(region, value, d, distance)| Phase::ExchangeGlobal { region, value, d, distance }),
        1 => (any::<usize>(), reg(), reg(), 0..32_u8)
            .prop_map(|(kind, d, a, lane)| Phase::Shuffle { kind, d, a, lane }),
        1 => (any::<usize>(), reg(), reg()).prop_map(|(kind, d, a)| Phase::Vote { kind, d, a }),
        1 => (reg(), reg()).prop_map(|(d, a)| Phase::BarrierReduce { d, a }),
        1 => any::<usize>().prop_map(|scope| Phase::Fence { scope }),
    ]
}

/// Programs of a few to a few dozen statements on one to six CTAs.
pub fn program() -> impl Strategy<Value = Program> {
    (prop::sample::select(vec![32_u32, 40, 64, 96, 128]), 1..7_u32, prop::collection::vec(phase(), 1..7))
        .prop_map(|(block, grid, phases)| Program { block, grid, phases })
}
