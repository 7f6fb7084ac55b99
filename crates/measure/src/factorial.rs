//! A factorial comparison: every subset of some systems on one machine, and what each brings alone and beside the others.
//!
//! The *effect* of a system on a metric is the metric with it over that without it, all else alike: the geometric mean over all pairs of
//! subsets that differ in it alone. The *interaction* of two systems is the effect of one beside the other over its effect without the
//! other. At 1, their effects multiply. These are the effects of a two-level factorial design (Montgomery, *Design and Analysis of
//! Experiments*), of the metric's logarithm. Subsets without a number are left out.

use crate::grid::{Cell, Grid, Mean};

/// Fewest and most systems of a design, which has two to the power of their number of subsets.
const SYSTEMS: std::ops::RangeInclusive<usize> = 2..=6;

/// The systems of a factorial comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    names: Vec<String>,
    /// Bit n of a subset: it has the n-th system. In the order of their sizes.
    subsets: Vec<u32>,
}

impl Factors {
    /// A design of these systems.
    ///
    /// # Errors
    /// Too few or too many systems, or the same twice.
    pub fn new(names: Vec<String>) -> Result<Factors, String> {
        if !SYSTEMS.contains(&names.len()) {
            let (least, most) = SYSTEMS.into_inner();
            return Err(format!("found {} systems, expected {least} to {most}", names.len()));
        }
        if let Some(name) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            return Err(format!("found `{}` twice, expected each system once", name.1));
        }
        let mut subsets: Vec<u32> = (0..1 << names.len()).collect();
        subsets.sort_by_key(|subset| subset.count_ones());
        Ok(Factors { names, subsets })
    }

    /// What each subset lays over a machine, as `a+b`. The machine's own name stands for none.
    #[must_use]
    pub fn systems(&self, machine: &str) -> Vec<String> {
        let name = |subset: &u32| {
            let names = self.names.iter().enumerate();
            let names = names.filter(|(factor, _)| subset >> factor & 1 == 1).map(|(_, name)| name.as_str());
            let names: Vec<&str> = names.collect();
            if names.is_empty() { machine.to_owned() } else { names.join("+") }
        };
        self.subsets.iter().map(name).collect()
    }

    /// The effects of the systems, and the interactions of each two. The grid's columns are the subsets.
    #[must_use]
    pub fn effects(&self, grid: &Grid) -> Grid {
        let factors = 0..self.names.len();
        let pairs: Vec<(usize, usize)> = factors
            .clone()
            .flat_map(|one| (one + 1..self.names.len()).map(move |other| (one, other)))
            .collect();
        let columns = self.names.iter().cloned();
        let row = |cells: &Vec<Cell>| {
            let effects = factors.clone().map(|factor| self.effect(cells, factor));
            effects.chain(pairs.iter().map(|pair| self.interaction(cells, *pair))).collect()
        };
        let mut effects = Grid {
            title: format!("{}: effects and interactions", grid.title),
            rows: grid.rows.clone(),
            columns: columns
                .chain(
                    pairs.iter().map(|(one, other)| format!("{} x {}", self.names[*one], self.names[*other])),
                )
                .collect(),
            cells: grid.cells.iter().map(row).collect(),
            means: vec![],
        };
        effects.add_mean(Mean::Geometric);
        effects
    }

    /// The number of a subset.
    fn of(&self, cells: &[Cell], subset: u32) -> Option<f64> {
        let place = self.subsets.iter().position(|known| *known == subset)?;
        cells[place].as_ref().ok().copied()
    }

    fn effect(&self, cells: &[Cell], factor: usize) -> Cell {
        let with = 1 << factor;
        mean(
            self.subsets
                .iter()
                .filter(|subset| *subset & with == 0)
                .filter_map(|without| Some(self.of(cells, without | with)? / self.of(cells, *without)?)),
        )
    }

    fn interaction(&self, cells: &[Cell], (one, other): (usize, usize)) -> Cell {
        let (one, other) = (1 << one, 1 << other);
        mean(self.subsets.iter().filter(|subset| *subset & (one | other) == 0).filter_map(|neither| {
            let of = |more| self.of(cells, neither | more);
            Some(of(one | other)? * of(0)? / (of(one)? * of(other)?))
        }))
    }
}

/// The geometric mean of ratios, of which there must be one.
fn mean(ratios: impl Iterator<Item = f64>) -> Cell {
    let ratios: Vec<f64> = ratios.collect();
    if ratios.is_empty() {
        return Err("no subsets that differ in it alone have numbers".into());
    }
    if !ratios.iter().all(|ratio| ratio.is_finite() && *ratio > 0.0) {
        return Err("an effect takes numbers above 0".into());
    }
    Mean::Geometric.of(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(names: &[&str]) -> Factors {
        Factors::new(names.iter().map(|name| (*name).to_owned()).collect()).unwrap()
    }

    fn grid(cells: Vec<Cell>) -> Grid {
        let columns = vec![String::new(); cells.len()];
        Grid { title: "IPC".into(), rows: vec!["saxpy".into()], columns, cells: vec![cells], means: vec![] }
    }

    #[test]
    fn every_subset_has_a_name() {
        let systems = factors(&["a", "b", "c"]).systems("m");
        assert_eq!(systems, ["m", "a", "b", "c", "a+b", "a+c", "b+c", "a+b+c"]);
        let refused =
            |names: &[&str]| Factors::new(names.iter().map(|name| (*name).to_owned()).collect()).unwrap_err();
        assert_eq!(refused(&["a"]), "found 1 systems, expected 2 to 6");
        assert_eq!(refused(&["a", "b", "a"]), "found `a` twice, expected each system once");
    }

    #[test]
    fn effects_are_ratios_with_all_else_alike() {
        // a doubles, b is worth a half more; together they bring 2 x 1.5 x 1.2.
        let effects = factors(&["a", "b"]).effects(&grid(vec![Ok(10.0), Ok(20.0), Ok(15.0), Ok(36.0)]));
        assert_eq!(effects.columns, ["a", "b", "a x b"]);
        let cells: Vec<f64> = effects.cells[0].iter().map(|cell| *cell.as_ref().unwrap()).collect();
        let expected = [(2.0_f64 * 2.4).sqrt(), (1.5_f64 * 1.8).sqrt(), 1.2];
        assert!(
            cells.iter().zip(expected).all(|(cell, expected)| (cell - expected).abs() < 1e-12),
            "{cells:?}"
        );
        assert_eq!(effects.means.len(), 1);
    }

    #[test]
    fn subsets_without_a_number_are_left_out() {
        let missing = || Err("cannot be".to_owned());
        // Of a and c, and of all three, there is no machine.
        let cells = vec![Ok(1.0), Ok(2.0), Ok(3.0), Ok(5.0), Ok(6.0), missing(), Ok(15.0), missing()];
        let effects = factors(&["a", "b", "c"]).effects(&grid(cells));
        assert_eq!(effects.columns, ["a", "b", "c", "a x b", "a x c", "b x c"]);
        let cells = &effects.cells[0];
        for (place, expected) in [(0, 2.0), (1, 3.0), (2, 5.0), (3, 1.0), (5, 1.0)] {
            assert!((cells[place].as_ref().unwrap() - expected).abs() < 1e-12, "{place}: {cells:?}");
        }
        assert_eq!(cells[4], Err("no subsets that differ in it alone have numbers".to_owned()));
        let zero = factors(&["a", "b"]).effects(&grid(vec![Ok(0.0), Ok(1.0), Ok(0.0), Ok(1.0)]));
        assert_eq!(zero.cells[0][0], Err("an effect takes numbers above 0".to_owned()));
    }
}
