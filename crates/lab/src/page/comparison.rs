//! A comparison's page: a chart for each metric, a heat map where two parameters are swept.

use maud::{Markup, html};

use super::chart::Chart;
use super::colour::Palette;
use super::heat::Plane;
use super::runs::Runs;
use super::{Origin, document, made, table};
use crate::compare::Comparison;
use crate::grid::Grid;
use crate::job::Job;
use crate::metric::Metric;
use crate::store::Store;

impl Comparison {
    /// Formats the grids of the comparison as an HTML page, with the jobs that they are made from.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn page(
        &self,
        grids: &[Grid],
        jobs: &[Job],
        store: &Store,
        origin: &Origin,
    ) -> Result<String, String> {
        let mut palette = Palette::default();
        let runs = Runs::of(jobs, store)?;
        let colours = self.colours(&mut palette);
        let planes = Plane::all(&self.variants);
        let sections: Vec<(String, String, Markup)> = grids
            .iter()
            .zip(&self.metrics)
            .enumerate()
            .map(|(place, (grid, metric))| {
                let body = match &planes {
                    Some(planes) => maps(grid, metric, planes),
                    None => self.charts(grid, metric, &colours),
                };
                (format!("metric-{place}"), metric.title.clone(), body)
            })
            .collect();
        let body = html! {
            @for (anchor, title, body) in &sections { section id=(anchor) { h2 { (title) } (body) } }
            (runs.markup(&mut palette))
        };
        let mut links: Vec<(String, String)> =
            sections.iter().map(|(anchor, title, _)| (anchor.clone(), title.clone())).collect();
        let mut machines: Vec<String> = self.variants.iter().map(|variant| variant.base.clone()).collect();
        machines.dedup();
        if !runs.machines().is_empty() {
            links.push(("runs".into(), "Runs".into()));
        }
        let mut facts = vec![("Machine", machines.join(", ")), ("Size of the inputs", self.size.to_string())];
        facts.extend(made(origin, &runs));
        Ok(document(&format!("Comparison: {}", self.workloads.join(", ")), &facts, &links, &body, &palette))
    }

    /// One colour for each variant: that of its system, in steps where a parameter is swept.
    fn colours(&self, palette: &mut Palette) -> Vec<String> {
        let system = |place: usize| {
            let variant = &self.variants[place];
            variant.system.clone().unwrap_or_else(|| variant.base.clone())
        };
        let mut colours = Vec::new();
        let mut from = 0;
        while from < self.variants.len() {
            let to = (from..self.variants.len()).find(|place| system(*place) != system(from));
            let to = to.unwrap_or(self.variants.len());
            let names: Vec<String> = self.variants[from..to].iter().map(|of| of.name.clone()).collect();
            colours.extend(if names.len() == 1 {
                vec![palette.system(&system(from))]
            } else {
                palette.steps(&system(from), &names)
            });
            from = to;
        }
        colours
    }

    fn charts(&self, grid: &Grid, metric: &Metric, colours: &[String]) -> Markup {
        let relative = self.relative(grid).map(|grid| (grid, format!("times {}", self.variants[0].name)));
        let grids = std::iter::once((grid.clone(), metric.unit.clone())).chain(relative);
        html! {
            @for (place, (grid, unit)) in grids.enumerate() {
                @if place > 0 { h3 { "Over " (self.variants[0].name) } }
                @if let Some(drawing) = Chart::grouped(&grid, &unit, colours.to_vec()).markup() { (drawing) }
                (table::table(&grid))
                (table::missing(&grid))
            }
        }
    }
}

fn maps(grid: &Grid, metric: &Metric, planes: &[Plane]) -> Markup {
    html! {
        @if !metric.unit.is_empty() { p.note { (metric.unit) } }
        div.heats {
            @for row in 0..grid.rows.len() { @for plane in planes { (plane.map(grid, row, &metric.unit)) } }
        }
        (table::folded(grid))
    }
}
