//! Sweeps of two parameters as heat maps.

use maud::{Markup, html};

use crate::grid::Grid;
use crate::question::Cell;
use crate::report::number;
use crate::variant::Variant;

/// Two parameters of one system, with their values in the order given.
pub struct Plane {
    /// Name of the system.
    pub system: String,
    /// Names of the two parameters.
    pub keys: [String; 2],
    /// Values of each.
    pub values: [Vec<String>; 2],
    /// The column of a grid for each pair of values.
    columns: Vec<Vec<usize>>,
}

impl Plane {
    /// One plane for each system, if the variants sweep exactly two parameters over every pair of values.
    pub fn all(variants: &[Variant]) -> Option<Vec<Plane>> {
        let mut systems: Vec<&Option<String>> = Vec::new();
        for variant in variants {
            if !systems.contains(&&variant.system) {
                systems.push(&variant.system);
            }
        }
        systems.into_iter().map(|system| Plane::of(variants, system)).collect()
    }

    fn of(variants: &[Variant], system: &Option<String>) -> Option<Plane> {
        let own: Vec<(usize, &Variant)> =
            variants.iter().enumerate().filter(|(_, variant)| variant.system == *system).collect();
        let pairs = |variant: &Variant| -> Option<Vec<(String, String)>> {
            let pair =
                |set: &String| set.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
            variant.sets.iter().map(pair).collect()
        };
        let sets: Vec<Vec<(String, String)>> =
            own.iter().map(|(_, variant)| pairs(variant)).collect::<Option<_>>()?;
        // A sweep comes last, one set for each parameter.
        let count = sets.first()?.len().checked_sub(2)?;
        let tails: Vec<&[(String, String)]> =
            sets.iter().map(|sets| sets.get(count..)).collect::<Option<_>>()?;
        let keys = [tails[0].first()?.0.clone(), tails[0].get(1)?.0.clone()];
        let same =
            |tail: &&[(String, String)]| tail.len() == 2 && tail[0].0 == keys[0] && tail[1].0 == keys[1];
        if !tails.iter().all(same) {
            return None;
        }
        let values = [0, 1].map(|key| {
            let mut values: Vec<String> = Vec::new();
            for tail in &tails {
                if !values.contains(&tail[key].1) {
                    values.push(tail[key].1.clone());
                }
            }
            values
        });
        let column = |one: &String, other: &String| {
            let place = tails.iter().position(|tail| tail[0].1 == *one && tail[1].1 == *other)?;
            Some(own[place].0)
        };
        let row = |one: &String| values[1].iter().map(|other| column(one, other)).collect::<Option<Vec<_>>>();
        let columns: Vec<Vec<usize>> = values[0].iter().map(row).collect::<Option<_>>()?;
        let system = system.clone().unwrap_or_else(|| own[0].1.base.clone());
        let swept = values.iter().all(|values| values.len() > 1);
        swept.then_some(Plane { system, keys, values, columns })
    }

    /// A map for one row of a grid, shaded from the least number to the greatest.
    pub fn map(&self, grid: &Grid, row: usize, unit: &str) -> Markup {
        let cells = &grid.cells[row];
        let numbers =
            self.columns.iter().flatten().filter_map(|column| cells[*column].as_ref().ok().copied());
        let (least, most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let share = |value: f64| if most > least { (value - least) / (most - least) } else { 0.5 };
        let name = format!("{}, {}", grid.rows[row], self.system);
        html! {
            div.heat {
                table {
                    caption { (name) }
                    thead {
                        tr { th {} th colspan=(self.values[1].len()) { (self.keys[1]) } }
                        tr { th.words { (self.keys[0]) } @for value in &self.values[1] { th { (value) } } }
                    }
                    tbody {
                        @for (value, columns) in self.values[0].iter().zip(&self.columns) {
                            tr { th { (value) } @for column in columns { (shade(&cells[*column], &share, unit)) } }
                        }
                    }
                }
            }
        }
    }
}

fn shade(cell: &Cell, share: &dyn Fn(f64) -> f64, unit: &str) -> Markup {
    html! {
        @match cell {
            Ok(value) => {
                @let share = share(*value);
                td.deep[share > 0.55] data-value=(format!("{value}")) title=(super::chart::with_unit(*value, unit))
                    style=(format!("--share:{:.0}%", 8.0 + 92.0 * share)) { (number(*value)) }
            }
            Err(reason) => { td.missing title=(reason) { "–" } }
        }
    }
}
