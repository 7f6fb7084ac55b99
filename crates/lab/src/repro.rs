//! A paper's evaluation again: its jobs, and the page that shows what they came to.

use std::fmt::Write;

use strata_workloads::Size;

use crate::claims::{self, Measurement, Row};
use crate::job::Job;
use crate::paper::{Drawing, Figure, FigureJob, FigureText, List, ListText, Paper, Table, TableText};
use crate::question::Answers;
use crate::report::{html, number, svg};
use crate::store::Store;

/// What of a paper is asked for: everything, or one figure or table.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    paper: &'a Paper,
    number: Option<String>,
}

impl<'a> Selection<'a> {
    /// The paper's figures and tables of a number: `13`, `7b`, `III`; `18` is 18a and 18b.
    ///
    /// # Errors
    /// There is none of that number.
    pub fn new(paper: &'a Paper, number: Option<&str>) -> Result<Self, String> {
        let selection = Selection { paper, number: number.map(str::to_owned) };
        let ids: Vec<&str> = paper
            .figures
            .iter()
            .map(|figure| figure.id.as_str())
            .chain(paper.tables.iter().map(|table| table.id.as_str()))
            .chain(paper.lists.iter().map(|list| list.id.as_str()))
            .collect();
        if let Some(number) = number
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
        let Some(number) = &self.number else { return true };
        let without_letter = id.trim_end_matches(|c: char| c.is_ascii_lowercase());
        id == number || without_letter == number
    }

    fn figures(&self) -> impl Iterator<Item = &'a FigureText> {
        self.paper.figures.iter().filter(|figure| self.has(&figure.id))
    }

    fn tables(&self) -> impl Iterator<Item = &'a TableText> {
        self.paper.tables.iter().filter(|table| self.has(&table.id))
    }

    fn lists(&self) -> impl Iterator<Item = &'a ListText> {
        self.paper.lists.iter().filter(|list| self.has(&list.id))
    }

    /// Ids of the claims that the selected figures show; of all where everything is selected.
    fn claims(&self) -> Vec<&'a str> {
        if self.number.is_none() {
            return self.paper.measured.keys().map(String::as_str).collect();
        }
        let of_figures = self.figures().flat_map(|figure| &figure.claims);
        of_figures.chain(self.lists().flat_map(|list| &list.claims)).map(String::as_str).collect()
    }

    /// The jobs that can be run: those of unknown workloads and systems cannot.
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
        for id in self.claims() {
            wanted.extend(Measurement::new(paper, &paper.measured[id])?.jobs());
        }
        let mut answers = Answers::new(store, size);
        let job = |wanted: &FigureJob<'_>| answers.job(wanted.kind, wanted.workload, &wanted.variant).ok();
        let mut jobs: Vec<Job> = wanted.iter().filter_map(job).collect();
        jobs.sort_by_cached_key(Job::key);
        jobs.dedup_by_key(|job| job.key());
        Ok(jobs)
    }

    /// The page.
    ///
    /// # Errors
    /// A paper or claims whose data is wrong.
    pub fn page(&self, store: &Store, size: Size) -> Result<String, String> {
        let paper = self.paper;
        let mut answers = Answers::new(store, size);
        let rows = claims::rows(&[paper.name.as_str()], store, size)?;
        let mut body = head(size, paper);
        body += &verdicts(&rows);
        for text in self.figures() {
            body += &figure(paper, text, &mut answers)?;
            body += &claims_table(&rows, &text.claims);
        }
        for text in self.tables() {
            let grid = Table::new(paper, text)?.grid(&mut answers);
            write!(body, "<h2>Table {}: {}</h2>\n{}", text.id, html::escape(&text.title), html::grid(&grid))
                .expect("a string grows");
        }
        for text in self.lists() {
            let grid = List::new(paper, text)?.grid(&mut answers);
            write!(body, "<h2>Table {}: {}</h2>\n{}", text.id, html::escape(&text.title), html::grid(&grid))
                .expect("a string grows");
            body += &claims_table(&rows, &text.claims);
        }
        if self.number.is_none() {
            let shown: Vec<&String> = paper
                .figures
                .iter()
                .flat_map(|figure| &figure.claims)
                .chain(paper.lists.iter().flat_map(|list| &list.claims))
                .collect();
            let others: Vec<String> =
                rows.iter().map(|row| row.claim.id.clone()).filter(|id| !shown.contains(&id)).collect();
            body += "<h2>In the text</h2>\n";
            body += &claims_table(&rows, &others);
        }
        Ok(html::page(&paper.title, &body))
    }
}

