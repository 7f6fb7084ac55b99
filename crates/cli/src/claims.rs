//! `strata claims`: published numbers beside measured ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strata_engine::config::did_you_mean;
use strata_lab::claims::sensitivity::{Dependence, Sensitivity, sensitivities};
use strata_lab::claims::statement::{OfProgram, Statement, statements};
use strata_lab::claims::{self, Reading, Row, Verdict};
use strata_lab::grid::Grid;
use strata_lab::origin::Origin;
use strata_lab::paper::{self, Figure, Paper, Table};
use strata_lab::question::Answers;
use strata_lab::report::number;
use strata_lab::store::Store;
use strata_lab::uncertain::Claims;
use strata_workloads::Size;

use crate::progress::during;
use crate::uncertain::{self, UncertainArguments};
use crate::{Finished, grid, print, sweep, table};

/// Folder of the result store, unless another is named.
const DEFAULT_STORE: &str = "strata-store";

/// Arguments of `strata claims`.
#[derive(Args)]
pub struct ClaimsArguments {
    /// Show only the claims of this paper.
    paper: Option<String>,
    /// Write a JSON array of objects; of several parts, an object with an array for each. Each claim has id,
    /// published, measured, size, verdict, explanation, the versions of the simulator behind it and more.
    #[arg(long)]
    json: bool,
    /// Show only these parts. By default, shows the claims and, without `--json`, everything else that was
    /// measured.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    show: Vec<Part>,
    /// Show results of this size. By default, each claim is shown at the largest size at which it was
    /// measured.
    #[arg(long)]
    size: Option<String>,
    /// Folder of the result store. Default: `strata-store`; without such a folder, only the published numbers are
    /// shown.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Show the results of another version of the simulator, or of `any` version.
    #[arg(long, value_name = "VERSION")]
    simulator: Option<String>,
    /// With `--simulator`, also find results by the names of workload, machine and system where values of these have
    /// come or changed since. Says which.
    #[arg(long, requires = "simulator")]
    by_name: bool,
    /// Fail if a measured claim is not reproduced and has no explanation, or if its explanation does not fit
    /// the runs.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    uncertain: UncertainArguments,
    /// With `--uncertain`: only these claims. Default: those of the paper's abstract, or if it has none its first five.
    #[arg(long, value_name = "CLAIM,...", value_delimiter = ',', requires = "uncertain")]
    claims: Vec<String>,
    /// With `--uncertain`: show the draws of this file, which `repro --uncertain` has written, and look nothing up.
    #[arg(long, value_name = "FILE.json", requires = "uncertain", conflicts_with_all = ["store", "size", "claims"])]
    draws: Option<PathBuf>,
    /// With `--uncertain`: write a line of CSV for each number and assumption.
    #[arg(long, requires = "uncertain", conflicts_with = "json")]
    csv: bool,
}

/// A part of the output of `strata claims`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Part {
    /// Published numbers, with verdicts.
    Claims,
    /// Tables that set published numbers beside measured ones, without verdicts.
    Tables,
    /// Figures that the paper's page in the documentation has as tables.
    Figures,
    /// How much the headline result depends on choices that the paper leaves open.
    Sensitivity,
    /// What the paper's text says of programs by name, and whether the runs agree.
    Statements,
}

impl Part {
    /// Its name on the command line.
    fn name(self) -> String {
        self.to_possible_value().expect("no part is hidden").get_name().to_owned()
    }
}

