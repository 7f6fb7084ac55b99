//! A comparison's page: for each metric lines over a swept number, else bars; and a heat map where two parameters are
//! swept.

use maud::{Markup, html};

use super::chart::Chart;
use super::colour::Palette;
use super::heat::Plane;
use super::lines::Lines;
use super::runs::Runs;
use super::stack::stacks;
use super::{Address, Origin, Parts, made, table};
use crate::compare::Comparison;
use crate::grid::Grid;
use crate::job::Job;
use crate::metric::Metric;
use crate::store::Store;

/// Formats the grids of a comparison as an HTML page, with the jobs that they are made from and the store that has them. Runs are linked to
/// where `address` says, if anywhere.
///
/// # Errors
/// A store that cannot be read.
pub fn comparison(
    comparison: &Comparison,
    grids: &[Grid],
    (jobs, store): (&[Job], &Store),
    address: Option<Address>,
    origin: &Origin,
) -> Result<String, String> {
    let mut palette = Palette::default();
    let runs = Runs::of(jobs, store, address)?;
    let sections: Vec<(String, String, Markup)> = grids
        .iter()
        .zip(&comparison.metrics)
        .enumerate()
        .map(|(place, (grid, metric))| {
            let body = section(comparison, grid, metric, &mut palette);
            (format!("metric-{place}"), metric.title.clone(), body)
        })
        .collect();
    let records: Vec<_> = runs.records().collect();
    let slots = stacks(&records, &mut palette);
    let body = html! {
        @for (anchor, title, body) in &sections { section id=(anchor) { h2 { (title) } (body) } }
        @if let Some(slots) = &slots { section id="slots" { h2 { "Where the issue slots went" } (slots) } }
        (runs.markup(&mut palette))
    };
    let mut links: Vec<(String, String)> =
        sections.iter().map(|(anchor, title, _)| (anchor.clone(), title.clone())).collect();
    let mut machines: Vec<String> = comparison.variants.iter().map(|variant| variant.base.clone()).collect();
    machines.dedup();
    if slots.is_some() {
        links.push(("slots".into(), "Issue slots".into()));
    }
    if !runs.machines().is_empty() {
        links.push(("runs".into(), "Runs".into()));
    }
    let mut facts =
        vec![("Machine", machines.join(", ")), ("Size of the inputs", comparison.size.to_string())];
    facts.extend(made(origin, &runs));
    let title = format!("Comparison: {}", comparison.workloads.join(", "));
    Ok(Parts { title, facts, links, body, colours: palette.css() }.document())
}

/// A metric's numbers, then the same over the base.
fn section(comparison: &Comparison, grid: &Grid, metric: &Metric, palette: &mut Palette) -> Markup {
    let over = format!("times {}", comparison.base.name);
    let relative = comparison.relative(grid).map(|grid| numbers(comparison, &grid, &over, palette));
    html! {
        (numbers(comparison, grid, &metric.unit, palette))
        @if let Some(relative) = relative { h3 { "Over " (comparison.base.title(&comparison.axes)) } (relative) }
        @if let Some(effects) = comparison.effects(grid) { (bars_of_effects(&effects, palette)) }
    }
}

/// What each system of a design brings, as bars and a table.
fn bars_of_effects(effects: &Grid, palette: &mut Palette) -> Markup {
    let colours = effects.columns.iter().map(|of| palette.system(of)).collect();
    html! {
        h3 { "Effects and interactions" }
        p.note { "Times the metric with the system over that without it, all else alike; a x b is the effect of one beside the other "
            "over its effect without the other." }
        @if let Some(bars) = Chart::grouped(effects, "times", colours).markup() { (bars) }
        (table::table(effects))
        (table::missing(effects))
    }
}

/// A grid as drawings and a table.
fn numbers(comparison: &Comparison, grid: &Grid, unit: &str, palette: &mut Palette) -> Markup {
    let lines = Lines::of(grid, unit, &comparison.axes, palette).and_then(|lines| lines.markup());
    let planes = Plane::all(&comparison.axes);
    html! {
        @match (&lines, &planes) {
            (Some(lines), None) => { (lines) (table::table(grid)) (table::missing(grid)) }
            (lines, Some(planes)) => {
                @if let Some(lines) = lines { (lines) }
                (maps(grid, unit, planes))
            }
            (None, None) => {
                @if let Some(bars) = Chart::grouped(grid, unit, colours(comparison, palette)).markup() { (bars) }
                (table::table(grid))
                (table::missing(grid))
            }
        }
    }
}

/// One colour for each variant: that of its system, in steps where a parameter is swept.
fn colours(comparison: &Comparison, palette: &mut Palette) -> Vec<String> {
    let points = comparison.axes.count() / comparison.axes.systems.len();
    let names: Vec<String> =
        (0..comparison.axes.count()).map(|variant| comparison.axes.name(variant)).collect();
    let systems = comparison.axes.systems.iter().zip(names.chunks(points));
    systems.flat_map(|(system, names)| palette.steps(system, names)).collect()
}

fn maps(grid: &Grid, unit: &str, planes: &[Plane]) -> Markup {
    html! {
        @if !unit.is_empty() { p.note { (unit) } }
        div.heats {
            @for row in 0..grid.rows.len() { @for plane in planes { (plane.map(grid, row, unit)) } }
        }
        (table::folded(grid))
    }
}
