//! A paper's evaluation as data: systems, workloads, metrics, figures, and how each claim is measured.
//!
//! Each paper has one file in `data/papers`; `docs/lab.md` says how to write one.

mod check;
mod definition;
mod figure;
mod file;
mod systems;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

pub use definition::{Bound, Definition, Drawing, Kind, Reduce};
pub use figure::{Figure, List, Table};
pub use file::{
    AnyText, ColumnText, FigureText, LimitText, LimitWord, ListText, MeasurementText, Normalise, ReadingText,
    SearchText, SensitivityText, StatementText, SystemText, TableText, ValuesText,
};

pub use crate::setup::FigureJob;

use strata_engine::config::{self, did_you_mean};
use strata_workloads::Size;

use crate::grid::Mean;
use crate::metric::{self, Metric, Metrics};
use file::PaperText;

/// The built-in papers: name and text of the file.
const PAPERS: &[(&str, &str)] = &[
    ("fuse", include_str!("../../data/papers/fuse.toml")),
    ("hi-end", include_str!("../../data/papers/hi-end.toml")),
    ("morpheus", include_str!("../../data/papers/morpheus.toml")),
    ("stash", include_str!("../../data/papers/stash.toml")),
    ("tinycache", include_str!("../../data/papers/tinycache.toml")),
];

/// A paper's evaluation, read from its file.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Name on a command line and in claims.
    pub name: String,
    /// Title, venue and year.
    pub title: String,
    /// The mean that the paper uses unless it says otherwise.
    pub mean: Mean,
    /// Sizes at which its results are published, the usual one first.
    pub sizes: Vec<Size>,
    machine: String,
    workloads: BTreeMap<String, Vec<String>>,
    systems: BTreeMap<String, SystemText>,
    metrics: Metrics,
    /// Figures, in the paper's order.
    pub figures: Vec<FigureText>,
    /// Tables with a row for each workload.
    pub tables: Vec<TableText>,
    /// Tables with a row for each number.
    pub lists: Vec<ListText>,
    /// How claims are measured, by claim id.
    pub measured: BTreeMap<String, MeasurementText>,
    /// Choices that the paper leaves open and that affect its headline.
    pub sensitivities: Vec<SensitivityText>,
    /// What the text says of programs that it names.
    pub statements: Vec<StatementText>,
    /// Name of the file in errors.
    pub(crate) file: String,
}

/// Names of the built-in papers.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PAPERS.iter().map(|(name, _)| *name).collect()
}

impl Paper {
    /// What its figures call the systems.
    pub fn systems(&self) -> impl Iterator<Item = &str> {
        self.systems.keys().map(String::as_str)
    }

