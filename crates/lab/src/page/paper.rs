//! A paper's page: what came out, then each figure as the paper draws it, with its claims and its runs.

use maud::{Markup, html};
use strata_workloads::Size;

use super::chart::{Chart, Mark};
use super::colour::Palette;
use super::runs::Runs;
use super::statements::of_programs;
use super::{Address, Origin, Parts, claims, made, strip, table};
use crate::claims::sensitivity::{Choice, Sensitivity, sensitivities};
use crate::claims::statement::statements;
use crate::claims::{self as published, Claim, Row, effect};
use crate::grid::Grid;
use crate::paper::TableText;
use crate::paper::{
    Definition, Drawing, Figure, FigureText, Kind, List, MeasurementText, Paper, Reduce, Table,
};
use crate::question::{Answers, Cell};
use crate::repro::Selection;
use crate::store::Store;

/// What the parts of the page are made from.
struct Making<'a> {
    paper: &'a Paper,
    rows: Vec<Row>,
    answers: Answers<'a>,
    palette: Palette,
    runs: Runs<'a>,
}

/// A figure or table with the claims that belong to it.
struct Section {
    anchor: String,
    name: String,
    title: String,
    body: Markup,
}

impl Selection<'_> {
    /// What the page shows. Runs are linked to where `address` says, if anywhere.
    ///
    /// # Errors
    /// A paper or claims whose data is wrong.
    pub fn parts(
        &self,
        store: &Store,
        size: Size,
        origin: &Origin,
        address: Option<Address>,
    ) -> Result<Parts, String> {
        let paper = self.paper;
        let chosen = self.claims();
        let mut rows = published::rows(&[paper.name.as_str()], store, size)?;
        if !self.is_whole() {
            rows.retain(|row| chosen.contains(&row.claim.id));
        }
        let mut making = Making {
            paper,
            rows,
            answers: Answers::new(store, size),
            palette: Palette::default(),
            runs: Runs::of(&self.jobs(store, size)?, store, address)?,
        };
        for id in &chosen {
            making.runs.note_claim(paper, id, store, &mut making.answers)?;
        }
        let sections = making.sections(self)?;
        let depends_on =
            if self.has_sensitivities() { sensitivities(paper, &mut making.answers)? } else { vec![] };
        Ok(making.parts(size, origin, &sections, &depends_on))
    }
}

