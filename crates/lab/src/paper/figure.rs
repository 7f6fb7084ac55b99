//! Figures and tables: the jobs they need, and their grids.

use super::definition::Drawing;
use super::{ColumnText, FigureText, ListText, Paper, TableText};
use crate::grid::{Grid, Mean, divide};
use crate::job::Kind;
use crate::metric::{Expression, Metric};
use crate::question::{Answers, Cell};
use crate::setup::{FigureJob, Setup};
use crate::variant::Variant;

/// A figure with all names resolved.
pub struct Figure<'a> {
    text: &'a FigureText,
    metrics: Vec<&'a Metric>,
    setups: Vec<Setup>,
    workloads: &'a [String],
    /// The column by which the others are divided.
    base: Option<usize>,
    mean: Mean,
}

impl<'a> Figure<'a> {
    /// Resolves a figure's names.
    ///
    /// # Errors
    /// An unknown name, or several metrics where only one can be drawn.
    pub fn new(paper: &'a Paper, text: &'a FigureText) -> Result<Self, String> {
        let metrics: Vec<&Metric> =
            text.metrics.iter().map(|name| paper.metric(name)).collect::<Result<_, _>>()?;
        if metrics.is_empty() || (text.drawing == Drawing::GroupedBars && metrics.len() > 1) {
            return Err(format!(
                "metrics: found {}, expected 1, or several for `stacked-bars`",
                metrics.len()
            ));
        }
        let setup = |name: &String| paper.setup(name, text.machine.as_deref());
        let setups = text.systems.iter().map(setup).collect::<Result<_, _>>()?;
        let base = match &text.normalise {
            None => None,
            Some(normalise) => {
                let place = |names: &[String], name: &str, what: &str| {
                    let found = names.iter().position(|known| known == name);
                    found.ok_or_else(|| {
                        let known = names.join(", ");
                        format!("normalise: no {what} `{name}` in the figure, expected one of {known}")
                    })
                };
                let system = place(&text.systems, &normalise.system, "system")?;
                let metric = normalise.metric.as_ref().unwrap_or(&text.metrics[0]);
                Some(system * metrics.len() + place(&text.metrics, metric, "metric")?)
            }
        };
        Ok(Figure {
            text,
            metrics,
            setups,
            workloads: paper.workloads(&text.workloads)?,
            base,
            mean: paper.mean,
        })
    }

    /// The jobs that the figure needs.
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        let mut jobs = Vec::new();
        for workload in self.workloads {
            for setup in &self.setups {
                for metric in &self.metrics {
                    jobs.extend(setup.jobs(metric.kind, workload));
                }
            }
        }
        jobs
    }

    /// Names of the systems, each a bar or a stack for each workload.
    pub fn systems(&self) -> impl Iterator<Item = &str> {
        self.setups.iter().map(Setup::name)
    }

    /// Unit of the numbers.
    #[must_use]
    pub fn unit(&self) -> String {
        match self.base {
            Some(base) => format!("times {}", self.setups[base / self.metrics.len()].name()),
            None => self.metrics[0].unit.clone(),
        }
    }

    /// The grid of workloads by systems; in a stacked figure, of workloads by systems and metrics.
    pub fn grid(&self, answers: &mut Answers<'_>) -> Grid {
        let mut row = |workload: &String| -> Vec<Cell> {
            let cells =
                self.setups.iter().flat_map(|setup| self.metrics.iter().map(move |metric| (setup, metric)));
            cells.map(|(setup, metric)| setup.value(answers, metric, workload)).collect()
        };
        let column = |setup: &Setup, metric: &Metric| match (self.metrics.len(), self.setups.len()) {
            (1, _) => setup.name().to_owned(),
            (_, 1) => metric.title.clone(),
            _ => format!("{}: {}", setup.name(), metric.title),
        };
        let columns =
            self.setups.iter().flat_map(|setup| self.metrics.iter().map(move |metric| (setup, metric)));
        let unit = if self.base.is_some() { "" } else { self.metrics[0].unit.as_str() };
        let mut grid = Grid {
            title: if unit.is_empty() {
                self.text.title.clone()
            } else {
                format!("{} ({unit})", self.text.title)
            },
            rows: self.workloads.to_vec(),
            columns: columns.map(|(setup, metric)| column(setup, metric)).collect(),
            cells: self.workloads.iter().map(&mut row).collect(),
            means: vec![],
        };
        if let Some(base) = self.base {
            grid.normalise(base);
        }
        grid.add_mean(self.mean);
        if self.base.is_some() && self.mean == Mean::Arithmetic && self.metrics.len() == 1 {
            grid.add_mean(Mean::Geometric);
        }
        grid
    }

    /// Names of the parts of a stack, or of the bars.
    #[must_use]
    pub fn series(&self) -> Vec<String> {
        match self.text.drawing {
            Drawing::GroupedBars => self.systems().map(str::to_owned).collect(),
            Drawing::StackedBars => self.metrics.iter().map(|metric| metric.title.clone()).collect(),
        }
    }
}

/// A table with one row for each workload, with all names resolved.
pub struct Table<'a> {
    text: &'a TableText,
    columns: Vec<(&'a str, &'a ColumnText, &'a Metric, Setup)>,
    workloads: &'a [String],
}

