//! Repeats a paper's evaluation: the jobs of a selected part.

use strata_workloads::Size;

use crate::claims::{self, Measurement, Template, sensitivity, statement};
use crate::job::Job;
use crate::paper::{Figure, FigureJob, FigureText, List, ListText, Paper, Table, TableText};
use crate::question::Answers;
use crate::store::Store;

/// A selected part of a paper: everything, one figure or table, or the sensitivity study.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    pub(crate) paper: &'a Paper,
    pub(crate) part: Part,
}

/// The part of a paper to select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything: all figures, tables and the sensitivity study.
    All,
    /// All figures and tables, and what the paper says besides: no choice is varied, and no explanation's experiment is made.
    Figures,
    /// The figures and tables with a number, as in `13`, `7b` or `III`; `18` selects 18a and 18b.
    Number(String),
    /// How much the headline depends on choices that the paper leaves open.
    Sensitivity,
}

impl<'a> Selection<'a> {
    /// Selects a part of a paper.
    ///
    /// # Errors
    /// If there is no figure or table with that number, or the paper's file states a claim that cannot be
    /// measured.
    pub fn new(paper: &'a Paper, part: Part) -> Result<Self, String> {
        claims::check(paper)?;
        let selection = Selection { paper, part };
        let ids: Vec<&str> = paper
            .figures
            .iter()
            .map(|figure| figure.id.as_str())
            .chain(paper.tables.iter().map(|table| table.id.as_str()))
            .chain(paper.lists.iter().map(|list| list.id.as_str()))
            .collect();
        if let Part::Number(number) = &selection.part
            && !ids.iter().any(|id| selection.has(id))
        {
            return Err(format!(
                "{} has no figure or table `{number}`, expected one of {}",
                paper.name,
                ids.join(", ")
            ));
        }
        Ok(selection)
    }

    fn has(&self, id: &str) -> bool {
        let number = match &self.part {
            Part::All | Part::Figures => return true,
            Part::Sensitivity => return false,
            Part::Number(number) => number,
        };
        let without_letter = id.trim_end_matches(|c: char| c.is_ascii_lowercase());
        id == number || without_letter == number
    }

    /// Whether the selection includes the sensitivity study.
    pub(crate) fn has_sensitivities(&self) -> bool {
        matches!(self.part, Part::All | Part::Sensitivity)
    }

    /// Whether the selection is the whole evaluation, with or without studies.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.part, Part::All | Part::Figures)
    }

    pub(crate) fn figures(&self) -> impl Iterator<Item = &'a FigureText> {
        self.paper.figures.iter().filter(|figure| self.has(&figure.id))
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &'a TableText> {
        self.paper.tables.iter().filter(|table| self.has(&table.id))
    }

    pub(crate) fn lists(&self) -> impl Iterator<Item = &'a ListText> {
        self.paper.lists.iter().filter(|list| self.has(&list.id))
    }

    /// Ids of the claims in the selected figures; of all claims if everything is selected.
    pub(crate) fn claims(&self) -> Vec<String> {
        if self.is_whole() {
            return self.paper.measured.keys().cloned().collect();
        }
        let of_figures = self.figures().flat_map(|figure| figure.claims.iter().cloned());
        let of_lists = self.lists().flat_map(|list| list.claims.iter().cloned());
        of_figures.chain(of_lists).chain(self.tables().flat_map(TableText::claims)).collect()
    }

    /// The jobs that can be run. Jobs of unknown workloads and systems are left out, and so are those of machines that a
    /// choice may fall on until the jobs that it compares are in the store.
    ///
    /// # Errors
    /// A paper whose data is wrong.
    pub fn jobs(&self, store: &Store, size: Size) -> Result<Vec<Job>, String> {
        let paper = self.paper;
        let mut wanted: Vec<FigureJob<'_>> = Vec::new();
        for figure in self.figures() {
            wanted.extend(Figure::new(paper, figure)?.jobs());
        }
        for table in self.tables() {
            wanted.extend(Table::new(paper, table)?.jobs());
        }
        for list in self.lists() {
            wanted.extend(List::new(paper, list)?.jobs());
        }
        let templates = claims::templates(paper)?;
        for id in self.claims() {
            let text = &paper.measured[&id];
            let measurement = Measurement::new(paper, text)?;
            wanted.extend(measurement.jobs());
            for reading in measurement.readings() {
                wanted.extend(Measurement::new(paper, &text.read_as(&reading))?.jobs());
            }
            if self.part != Part::Figures {
                wanted.extend(claims::template(paper, &templates, &id).into_iter().flat_map(Template::jobs));
            }
        }
        for text in paper.sensitivities.iter().filter(|_| self.has_sensitivities()) {
            wanted.extend(sensitivity::jobs(paper, text)?);
        }
        for text in paper.statements.iter().filter(|_| self.is_whole()) {
            wanted.extend(statement::jobs(paper, text)?);
        }
        let mut answers = Answers::new(store, size);
        wanted.retain(|wanted| wanted.is_needed(&mut answers));
        let job = |wanted: &FigureJob<'_>| answers.job(wanted.kind, wanted.workload, &wanted.variant).ok();
        let mut jobs: Vec<Job> = wanted.iter().filter_map(job).collect();
        jobs.sort_by_cached_key(Job::key);
        jobs.dedup_by_key(|job| job.key());
        Ok(jobs)
    }
}
