//! What a study says of its numbers.

use serde::Serialize;
use strata_measure::uncertain::morris::{self, Effect};
use strata_measure::uncertain::quantile;
use strata_measure::uncertain::sobol::{self, Index};

use super::drawn::{Drawn, groups};
use super::{Assumption, Number};

/// What a number is, and what moves it.
#[derive(Clone, Debug)]
pub struct Sureness<'a> {
    /// The number.
    pub number: &'a Number,
    /// Its value on the machines as they are modelled.
    pub modelled: Option<f64>,
    /// Its values in all draws of the second part whose assumptions are independent: the lower end of nine tenths of them, the middle
    /// and the upper end.
    pub spread: Option<[f64; 3]>,
    /// How many such draws have a value.
    pub draws: usize,
    /// How many rows of the second part have all values that the indices take.
    pub rows: usize,
    /// What the assumptions do to it, those that move it most first.
    pub moved: Vec<Moved<'a>>,
    /// How much of its variance the assumptions make that are not looked at one by one.
    pub others: Option<Index>,
}

/// What an assumption does to a number.
#[derive(Clone, Debug, Serialize)]
pub struct Moved<'a> {
    /// The assumption.
    #[serde(flatten)]
    pub assumption: &'a Assumption,
    /// Its effect in the first part.
    pub effect: Effect,
    /// How much of the number's variance it makes; `None` if it was not looked at by itself, or the number does not vary.
    pub index: Option<Index>,
}

/// What a study says of each of its numbers.
#[must_use]
pub fn sureness(drawn: &Drawn) -> Vec<Sureness<'_>> {
    (0..drawn.numbers.len()).map(|number| of(drawn, number)).collect()
}

fn of(drawn: &Drawn, number: usize) -> Sureness<'_> {
    let assumptions = drawn.assumptions.len();
    let walks = drawn
        .walks
        .iter()
        .map(|walk| (&walk.trajectory, walk.values.iter().map(|values| values[number]).collect::<Vec<_>>()));
    let effects = morris::effects(assumptions, &walks.collect::<Vec<_>>());
    let whole =
        |row: &super::Row| row.values.iter().map(|values| values[number]).collect::<Option<Vec<f64>>>();
    let rows: Vec<Vec<f64>> = drawn.rows.iter().filter_map(whole).collect();
    let draws: Vec<f64> = drawn
        .rows
        .iter()
        .flat_map(|row| row.values.iter().take(2))
        .filter_map(|values| values[number])
        .collect();
    let indices = sobol::indices(&rows, drawn.seed).unwrap_or_default();
    let index = |assumption: usize| {
        let place = drawn.kept.iter().position(|kept| *kept == assumption)?;
        indices.get(place).copied()
    };
    let mut moved: Vec<Moved<'_>> = drawn
        .assumptions
        .iter()
        .zip(effects)
        .enumerate()
        .map(|(place, (assumption, effect))| Moved { assumption, effect, index: index(place) })
        .collect();
    let total = |of: &Moved<'_>| of.index.map_or(f64::NEG_INFINITY, |index| index.total.value);
    moved.sort_by(|one, other| {
        let by_total = total(other).total_cmp(&total(one));
        by_total.then(other.effect.size.total_cmp(&one.effect.size))
    });
    let has_others = groups(assumptions, &drawn.kept).len() > drawn.kept.len();
    Sureness {
        number: &drawn.numbers[number],
        modelled: drawn.modelled[number],
        spread: quantile::spread(&draws),
        draws: draws.len(),
        rows: rows.len(),
        moved,
        others: indices.get(drawn.kept.len()).copied().filter(|_| has_others),
    }
}
