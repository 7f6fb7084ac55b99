//! Drawings of grids, as SVG to stand in a page.

use std::fmt::Display;
use std::ops::Range;

use plotters::prelude::*;

use super::number;
use crate::grid::Grid;
use crate::question::Cell;

/// Pixels of a drawing.
const HEIGHT: u32 = 360;
/// Pixels of one bar, and at least of a row's name.
const BAR: u32 = 9;
const ROW: u32 = 52;
/// Pixels for the legend.
const LEGEND: u32 = 200;

/// The bars of a series; told apart also without colours, by their lightness.
const PALETTE: [RGBColor; 10] = [
    RGBColor(31, 41, 55),
    RGBColor(37, 99, 235),
    RGBColor(217, 119, 6),
    RGBColor(22, 163, 74),
    RGBColor(147, 51, 234),
    RGBColor(220, 38, 38),
    RGBColor(8, 145, 178),
    RGBColor(161, 98, 7),
    RGBColor(219, 39, 119),
    RGBColor(107, 114, 128),
];

/// A bar for each cell, the bars of a row side by side; a missing number leaves a gap.
///
/// # Errors
/// When there is no number to draw, or the drawing fails.
pub fn grouped_bars(grid: &Grid, series: &[String]) -> Result<String, String> {
    let bars: Vec<(&str, Vec<Bar>)> = grid
        .lines()
        .map(|(name, cells)| {
            let bar = |(series, cell): (usize, &Cell)| Bar::new(series, cell);
            (name, cells.iter().enumerate().map(bar).collect())
        })
        .collect();
    draw(grid, &bars, series)
}

/// Stacks, those of a row side by side: column `stack * series.len() + part` is a part of a stack, from below. A stack
/// that lacks a part is left out.
///
/// # Errors
/// As [`grouped_bars`].
pub fn stacked_bars(grid: &Grid, series: &[String]) -> Result<String, String> {
    let parts = series.len();
    let bars: Vec<(&str, Vec<Bar>)> = grid
        .lines()
        .map(|(name, cells)| {
            let stack = |cells: &[Cell]| {
                let values =
                    cells.iter().enumerate().filter_map(|(part, cell)| Some((part, *cell.as_ref().ok()?)));
                Bar { parts: values.collect(), missing: cells.iter().any(Result::is_err) }
            };
            (name, cells.chunks(parts.max(1)).map(stack).collect())
        })
        .collect();
    draw(grid, &bars, series)
}

/// Parts of different series, from below.
struct Bar {
    parts: Vec<(usize, f64)>,
    missing: bool,
}

impl Bar {
    fn new(series: usize, cell: &Cell) -> Self {
        match cell {
            Ok(value) => Self { parts: vec![(series, *value)], missing: false },
            Err(_) => Self { parts: vec![], missing: true },
        }
    }

