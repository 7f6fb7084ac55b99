//! A replacement policy of one's own: a line that is used gets a chance to stay when its turn to go comes.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_designs::registry::Registry;
use strata_memory::Touch;
use strata_memory::replacement::{Replacement, ReplacementPolicy, Shape};

/// Evicts the next way around the set that has no chance left; each use gives a line one (Smith, ACM TODS 1978).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Most chances that a line has at a time.
    pub chances: u8,
}

impl ReplacementPolicy for Clock {
    fn build(&self, Shape { sets, ways, .. }: Shape) -> Box<dyn Replacement> {
        Box::new(Hands { most: self.chances, sets: vec![(0, vec![0; ways]); sets] })
    }
}

struct Hands {
    most: u8,
    /// Of each set the way that its hand points to, and the chances of its ways.
    sets: Vec<(usize, Vec<u8>)>,
}

impl Replacement for Hands {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        let chances = &mut self.sets[set].1[way];
        *chances = self.most.min(chances.saturating_add(1));
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.sets[set].1[way] = 0;
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        let (hand, chances) = &mut self.sets[set];
        while eligible >> *hand & 1 == 0 || chances[*hand] > 0 {
            chances[*hand] = chances[*hand].saturating_sub(1);
            *hand = (*hand + 1) % chances.len();
        }
        *hand
    }
}

/// Adds the policy, as `my-idea`.
pub fn add(registry: Registry) -> Registry {
    registry.with_replacement::<Clock>("my-idea")
}

#[cfg(test)]
mod tests {
    use strata_engine::seed::Stream;

    use super::*;

    #[test]
    fn a_line_stays_as_often_as_it_was_used() {
        let shape = Shape { sets: 1, ways: 3, stream: Stream::new(1, "test") };
        let mut set = Clock { chances: 2 }.build(shape);
        let touch = Touch::default();
        (0..3).for_each(|way| set.filled(0, way, &touch));
        set.used(0, 0, &touch);
        assert_eq!(set.victim(0, 0b111), 1, "way 0 has a chance");
        set.filled(0, 1, &touch);
        // The same again: what is asked for twice is the same way until it is filled.
        set.used(0, 1, &touch);
        assert_eq!((set.victim(0, 0b111), set.victim(0, 0b111)), (2, 2));
        assert_eq!(set.victim(0, 0b001), 0, "a way that waits for a fill stays");
    }
}
