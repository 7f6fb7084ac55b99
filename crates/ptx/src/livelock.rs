//! Livelocks: kernels whose warps run for ever and change nothing.
//!
//! What a warp does next follows from its registers, its reconvergence stack and what it reads from memory. So a warp
//! that comes back to a state in which it was before, while no memory has changed, goes round for as long as none does. When every
//! warp either goes round or waits at a barrier, nobody is left to change memory, and the kernel can never end. That is
//! a proof, not a guess from time: a long computation never comes back to a state.
//!
//! Whoever executes warps keeps a [`Trail`] for each while no memory changes. Keeping one is slow, so it is begun only when
//! nothing has changed for long.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::isa::{Op, Pc};
use crate::lanes::{LaneMask, Row};
use crate::program::Kernel;
use crate::simt::SimtStack;

/// Most instructions of a trail: that of a warp which never turns back ends there.
const MOST_STEPS: usize = 1 << 20;

/// Lines that a sentence names before it only gives the first and the last.
const MOST_LINES: usize = 6;

/// A fingerprint of a warp's state. 128 bits: no two states of a run share one by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State([u64; 2]);

impl State {
    /// The state of a warp none of whose instructions is under way.
    pub fn new(stack: &SimtStack, predicates: &[LaneMask], rows: impl Iterator<Item = Row>) -> State {
        let mut halves = [DefaultHasher::new(), DefaultHasher::new()];
        halves[1].write_u8(1);
        for half in &mut halves {
            (stack, predicates).hash(half);
        }
        for row in rows {
            halves.iter_mut().for_each(|half| row.0.hash(half));
        }
        State(halves.map(|half| half.finish()))
    }
}

/// What a warp has executed since its trail began, and the states that it was in.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    pcs: Vec<Pc>,
    /// For each state, how many instructions had been executed.
    seen: BTreeMap<State, usize>,
    has_turned: bool,
}

impl Trail {
    /// The warp has executed the instruction at `from` and goes on at `to`.
    pub fn pass(&mut self, from: Pc, to: Pc) {
        self.pcs.push(from);
        self.has_turned |= to <= from;
    }

    /// Whether the warp has turned back since a state was noted. Every loop turns back somewhere, so other states need not
    /// be noted.
    pub fn has_turned(&self) -> bool {
        self.has_turned
    }

    /// Notes the warp's state. Returns the instructions since the warp was in the same one, if it was.
    pub fn note(&mut self, state: State) -> Option<&[Pc]> {
        self.has_turned = false;
        let before = self.seen.insert(state, self.pcs.len())?;
        Some(&self.pcs[before..])
    }

    /// Whether more than so many states were noted, or the warp does not turn back.
    pub fn is_longer_than(&self, states: usize) -> bool {
        self.seen.len() > states || self.pcs.len() > MOST_STEPS
    }
}

/// Whether instructions do the same whenever a warp executes them in the same state with the same memory, and are seen by
/// no other warp, apart from what they write to memory.
pub fn is_repeatable(kernel: &Kernel, pcs: &[Pc]) -> bool {
    let op_is_repeatable = |op: Op| match op {
        Op::ReadSpecial(special) => special.is_stable(),
        Op::Mbarrier(barrier) => barrier.op.is_test(),
        Op::Barrier(_)
        | Op::ClusterArrive
        | Op::ClusterWait
        | Op::CopyArrive { .. }
        | Op::Tile(_)
        | Op::Print { .. } => false,
        _ => true,
    };
    pcs.iter().all(|pc| kernel.code.get(*pc as usize).is_some_and(|inst| op_is_repeatable(inst.op)))
}

/// How a warp goes round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Lines of the instructions, ascending.
    pub lines: Vec<u32>,
    /// The text that they are in, when the kernel is linked from several.
    pub text: Option<String>,
    /// The lanes that execute the next instruction.
    pub active: LaneMask,
    /// Lanes that have not ended and wait for others.
    pub waiting: LaneMask,
    /// Line of the instruction at which the active lanes meet others.
    pub meeting: Option<u32>,
}