impl<'a> Table<'a> {
    /// Resolves a table's names.
    ///
    /// # Errors
    /// An unknown name, or a workload without a published number.
    pub fn new(paper: &'a Paper, text: &'a TableText) -> Result<Self, String> {
        let workloads = paper.workloads(&text.workloads)?;
        let column = |(title, column): (&'a String, &'a ColumnText)| {
            let lacks = workloads.iter().find(|workload| !column.published.contains_key(*workload));
            if let Some(lacks) = lacks.filter(|_| column.has_published()) {
                return Err(format!(
                    "column `{title}`: nothing is published for `{lacks}`, expected a number"
                ));
            }
            let metric = paper.metric(&column.metric)?;
            Ok((title.as_str(), column, metric, paper.setup(&column.system, None)?))
        };
        let columns = text.columns.iter().map(column).collect::<Result<_, _>>()?;
        Ok(Table { text, columns, workloads })
    }

    /// The jobs that the table needs.
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        let of_column = |workload: &'a String| {
            self.columns.iter().flat_map(move |(_, _, metric, setup)| setup.jobs(metric.kind, workload))
        };
        self.workloads.iter().flat_map(of_column).collect()
    }

    /// The grid: a row for each workload. A column has three there: published number, measured number and their quotient; or the
    /// measured one alone, where none is published.
    pub fn grid(&self, answers: &mut Answers<'_>) -> Grid {
        let mut row = |workload: &String| -> Vec<Cell> {
            let mut cells = Vec::new();
            for (_, column, metric, setup) in &self.columns {
                let measured = setup.value(answers, metric, workload);
                match column.published.get(workload).copied().map(Ok) {
                    Some(published) => {
                        cells.extend([published.clone(), measured.clone(), divide(measured, &published)])
                    }
                    None => cells.push(measured),
                }
            }
            cells
        };
        let cells: Vec<Vec<Cell>> = self.workloads.iter().map(&mut row).collect();
        let (mut heads, mut correlations) = (Vec::new(), Vec::new());
        let none = || Err(String::new());
        for (title, column, ..) in &self.columns {
            if column.has_published() {
                let place = heads.len();
                let pair = |row: &Vec<Cell>| Ok((row[place].clone()?, row[place + 1].clone()?));
                let pairs: Result<Vec<(f64, f64)>, String> = cells.iter().map(pair).collect();
                let correlation = pairs.and_then(|pairs| correlation(&pairs));
                heads.extend([format!("{title}, published"), format!("{title}, measured")]);
                heads.push("measured over published".into());
                correlations.extend([none(), correlation, none()]);
            } else {
                heads.push((*title).to_owned());
                correlations.push(none());
            }
        }
        let is_compared = self.columns.iter().any(|(_, column, ..)| column.has_published());
        let means = is_compared.then(|| ("correlation with the published".into(), correlations));
        Grid {
            title: self.text.title.clone(),
            rows: self.workloads.to_vec(),
            columns: heads,
            means: means.into_iter().collect(),
            cells,
        }
    }
}

/// Pearson's correlation coefficient.
fn correlation(pairs: &[(f64, f64)]) -> Cell {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)).sum::<f64>();
    divide(Ok(sum(&|x, y| x * y)), &Ok((sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()))
}

/// A table with one row for each number, with all names resolved.
pub struct List<'a> {
    text: &'a ListText,
    rows: Vec<(Metric, Variant)>,
}

impl<'a> List<'a> {
    /// Resolves a table's names.
    ///
    /// # Errors
    /// An unknown name, or an expression that cannot be parsed.
    pub fn new(paper: &'a Paper, text: &'a ListText) -> Result<Self, String> {
        let row = |row: &super::file::RowText| {
            let metric = Metric {
                name: row.name.clone(),
                title: row.name.clone(),
                unit: String::new(),
                expression: Expression::parse(&row.expression)?,
                kind: Kind::Timing,
            };
            Ok::<_, String>((metric, paper.variant(&row.system, None)?))
        };
        Ok(List { text, rows: text.rows.iter().map(row).collect::<Result<_, _>>()? })
    }

    /// The metric of each row.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.rows.iter().map(|(metric, _)| metric)
    }

    /// The jobs that the table needs.
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        let job = |(metric, variant): &(Metric, Variant)| {
            FigureJob::new(metric.kind, &self.text.workload, variant.clone())
        };
        self.rows.iter().map(job).collect()
    }

    /// The grid: a row for each number, with the published one, the measured one and their quotient.
    pub fn grid(&self, answers: &mut Answers<'_>) -> Grid {
        let mut row = |((metric, variant), text): (&(Metric, Variant), &super::file::RowText)| {
            let measured = answers.value(metric, &self.text.workload, variant);
            vec![Ok(text.published), measured.clone(), divide(measured, &Ok(text.published))]
        };
        Grid {
            title: self.text.title.clone(),
            rows: self.text.rows.iter().map(|row| row.name.clone()).collect(),
            columns: vec!["published".into(), "measured".into(), "measured over published".into()],
            cells: self.rows.iter().zip(&self.text.rows).map(&mut row).collect(),
            means: vec![],
        }
    }
}
