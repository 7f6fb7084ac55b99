//! Random structured programs on the stack, beside an interpreter that walks their trees.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::lanes::{ALL_LANES, Row};

/// A piece of a program.
#[derive(Clone, Debug)]
enum Node {
    Step,
    /// Some lanes end.
    Exit,
    If(Vec<Node>, Vec<Node>),
    /// Lanes leave after a few trips; those that turn back give way or do not.
    Loop(Vec<Node>, bool),
    /// One lane after the other, by a lock that each takes for itself.
    Locked(Vec<Node>),
    /// The lanes that come here execute an instruction together.
    Together,
    /// A synchronization at the end of either side.
    IfSync(Vec<Node>, Vec<Node>),
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
enum Inst {
    Step,
    Exit,
    Jump(Pc),
    /// Lanes that choose to go to the target; all meet behind.
    Branch {
        target: Pc,
        reconverge: Pc,
        yields: bool,
    },
    /// Lanes that do not get the lock turn back to this instruction.
    Lock,
    Unlock,
    /// The group of instructions that count as one.
    Gather(u32, Meeting),
}

fn flatten(nodes: &[Node], code: &mut Vec<Inst>, locks: bool) {
    for node in nodes {
        let at = code.len();
        match node {
            Node::Step => code.push(Inst::Step),
            Node::Exit => code.push(Inst::Exit),
            Node::Together => code.push(Inst::Gather(at as u32, Meeting::Here)),
            Node::Loop(body, yields) => {
                flatten(body, code, locks);
                let reconverge = code.len() as Pc + 1;
                code.push(Inst::Branch { target: at as Pc, reconverge, yields: *yields });
            }
            Node::Locked(body) if locks => {
                code.push(Inst::Lock);
                flatten(body, code, locks);
                code.push(Inst::Unlock);
            }
            Node::Locked(body) => flatten(body, code, locks),
            Node::If(then, or) | Node::IfSync(then, or) => {
                let ends = matches!(node, Node::IfSync(..));
                code.push(Inst::Step);
                for (side, last) in [(then, false), (or, true)] {
                    flatten(side, code, locks);
                    if ends {
                        code.push(Inst::Gather(at as u32, Meeting::Anywhere));
                    }
                    if !last {
                        code.push(Inst::Step);
                        code[at] = Inst::Branch { target: code.len() as Pc, reconverge: 0, yields: false };
                    }
                }
                let end = code.len() as Pc;
                let Inst::Branch { target, .. } = code[at] else { unreachable!() };
                code[at] = Inst::Branch { target, reconverge: end, yields: false };
                code[target as usize - 1] = Inst::Jump(end);
            }
        }
    }
}

fn program(nodes: &[Node], locks: bool) -> Vec<Inst> {
    let mut code = Vec::new();
    flatten(nodes, &mut code, locks);
    code
}

/// What lanes choose: each by how often it has been at an instruction, whatever others do.
struct Choices {
    seed: u64,
    visits: BTreeMap<(Pc, usize), u32>,
}

impl Choices {
    fn new(seed: u64) -> Choices {
        Choices { seed, visits: BTreeMap::new() }
    }

