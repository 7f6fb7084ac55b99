//! Draws grids as SVG, for embedding in a page.

mod paint;

use super::number;
use crate::grid::Grid;
use crate::question::Cell;

/// Draws a bar for each cell, the bars of a row side by side. A missing number leaves a gap.
///
/// # Errors
/// If there is no number to draw, or drawing fails.
pub fn grouped_bars(grid: &Grid, series: &[String]) -> Result<String, String> {
    let bars = |cells: &[Cell]| {
        let bar = |(series, cell): (usize, &Cell)| Bar(cell.iter().map(|value| (series, *value)).collect());
        cells.iter().enumerate().map(bar).collect()
    };
    draw(grid, series, bars)
}

/// Draws stacks, those of a row side by side. Column `stack * series.len() + part` is a part of a stack,
/// counted from the bottom. A stack that lacks a part is left out.
///
/// # Errors
/// As [`grouped_bars`].
pub fn stacked_bars(grid: &Grid, series: &[String]) -> Result<String, String> {
    let stacks = |cells: &[Cell]| {
        let stack = |cells: &[Cell]| {
            let values = cells.iter().enumerate().map(|(part, cell)| Some((part, *cell.as_ref().ok()?)));
            Bar(values.collect::<Option<_>>().unwrap_or_default())
        };
        cells.chunks(series.len().max(1)).map(stack).collect()
    };
    draw(grid, series, stacks)
}

fn draw(grid: &Grid, series: &[String], bars: impl Fn(&[Cell]) -> Vec<Bar>) -> Result<String, String> {
    let groups: Vec<Group<'_>> =
        grid.lines().map(|(name, cells)| Group { name, bars: bars(cells) }).collect();
    let heights = || groups.iter().flat_map(|group| &group.bars).filter_map(Bar::height);
    let top = heights().fold(f64::NEG_INFINITY, f64::max);
    let bottom = heights().fold(0.0, f64::min);
    if !top.is_finite() {
        return Err("no number to draw".into());
    }
    let cut = cut(heights().collect());
    let range = bottom..(cut.unwrap_or(top).max(bottom + f64::EPSILON) * 1.05);
    let chart = Chart { title: &grid.title, groups, plain: grid.rows.len(), series, range, cut };
    chart.paint()
}

/// The contents of a drawing.
struct Chart<'a> {
    title: &'a str,
    groups: Vec<Group<'a>>,
    /// Number of groups that are not means.
    plain: usize,
    /// Names of the parts.
    series: &'a [String],
    range: std::ops::Range<f64>,
    /// Height at which bars are cut off.
    cut: Option<f64>,
}

/// The bars of a row, side by side.
struct Group<'a> {
    name: &'a str,
    bars: Vec<Bar>,
}

/// Parts of different series, from the bottom; empty where a number is missing.
struct Bar(Vec<(usize, f64)>);

impl Bar {
    /// Height of the bar; `None` where a number is missing.
    fn height(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().map(|(_, value)| value).sum())
    }

    /// Lower and upper end of one series' part.
    fn part(&self, series: usize) -> Option<(f64, f64)> {
        let place = self.0.iter().position(|(of, _)| *of == series)?;
        let below: f64 = self.0[..place].iter().map(|(_, value)| value).sum();
        Some((below, below + self.0[place].1))
    }
}

/// Height at which bars are cut off; a cut bar shows its number. Without it, a few very high bars would
/// flatten all others. It is twice the height that three quarters of the bars stay below, and applies if some
/// bar is at least twice as high again.
fn cut(mut heights: Vec<f64>) -> Option<f64> {
    heights.sort_by(f64::total_cmp);
    let (lowest, top) = (heights.first()?, heights.last()?);
    let cut = 2.0 * heights[heights.len() * 3 / 4];
    (*lowest >= 0.0 && cut > 0.0 && *top > 2.0 * cut).then_some(cut)
}