/// Prints published numbers beside measured ones.
///
/// # Errors
/// An unknown paper, a store that is not there or cannot be read, or, with `--check`, the claims that fail the check.
pub fn claims(arguments: &ClaimsArguments) -> Result<Finished, String> {
    let known = claims::papers();
    if let Some(paper) = &arguments.paper
        && !known.contains(paper)
    {
        let alike = did_you_mean(paper, known.iter().map(String::as_str));
        return Err(format!("no claims of a paper `{paper}`{alike}, expected one of {}", known.join(", ")));
    }
    let options = arguments.uncertain.options()?;
    if let (Some(_), Some(draws)) = (options, &arguments.draws) {
        return uncertain::show(draws, of_study(arguments));
    }
    let simulator = arguments.simulator.as_deref();
    let mut store = match (&arguments.store, Path::new(DEFAULT_STORE)) {
        (Some(folder), _) => sweep::open(folder, simulator)?,
        (None, folder) if simulator.is_some() || folder.exists() => sweep::open(folder, simulator)?,
        (None, folder) => {
            eprintln!("{DEFAULT_STORE}: found no store, so only the published numbers are shown");
            Store::open(folder)?.0
        }
    };
    if arguments.by_name {
        store.look_up_by_name();
    }
    if let Some(options) = options {
        let name = arguments.paper.as_deref().ok_or("--uncertain: expected a paper")?;
        let paper = Paper::load(name)?;
        let size: Size = arguments
            .size
            .as_deref()
            .unwrap_or("test")
            .parse()
            .map_err(|error| format!("--size: {error}"))?;
        let asked = Claims::new(&paper, &arguments.claims).map_err(|error| format!("--claims: {error}"))?;
        return uncertain::look_up((&asked, paper.name.clone()), size, options, &store, of_study(arguments));
    }
    let papers: Vec<&str> = arguments.paper.as_deref().into_iter().collect();
    let size = arguments.size.as_deref().map(str::parse).transpose();
    let size: Option<Size> = size.map_err(|error| format!("--size: {error}"))?;
    let shown: BTreeSet<Part> = match (arguments.show.as_slice(), arguments.json) {
        ([], true) => BTreeSet::from([Part::Claims]),
        ([], false) => Part::value_variants().iter().copied().collect(),
        (named, _) => named.iter().copied().collect(),
    };
    let measured =
        during("comparing results with published numbers", || measured(&papers, &store, size, &shown))?;
    let origin = measured.origin();
    if arguments.json {
        let mut objects: BTreeMap<String, Vec<Value>> =
            shown.iter().map(|part| (part.name(), measured.objects(*part))).collect();
        let whole =
            if objects.len() == 1 { json!(objects.pop_first().map(|(_, of)| of)) } else { json!(objects) };
        print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&whole).expect("numbers and strings serialise")
        ))?;
    } else {
        let asked = !arguments.show.is_empty();
        let parts: Vec<String> = shown.iter().flat_map(|part| measured.texts(*part, asked)).collect();
        print(&parts.join("\n"))?;
    }
    for sentence in origin.sentences() {
        eprintln!("{sentence}");
    }
    let problems: Vec<String> = measured.rows.iter().flat_map(Row::problems).collect();
    for problem in &problems {
        eprintln!("{problem}");
    }
    Ok(if arguments.check && !problems.is_empty() { Finished::Wrong } else { Finished::Well })
}

/// Where what a study says goes.
fn of_study(arguments: &ClaimsArguments) -> uncertain::Outputs<'static> {
    let standard = |wanted: bool| wanted.then(|| Path::new("-"));
    uncertain::Outputs { csv: standard(arguments.csv), json: standard(arguments.json), draws: None }
}

/// What is shown of some papers. What is not asked for is empty, but for the claims, of which every part speaks.
struct Measured {
    rows: Vec<Row>,
    /// Tables, each with the runs behind it.
    grids: Vec<(Grid, Origin)>,
    /// Figures as tables.
    figures: Vec<(Grid, Origin)>,
    hinges: Vec<Sensitivity>,
    sentences: Vec<Statement>,
}

impl Measured {
    /// Where the numbers come from.
    fn origin(&self) -> Origin {
        let mut origin = Origin::default();
        self.rows.iter().for_each(|row| origin.add(&row.origin));
        self.grids.iter().chain(&self.figures).for_each(|(_, of)| origin.add(of));
        self.hinges.iter().for_each(|of| origin.add(&of.origin));
        self.sentences.iter().for_each(|of| origin.add(&of.origin));
        origin
    }

