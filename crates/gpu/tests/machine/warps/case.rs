//! Random warps: how their threads diverge, and how they form groups.

use proptest::prelude::*;
use strata_engine::seed::Stream;

/// Threads of a warp.
pub const LANES: usize = 32;
/// Rounds of a loop.
pub const ROUNDS: usize = 4;

/// How some threads of a warp come to execute a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The others branch around it.
    Branch,
    /// The others execute the same on the other side of the branch.
    Sides,
    /// Its instructions have a guard.
    Guard,
    /// Each thread goes around a loop as often as it says.
    Loop,
}

/// How threads that execute a step form groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// As the host says, the mask being in memory.
    Given,
    /// Tiles of this many threads.
    Tiles(u32),
    /// Threads with the same label (`labeled_partition`).
    Labels,
    /// Threads with the same predicate (`binary_partition`).
    Binary,
}

/// Code that every warp goes through.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub way: Way,
    pub partition: Partition,
}

/// What a thread brings along to a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draw {
    /// Rounds in which it takes part; for a branch, whether it does.
    pub trips: u32,
    pub label: u32,
    pub aye: bool,
    pub value: u32,
    pub single: u32,
    /// By round: its membermask where the host says it.
    pub masks: [u32; ROUNDS],
}

/// A warp: which of its threads left the program before, and by step what each brings along.
#[derive(Clone, Debug)]
pub struct Warp {
    pub exited: u32,
    pub draws: Vec<[Draw; LANES]>,
}

/// Steps, and the warps that take them.
#[derive(Clone, Debug)]
pub struct Case {
    pub steps: Vec<Step>,
    pub warps: Vec<Warp>,
}

/// One execution of a step's code.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    pub step: usize,
    pub round: usize,
}

/// What the threads of a warp hold when some of them execute a step.
pub struct Round {
    pub executing: u32,
    pub masks: [u32; LANES],
    pub draws: [Draw; LANES],
    /// Lanes of a segment of its shuffles.
    pub width: u32,
}

impl Case {
    /// Every execution of a step's code, in the order of the text.
    pub fn rounds(&self) -> Vec<Execution> {
        let rounds = |way| match way {
            Way::Branch | Way::Guard => 1,
            Way::Sides => 2,
            Way::Loop => ROUNDS,
        };
        let steps = self.steps.iter().enumerate();
        steps.flat_map(|(step, it)| (0..rounds(it.way)).map(move |round| Execution { step, round })).collect()
    }
}

/// Which threads execute a step in a round.
fn executing(step: Step, exited: u32, draws: &[Draw; LANES], round: usize) -> u32 {
    let takes = |draw: &Draw| match step.way {
        Way::Branch | Way::Guard => draw.trips > 0,
        Way::Sides => (draw.trips > 0) == (round == 0),
        Way::Loop => draw.trips > round as u32,
    };
    set(|lane| takes(&draws[lane])) & !exited
}

/// The lanes for which `f` holds.
pub fn set(f: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).filter(|lane| f(*lane)).fold(0, |set, lane| set | 1 << lane)
}

/// A tile's threads, those that left among them.
fn tile(lane: usize, size: u32) -> u32 {
    let first = lane as u32 / size * size;
    set(|other| (first..first + size).contains(&(other as u32)))
}

impl Round {
    pub fn of(case: &Case, warp: &Warp, Execution { step: at, round }: Execution) -> Round {
        let (step, draws) = (case.steps[at], warp.draws[at]);
        let executing = executing(step, warp.exited, &draws, round);
        let mask = |lane: usize| match step.partition {
            Partition::Given => draws[lane].masks[round],
            Partition::Tiles(size) => tile(lane, size),
            Partition::Labels => executing & set(|other| draws[other].label == draws[lane].label),
            Partition::Binary => executing & set(|other| draws[other].aye == draws[lane].aye),
        };
        let width = if let Partition::Tiles(size) = step.partition { size } else { 32 };
        Round { executing, masks: std::array::from_fn(mask), draws, width }
    }
}

/// Singles with which minima go wrong.
const SINGLES: [f32; 8] =
    [0.0, -0.0, 1.5, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE / 2.0];

fn warp(steps: &[Step], stream: &mut Stream) -> Warp {
    let exited = if stream.below(2) == 0 { 0 } else { stream.next() as u32 & stream.next() as u32 };
    let mut draws = Vec::new();
    for step in steps {
        let all = stream.below(3) == 0;
        let labels = 1 + stream.below(6);
        let mut drawn: [Draw; LANES] = std::array::from_fn(|_| Draw {
            trips: if all { ROUNDS as u32 } else { stream.below(ROUNDS as u64 + 1) as u32 },
            label: stream.below(labels) as u32,
            aye: stream.below(2) == 0,
            value: if stream.below(2) == 0 { stream.below(3) as u32 } else { stream.next() as u32 },
            single: SINGLES[stream.below(8) as usize].to_bits(),
            masks: [0; ROUNDS],
        });
        // A tile goes together: all of it is in its mask.
        if let Partition::Tiles(size) = step.partition {
            let trips = drawn.map(|draw| draw.trips);
            for (lane, draw) in drawn.iter_mut().enumerate() {
                draw.trips = trips[lane - lane % size as usize];
            }
        }
        // Threads that left may stand in a mask.
        let strays = stream.next() as u32 & exited;
        let groups: [u64; LANES] = std::array::from_fn(|_| stream.below(labels));
        for round in 0..ROUNDS {
            let executing = executing(*step, exited, &drawn, round);
            for (lane, draw) in drawn.iter_mut().enumerate() {
                draw.masks[round] = executing & set(|other| groups[other] == groups[lane]) | strays;
            }
        }
        draws.push(drawn);
    }
    Warp { exited, draws }
}

fn step() -> impl Strategy<Value = Step> {
    let ways = prop::sample::select(vec![Way::Branch, Way::Sides, Way::Guard, Way::Loop]);
    let partitions = prop_oneof![
        3 => Just(Partition::Given),
        3 => prop::sample::select(vec![4, 8, 16, 32]).prop_map(Partition::Tiles),
        2 => Just(Partition::Labels),
        2 => Just(Partition::Binary),
    ];
    (ways, partitions).prop_map(|(way, partition)| Step { way, partition })
}

/// One to three steps and one to eight warps.
pub fn case() -> impl Strategy<Value = Case> {
    (prop::collection::vec(step(), 1..4), 1..9_usize, any::<u64>()).prop_map(|(steps, warps, seed)| {
        let mut stream = Stream::new(seed, "warps");
        let warps = (0..warps).map(|_| warp(&steps, &mut stream)).collect();
        Case { steps, warps }
    })
}