    /// Reads a built-in paper or a paper's file (`*.toml`). A file's names are checked, too.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn load(name_or_file: &str) -> Result<Paper, String> {
        if let Some((name, text)) = PAPERS.iter().find(|(name, _)| *name == name_or_file) {
            return Paper::parse(Path::new(&format!("data/papers/{name}.toml")), text);
        }
        let path = Path::new(name_or_file);
        if path.extension().is_none_or(|extension| extension != "toml") {
            let alike = did_you_mean(name_or_file, names());
            return Err(format!(
                "no paper `{name_or_file}`{alike}, expected one of {} or a file (*.toml)",
                names().join(", ")
            ));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name_or_file}: {error}"))?;
        let paper = Paper::parse(path, &text)?;
        paper.check_names()?;
        Ok(paper)
    }

    /// Reads a paper from text; `path` appears in errors.
    ///
    /// # Errors
    /// What is wrong with the text, unknown names included.
    pub fn parse(path: &Path, text: &str) -> Result<Paper, String> {
        let file = path.display().to_string();
        let read: PaperText = config::parse(path, text).map_err(|error| error.to_string())?;
        let mut metrics = metric::common();
        metrics.extend(metric::read(&file, read.metrics)?);
        // Launch files are looked for beside the paper's file.
        let beside = |name: String| match Path::new(&name).extension() {
            Some(extension) if extension == "toml" => {
                path.parent().unwrap_or(Path::new("")).join(name).to_string_lossy().into_owned()
            }
            _ => name,
        };
        let sets = read.workloads.into_iter();
        let workloads = sets.map(|(set, names)| (set, names.into_iter().map(beside).collect())).collect();
        let of_tables = read.tables.iter().flat_map(TableText::measured);
        let measured: BTreeMap<String, MeasurementText> =
            read.measured.into_iter().chain(of_tables).collect();
        let mut sensitivities = read.sensitivities;
        for text in &mut sensitivities {
            text.claims = expanded(&text.claims, &measured)
                .map_err(|error| format!("{file}: sensitivity {}: {error}", text.id))?;
        }
        let paper = Paper {
            name: read.name,
            title: read.title,
            mean: read.mean,
            sizes: read.sizes,
            machine: read.machine,
            workloads,
            systems: read.systems,
            metrics,
            figures: read.figures,
            tables: read.tables,
            lists: read.lists,
            measured,
            sensitivities,
            statements: read.statements,
            file,
        };
        paper.check().map_err(|error| format!("{}: {error}", paper.file))?;
        Ok(paper)
    }

    /// The workloads of a named set, or the one of that name.
    ///
    /// # Errors
    /// If the paper has neither.
    pub fn workloads(&self, set: &str) -> Result<&[String], String> {
        let alone = || {
            let all = self.workloads.get("all")?;
            all.iter().find(|workload| *workload == set).map(std::slice::from_ref)
        };
        self.workloads.get(set).map(Vec::as_slice).or_else(alone).ok_or_else(|| {
            let known: Vec<&str> = self.workloads.keys().map(String::as_str).collect();
            let alike = did_you_mean(set, known.iter().copied());
            format!("no set of workloads `{set}`{alike}, expected one of {}", known.join(", "))
        })
    }

    /// Finds a metric of the paper or a built-in one.
    ///
    /// # Errors
    /// If there is no metric of that name.
    pub fn metric(&self, name: &str) -> Result<&Metric, String> {
        self.metrics.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.metrics.keys().map(String::as_str).collect();
            let alike = did_you_mean(name, known.iter().copied());
            format!("no metric `{name}`{alike}, expected one of {}", known.join(", "))
        })
    }

    /// The beginning that the claims of a table's column have in common, if the claim is one of them.
    #[must_use]
    pub fn column_of(&self, id: &str) -> Option<&str> {
        let columns = self.tables.iter().flat_map(|table| table.columns.values());
        let mut starts = columns.filter_map(|column| column.claims.as_deref());
        starts.find(|start| id.strip_prefix(start).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Refuses unknown names, except in measurements, which `claims` checks.
    fn check(&self) -> Result<(), String> {
        if self.sizes.is_empty() {
            return Err("sizes: found none, expected those at which results are published".into());
        }
        for figure in &self.figures {
            Figure::new(self, figure).map_err(|error| format!("figure {}: {error}", figure.id))?;
        }
        for table in &self.tables {
            Table::new(self, table).map_err(|error| format!("table {}: {error}", table.id))?;
        }
        for list in &self.lists {
            List::new(self, list).map_err(|error| format!("table {}: {error}", list.id))?;
        }
        let shown = self.figures.iter().flat_map(|figure| &figure.claims);
        let listed = self.lists.iter().flat_map(|list| &list.claims);
        for id in shown.chain(listed) {
            if !self.measured.contains_key(id) {
                return Err(format!("claim `{id}` is shown, expected `measured` to say how it is measured"));
            }
        }
        Ok(())
    }
}

/// Ids of claims, with `fuse.fig13.*` replaced by all that begin so.
fn expanded(ids: &[String], measured: &BTreeMap<String, MeasurementText>) -> Result<Vec<String>, String> {
    let mut claims: Vec<String> = Vec::new();
    for id in ids {
        let before = claims.len();
        match id.strip_suffix('*') {
            None => claims.push(id.clone()),
            Some(start) => {
                let all = measured.keys().filter(|of| of.starts_with(start));
                let new: Vec<String> = all.filter(|of| !claims.contains(of)).cloned().collect();
                claims.extend(new);
            }
        }
        if claims.len() == before {
            return Err(format!("claims: found `{id}`, expected the beginning of claims that are measured"));
        }
    }
    Ok(claims)
}
