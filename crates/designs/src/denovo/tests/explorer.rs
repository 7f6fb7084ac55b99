//! Visits every reachable state of a model, breadth first, so that a counterexample is as short as can be.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// What can be explored.
pub trait Model {
    /// Everything that decides what can happen next.
    type State: Clone + Eq + Hash + Debug;
    /// What can happen.
    type Action: Copy + Debug;

    /// Where everything begins.
    fn initial(&self) -> Self::State;
    /// Adds what can happen in a state.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);
    /// What an action of `actions` makes of the state.
    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State;
    /// What is wrong with the state.
    fn fault(&self, state: &Self::State) -> Option<String>;
}

/// How much there is to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Reachable states.
    pub states: usize,
    /// Actions taken in them.
    pub steps: usize,
    /// Actions from the beginning to the farthest state.
    pub depth: u32,
}

/// A fault, and one of the shortest ways to it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What is wrong.
    pub fault: String,
    /// The actions, and the state after the last.
    pub path: Vec<String>,
}

/// How a state was first reached: from which state, by which of its actions, at what depth.
type Origin = (u32, u16, u32);

/// Visits all states. States are compared whole, not by a fingerprint.
pub fn explore<M: Model>(model: &M) -> Result<Explored, Counterexample> {
    let initial = model.initial();
    let mut known: HashMap<M::State, (), BuildHasherDefault<Mixer>> = HashMap::default();
    let mut origins: Vec<Origin> = vec![(0, 0, 0)];
    known.insert(initial.clone(), ());
    let mut now = vec![(0_u32, initial)];
    let (mut actions, mut steps, mut depth) = (Vec::new(), 0, 0);
    while !now.is_empty() {
        let mut next = Vec::new();
        for (number, state) in now {
            if let Some(fault) = model.fault(&state) {
                return Err(Counterexample { fault, path: path(model, &origins, number) });
            }
            actions.clear();
            model.actions(&state, &mut actions);
            steps += actions.len();
            for (chosen, action) in actions.iter().enumerate() {
                let after = model.next(&state, *action);
                if !known.contains_key(&after) {
                    known.insert(after.clone(), ());
                    next.push((origins.len() as u32, after));
                    origins.push((number, chosen as u16, depth + 1));
                }
            }
        }
        depth += u32::from(!next.is_empty());
        now = next;
    }
    Ok(Explored { states: known.len(), steps, depth })
}

/// The actions that first led to a state.
fn path<M: Model>(model: &M, origins: &[Origin], mut number: u32) -> Vec<String> {
    let mut choices = Vec::new();
    while number != 0 {
        let (from, choice, _) = origins[number as usize];
        choices.push(choice);
        number = from;
    }
    let mut state = model.initial();
    let (mut lines, mut actions) = (Vec::new(), Vec::new());
    for choice in choices.into_iter().rev() {
        actions.clear();
        model.actions(&state, &mut actions);
        let action = actions[usize::from(choice)];
        lines.push(format!("{action:?}"));
        state = model.next(&state, action);
    }
    lines.push(format!("{state:?}"));
    lines
}

/// A quick hash for keys that nobody chooses to collide.
#[derive(Default)]
pub struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}

mod tests {
    use super::*;

    /// A counter modulo `size` that goes up by one or by two.
    struct Counter {
        size: u32,
        bad: Option<u32>,
    }

    impl Model for Counter {
        type State = u32;
        type Action = u32;

        fn initial(&self) -> u32 {
            0
        }

        fn actions(&self, _state: &u32, actions: &mut Vec<u32>) {
            actions.extend([1, 2]);
        }

        fn next(&self, state: &u32, action: u32) -> u32 {
            (state + action) % self.size
        }

        fn fault(&self, state: &u32) -> Option<String> {
            (Some(*state) == self.bad).then(|| "bad".to_owned())
        }
    }

    #[test]
    fn every_state_is_visited_once_and_ways_are_short() {
        let all = explore(&Counter { size: 10, bad: None }).expect("nothing is wrong");
        assert_eq!(all, Explored { states: 10, steps: 20, depth: 5 });
        let found = explore(&Counter { size: 10, bad: Some(5) }).expect_err("five is bad");
        assert_eq!(found.fault, "bad");
        assert_eq!(found.path.len(), 4, "three actions and the state: {:?}", found.path);
    }
}
