//! Bar charts: what is drawn, apart from how.

mod layout;
mod paint;
pub use layout::{FONT, Scale, letters, tick};
pub use paint::{px, with_unit};
#[cfg(test)]
mod tests;

use maud::{Markup, html};

use super::colour::Palette;
use crate::grid::Grid;
use crate::question::Cell;

/// A bar chart: a group of bars for each row of a grid, the means first.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What the numbers are, for the name of the file and for readers who hear the page.
    pub title: String,
    /// Unit of the numbers.
    pub unit: String,
    /// The groups: the means, then the others.
    pub groups: Vec<Group>,
    /// How many groups are means.
    pub means: usize,
    /// Names and CSS variables of the parts that bars are made of.
    pub series: Vec<(String, String)>,
    /// Names of the bars of a group, where the series do not tell them apart.
    pub stacks: Vec<String>,
}

/// The bars of a row, side by side.
#[derive(Clone, Debug)]
pub struct Group {
    name: String,
    bars: Vec<Bar>,
}

/// Parts of different series, from the bottom; empty where a number is missing.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    name: String,
    parts: Vec<(usize, f64)>,
    mark: Option<Mark>,
}

/// A published number, drawn at the bar that should reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where the bar should end.
    pub value: f64,
    /// What was published, in words.
    pub text: String,
    /// Whether the number was published for this bar itself, rather than for a mean over several of its kind.
    pub exact: bool,
}

impl Chart {
    /// A chart with a bar for each cell of a grid, coloured by column.
    #[must_use]
    pub fn grouped(grid: &Grid, unit: &str, colours: Vec<String>) -> Chart {
        let bar = |(series, cell): (usize, &Cell)| Bar {
            name: grid.columns[series].clone(),
            parts: cell.iter().map(|value| (series, *value)).collect(),
            mark: None,
        };
        let bars = |cells: &[Cell]| cells.iter().enumerate().map(bar).collect();
        let series = grid.columns.iter().cloned().zip(colours).collect();
        Chart::of(grid, unit, series, vec![], &bars)
    }

    /// A chart with stacks. Column `stack * parts.len() + part` of the grid is a part of a stack, counted from
    /// the bottom. A stack that lacks a part is left out.
    #[must_use]
    pub fn stacked(
        grid: &Grid,
        unit: &str,
        parts: &[String],
        stacks: &[String],
        palette: &mut Palette,
    ) -> Chart {
        let stack = |(place, cells): (usize, &[Cell])| {
            let values = cells.iter().enumerate().map(|(part, cell)| Some((part, *cell.as_ref().ok()?)));
            let name = stacks.get(place).cloned().unwrap_or_default();
            Bar { name, parts: values.collect::<Option<_>>().unwrap_or_default(), mark: None }
        };
        let bars = |cells: &[Cell]| cells.chunks(parts.len().max(1)).enumerate().map(stack).collect();
        let colour = |(place, name): (usize, &String)| (name.clone(), palette.part(place));
        let series = parts.iter().enumerate().map(colour).collect();
        let stacks = if stacks.len() > 1 { stacks.to_vec() } else { vec![] };
        Chart::of(grid, unit, series, stacks, &bars)
    }

    fn of(
        grid: &Grid,
        unit: &str,
        series: Vec<(String, String)>,
        stacks: Vec<String>,
        bars: &dyn Fn(&[Cell]) -> Vec<Bar>,
    ) -> Chart {
        let group = |(name, cells): (&str, &[Cell])| Group { name: short(name), bars: bars(cells) };
        let mut groups: Vec<Group> = grid.lines().map(group).collect();
        // The answer comes first.
        groups.rotate_left(grid.rows.len());
        let means = grid.means.len();
        Chart { title: grid.title.clone(), unit: unit.to_owned(), groups, means, series, stacks }
    }

    /// Draws a published number at a bar.
    pub fn mark(&mut self, group: &str, bar: &str, mark: Mark) {
        let bars = self.groups.iter_mut().filter(|of| of.name == group).flat_map(|of| &mut of.bars);
        if let Some(bar) = bars.into_iter().find(|of| of.name == bar && !of.parts.is_empty()) {
            bar.mark = Some(mark);
        }
    }

    /// Name of the first group of means, if they are over every row.
    #[must_use]
    pub fn mean(&self) -> Option<String> {
        let name = &self.groups.first().filter(|_| self.means > 0)?.name;
        (!name.contains(" of ")).then(|| name.clone())
    }

    /// The drawing with its legend; `None` if there is no number to draw.
    #[must_use]
    pub fn markup(&self) -> Option<Markup> {
        let drawing = paint::svg(self)?;
        let marks = || self.bars().filter_map(|bar| bar.mark.as_ref());
        Some(html! {
            figure data-title=(self.title) {
                div.legend {
                    @for (name, variable) in &self.series {
                        span.key { i class=(variable) {} (name) }
                    }
                    @if !self.stacks.is_empty() {
                        span.key.plain {
                            "Stacks: "
                            (self.stacks.iter().enumerate().map(|(place, name)| format!("{} {name}", place + 1))
                                .collect::<Vec<_>>().join(", "))
                        }
                    }
                    @if marks().any(|mark| mark.exact) { span.key { i.tick {} "published" } }
                    @if marks().any(|mark| !mark.exact) {
                        span.key { i.tick.loose {} "published for several" }
                    }
                }
                div.plot tabindex="0" role="group" aria-label=(self.title) { (drawing) }
            }
        })
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }
}

impl Bar {
    /// Height of the bar; `None` where a number is missing.
    fn height(&self) -> Option<f64> {
        (!self.parts.is_empty()).then(|| self.parts.iter().map(|(_, value)| value).sum())
    }
}

/// A mean's title as it fits below a bar.
pub fn short(name: &str) -> String {
    name.replace("arithmetic mean", "mean").replace("geometric mean", "geomean")
}