impl Making<'_> {
    fn parts(
        &mut self,
        size: Size,
        origin: &Origin,
        sections: &[Section],
        depends_on: &[Sensitivity],
    ) -> Parts {
        let runs = self.runs.markup(&mut self.palette);
        let rows: Vec<&Row> = self.rows.iter().collect();
        let body = html! {
            (claims::headline(&rows))
            @if !rows.is_empty() {
                section.summary {
                    div {
                        (claims::counts(&rows))
                        @if !depends_on.is_empty() { (claims::by_dependence(&rows, depends_on)) }
                        (about(size, self.paper))
                    }
                    (strip::overview(&rows))
                }
            }
            @if !depends_on.is_empty() { (sensitivity(self.paper, depends_on, &rows)) }
            @for section in sections {
                section id=(section.anchor) {
                    h2 { span.number { (section.name) } " " (section.title) }
                    (section.body)
                }
            }
            (runs)
        };
        let mut links: Vec<(String, String)> = Vec::new();
        if !depends_on.is_empty() {
            links.push(("depends-on".into(), "Sensitivity".into()));
        }
        links.extend(sections.iter().map(|section| (section.anchor.clone(), section.name.clone())));
        let machines: Vec<String> = self.runs.machines().into_iter().collect();
        if !machines.is_empty() {
            links.push(("runs".into(), "Runs".into()));
        }
        let mut facts = vec![("Size of the inputs", size.to_string()), ("Machines", machines.join(", "))];
        facts.extend(made(origin, &self.runs));
        Parts { title: self.paper.title.clone(), facts, links, body, colours: self.palette.css() }
    }

    fn sections(&mut self, selection: &Selection<'_>) -> Result<Vec<Section>, String> {
        let paper = self.paper;
        let mut sections = Vec::new();
        for text in selection.figures() {
            let name = format!("Fig. {}", text.id);
            let body = self.figure(text)?;
            let claims = self.claims(&text.claims, &name);
            let anchor = format!("figure-{}", text.id);
            sections.push(Section {
                anchor,
                name,
                title: text.title.clone(),
                body: html! { (body) (claims) },
            });
        }
        for text in selection.tables() {
            let grid = Table::new(paper, text)?.grid(&mut self.answers);
            let charts = self.columns(text, &grid);
            let ids: Vec<String> = text.claims().collect();
            let claims = self.claims(&ids, &format!("Table {}", text.id));
            let body = html! { (charts) (table::folded(&grid)) (claims) };
            sections.push(of_table(&text.id, &text.title, body));
        }
        for text in selection.lists() {
            let grid = List::new(paper, text)?.grid(&mut self.answers);
            let claims = self.claims(&text.claims, &format!("Table {}", text.id));
            let body = html! { (table::table(&grid)) (table::missing(&grid)) (claims) };
            sections.push(of_table(&text.id, &text.title, body));
        }
        let elsewhere = self.in_the_text();
        if selection.is_whole() && !elsewhere.is_empty() {
            let body = self.claims(&elsewhere, "Text");
            let (anchor, name) = ("text".to_owned(), "Text".to_owned());
            sections.push(Section { anchor, name, title: "Claims outside the figures".into(), body });
        }
        let named = statements(paper, &mut self.answers)?;
        if selection.is_whole() && !named.is_empty() {
            let (anchor, name) = ("named".to_owned(), "Programs".to_owned());
            let title = "What the text says of named programs".into();
            sections.push(Section { anchor, name, title, body: of_programs(&named) });
        }
        Ok(sections)
    }

    fn claims(&self, ids: &[String], name: &str) -> Markup {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| ids.contains(&row.claim.id)).collect();
        claims::table(&rows, &self.runs, name)
    }

    /// Ids of the claims that appear in no figure or table.
    fn in_the_text(&self) -> Vec<String> {
        let of_figures = self.paper.figures.iter().flat_map(|figure| figure.claims.iter().cloned());
        let of_lists = self.paper.lists.iter().flat_map(|list| list.claims.iter().cloned());
        let of_tables = self.paper.tables.iter().flat_map(TableText::claims);
        let shown: Vec<String> = of_figures.chain(of_lists).chain(of_tables).collect();
        self.rows.iter().map(|row| row.claim.id.clone()).filter(|id| !shown.contains(id)).collect()
    }

    fn figure(&mut self, text: &FigureText) -> Result<Markup, String> {
        let figure = Figure::new(self.paper, text)?;
        let grid = figure.grid(&mut self.answers);
        let unit = figure.unit();
        let mut chart = match text.drawing {
            Drawing::GroupedBars => {
                let colours = figure.systems().map(|system| self.palette.system(system)).collect();
                Chart::grouped(&grid, &unit, colours)
            }
            Drawing::StackedBars => {
                let stacks: Vec<String> = figure.systems().map(str::to_owned).collect();
                Chart::stacked(&grid, &unit, &figure.series(), &stacks, &mut self.palette)
            }
        };
        let claims = self.rows.iter().map(|row| &row.claim).filter(|claim| text.claims.contains(&claim.id));
        for claim in claims {
            mark(self.paper, text, claim, &mut chart)?;
        }
        let note = html! { @if !text.note.is_empty() { p.note { (text.note) } } };
        Ok(match chart.markup().filter(|_| grid.has_numbers()) {
            Some(drawing) => html! { (drawing) (note) (table::folded(&grid)) },
            None => html! { p.not-measured { "Not measured." } (note) (table::missing(&grid)) },
        })
    }

    /// A chart for each column of a table, with the published numbers at the bars.
    fn columns(&mut self, text: &TableText, grid: &Grid) -> Markup {
        let mut charts = Vec::new();
        let mut next = 0;
        for (title, column) in &text.columns {
            let place = next + usize::from(column.has_published());
            next += if column.has_published() { 3 } else { 1 };
            let measured = |row: &Vec<Cell>| vec![row[place].clone()];
            let one = Grid {
                title: format!("Table {}: {title}", text.id),
                columns: vec![column.system.clone()],
                cells: grid.cells.iter().map(measured).collect(),
                means: vec![],
                ..grid.clone()
            };
            let unit = self.paper.metric(&column.metric).map_or("", |metric| metric.unit.as_str());
            let colour = self.palette.system(&column.system);
            let mut chart = Chart::grouped(&one, unit, vec![colour]);
            for (workload, published) in &column.published {
                let text = format!("published {published}");
                chart.mark(workload, &column.system, Mark { value: *published, text, exact: true });
            }
            if let Some(drawing) = chart.markup() {
                charts.push(html! { h3 { (title) } (drawing) });
            }
        }
        html! { @for chart in charts { (chart) } }
    }
}

