//! Pieces of programs: the first launches, or the first CTAs of a launch.
//!
//! A launch is cut by whole rows of its grid, so that those CTAs run that a device would start first. Only kernels that do
//! not read the grid's size may be cut: they cannot tell.

use crate::check::Near;

/// How many of a row of things run: all of them, or the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    First(usize),
}

impl Part {
    /// How many of `whole`.
    pub(super) fn of(self, whole: usize) -> usize {
        match self {
            Self::All => whole,
            Self::First(count) => {
                assert!(count <= whole, "a piece of {count} has more than the whole, {whole}");
                count
            }
        }
    }
}

/// What an array holds after a piece of a program: the results that the piece computes, then what was there `before`.
pub(super) fn then_as_before(mut results: Vec<Near>, before: &[f32]) -> Vec<Near> {
    let untouched = &before[results.len()..];
    results.extend(untouched.iter().map(|&value| Near { value: value.into(), bound: 0.0 }));
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_begins_with_the_first() {
        assert_eq!([Part::All.of(7), Part::First(3).of(7), Part::First(7).of(7)], [7, 3, 7]);
    }

    #[test]
    #[should_panic(expected = "a piece of 8 has more than the whole, 7")]
    fn a_piece_is_part_of_the_whole() {
        Part::First(8).of(7);
    }

    #[test]
    fn beyond_a_piece_nothing_may_change() {
        let computed = Near { value: 5.0, bound: 0.5 };
        let untouched = |value| Near { value, bound: 0.0 };
        let expected = then_as_before(vec![computed], &[1.0, 2.0, 3.0]);
        assert_eq!(expected, [computed, untouched(2.0), untouched(3.0)]);
    }
}