/// Formats a number on the axis, without trailing digits.
fn tick(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number just written");
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{}", rounded + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn numbers_on_the_axis_are_short() {
        let found: Vec<String> =
            [0.0, -0.0, 0.1 + 0.2, 1.0, 2.5, 100.0, -40.0, 2.5e7, 2e-4].into_iter().map(tick).collect();
        assert_eq!(found, ["0", "0", "0.3", "1", "2.5", "100", "-40", "2.5e7", "2e-4"]);
    }

    fn grid(cells: Vec<Vec<Cell>>) -> Grid {
        let mut grid = Grid {
            title: "cycles <a thousand>".into(),
            rows: (0..cells.len()).map(|row| format!("workload-{row}")).collect(),
            columns: vec!["a".into(), "b".into()],
            cells,
            means: vec![],
        };
        grid.add_mean(crate::grid::Mean::Arithmetic);
        grid
    }

    /// The `x` and `y` of each text, in the order of drawing.
    fn texts(drawing: &str) -> Vec<(String, f64, f64)> {
        let attribute = |tag: &str, name: &str| -> f64 {
            let start = tag.find(&format!(" {name}=\"")).expect("the attribute is there") + name.len() + 3;
            tag[start..].split('"').next().unwrap().parse().unwrap()
        };
        let elements = drawing.split("<text").skip(1);
        elements
            .map(|element| {
                let (tag, rest) = element.split_once('>').unwrap();
                let text = rest.split('<').next().unwrap().trim().to_owned();
                (text, attribute(tag, "x"), attribute(tag, "y"))
            })
            .collect()
    }

    #[test]
    fn every_name_stands_below_the_bars_of_its_row() {
        for rows in [1, 3, 40] {
            let drawing = grouped_bars(&grid(vec![vec![Ok(1.0), Ok(2.0)]; rows]), &["a".into(), "b".into()]);
            let drawing = drawing.unwrap();
            let texts = texts(&drawing);
            let zero = texts.iter().find(|(text, ..)| text == "0").expect("the axis starts at 0").2;
            let names: Vec<_> = texts.iter().filter(|(text, ..)| text.starts_with("workload-")).collect();
            assert_eq!(names.len(), rows);
            assert!(names.iter().all(|(_, _, y)| *y > zero), "{names:?}");
            assert!(names.windows(2).all(|pair| pair[0].1 < pair[1].1), "{names:?}");
            assert_eq!(texts.iter().filter(|(text, ..)| text == "arithmetic mean").count(), 1);
            // Vertical labels end at the axis; horizontal ones are short enough to fit.
            let standing = drawing.matches("rotate(270").count();
            assert_eq!(standing, if rows == 40 { rows + 1 } else { 0 });
            assert!(drawing.matches("text-anchor=\"end\"").count() >= standing);
            assert_eq!(texts.iter().filter(|(text, ..)| text == "a" || text == "b").count(), 2, "the legend");
            assert!(drawing.contains("cycles &lt;a thousand&gt;"));
        }
    }

    #[test]
    fn a_cut_bar_bears_its_number_and_a_missing_one_leaves_a_gap() {
        let mut cells = vec![vec![Ok(1.0), Ok(1.0)]; 8];
        cells.push(vec![Ok(1.0), Ok(57.25)]);
        cells.push(vec![Ok(1.0), Err("not run yet".into())]);
        let drawing = grouped_bars(&grid(cells), &["a".into(), "b".into()]).unwrap();
        let texts = texts(&drawing);
        assert_eq!(texts.iter().filter(|(text, ..)| text == "57.25").count(), 1);
        // Nine and ten bars of ten rows, two of the mean, two of the legend.
        let bars = drawing.matches("<rect").count();
        assert_eq!(bars, 19 + 2 + 2);
        assert_eq!(grouped_bars(&grid(vec![]), &[]).unwrap_err(), "no number to draw");
    }

    #[test]
    fn a_stack_stands_on_its_lower_parts() {
        let bar = Bar(vec![(0, 1.5), (2, 2.0)]);
        assert_eq!((bar.part(0), bar.part(1), bar.part(2)), (Some((0.0, 1.5)), None, Some((1.5, 3.5))));
        assert_eq!((bar.height(), Bar(vec![]).height()), (Some(3.5), None));
    }

    #[test]
    fn a_stack_that_lacks_a_part_is_left_out() {
        let cells = vec![vec![Ok(1.0), Ok(2.0)], vec![Ok(1.0), Err("not run yet".into())]];
        let drawing = stacked_bars(&grid(cells), &["a".into(), "b".into()]).unwrap();
        // Two parts of the whole row's stack and of the mean's, two of the legend.
        assert_eq!(drawing.matches("<rect").count(), 2 + 2 + 2);
    }
}