    /// A part, as JSON.
    fn objects(&self, part: Part) -> Vec<Value> {
        match part {
            Part::Claims => self.rows.iter().map(|row| object(row, &self.hinges)).collect(),
            Part::Tables => self.grids.iter().map(|(grid, origin)| grid_object(grid, origin)).collect(),
            Part::Figures => self.figures.iter().map(|(grid, origin)| grid_object(grid, origin)).collect(),
            Part::Sensitivity => self.hinges.iter().map(sensitivity_object).collect(),
            Part::Statements => self.sentences.iter().map(statement_object).collect(),
        }
    }

    /// A part, as tables of text; without what was not measured, unless the part was asked for.
    fn texts(&self, part: Part, asked: bool) -> Vec<String> {
        let of_grids = |grids: &[(Grid, Origin)], has: fn(&Grid) -> bool| {
            let held = grids.iter().filter(|(grid, _)| asked || has(grid));
            held.map(|(grid, _)| grid::of_columns(grid, table::width())).collect()
        };
        match part {
            Part::Claims => vec![table(&self.rows)],
            Part::Tables => of_grids(&self.grids, is_measured),
            Part::Figures => of_grids(&self.figures, Grid::has_numbers),
            Part::Sensitivity => {
                let any = |of: &&Sensitivity| {
                    of.choices.iter().flat_map(|choice| &choice.results).any(Result::is_ok)
                };
                self.hinges.iter().filter(|of| asked || any(of)).map(sensitivity_text).collect()
            }
            Part::Statements => {
                let any = |of: &&Statement| of.programs.iter().any(|of| of.value.is_ok());
                self.sentences.iter().filter(|of| asked || any(of)).map(statement_text).collect()
            }
        }
    }
}

/// Looks up what is shown: each part costs a second or more of a large store.
fn measured(
    papers: &[&str],
    store: &Store,
    size: Option<Size>,
    shown: &BTreeSet<Part>,
) -> Result<Measured, String> {
    let rows = match size {
        Some(size) => claims::rows(papers, store, size)?,
        None => largest(papers, store)?,
    };
    let (mut grids, mut figures) = (Vec::new(), Vec::new());
    let (mut hinges, mut sentences) = (Vec::new(), Vec::new());
    for name in paper::names().into_iter().filter(|name| papers.is_empty() || papers.contains(name)) {
        let paper = Paper::load(name)?;
        let usual = *paper.sizes.first().expect("a paper's file has been checked");
        let mut answers = Answers::new(store, size.unwrap_or(usual));
        for table in paper.tables.iter().filter(|_| shown.contains(&Part::Tables)) {
            let grid = Table::new(&paper, table)?.grid(&mut answers);
            grids.push((grid, answers.take_origin()));
        }
        let as_tables = paper.figures.iter().filter(|figure| figure.as_table);
        for figure in as_tables.filter(|_| shown.contains(&Part::Figures)) {
            let grid = Figure::new(&paper, figure)?.grid(&mut answers);
            figures.push((grid, answers.take_origin()));
        }
        // A claim says which choices it depends on.
        if shown.contains(&Part::Sensitivity) || shown.contains(&Part::Claims) {
            hinges.extend(sensitivities(&paper, &mut answers)?);
        }
        if shown.contains(&Part::Statements) {
            sentences.extend(statements(&paper, &mut answers)?);
        }
    }
    Ok(Measured { rows, grids, figures, hinges, sentences })
}