fn of_table(id: &str, title: &str, body: Markup) -> Section {
    Section { anchor: format!("table-{id}"), name: format!("Table {id}"), title: title.to_owned(), body }
}

/// What a reader has to know of all numbers.
fn about(size: Size, paper: &Paper) -> Markup {
    html! {
        p.note {
            "Means are " (paper.mean.title()) "s over the workloads that have a number in every column that has any; they say "
            "over how many where some lack one."
        }
        @if size == Size::Test {
            p.note {
                "Inputs of size test show that everything runs. They are too small to fill the machine, so their numbers differ from "
                "those of larger inputs, which the explanations are about: there are none here."
            }
        }
    }
}

/// Draws a claim's number into its figure, where a bar or the mean of several bars is what the claim is about.
fn mark(paper: &Paper, figure: &FigureText, claim: &Claim, chart: &mut Chart) -> Result<(), String> {
    let measured = &paper.measured[&claim.id];
    let Some((system, value)) = level(figure, measured, claim.value()?) else { return Ok(()) };
    let bar = paper.setup(system, figure.machine.as_deref())?;
    let is_mean = measured.reduce.is_none_or(|reduce| reduce == Reduce::from(paper.mean));
    let workloads = paper.workloads(&measured.workloads)?;
    let text = format!("published {} ({})", claim.published_text(), claim.comparison());
    let exact = is_mean && measured.workloads == figure.workloads;
    let groups = match chart.mean() {
        Some(mean) if exact => vec![mean],
        _ if exact => vec![],
        // A mean over many would be a mark at every bar, with none of which it need agree.
        _ if is_mean && workloads.len() > 3 => vec![],
        _ => workloads.to_vec(),
    };
    for group in groups {
        chart.mark(&group, bar.name(), Mark { value, text: text.clone(), exact });
    }
    Ok(())
}

/// The system whose bar a claim is about, and the height that was published for it.
fn level<'a>(figure: &FigureText, measured: &'a MeasurementText, published: f64) -> Option<(&'a str, f64)> {
    let system = measured.system.as_ref()?;
    let plain = measured.bars.is_none()
        && measured.definition.is_none_or(|definition| definition == Definition::MeanOfRatios)
        && measured.machine == figure.machine
        && measured.metric == figure.metrics[0];
    let has = |system: &String| figure.systems.contains(system);
    let Some(normalise) = figure.normalise.as_ref() else {
        let is_level = matches!(measured.kind, Kind::Share | Kind::Level) && measured.over.is_none();
        return (plain && is_level && has(system)).then_some((system, published));
    };
    let over = measured.over.as_ref()?;
    let of = |metric: &Option<String>| metric.clone().unwrap_or_else(|| figure.metrics[0].clone());
    if !plain || of(&measured.over_metric) != of(&normalise.metric) {
        return None;
    }
    match measured.kind {
        Kind::Change if *over == normalise.system && has(system) => Some((system, 1.0 + published / 100.0)),
        Kind::Ratio if *over == normalise.system && has(system) => Some((system, published)),
        // Of how many times as much the base takes.
        Kind::Ratio if *system == normalise.system && has(over) => Some((over, 1.0 / published)),
        _ => None,
    }
}

