//! Random instructions of all spaces, types and shapes against a model that moves one lane's bytes at a time.

use proptest::prelude::*;
use strata_ptx::exec::atomic;
use strata_ptx::ir::window;
use strata_ptx::isa::AtomicOp;

use super::*;

const TYPES: [Ty; 10] =
    [Ty::U8, Ty::S8, Ty::U16, Ty::S16, Ty::F16, Ty::U32, Ty::S32, Ty::F32, Ty::U64, Ty::S64];
const ATOMICS: [(AtomicOp, Ty); 19] = [
    (AtomicOp::Add, Ty::U32),
    (AtomicOp::Add, Ty::U64),
    (AtomicOp::Add, Ty::F32),
    (AtomicOp::Add, Ty::F16),
    (AtomicOp::Add, Ty::Bf16),
    (AtomicOp::Add, Ty::F16x2),
    (AtomicOp::Add, Ty::Bf16x2),
    (AtomicOp::Max, Ty::S32),
    (AtomicOp::Max, Ty::U64),
    (AtomicOp::Min, Ty::U32),
    (AtomicOp::Min, Ty::S64),
    (AtomicOp::And, Ty::B32),
    (AtomicOp::Or, Ty::B64),
    (AtomicOp::Xor, Ty::B32),
    (AtomicOp::Exch, Ty::B64),
    (AtomicOp::Inc, Ty::U32),
    (AtomicOp::Cas, Ty::B32),
    (AtomicOp::Cas, Ty::B64),
    (AtomicOp::Cas, Ty::B16),
];
/// Size in bytes of the part of each space that the lanes use: small, so that lanes collide.
const REGION: u64 = 1024;

/// A reference memory: the bytes as the program sees them.
struct Model {
    memory: Memory,
    shared: Vec<u8>,
}

/// Where a lane's bytes are stored in the model.
#[derive(Clone, Copy, Debug)]
enum Spot {
    Global(u64),
    Shared(u64),
    Local(u64, usize, u64),
    Param(u64),
}

impl Model {
    fn byte(&mut self, launch: &Launch, spot: Spot, n: u64) -> &mut u8 {
        let at = match spot {
            Spot::Shared(at) => return &mut self.shared[(at + n) as usize],
            Spot::Global(at) => at + n,
            Spot::Param(at) => PARAMS_AT + at + n,
            Spot::Local(warp, lane, at) => launch.local_address(warp, lane, at + n).0,
        };
        &mut self.memory.0[(at - BASE) as usize]
    }

    fn read(&mut self, launch: &Launch, spot: Spot, from: u64, bytes: u64) -> u64 {
        (0..bytes).fold(0, |value, n| value | u64::from(*self.byte(launch, spot, from + n)) << (8 * n))
    }

    fn write(&mut self, launch: &Launch, spot: Spot, from: u64, bytes: u64, value: u64) {
        for n in 0..bytes {
            *self.byte(launch, spot, from + n) = (value >> (8 * n)) as u8;
        }
    }
}

#[derive(Clone, Debug)]
struct Step {
    what: u8,
    shape: u8,
    space: u8,
    pattern: u8,
    warp: u8,
    lanes: LaneMask,
    seed: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let lanes = prop_oneof![Just(LaneMask::MAX), any::<LaneMask>()];
    (any::<[u8; 4]>(), 0u8..8, lanes, any::<u64>()).prop_map(
        |([what, shape, space, pattern], warp, lanes, seed)| Step {
            what,
            shape,
            space,
            pattern,
            warp,
            lanes,
            seed,
        },
    )
}

/// A pseudo-random number that depends on all arguments.
fn mix(seed: u64, slot: u64, lane: u64) -> u64 {
    let x = (seed ^ slot << 40 ^ lane << 50).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 31
}

