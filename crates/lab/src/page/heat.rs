//! Sweeps of two parameters as heat maps.

use maud::{Markup, html};

use crate::axes::Axes;
use crate::grid::Grid;
use crate::question::Cell;
use crate::report::number;

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
    /// One plane for each system, if two parameters are swept over several values each.
    pub fn all(axes: &Axes) -> Option<Vec<Plane>> {
        let [one, other] = &axes.sweeps[..] else { return None };
        if one.values.len() < 2 || other.values.len() < 2 {
            return None;
        }
        let plane = |(place, system): (usize, &String)| {
            let row =
                |first: usize| (0..other.values.len()).map(move |last| axes.variant(&[place, first, last]));
            Plane {
                system: system.clone(),
                keys: [one.path.clone(), other.path.clone()],
                values: [one.values.clone(), other.values.clone()],
                columns: (0..one.values.len()).map(|first| row(first).collect()).collect(),
            }
        };
        Some(axes.systems.iter().enumerate().map(plane).collect())
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
