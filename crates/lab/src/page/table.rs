//! Grids as tables that sort by a click and can be saved as CSV.

use maud::{Markup, html};

use crate::grid::Grid;
use crate::question::Cell;
use crate::report::number;

/// A grid as a table. Cells carry the whole number; the page shows four digits.
pub fn table(grid: &Grid) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(grid.title) {
            table.sort data-title=(grid.title) {
                thead { tr { th { span.unseen { "name" } } @for column in &grid.columns { th { (column) } } } }
                tbody {
                    @for (name, cells) in grid.rows.iter().zip(&grid.cells) {
                        tr { td { (name) } @for of in cells { (cell(of)) } }
                    }
                }
                @if !grid.means.is_empty() {
                    tfoot {
                        @for (name, cells) in &grid.means { tr { td { (name) } @for of in cells { (cell(of)) } } }
                    }
                }
            }
        }
    }
}

/// A table that is open only when a reader asks, followed by why numbers are missing.
pub fn folded(grid: &Grid) -> Markup {
    html! {
        details { summary { "Numbers" } (table(grid)) }
        (missing(grid))
    }
}

/// One number, or why it is missing.
pub fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Ok(value) => { td data-value=(format!("{value}")) { (number(*value)) } }
            Err(reason) if reason.is_empty() => { td {} }
            Err(reason) => { td.missing title=(reason) { "not measured" } }
        }
    }
}

/// Why numbers of a grid are missing.
pub fn missing(grid: &Grid) -> Markup {
    html! {
        @for (reason, cells) in grid.reasons() { p.note { "Not measured (" (cells) "): " (reason) } }
    }
}
