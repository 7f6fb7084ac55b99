//! A paper's figures and tables, run where the store lacks results.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use pyo3::prelude::*;
use strata_lab::grid::Grid;
use strata_lab::job::Job;
use strata_lab::paper::{Figure, FigureJob, Paper, Table as PaperTable};
use strata_lab::question::{Answers, Cell};
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

/// The title and the numbers of a paper's figure or table, and whether the caller stopped it. The table has the columns `workload`,
/// `system`, `value`, `missing` with the reason of a missing number, and `kind`: `workload`, or `mean` in rows of means.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn figure(
    py: Python<'_>,
    paper: &str,
    number: &str,
    changes: Changes,
    options: Options<'_>,
) -> PyResult<((String, Table), bool)> {
    let size: Size = changes.size.parse().map_err(|error| refused(format!("size: {error}")))?;
    let paper = Paper::load(paper)
        .and_then(|paper| paper.only(&changes.workloads))
        .and_then(|paper| paper.with(&changes.systems, &changes.sets))
        .map_err(refused)?;
    with_crew(py, &options, |crew| {
        let drawn = Drawn::find(&paper, number)?;
        let mut store = crew.open()?;
        let mut known = 0;
        loop {
            // What machines are chosen from runs first; what they need comes next.
            let jobs = drawn.jobs(&store, size);
            if jobs.len() == known || !crew.fill(&jobs, &mut store)? {
                break;
            }
            known = jobs.len();
        }
        let mut answers = Answers::new(&store, size);
        let grid = drawn.grid(&mut answers);
        Ok((grid.title.clone(), table(&grid)))
    })
}

/// A figure, or a table of a row for each workload.
enum Drawn<'a> {
    Figure(Figure<'a>),
    Table(PaperTable<'a>),
}

impl<'a> Drawn<'a> {
    /// The figure or table with a number, as in `13`, `18a` or `III`.
    fn find(paper: &'a Paper, number: &str) -> Result<Drawn<'a>, String> {
        if let Some(text) = paper.figures.iter().find(|text| text.id == number) {
            return Figure::new(paper, text).map(Drawn::Figure);
        }
        if let Some(text) = paper.tables.iter().find(|text| text.id == number) {
            return PaperTable::new(paper, text).map(Drawn::Table);
        }
        let figures = paper.figures.iter().map(|text| text.id.as_str());
        let known: Vec<&str> = figures.chain(paper.tables.iter().map(|text| text.id.as_str())).collect();
        Err(format!("{} has no figure or table `{number}`, expected one of {}", paper.name, known.join(", ")))
    }

    /// The jobs that it needs, as far as is known, each once. Those on machines that cannot be are left out.
    fn jobs(&self, store: &Store, size: Size) -> Vec<Job> {
        let wanted = match self {
            Drawn::Figure(figure) => figure.jobs(),
            Drawn::Table(table) => table.jobs(),
        };
        let mut answers = Answers::new(store, size);
        let needed: Vec<FigureJob<'_>> =
            wanted.into_iter().filter(|wanted| wanted.is_needed(&mut answers)).collect();
        let job = |wanted: &FigureJob<'_>| answers.job(wanted.kind, wanted.workload, &wanted.variant).ok();
        let mut jobs: Vec<Job> = needed.iter().filter_map(job).collect();
        jobs.sort_by_cached_key(Job::key);
        jobs.dedup_by_key(|job| job.key());
        jobs
    }

    fn grid(&self, answers: &mut Answers<'_>) -> Grid {
        match self {
            Drawn::Figure(figure) => figure.grid(answers),
            Drawn::Table(table) => table.grid(answers),
        }
    }
}

/// A number of a grid, and whether its row has means.
struct Number<'a> {
    row: &'a str,
    column: &'a str,
    cell: &'a Cell,
    is_mean: bool,
}

/// A row for each number.
fn table(grid: &Grid) -> Table {
    let rows = grid.rows.iter().zip(&grid.cells).map(|(row, cells)| (row, cells, false));
    let means = grid.means.iter().map(|(row, cells)| (row, cells, true));
    let each: Vec<Number<'_>> = rows
        .chain(means)
        .flat_map(|(row, cells, is_mean)| {
            let cells = grid.columns.iter().zip(cells);
            cells.map(move |(column, cell)| Number { row, column, cell, is_mean })
        })
        .collect();
    let texts = |of: fn(&Number<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(each.iter().map(of).collect::<StringArray>())
    };
    let value = |number: &Number<'_>| number.cell.as_ref().ok().copied();
    let missing =
        |number: &Number<'_>| number.cell.as_ref().err().filter(|reason| !reason.is_empty()).cloned();
    let kind = |number: &Number<'_>| Some(if number.is_mean { "mean" } else { "workload" }.to_owned());
    Table::new(vec![
        ("workload".into(), texts(|number| Some(number.row.to_owned()))),
        ("system".into(), texts(|number| Some(number.column.to_owned()))),
        ("value".into(), Arc::new(each.iter().map(value).collect::<Float64Array>())),
        ("missing".into(), texts(missing)),
        ("kind".into(), texts(kind)),
    ])
}