impl Round {
    /// The round that a warp makes through these instructions.
    pub fn new(kernel: &Kernel, pcs: &[Pc], stack: &SimtStack) -> Round {
        let line = |pc: Pc| kernel.code.get(pc as usize).map(|inst| kernel.source(inst.line));
        let mut lines: Vec<u32> = pcs.iter().filter_map(|pc| Some(line(*pc)?.1)).collect();
        lines.sort_unstable();
        lines.dedup();
        Round {
            lines,
            text: pcs.first().and_then(|pc| line(*pc)?.0),
            active: stack.active(),
            waiting: stack.live() & !stack.active(),
            meeting: stack.meeting().and_then(|pc| Some(line(pc)?.1)),
        }
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        match names.as_slice() {
            [] => write!(f, "goes round")?,
            [line] => write!(f, "goes round on line {line}")?,
            [most @ .., last] if names.len() <= MOST_LINES => {
                write!(f, "goes round on lines {} and {last}", most.join(", "))?;
            }
            [first, .., last] => write!(f, "goes round on lines {first} to {last}")?,
        }
        if let Some(text) = &self.text {
            write!(f, " of {text}")?;
        }
        write!(f, " with lanes {:#010x}", self.active)?;
        match (self.waiting, self.meeting) {
            (0, _) => Ok(()),
            (waiting, Some(line)) => write!(f, "; lanes {waiting:#010x} wait, some for these at line {line}"),
            (waiting, None) => write!(f, "; lanes {waiting:#010x} wait for their turn"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(rows: &[u32]) -> State {
        State::new(&SimtStack::new(1), &[0], rows.iter().map(|value| Row::splat(*value)))
    }

    #[test]
    fn a_trail_finds_the_loop_and_nothing_before_it() {
        let mut trail = Trail::default();
        trail.pass(0, 1);
        assert!(!trail.has_turned(), "no loop goes forward only");
        for round in 0..2 {
            for (from, to) in [(1, 2), (2, 1)] {
                trail.pass(from, to);
            }
            assert!(trail.has_turned());
            let found = trail.note(state(&[7])).map(<[Pc]>::to_vec);
            assert_eq!(found, (round == 1).then(|| vec![1, 2]));
        }
    }

    #[test]
    fn a_counter_never_comes_back() {
        let mut trail = Trail::default();
        for count in 0..5 {
            trail.pass(1, 1);
            assert_eq!(trail.note(state(&[3, count])), None);
        }
        assert!(trail.is_longer_than(4) && !trail.is_longer_than(5));
    }

    #[test]
    fn states_differ_in_every_part() {
        let base = State::new(&SimtStack::new(1), &[0], [Row::ZERO].into_iter());
        assert_eq!(base, state(&[0]));
        assert_ne!(base, state(&[0, 0]));
        assert_ne!(base, State::new(&SimtStack::new(3), &[0], [Row::ZERO].into_iter()));
        assert_ne!(base, State::new(&SimtStack::new(1), &[1], [Row::ZERO].into_iter()));
    }

    #[test]
    fn a_round_reads_as_a_sentence() {
        let round = Round { lines: vec![9, 10, 12], text: None, active: 0xe, waiting: 1, meeting: Some(13) };
        let expected = "goes round on lines 9, 10 and 12 with lanes 0x0000000e; lanes 0x00000001 wait, some for these \
                        at line 13";
        assert_eq!(round.to_string(), expected);
        let round = Round {
            lines: (3..30).collect(),
            text: Some("a.ptx".into()),
            active: 1,
            waiting: 0,
            meeting: None,
        };
        assert_eq!(round.to_string(), "goes round on lines 3 to 29 of a.ptx with lanes 0x00000001");
    }
}