fn head(size: Size, paper: &Paper) -> String {
    format!(
        "<p>Workloads at size <b>{size}</b>; simulator {}. Means are {}s, taken over the workloads that have a number \
         in every column that has any, and say over how many where some lack one.</p>\n",
        crate::SIMULATOR,
        paper.mean.title()
    )
}

fn figure(paper: &Paper, text: &FigureText, answers: &mut Answers<'_>) -> Result<String, String> {
    let figure = Figure::new(paper, text)?;
    let grid = figure.grid(answers);
    let mut body = format!("<h2>Figure {}: {}</h2>\n", text.id, html::escape(&text.title));
    let series = figure.series();
    let drawing = match text.drawing {
        Drawing::GroupedBars => svg::grouped_bars(&grid, &series),
        Drawing::StackedBars => svg::stacked_bars(&grid, &series),
    };
    match drawing {
        Ok(drawing) if grid.has_numbers() => writeln!(body, "<div class=\"figure\">{drawing}</div>"),
        _ => writeln!(body, "<p class=\"not-measured\">Not measured.</p>"),
    }
    .expect("a string grows");
    if text.drawing == Drawing::StackedBars && text.systems.len() > 1 {
        let order = html::escape(&text.systems.join(", "));
        writeln!(body, "<p class=\"note\">Stacks of a workload from the left: {order}.</p>")
            .expect("a string grows");
    }
    if !text.note.is_empty() {
        writeln!(body, "<p class=\"note\">{}</p>", html::escape(&text.note)).expect("a string grows");
    }
    body += &html::grid(&grid);
    Ok(body)
}

/// How many claims came to what.
fn verdicts(rows: &[Row]) -> String {
    use claims::Verdict::{Contradicted, Direction, NotMeasured, Reproduced};
    let counts = [Reproduced, Direction, Contradicted, NotMeasured].map(|verdict| {
        let count = rows.iter().filter(|row| row.verdict == verdict).count();
        format!("<span class=\"{}\">{verdict}</span>: {count}", verdict.name().replace(' ', "-"))
    });
    format!("<p>Of {} published numbers, {}.</p>\n", rows.len(), counts.join(", "))
}

fn claims_table(rows: &[Row], ids: &[String]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<table><tr><th>claim</th><th>of</th><th>over</th><th>metric</th><th>workloads</th><th>published</th>\
         <th>measured</th><th>verdict</th><th></th></tr>\n",
    );
    for row in rows.iter().filter(|row| ids.contains(&row.claim.id)) {
        let claim = &row.claim;
        let words = [&claim.subject, &claim.baseline, &claim.metric, &claim.scope]
            .map(|word| format!("<td class=\"words\">{}</td>", html::escape(word)));
        let measured = row.measured.map_or("-".into(), number);
        let explanation = row.explanation.as_deref().unwrap_or_default();
        writeln!(
            text,
            "<tr><td>{}</td>{}<td>{} {}</td><td>{measured}</td><td class=\"{}\">{}</td><td class=\"words note\">{}</td></tr>",
            html::escape(&claim.id),
            words.concat(),
            html::escape(&claim.published),
            html::escape(&claim.unit),
            row.verdict.name().replace(' ', "-"),
            row.verdict,
            html::escape(explanation),
        )
        .expect("a string grows");
    }
    text + "</table>\n"
}