impl Step {
    fn op(&self) -> Op {
        if self.what % 4 >= 2 {
            let (op, ty) = ATOMICS[usize::from(self.shape) % ATOMICS.len()];
            let space = [Space::Global, Space::Shared, Space::Generic][usize::from(self.space % 3)];
            let mode = mode(space, ty, 1);
            return if self.what % 4 == 2 { Op::Atomic { op, mode } } else { Op::Reduce { op, mode } };
        }
        let ty = TYPES[usize::from(self.shape) % TYPES.len()];
        let vector = [1, 2, 4][usize::from(self.shape / 16 % 3)];
        let spaces = [Space::Global, Space::Shared, Space::Local, Space::Generic, Space::Param];
        let is_load = self.what.is_multiple_of(4);
        let space = spaces[usize::from(self.space) % if is_load { 5 } else { 4 }];
        if is_load { Op::Load(mode(space, ty, vector)) } else { Op::Store(mode(space, ty, vector)) }
    }

    /// Where a lane's access goes, and the address that leads there.
    fn spot(&self, mode: MemoryMode, lane: usize) -> (Spot, u64) {
        let width = mode.ty.bytes() as u64 * u64::from(mode.vector);
        let number = lane as u64;
        let slots = |bytes: u64| bytes / width;
        let slot = |bytes: u64| match self.pattern % 5 {
            0 => number,
            1 => self.seed % 64 + number,
            2 => 3,
            3 => number * (self.seed % 40),
            _ => mix(self.seed, 9, number),
        } % slots(bytes) * width;
        let choice = match mode.space {
            Space::Global => 0,
            Space::Shared => 1,
            Space::Local => 2,
            Space::Param => 3,
            _ if self.space & 0x80 == 0 => u64::from(self.space >> 4),
            _ => mix(self.seed, 10, number),
        } % 4;
        let choices = match self.op() {
            Op::Load(_) => 4,
            Op::Store(_) => 3,
            _ => 2,
        };
        let generic = |window: u64, at| if mode.space == Space::Generic { window + at } else { at };
        match choice % choices {
            0 => {
                let at = BASE + HEAP_BYTES / 2 - REGION / 2 + slot(REGION);
                (Spot::Global(at), at)
            }
            1 => (Spot::Shared(slot(REGION)), generic(window::SHARED, slot(REGION))),
            2 => {
                let at = slot(u64::from(LOCAL_BYTES));
                (Spot::Local(u64::from(self.warp), lane, at), generic(window::LOCAL, at))
            }
            _ => (Spot::Param(slot(256)), generic(window::PARAM, slot(256))),
        }
    }
}

/// Performs a step on the model. Returns the rows that the step should write.
fn expect(model: &mut Model, launch: &Launch, step: &Step, sources: &Sources) -> Vec<Row> {
    let source = |slot: usize, lane: usize| {
        u64::from(sources.0[slot][1].0[lane]) << 32 | u64::from(sources.0[slot][0].0[lane])
    };
    let mut rows = Vec::new();
    let op = step.op();
    let (Op::Load(mode) | Op::Store(mode) | Op::Atomic { mode, .. } | Op::Reduce { mode, .. }) = op else {
        unreachable!()
    };
    let bytes = mode.ty.bytes() as u64;
    let has_rows = matches!(op, Op::Load(_) | Op::Atomic { .. });
    rows.resize(if has_rows { mode.ty.rows() * usize::from(mode.vector) } else { 0 }, Row::ZERO);
    for lane in (0..32).filter(|lane| step.lanes >> lane & 1 == 1) {
        let (spot, _) = step.spot(mode, lane);
        for element in 0..usize::from(mode.vector) {
            let from = element as u64 * bytes;
            let old = model.read(launch, spot, from, bytes);
            match op {
                Op::Store(_) => model.write(launch, spot, from, bytes, source(1 + element, lane)),
                Op::Atomic { op, .. } | Op::Reduce { op, .. } => {
                    let new = atomic::apply(op, mode.ty, old, source(1, lane), source(2, lane));
                    model.write(launch, spot, from, bytes, new);
                }
                _ => {}
            }
            if has_rows {
                let value = match mode.ty {
                    Ty::S8 => old as i8 as u64,
                    Ty::S16 => old as i16 as u64,
                    _ => old,
                };
                for half in 0..mode.ty.rows() {
                    rows[element * mode.ty.rows() + half].0[lane] = (value >> (32 * half)) as u32;
                }
            }
        }
    }
    rows
}