    /// Of `lanes`, those that choose to, one in `one_in` on average and none after the sixth time.
    fn choose(&mut self, pc: Pc, lanes: LaneMask, one_in: u64) -> LaneMask {
        lanes_of(lanes)
            .filter(|lane| {
                let visits = self.visits.entry((pc, *lane)).or_default();
                *visits += 1;
                let mut hasher = DefaultHasher::new();
                (self.seed, pc, *lane, *visits).hash(&mut hasher);
                *visits <= 6 && hasher.finish().is_multiple_of(one_in)
            })
            .fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// Instructions with the lanes that executed each.
type Trace = Vec<(Pc, LaneMask)>;

/// Walks a tree without a stack: what runs when sides run one after the other, the earlier first, and meet behind. Returns the lanes
/// that live.
fn walk(
    nodes: &[Node],
    pc: &mut Pc,
    mut lanes: LaneMask,
    choices: &mut Choices,
    trace: &mut Trace,
) -> LaneMask {
    let note = |pc: Pc, lanes: LaneMask, trace: &mut Trace| {
        if lanes != 0 {
            trace.push((pc, lanes));
        }
    };
    for node in nodes {
        let at = *pc;
        match node {
            Node::Step | Node::Together => {
                note(at, lanes, trace);
                *pc += 1;
            }
            Node::Exit => {
                note(at, lanes, trace);
                lanes &= !choices.choose(at, lanes, 6);
                *pc += 1;
            }
            Node::Locked(body) => lanes = walk(body, pc, lanes, choices, trace),
            Node::Loop(body, _) => {
                let (mut inside, mut left) = (lanes, 0);
                loop {
                    *pc = at;
                    inside = walk(body, pc, inside, choices, trace);
                    note(*pc, inside, trace);
                    let back = choices.choose(*pc, inside, 2);
                    left |= inside & !back;
                    inside = back;
                    if inside == 0 {
                        break;
                    }
                }
                *pc += 1;
                lanes = left;
            }
            Node::If(then, or) | Node::IfSync(then, or) => {
                let ends = matches!(node, Node::IfSync(..));
                note(at, lanes, trace);
                let taken = choices.choose(at, lanes, 2);
                *pc += 1;
                let mut first = walk(then, pc, lanes & !taken, choices, trace);
                if ends {
                    note(*pc, first, trace);
                    *pc += 1;
                }
                note(*pc, first, trace);
                *pc += 1;
                let second = walk(or, pc, taken, choices, trace);
                if ends {
                    note(*pc, second, trace);
                    *pc += 1;
                }
                first |= second;
                lanes = first;
            }
        }
    }
    lanes
}

/// A warp that runs a program.
struct Run<'a> {
    code: &'a [Inst],
    stack: SimtStack,
    choices: Choices,
    trace: Trace,
    owner: Option<usize>,
    /// For each group of instructions, the lanes that ever come to one of them.
    named: BTreeMap<u32, LaneMask>,
    /// The lanes that have passed one.
    passed: BTreeMap<u32, LaneMask>,
}

impl Run<'_> {
    fn step(&mut self) {
        let (pc, lanes) = (self.stack.pc(), self.stack.active());
        let Some(inst) = self.code.get(pc as usize).copied() else { return self.stack.exit(lanes) };
        if let Inst::Gather(group, meeting) = inst {
            let named = self.named.get(&group).copied().unwrap_or(lanes);
            if self.stack.is_split() {
                match self.stack.gather_named(lanes, &Row::splat(named), meeting) {
                    Gathering::Complete => {}
                    Gathering::Later => return,
                    Gathering::Never => panic!("instruction {pc} waits for ever"),
                }
            }
            let missing = named & self.stack.live() & !lanes;
            match meeting {
                Meeting::Here => assert_eq!(missing, 0, "instruction {pc}"),
                Meeting::Anywhere => {
                    let passed = self.passed.entry(group).or_default();
                    let stand = self.stack.waiting.iter().filter(|path| {
                        matches!(self.code.get(path.at.pc as usize), Some(Inst::Gather(other, _)) if *other == group)
                    });
                    let stand = stand.fold(0, |all, path| all | path.lanes);
                    assert_eq!(missing & !stand & !*passed, 0, "instruction {pc}");
                    *passed |= lanes;
                }
            }
        }
        if !matches!(inst, Inst::Lock | Inst::Unlock) {
            self.trace.push((pc, lanes));
        }
        match inst {
            Inst::Step | Inst::Gather(..) => self.stack.advance(),
            Inst::Exit => {
                let ends = self.choices.choose(pc, lanes, 6);
                if ends == 0 { self.stack.advance() } else { self.stack.exit(ends) }
            }
            Inst::Jump(target) => self.stack.jump(target),
            Inst::Branch { target, reconverge, yields } => {
                let taken = self.choices.choose(pc, lanes, 2);
                self.stack.branch(taken, target, pc + 1, reconverge);
                if yields {
                    self.stack.give_way(taken);
                }
            }
            Inst::Lock => {
                if self.owner.is_none() {
                    self.owner = Some(lanes.trailing_zeros() as usize);
                }
                let back = lanes & !self.owner.map_or(0, |lane| 1 << lane);
                self.stack.branch(back, pc, pc + 1, pc + 1);
                self.stack.give_way(back);
            }
            Inst::Unlock => {
                assert_eq!((lanes.count_ones(), Some(lanes.trailing_zeros() as usize)), (1, self.owner));
                self.owner = None;
                self.stack.advance();
            }
        }
        assert!(self.stack.depth() <= MAX_DEPTH, "{} entries", self.stack.depth());
    }
}

fn run(code: &[Inst], lanes: LaneMask, seed: u64, named: BTreeMap<u32, LaneMask>) -> Trace {
    let mut run = Run {
        code,
        stack: SimtStack::new(lanes),
        choices: Choices::new(seed),
        trace: Vec::new(),
        owner: None,
        named,
        passed: BTreeMap::new(),
    };
    for _ in 0..1 << 20 {
        if run.stack.is_done() {
            return run.trace;
        }
        run.step();
    }
    panic!("the warp does not end: {:?}", run.stack);
}

/// The instructions of each lane.
fn by_lane(trace: &Trace) -> Vec<Vec<Pc>> {
    let of =
        |lane: usize| trace.iter().filter(|(_, lanes)| lanes >> lane & 1 == 1).map(|(pc, _)| *pc).collect();
    (0..WARP_LANES).map(of).collect()
}

/// Pieces that lanes go through without a word to each other.
fn alone(yields: impl Strategy<Value = bool> + Clone + 'static, exits: bool) -> BoxedStrategy<Node> {
    let leaf = if exits {
        prop_oneof![4 => Just(Node::Step), 1 => Just(Node::Exit)].boxed()
    } else {
        Just(Node::Step).boxed()
    };
    leaf.prop_recursive(4, 24, 4, move |node| {
        let (then, or) = (vec(node.clone(), 0..4), vec(node.clone(), 0..4));
        prop_oneof![
            (then, or).prop_map(|(then, or)| Node::If(then, or)),
            (vec(node, 1..4), yields.clone()).prop_map(|(body, yields)| Node::Loop(body, yields)),
        ]
    })
    .boxed()
}

/// Pieces with locks anywhere.
fn locking() -> BoxedStrategy<Node> {
    let leaf = prop_oneof![
        2 => alone(any::<bool>(), true),
        1 => vec(alone(any::<bool>(), false), 0..3).prop_map(Node::Locked),
    ];
    leaf.prop_recursive(3, 12, 3, |node| {
        let (then, or) = (vec(node.clone(), 0..3), vec(node.clone(), 0..3));
        prop_oneof![
            (then, or).prop_map(|(then, or)| Node::If(then, or)),
            (vec(node, 1..3), any::<bool>()).prop_map(|(body, yields)| Node::Loop(body, yields)),
        ]
    })
    .boxed()
}

/// Programs whose lanes wait for each other in every way.
fn waiting() -> impl Strategy<Value = Vec<Node>> {
    let side = || vec(prop_oneof![3 => locking(), 1 => Just(Node::Together)], 0..3);
    vec(
        prop_oneof![
            3 => locking(),
            1 => Just(Node::Together),
            1 => (side(), side()).prop_map(|(then, or)| Node::If(then, or)),
            1 => (side(), side()).prop_map(|(then, or)| Node::IfSync(then, or)),
        ],
        1..6,
    )
}

/// For each group of instructions, the lanes that come to one of them.
fn named(code: &[Inst], trace: &Trace) -> BTreeMap<u32, LaneMask> {
    let mut named = BTreeMap::new();
    for (pc, lanes) in trace {
        if let Inst::Gather(group, _) = code[*pc as usize] {
            *named.entry(group).or_default() |= lanes;
        }
    }
    named
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn without_waits_paths_run_as_in_the_tree(
        nodes in vec(prop_oneof![6 => alone(Just(false), true), 1 => Just(Node::Together)], 1..6),
        lanes in prop_oneof![Just(ALL_LANES), 1..=ALL_LANES],
        seed: u64,
    ) {
        let mut expected = Vec::new();
        walk(&nodes, &mut 0, lanes, &mut Choices::new(seed), &mut expected);
        let code = program(&nodes, false);
        let named = named(&code, &expected);
        prop_assert_eq!(run(&code, lanes, seed, named), expected);
    }

    #[test]
    fn with_waits_every_lane_goes_its_own_way_to_its_end(
        nodes in waiting(),
        lanes in prop_oneof![Just(ALL_LANES), 1..=ALL_LANES],
        seed: u64,
    ) {
        let locked = program(&nodes, true);
        // Choices are by place, so the tree is walked through a program with the same places: each lane by itself.
        let mut alone = vec![Vec::new(); WARP_LANES];
        let mut trace = Vec::new();
        for lane in lanes_of(lanes) {
            let of_lane = run(&locked, 1 << lane, seed, BTreeMap::new());
            alone[lane] = of_lane.iter().map(|(pc, _)| *pc).collect();
            trace.extend(of_lane);
        }
        let named = named(&locked, &trace);
        prop_assert_eq!(by_lane(&run(&locked, lanes, seed, named)), alone);
    }
}