    fn height(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

fn draw(grid: &Grid, rows: &[(&str, Vec<Bar>)], series: &[String]) -> Result<String, String> {
    let heights = || rows.iter().flat_map(|(_, bars)| bars).filter(|bar| !bar.missing);
    let top = heights().map(Bar::height).fold(f64::NEG_INFINITY, f64::max);
    let bottom = heights().map(Bar::height).fold(0.0, f64::min);
    if !top.is_finite() {
        return Err("no number to draw".into());
    }
    let cut = cut(heights().map(Bar::height).collect());
    let range = bottom..(cut.unwrap_or(top).max(bottom + f64::EPSILON) * 1.05);
    let group = rows.iter().map(|(_, bars)| bars.len()).max().unwrap_or(1);
    let row = ROW.max(BAR * (group as u32 + 1));
    // The legend stands beside the bars.
    let slots = rows.len() as u32 + LEGEND.div_ceil(row);
    let width = 120 + slots * row;
    let mut text = String::new();
    paint(&mut text, (width, slots), grid, rows, series, (range, cut)).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Where bars are cut off, their number at the cut: a few that are many times the others would leave nothing of these to
/// be seen. Twice the height that three quarters of the bars do not exceed, if one is twice as high again.
fn cut(mut heights: Vec<f64>) -> Option<f64> {
    heights.sort_by(f64::total_cmp);
    let (lowest, top) = (heights.first()?, heights.last()?);
    let cut = 2.0 * heights[heights.len() * 3 / 4];
    (*lowest >= 0.0 && cut > 0.0 && *top > 2.0 * cut).then_some(cut)
}

fn paint(
    text: &mut String,
    (width, slots): (u32, u32),
    grid: &Grid,
    rows: &[(&str, Vec<Bar>)],
    series: &[String],
    (range, cut): (Range<f64>, Option<f64>),
) -> Result<(), DrawingAreaErrorKind<impl std::error::Error + Send + Sync + use<>>> {
    let root = SVGBackend::with_string(text, (width, HEIGHT)).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .x_label_area_size(96)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..f64::from(slots), range)?;
    let names = |position: &f64| name_at(rows.iter().map(|(name, _)| *name), *position);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(slots as usize * 2 + 1)
        .x_label_formatter(&names)
        .x_label_style(("sans-serif", 11).into_font().transform(FontTransform::Rotate90))
        .y_label_formatter(&|value| number(*value))
        .y_desc(grid.title.clone())
        .draw()?;
    for (part, name) in series.iter().enumerate() {
        let colour = PALETTE[part % PALETTE.len()];
        let boxes = rows.iter().enumerate().flat_map(|(row, (_, bars))| {
            let step = 0.86 / bars.len().max(1) as f64;
            bars.iter().enumerate().filter_map(move |(place, bar)| {
                let (_, value) = bar.parts.iter().find(|(of, _)| *of == part)?;
                let below: f64 =
                    bar.parts.iter().take_while(|(of, _)| *of != part).map(|(_, value)| value).sum();
                let left = row as f64 + 0.07 + place as f64 * step;
                let end = (below + value).min(cut.unwrap_or(f64::INFINITY));
                (end >= below)
                    .then(|| Rectangle::new([(left, below), (left + step * 0.9, end)], colour.filled()))
            })
        });
        chart
            .draw_series(boxes)?
            .label(name.as_str())
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 10, y + 4)], colour.filled()));
    }
    if let Some(cut) = cut {
        let style = ("sans-serif", 9).into_font().transform(FontTransform::Rotate90).color(&WHITE);
        let labels = rows.iter().enumerate().flat_map(|(row, (_, bars))| {
            let step = 0.86 / bars.len().max(1) as f64;
            let style = &style;
            bars.iter().enumerate().filter(|(_, bar)| !bar.missing && bar.height() > cut).map(
                move |(place, bar)| {
                    let right = row as f64 + 0.07 + (place as f64 + 0.95) * step;
                    Text::new(number(bar.height()), (right, cut * 0.99), style.clone())
                },
            )
        });
        chart.draw_series(labels)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.85))
        .draw()?;
    root.present()
}

/// The name of the row whose middle is at a position.
fn name_at<T: Display>(mut names: impl Iterator<Item = T>, position: f64) -> String {
    let is_middle = (position.fract() - 0.5).abs() < 0.01;
    if is_middle {
        names.nth(position as usize).map(|name| name.to_string()).unwrap_or_default()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn bars_are_cut_when_a_few_are_many_times_the_others() {
        let mut heights = vec![1.0; 30];
        assert_eq!(cut(heights.clone()), None);
        heights.extend([3.9, 2.5]);
        assert_eq!(cut(heights.clone()), None, "less than four times the others");
        heights.push(26.0);
        assert_eq!(cut(heights.clone()), Some(2.0));
        heights.push(-1.0);
        assert_eq!(cut(heights), None, "what lies below zero is shown whole");
        assert_eq!((cut(vec![]), cut(vec![0.0, 0.0, 5.0])), (None, None));
    }
}