/// The sensitivity study: a line for each choice that unfolds to its numbers, and one sentence for the choices
/// that move nothing.
fn sensitivity(paper: &Paper, all: &[Sensitivity], rows: &[&Row]) -> Markup {
    let still: Vec<&str> =
        all.iter().filter(|of| of.moves() == Some(false)).map(|of| of.title.as_str()).collect();
    html! {
        section id="depends-on" {
            h2 { "What the headline depends on" }
            p.note {
                "Choices that the paper leaves open. Filled: as modelled here; hollow: with the other values; as multiples of the "
                "published effect."
            }
            @for of in all.iter().filter(|of| of.moves() != Some(false)) { (choice(paper, of, rows)) }
            @if !still.is_empty() {
                p.note { "These move nothing by more than a tenth of what is published: " (still.join("; ")) "." }
            }
        }
    }
}

fn choice(paper: &Paper, of: &Sensitivity, rows: &[&Row]) -> Markup {
    let shown = |claim: &Claim| rows.iter().any(|row| row.claim.id == claim.id);
    let places: Vec<usize> =
        (0..of.claims.len()).filter(|place| of.moves_claim(*place) != Some(false)).collect();
    html! {
        details.choice {
            summary {
                span.what { (of.title) }
                @for (place, claim) in places.iter().take(3).map(|place| (*place, &of.claims[*place])) {
                    span.one { code { (claim.id) } (strip::choices(&claim.id, &effects(paper, of, place))) }
                }
            }
            div.scroll tabindex="0" role="group" aria-label=(of.title) {
                table data-title=(of.title) {
                    thead {
                        tr {
                            th { "choice" }
                            @for claim in places.iter().map(|place| &of.claims[*place]) {
                                th title=(claim.comparison()) {
                                    @if shown(claim) { a href=(format!("#claim-{}", claim.id)) { (claim.id) } } @else { (claim.id) }
                                }
                            }
                        }
                    }
                    tbody {
                        tr.published { td { "published" } @for place in &places { td { (of.claims[*place].published_text()) } } }
                        @for (place, choice) in of.choices.iter().enumerate() {
                            tr {
                                td { (choice.label) @if place == 0 { span.note { " (ours)" } } }
                                @for (claim, result) in places.iter().map(|place| (&of.claims[*place], &choice.results[*place])) {
                                    @match result {
                                        Ok(value) => { td data-value=(value.to_string()) { (claim.with_sign(*value)) } }
                                        Err(reason) => { td.missing title=(reason) { "not measured" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.note { (of.source) }
        }
    }
}

/// A claim's effects under the values of a choice, as multiples of the published one; none if ours is missing.
fn effects<'a>(paper: &Paper, of: &'a Sensitivity, place: usize) -> Vec<(f64, &'a str)> {
    let claim = &of.claims[place];
    let kind = paper.measured[&claim.id].kind;
    let published = claim.value().map_or(0.0, |value| effect(kind, value));
    let of_choice = |choice: &'a Choice| {
        let times = effect(kind, *choice.results[place].as_ref().ok()?) / published;
        times.is_finite().then_some((times, choice.label.as_str()))
    };
    let has_ours = of.choices.first().is_some_and(|choice| of_choice(choice).is_some());
    if has_ours { of.choices.iter().filter_map(of_choice).collect() } else { vec![] }
}
