//! The page: each figure as the paper draws it, with published numbers, measured numbers and verdicts.

use std::fmt::Write;

use strata_workloads::Size;

use super::{Part, Selection};
use crate::claims::sensitivity::{Sensitivity, sensitivities};
use crate::claims::{self, Reading, Row, Verdict};
use crate::grid::Grid;
use crate::paper::{Drawing, Figure, FigureText, List, Paper, Table};
use crate::question::Answers;
use crate::report::{chart, html};
use crate::store::Store;

impl Selection<'_> {
    /// Renders the page as HTML.
    ///
    /// # Errors
    /// A paper or claims whose data is wrong.
    pub fn page(&self, store: &Store, size: Size) -> Result<String, String> {
        let paper = self.paper;
        let mut answers = Answers::new(store, size);
        let rows = claims::rows(&[paper.name.as_str()], store, size)?;
        let mut sections = Vec::new();
        for text in self.figures() {
            let body = figure(paper, text, &mut answers)? + &claims_table(&rows, &text.claims);
            sections.push(Section { kind: "Figure", id: &text.id, title: &text.title, body });
        }
        for text in self.tables() {
            let body = html::grid(&Table::new(paper, text)?.grid(&mut answers));
            sections.push(Section { kind: "Table", id: &text.id, title: &text.title, body });
        }
        for text in self.lists() {
            let body = html::grid(&List::new(paper, text)?.grid(&mut answers));
            let body = body + &claims_table(&rows, &text.claims);
            sections.push(Section { kind: "Table", id: &text.id, title: &text.title, body });
        }
        let mut body = head(size, paper);
        if self.has_sensitivities() {
            body += &hangs_on(&sensitivities(paper, &mut answers)?);
        }
        body += &(verdicts(&rows) + &contents(&sections));
        for section in &sections {
            body += &section.html();
        }
        if self.part == Part::All {
            body += "<h2>In the text</h2>\n";
            body += &claims_table(&rows, &self.claims_in_the_text(&rows));
        }
        Ok(html::page(&paper.title, &body))
    }

    /// Ids of the claims that appear in no figure or table.
    fn claims_in_the_text(&self, rows: &[Row]) -> Vec<String> {
        let of_figures = self.paper.figures.iter().flat_map(|figure| &figure.claims);
        let shown: Vec<&String> =
            of_figures.chain(self.paper.lists.iter().flat_map(|list| &list.claims)).collect();
        rows.iter().map(|row| row.claim.id.clone()).filter(|id| !shown.contains(&id)).collect()
    }
}

/// A figure or table with the claims that belong to it.
struct Section<'a> {
    kind: &'static str,
    id: &'a str,
    title: &'a str,
    body: String,
}

impl Section<'_> {
    fn anchor(&self) -> String {
        html::escape(&format!("{}-{}", self.kind.to_lowercase(), self.id))
    }

    fn html(&self) -> String {
        let (anchor, kind, body) = (self.anchor(), self.kind, &self.body);
        let (id, title) = (html::escape(self.id), html::escape(self.title));
        format!("<h2 id=\"{anchor}\">{kind} {id}: {title}</h2>\n{body}")
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

/// Renders the sensitivity study: a table for each choice, and one sentence for the choices that move
/// nothing.
fn hangs_on(all: &[Sensitivity]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2 id=\"hangs-on\">What the headline hangs on</h2>\n");
    for of in all.iter().filter(|of| of.moves() != Some(false)) {
        write!(
            text,
            "<h3>{}</h3>\n<p class=\"note\">{}</p>\n",
            html::escape(&of.title),
            html::escape(&of.source)
        )
        .expect("a string grows");
        text += "<table><tr><th></th>";
        for claim in &of.claims {
            let (id, published) = (html::escape(&claim.id), html::escape(&claim.published_text()));
            write!(text, "<th>{id}<br>published {published}</th>").expect("a string grows");
        }
        text += "</tr>\n";
        for (place, choice) in of.choices.iter().enumerate() {
            let ours = if place == 0 { " (ours)" } else { "" };
            write!(text, "<tr><td>{}{ours}</td>", html::escape(&choice.label)).expect("a string grows");
            for (claim, result) in of.claims.iter().zip(&choice.results) {
                let cell = match result {
                    Ok(value) => format!("<td>{}</td>", html::escape(&claim.with_sign(*value))),
                    Err(reason) => {
                        format!("<td class=\"missing\" title=\"{}\">not measured</td>", html::escape(reason))
                    }
                };
                text += &cell;
            }
            text += "</tr>\n";
        }
        text += "</table>\n";
    }
    let still: Vec<&str> =
        all.iter().filter(|of| of.moves() == Some(false)).map(|of| of.title.as_str()).collect();
    if !still.is_empty() {
        let still = html::escape(&still.join("; "));
        writeln!(text, "<p>These move nothing by more than a tenth of what is published: {still}.</p>")
            .expect("a string grows");
    }
    text
}