/// One row for each claim, at the last size of [`Size::ALL`] at which the claim was measured; at the first if it was
/// not measured.
fn largest(papers: &[&str], store: &Store) -> Result<Vec<Row>, String> {
    let mut best: Option<Vec<Row>> = None;
    let held = store.sizes();
    // A claim that the store lacks has no numbers; its row at the smallest size says why.
    for size in Size::ALL.into_iter().rev().filter(|size| held.contains(size) || *size == Size::Test) {
        let rows = claims::rows(papers, store, size)?;
        best = Some(match best {
            None => rows,
            Some(larger) => {
                let pair = larger.into_iter().zip(rows);
                pair.map(|(larger, row)| if larger.measured.is_ok() { larger } else { row }).collect()
            }
        });
    }
    Ok(best.expect("there are sizes"))
}

/// Whether a table has any measured number: any in a column that is not one of published numbers.
fn is_measured(grid: &Grid) -> bool {
    let measured =
        |(column, cell): (&String, &Result<f64, String>)| !column.ends_with(", published") && cell.is_ok();
    grid.cells.iter().any(|row| grid.columns.iter().zip(row).any(measured))
}

/// Adds what is known of the runs behind an object's numbers.
fn with_origin(mut object: Value, origin: &Origin) -> Value {
    object["versions"] = json!(origin.versions);
    object["lacking"] = json!(origin.difference.lacking);
    object["changed"] = json!(origin.difference.changed);
    object
}

fn object(row: &Row, hinges: &[Sensitivity]) -> Value {
    let (value, definition, readings) = match &row.measured {
        Ok(measured) => (Some(measured.value), Some(&measured.definition), measured.readings.as_slice()),
        Err(_) => (None, None, [].as_slice()),
    };
    let text = row.measured.as_ref().ok().map(|of| row.claim.measured_text(of.kind, of.value));
    let reading = |Reading { name, kind, value, verdict }: &Reading| {
        let text = value.as_ref().ok().map(|value| row.claim.measured_text(*kind, *value));
        json!({ "name": name, "measured": value.as_ref().ok(), "text": text, "verdict": verdict.name() })
    };
    let explanation = match (&row.measured, &row.explanation) {
        (Err(reason), _) => Some(reason.as_str()),
        (Ok(_), Some(explanation)) => Some(explanation.text.as_str()),
        (Ok(_), None) => None,
    };
    let object = json!({
        "id": row.claim.id,
        "where": row.claim.r#where,
        "what": row.claim.comparison(),
        "published": row.claim.value().expect("it was read before"),
        "published_text": row.claim.published_text(),
        "measured": value,
        "measured_text": text,
        "left": row.left().map(|(published, measured)| json!({ "published": published, "measured": measured })),
        "size": row.size.name(),
        "definition": definition,
        "verdict": row.verdict.name(),
        "dependence": Dependence::of(&row.claim.id, hinges).said(),
        "runs": row.origin.runs.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "readings": readings.iter().map(reading).collect::<Vec<_>>(),
        "explanation": explanation,
    });
    with_origin(object, &row.origin)
}

fn grid_object(grid: &Grid, origin: &Origin) -> Value {
    let line = |(name, cells): (&str, &[Result<f64, String>])| json!({ "name": name, "cells": cells.iter().map(|cell| cell.as_ref().ok()).collect::<Vec<_>>() });
    let lines = grid.lines().map(line).collect::<Vec<_>>();
    with_origin(json!({ "title": grid.title, "columns": grid.columns, "rows": lines }), origin)
}

fn sensitivity_object(of: &Sensitivity) -> Value {
    let claims: Vec<Value> = of
        .claims
        .iter()
        .enumerate()
        .map(|(place, claim)| json!({ "id": claim.id, "published_text": claim.published_text(), "moves": of.moves_claim(place) }))
        .collect();
    let choices: Vec<Value> = of
        .choices
        .iter()
        .map(|choice| {
            let written = of
                .claims
                .iter()
                .zip(&choice.results)
                .map(|(claim, result)| result.as_ref().ok().map(|value| claim.with_sign(*value)));
            let measured: Vec<Option<&f64>> =
                choice.results.iter().map(|result| result.as_ref().ok()).collect();
            json!({ "label": choice.label, "measured": measured, "texts": written.collect::<Vec<_>>() })
        })
        .collect();
    let object = json!({
        "id": of.id,
        "title": of.title,
        "source": of.source,
        "moves": of.moves(),
        "claims": claims,
        "choices": choices,
    });
    with_origin(object, &of.origin)
}

