//! A paper's figures and tables, run where the store lacks results.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use pyo3::prelude::*;
use strata_lab::grid::Grid;
use strata_lab::job::Job;
use strata_lab::paper::{Figure, Paper, Table as PaperTable};
use strata_lab::question::{Answers, Cell};
use strata_lab::repro::{Part, Selection};
use strata_lab::store::Store;
use strata_workloads::Size;

use crate::refused;
use crate::sweep::{Options, with_crew};
use crate::table::Table;

/// What differs from the paper's own evaluation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Changes {
    size: String,
    workloads: Vec<String>,
    sets: Vec<String>,
    systems: Vec<String>,
}

/// A figure or table: its number, its title, its numbers.
type Shown = (String, String, Table);

/// The figures and tables of a paper with a number, and whether the caller stopped it. A table has the columns `workload`,
/// `system`, `value`, `missing` with the reason of a missing number, and `mean`, true in rows of means.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn figure(
    py: Python<'_>,
    paper: &str,
    number: &str,
    changes: Changes,
    options: Options<'_>,
) -> PyResult<(Vec<Shown>, bool)> {
    let size: Size = changes.size.parse().map_err(|error| refused(format!("size: {error}")))?;
    let paper = Paper::load(paper)
        .and_then(|paper| paper.only(&changes.workloads))
        .and_then(|paper| paper.with(&changes.systems, &changes.sets))
        .map_err(refused)?;
    with_crew(py, &options, |crew| {
        let part = Part::Number(number.to_owned());
        let selection = Selection::new(&paper, part)?;
        let mut store = crew.open()?;
        let mut jobs: Vec<Job> = Vec::new();
        loop {
            // What machines are chosen from runs first; what they need comes next.
            let wanted = selection.jobs(&store, size)?;
            if wanted.len() == jobs.len() {
                break;
            }
            jobs = wanted;
            if !crew.fill(&jobs, &mut store)? {
                break;
            }
        }
        shown(&selection, &store, size)
    })
}

fn shown(selection: &Selection<'_>, store: &Store, size: Size) -> Result<Vec<Shown>, String> {
    let mut answers = Answers::new(store, size);
    let mut shown = Vec::new();
    for text in selection.figures() {
        let grid = Figure::new(selection.paper(), text)?.grid(&mut answers);
        shown.push((text.id.clone(), grid.title.clone(), table(&grid)));
    }
    for text in selection.tables() {
        let grid = PaperTable::new(selection.paper(), text)?.grid(&mut answers);
        shown.push((text.id.clone(), grid.title.clone(), table(&grid)));
    }
    Ok(shown)
}

/// A row for each number.
fn table(grid: &Grid) -> Table {
    let rows = grid.rows.iter().zip(&grid.cells).map(|(name, cells)| (name, cells, false));
    let means = grid.means.iter().map(|(name, cells)| (name, cells, true));
    let each: Vec<(&str, &str, &Cell, bool)> = rows
        .chain(means)
        .flat_map(|(row, cells, mean)| {
            let cells = grid.columns.iter().zip(cells);
            cells.map(move |(column, cell)| (row.as_str(), column.as_str(), cell, mean))
        })
        .collect();
    let texts = |of: &dyn Fn(&(&str, &str, &Cell, bool)) -> Option<String>| -> ArrayRef {
        Arc::new(each.iter().map(of).collect::<StringArray>())
    };
    Table::new(vec![
        ("workload".into(), texts(&|row| Some(row.0.to_owned()))),
        ("system".into(), texts(&|row| Some(row.1.to_owned()))),
        ("value".into(), Arc::new(each.iter().map(|row| row.2.as_ref().ok().copied()).collect::<Float64Array>())),
        ("missing".into(), texts(&|row| row.2.as_ref().err().filter(|reason| !reason.is_empty()).cloned())),
        ("kind".into(), texts(&|row| Some(if row.3 { "mean" } else { "workload" }.to_owned()))),
    ])
}
