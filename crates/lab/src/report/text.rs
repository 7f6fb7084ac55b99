//! Formats grids for a terminal.

use super::number;
use crate::grid::Grid;

/// The grid with its title, and why numbers are missing.
#[must_use]
pub fn grid(grid: &Grid) -> String {
    let mut lines: Vec<Vec<String>> =
        vec![std::iter::once(String::new()).chain(grid.columns.iter().cloned()).collect()];
    for (name, cells) in grid.lines() {
        let cells = cells.iter().map(|cell| match cell {
            Ok(value) => number(*value),
            Err(reason) if reason.is_empty() => String::new(),
            Err(_) => "-".into(),
        });
        lines.push(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    let mut text = format!("{}\n", grid.title);
    text += &aligned(&lines);
    for (reason, cells) in grid.reasons() {
        text += &format!("  not measured ({cells}): {reason}\n");
    }
    text
}

/// Aligns columns to their widest entry: the first column to the left, the others to the right.
#[must_use]
pub fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::from(" ");
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            row += &if column == 0 { format!(" {cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}