fn sensitivity_text(of: &Sensitivity) -> String {
    let mut lines =
        vec![std::iter::once(String::new()).chain(of.claims.iter().map(|claim| claim.id.clone())).collect()];
    let published = of.claims.iter().map(claims::Claim::published_text);
    lines.push(std::iter::once("published".to_owned()).chain(published).collect());
    for (place, choice) in of.choices.iter().enumerate() {
        let label = if place == 0 { format!("{} (ours)", choice.label) } else { choice.label.clone() };
        let results = of.claims.iter().zip(&choice.results);
        let cells = results
            .map(|(claim, result)| result.as_ref().map_or("-".into(), |value| claim.with_sign(*value)));
        lines.push(std::iter::once(label).chain(cells).collect());
    }
    format!("{}\n{}", of.title, table::numbers(&lines, 1, None))
}

/// On which side of which number a program's should be.
fn side(of: &OfProgram) -> Option<String> {
    let limit = of.limit.as_ref().ok()?;
    Some(format!("{} {}", if of.above { "above" } else { "below" }, number(*limit)))
}

fn statement_object(of: &Statement) -> Value {
    let program = |program: &OfProgram| {
        let measured = program.value.as_ref().ok();
        let text = measured.map(|value| format!("{} {}", number(*value), of.unit));
        json!({
            "program": program.program,
            "measured": measured,
            "text": text,
            "expected": side(program),
            "verdict": program.verdict(),
        })
    };
    let programs: Vec<Value> = of.programs.iter().map(program).collect();
    let object = json!({ "says": of.says, "source": of.source, "what": of.what, "programs": programs });
    with_origin(object, &of.origin)
}

fn statement_text(of: &Statement) -> String {
    let mut lines = vec![["program", "measured", "expected", "verdict"].map(str::to_owned).to_vec()];
    for program in &of.programs {
        let value =
            program.value.as_ref().map_or("-".into(), |value| format!("{} {}", number(*value), of.unit));
        let side = side(program).unwrap_or("-".into());
        lines.push(vec![program.program.clone(), value, side, program.verdict().to_owned()]);
    }
    format!("{} ({}) {}\n{}", of.says, of.source, of.what, table::numbers(&lines, 1, None))
}

fn table(rows: &[Row]) -> String {
    let head =
        ["claim", "published", "measured", "unit", "size", "as", "verdict"].map(str::to_owned).to_vec();
    let mut lines = vec![head];
    for row in rows {
        let Ok(measured) = &row.measured else {
            let cells =
                [&row.claim.id, &row.claim.published, "-", &row.claim.unit, "-", "", row.verdict.name()];
            lines.push(cells.map(str::to_owned).to_vec());
            continue;
        };
        let (value, size) = (number(measured.value), row.size.name());
        let cells = [
            &row.claim.id,
            &row.claim.published,
            &value,
            &row.claim.unit,
            size,
            &measured.definition,
            row.verdict.name(),
        ];
        lines.push(cells.map(str::to_owned).to_vec());
        for Reading { name, value, verdict, .. } in &measured.readings {
            let value = value.as_ref().map_or("-".into(), |value| number(*value));
            lines.push(["", "", &value, "", "", name, verdict.name()].map(str::to_owned).to_vec());
        }
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let counts: Vec<String> =
        Verdict::ALL.map(|verdict| format!("{verdict}: {}", count(verdict))).into_iter().collect();
    format!("{}{}\n", table::numbers(&lines, 1, None), counts.join(", "))
}