fn check(steps: &[Step], segment_bytes: u32, combining: Option<u32>) {
    let cited = |value| Cited::new(value, "test");
    let segment_bytes = cited(segment_bytes);
    let config = LsuConfig { segment_bytes, atomic_combining_lanes: combining.map(cited), ..config() };
    let mut bench = Bench::new(&config);
    let mut model = Model { memory: Memory::numbered(), shared: vec![0; REGION as usize] };
    let mut expected: Vec<Vec<Row>> = Vec::new();
    let mut seen = 0;
    let collect = |bench: &mut Bench, expected: &[Vec<Row>], seen: &mut usize| {
        bench.l1d.tick(bench.now);
        bench.lsu.complete(&mut bench.l1d, bench.now);
        bench.lsu.tick(&mut bench.l1d, &mut bench.constants, bench.now);
        while let Some(Finished { pc, lanes, rows, .. }) = bench.lsu.finished(bench.now) {
            let expected = &expected[pc as usize];
            *seen += 1;
            let step = &steps[pc as usize];
            if step.lanes == 0 {
                assert!(lanes == 0 && rows.is_empty());
                continue;
            }
            assert_eq!((rows.len(), lanes), (expected.len(), step.lanes), "{:?}", step.op());
            for (row, (found, expected)) in rows.iter().zip(expected).enumerate() {
                for lane in (0..32).filter(|lane| step.lanes >> lane & 1 == 1) {
                    assert_eq!(found.0[lane], expected.0[lane], "{:?} lane {lane} row {row}", step.op());
                }
            }
        }
        bench.now = bench.now.next();
        assert!(bench.now < Cycle(100_000), "the unit does not come to rest");
    };
    for (pc, step) in steps.iter().enumerate() {
        while !bench.lsu.can_accept() {
            collect(&mut bench, &expected, &mut seen);
        }
        let op = step.op();
        let (Op::Load(mode) | Op::Store(mode) | Op::Atomic { mode, .. } | Op::Reduce { mode, .. }) = op
        else {
            unreachable!()
        };
        let mut sources = Sources::at(|lane| {
            // The address of an inactive lane is irrelevant.
            if step.lanes >> lane & 1 == 1 {
                step.spot(mode, lane as usize).1
            } else {
                mix(step.seed, 7, lane)
            }
        });
        for slot in 1..5 {
            sources.set(slot, |lane| mix(step.seed, slot as u64, lane));
        }
        if let Op::Atomic { op: AtomicOp::Cas, .. } | Op::Reduce { op: AtomicOp::Cas, .. } = op {
            // Half of the lanes compare with the value that memory holds.
            sources.set(1, |lane| {
                let (spot, _) = step.spot(mode, lane as usize);
                let there = model.read(&bench.launch, spot, 0, mode.ty.bytes() as u64);
                there ^ (mix(step.seed, 1, lane) % 2)
            });
        }
        expected.push(expect(&mut model, &bench.launch.clone(), step, &sources));
        let instruction = instruction(op);
        let memory = MemoryInstruction {
            instruction: &instruction,
            pc: pc as u32,
            warp: step.warp,
            lanes: step.lanes,
            shared_base: SHARED_BASE,
            cta_slot: 0,
            cta: [0; 3],
            warp_in_cta: 0,
        };
        bench.lsu.issue(memory, &sources, &bench.launch, bench.now).unwrap();
        if step.seed % 3 == 0 {
            collect(&mut bench, &expected, &mut seen);
        }
    }
    while !bench.lsu.is_idle() {
        collect(&mut bench, &expected, &mut seen);
    }
    assert_eq!(seen, steps.len());
    assert_eq!(bench.lsu.statistics().broken_law(), None);
    assert!(bench.l1d.memory.0 == model.memory.0, "device memory differs");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_arrive_where_they_belong(
        steps in prop::collection::vec(step(), 1..12),
        segment in prop_oneof![Just(32), Just(64), Just(128)],
        combining in prop_oneof![Just(None), Just(Some(8)), Just(Some(16)), Just(Some(32))],
    ) {
        check(&steps, segment, combining);
    }
}
