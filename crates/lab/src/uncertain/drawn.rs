//! A study's draws with their numbers, which can be kept in a file.

use serde::{Deserialize, Serialize};
use strata_measure::uncertain::morris::Trajectory;
use strata_measure::uncertain::sobol::Pair;
use strata_workloads::Size;

use super::{Assumption, Number};

/// The numbers at one point, in the order of [`Drawn::numbers`]; `None` for one that is missing.
pub type Values = Vec<Option<f64>>;

/// A study, with all numbers that it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// What was asked: a paper, or a comparison's programs and machines.
    pub of: String,
    /// Version of the simulator.
    pub simulator: String,
    /// Size of the workloads.
    pub size: Size,
    /// What the draws come from.
    pub seed: u64,
    /// The numbers.
    pub numbers: Vec<Number>,
    /// What was drawn.
    pub assumptions: Vec<Assumption>,
    /// The numbers of the machines as they are modelled.
    pub modelled: Values,
    /// Draws that a machine refused, so that others were made.
    pub refused: Vec<Refused>,
    /// The first part: which assumptions count.
    pub walks: Vec<Walk>,
    /// Those that do, by number; the others are drawn together in the second part.
    pub kept: Vec<usize>,
    /// The second part: how much each counts.
    pub rows: Vec<Row>,
}

/// A draw that a machine refused, so that another was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Which: `trajectory 3` or `row 7`.
    pub draw: String,
    /// Why.
    pub reason: String,
}

/// A way through the ranges, with the numbers at its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// The way.
    pub trajectory: Trajectory,
    /// At each of its points.
    pub values: Vec<Values>,
}

/// Two points whose places are exchanged, with the numbers at all points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The points.
    pub pair: Pair,
    /// At both, and with each group's places exchanged.
    pub values: Vec<Values>,
}

/// The groups whose places are exchanged: each that is kept, and all others together if there are any.
pub(super) fn groups(assumptions: usize, kept: &[usize]) -> Vec<Vec<usize>> {
    let others: Vec<usize> = (0..assumptions).filter(|number| !kept.contains(number)).collect();
    let alone = kept.iter().map(|number| vec![*number]);
    alone.chain((!others.is_empty()).then_some(others)).collect()
}

impl Drawn {
    /// Checks that its parts fit each other, as those of a study do.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let (assumptions, numbers) = (self.assumptions.len(), self.numbers.len());
        let points = 2 + groups(assumptions, &self.kept).len();
        let expect = |what: &str, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(format!("{what}: found {found}, expected {expected}")),
        };
        expect("modelled", self.modelled.len(), numbers)?;
        if let Some(kept) = self.kept.iter().find(|kept| **kept >= assumptions) {
            return Err(format!("kept: found {kept}, expected less than {assumptions}"));
        }
        for Walk { trajectory, values } in &self.walks {
            expect("walks: points", trajectory.points.len(), assumptions + 1)?;
            expect("walks: order", trajectory.order.len(), assumptions)?;
            expect("walks: values", values.len(), assumptions + 1)?;
            if let Some(moved) = trajectory.order.iter().find(|moved| **moved >= assumptions) {
                return Err(format!("walks: order: found {moved}, expected less than {assumptions}"));
            }
        }
        let of_rows = self.rows.iter().map(|row| row.values.len());
        of_rows.clone().try_for_each(|found| expect("rows: values", found, points))?;
        let places = self.walks.iter().flat_map(|walk| &walk.trajectory.points);
        places.map(Vec::len).try_for_each(|found| expect("walks: places", found, assumptions))?;
        let walks = self.walks.iter().flat_map(|walk| &walk.values);
        let all = walks.chain(self.rows.iter().flat_map(|row| &row.values));
        all.map(Vec::len).try_for_each(|found| expect("values of a point", found, numbers))
    }

    /// How many numbers are missing at the points of both parts.
    #[must_use]
    pub fn lacking(&self) -> usize {
        let walks = self.walks.iter().flat_map(|walk| &walk.values);
        let rows = self.rows.iter().flat_map(|row| &row.values);
        walks.chain(rows).flatten().filter(|value| value.is_none()).count()
    }
}