/// Counts the claims of each verdict.
fn verdicts(rows: &[Row]) -> String {
    let counts = Verdict::ALL.map(|verdict| {
        let count = rows.iter().filter(|row| row.verdict == verdict).count();
        format!("<span class=\"{}\">{verdict}</span>: {count}", class(verdict))
    });
    format!("<p>Of {} published numbers, {}.</p>\n", rows.len(), counts.join(", "))
}

fn contents(sections: &[Section<'_>]) -> String {
    let of_kind = |kind: &str| {
        let entries = sections.iter().filter(|section| section.kind == kind);
        let links = entries
            .map(|section| format!("<a href=\"#{}\">{}</a>", section.anchor(), html::escape(section.id)));
        links.collect::<Vec<_>>().join(" ")
    };
    let kinds = [("Figures", of_kind("Figure")), ("Tables", of_kind("Table"))];
    let lines = kinds.iter().filter(|(_, links)| !links.is_empty());
    lines.map(|(name, links)| format!("<p class=\"contents\">{name} {links}</p>\n")).collect()
}

fn figure(paper: &Paper, text: &FigureText, answers: &mut Answers<'_>) -> Result<String, String> {
    let figure = Figure::new(paper, text)?;
    let grid = figure.grid(answers);
    let series = figure.series();
    let drawing = match text.drawing {
        Drawing::GroupedBars => chart::grouped_bars(&grid, &series),
        Drawing::StackedBars => chart::stacked_bars(&grid, &series),
    };
    let mut notes = Vec::new();
    if text.drawing == Drawing::StackedBars && text.systems.len() > 1 {
        notes.push(format!("Stacks of a workload from the left: {}.", text.systems.join(", ")));
    }
    if !text.note.is_empty() {
        notes.push(text.note.clone());
    }
    let notes: String =
        notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", html::escape(note))).collect();
    Ok(match drawing {
        Ok(drawing) if grid.has_numbers() => {
            format!("<div class=\"figure\">{drawing}</div>\n{notes}{}", numbers(&grid))
        }
        _ => format!("<p class=\"not-measured\">Not measured.</p>\n{notes}{}", html::missing(&grid)),
    })
}

/// The numbers behind a drawing, as a table.
fn numbers(grid: &Grid) -> String {
    format!("<details><summary>Numbers</summary>\n{}</details>\n{}", html::table(grid), html::missing(grid))
}

fn claims_table(rows: &[Row], ids: &[String]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<table class=\"claims\"><tr><th>claim</th><th class=\"words\">what</th><th>published</th><th>measured</th>\
         <th class=\"words\">as</th><th class=\"words\">verdict</th></tr>\n",
    );
    for row in rows.iter().filter(|row| ids.contains(&row.claim.id)) {
        let claim = &row.claim;
        let (measured, definition, readings) = match &row.measured {
            Ok(measured) => {
                let text = claim.measured_text(measured.kind, measured.value);
                (text, measured.definition.as_str(), measured.readings.as_slice())
            }
            Err(_) => ("-".into(), "", [].as_slice()),
        };
        line(
            &mut text,
            [&claim.id, &claim.comparison(), &claim.published_text(), &measured, definition],
            row.verdict,
        );
        for Reading { name, kind, value, verdict } in readings {
            let value = value.as_ref().map_or("-".into(), |value| claim.measured_text(*kind, *value));
            line(&mut text, ["", "", "", &value, name], *verdict);
        }
        let why = match (&row.measured, &row.explanation) {
            (Err(reason), _) => reason,
            (Ok(_), Some(explanation)) => &explanation.text,
            (Ok(_), None) => continue,
        };
        let why = html::escape(why);
        writeln!(text, "<tr class=\"why\"><td></td><td class=\"words note\" colspan=\"5\">{why}</td></tr>")
            .expect("a string grows");
    }
    text + "</table>\n"
}

/// Adds a row to a table of claims.
fn line(text: &mut String, cells: [&str; 5], verdict: Verdict) {
    let [claim, what, published, measured, definition] = cells.map(html::escape);
    writeln!(
        text,
        "<tr><td>{claim}</td><td class=\"words\">{what}</td><td>{published}</td><td>{measured}</td>\
         <td class=\"words\">{definition}</td><td class=\"words {}\">{verdict}</td></tr>",
        class(verdict),
    )
    .expect("a string grows");
}

fn class(verdict: Verdict) -> String {
    verdict.name().replace(' ', "-")
}
