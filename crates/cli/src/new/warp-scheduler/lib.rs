//! A warp scheduler of one's own: warps issue in turns of several instructions.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_designs::registry::Registry;
use strata_sm::scheduler::{View, WarpScheduler};

/// Lets a warp issue so many instructions in a row while it is ready, then the next ready one around the slots.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// Instructions of a turn, at least 1.
    pub instructions: u32,
    /// The warp whose turn it is, and how many instructions it has left.
    #[serde(skip)]
    turn: (usize, u32),
}

impl WarpScheduler for Turns {
    fn check(&self) -> Result<(), String> {
        if self.instructions == 0 {
            Err("found instructions = 0, expected at least 1".into())
        } else {
            Ok(())
        }
    }

    fn pick(&mut self, View { ready, .. }: View) -> Option<usize> {
        let (warp, left) = &mut self.turn;
        if ready == 0 {
            return None;
        }
        if ready >> *warp & 1 == 0 || *left == 0 {
            let next = *warp + 1;
            *warp = (next + ready.rotate_right(next as u32).trailing_zeros() as usize) % 64;
            *left = self.instructions;
        }
        *left -= 1;
        Some(*warp)
    }
}

/// Adds the scheduler, as `my-idea`. Policies of SMs are no designs, and have a list of their own.
pub fn add(registry: Registry) -> Registry {
    strata_sm::scheduler::add::<Turns>("my-idea");
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_after_its_instructions_or_when_its_warp_is_not_ready() {
        let mut turns = Turns { instructions: 2, turn: (0, 0) };
        let mut pick = |warps: &[usize]| {
            let ready = warps.iter().fold(0, |mask, warp| mask | 1 << warp);
            turns.pick(View { ready, ..View::default() })
        };
        let all = [0, 5, 63];
        let picks: Vec<Option<usize>> = (0..7).map(|_| pick(&all)).collect();
        assert_eq!(picks, [5, 5, 63, 63, 0, 0, 5].map(Some));
        assert_eq!(pick(&[]), None, "nothing changes");
        assert_eq!([pick(&all), pick(&all), pick(&[0, 5])], [5, 63, 0].map(Some));
    }

    #[test]
    fn a_turn_has_an_instruction() {
        let refused = Turns { instructions: 0, turn: (0, 0) }.check().unwrap_err();
        assert_eq!(refused, "found instructions = 0, expected at least 1");
    }
}
