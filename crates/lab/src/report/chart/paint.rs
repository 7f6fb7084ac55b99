//! Paints a chart as SVG: title and legend above, axis at the left, names below.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Bar, Chart, Group, number, tick};

/// Height of the plot area in pixels.
const HEIGHT: u32 = 250;
/// Minimum width of a bar and of a group of bars, in pixels.
const BAR: u32 = 7;
const GROUP: u32 = 26;
/// Width in pixels that the groups fill if there is room, and the maximum width of one group.
const WIDTH: u32 = 960;
const WIDEST: u32 = 130;
/// Width in pixels of the space for the axis' numbers, and of the other margins.
const AXIS: u32 = 56;
const MARGIN: u32 = 8;
/// Sizes of text in pixels: text, numbers in bars, line height, and the widest letter. A letter of size 14 is
/// 11 pixels high.
const FONT: u32 = 14;
const SMALL: u32 = 9;
const LINE: u32 = 20;
const LETTER: u32 = 7;
/// Share of a group's width that its bars take, and share of a bar's width that is filled.
const FILLED: f64 = 0.86;
const SOLID: f64 = 0.9;

const INK: RGBColor = RGBColor(31, 41, 55);
const RULE: RGBColor = RGBColor(209, 213, 219);

/// Colours of the series. They also differ in lightness, so they can be told apart without colour.
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

type Area<'t> = DrawingArea<SVGBackend<'t>, Shift>;
type Plot<'t> = ChartContext<'t, SVGBackend<'t>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Painted = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Chart<'_> {
    pub(super) fn paint(&self) -> Result<String, String> {
        let layout = Layout::of(self);
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, (layout.width, layout.height)).into_drawing_area();
        self.fill(&area, &layout).map_err(|error| error.to_string())?;
        drop(area);
        Ok(text)
    }

    fn fill(&self, area: &Area<'_>, layout: &Layout) -> Painted {
        area.draw(&Text::new(self.title.to_owned(), (MARGIN as i32, MARGIN as i32), style(FONT)))?;
        for ((left, top), (part, name)) in layout.legend.iter().zip(self.series.iter().enumerate()) {
            let (left, top) = (*left as i32, *top as i32);
            area.draw(&Rectangle::new([(left, top + 1), (left + 10, top + 11)], colour(part).filled()))?;
            area.draw(&Text::new(name.clone(), (left + 15, top), style(FONT)))?;
        }
        let mut plot = ChartBuilder::on(area)
            .margin_top(layout.top)
            .margin_right(MARGIN)
            .x_label_area_size(layout.names)
            .y_label_area_size(AXIS)
            .build_cartesian_2d(0.0..self.groups.len() as f64, self.range.clone())?;
        plot.configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .y_labels(6)
            .y_label_style(style(FONT))
            .y_label_formatter(&|value| tick(*value))
            .axis_style(RULE)
            .bold_line_style(RULE)
            .light_line_style(TRANSPARENT)
            .draw()?;
        self.bars(&mut plot)?;
        self.numbers_of_cut_bars(&mut plot)?;
        self.names(area, &plot, layout)
    }

    fn bars(&self, plot: &mut Plot<'_>) -> Painted {
        for part in 0..self.series.len() {
            let boxes = self.places().filter_map(|(left, width, bar)| {
                let (below, above) = bar.part(part)?;
                let above = above.min(self.cut.unwrap_or(f64::INFINITY));
                let corners = [(left, below), (left + width * SOLID, above)];
                (above >= below || below <= 0.0).then(|| Rectangle::new(corners, colour(part).filled()))
            });
            plot.draw_series(boxes)?;
        }
        let (left, right) = (0.0, self.groups.len() as f64);
        let ground = PathElement::new([(left, 0.0), (right, 0.0)], INK);
        let between = self.plain as f64;
        let means = PathElement::new([(between, self.range.start), (between, self.range.end)], RULE);
        plot.draw_series([ground])?;
        if 0 < self.plain && self.plain < self.groups.len() {
            plot.draw_series([means])?;
        }
        Ok(())
    }

    /// Each bar with the left edge and the width of its slot.
    fn places(&self) -> impl Iterator<Item = (f64, f64, &Bar)> {
        self.groups.iter().enumerate().flat_map(|(group, Group { bars, .. })| {
            let width = FILLED / bars.len().max(1) as f64;
            let first = group as f64 + (1.0 - FILLED) / 2.0;
            bars.iter().enumerate().map(move |(place, bar)| (first + place as f64 * width, width, bar))
        })
    }

    fn numbers_of_cut_bars(&self, plot: &mut Plot<'_>) -> Painted {
        let Some(cut) = self.cut else { return Ok(()) };
        let style = upwards(style(SMALL), WHITE);
        let numbers = self.places().filter_map(|(left, width, bar)| {
            let height = bar.height().filter(|height| *height > cut)?;
            let middle = left + width * SOLID / 2.0;
            Some(Text::new(number(height), (middle, cut * 0.99), style.clone()))
        });
        plot.draw_series(numbers)?;
        Ok(())
    }

    /// Draws the names of the groups: horizontally where they fit, vertically elsewhere.
    fn names(&self, area: &Area<'_>, plot: &Plot<'_>, layout: &Layout) -> Painted {
        let style = if layout.lying {
            style(FONT).pos(Pos::new(HPos::Center, VPos::Top))
        } else {
            upwards(style(FONT), INK)
        };
        for (place, group) in self.groups.iter().enumerate() {
            let (x, y) = plot.backend_coord(&(place as f64 + 0.5, self.range.start));
            area.draw(&Text::new(group.name.to_owned(), (x, y + 6), style.clone()))?;
        }
        Ok(())
    }
}

/// Positions and sizes of a chart's parts, in pixels.
struct Layout {
    width: u32,
    height: u32,
    /// Space above the axis.
    top: u32,
    /// Space below the axis.
    names: u32,
    lying: bool,
    /// Left and upper edge of each legend entry.
    legend: Vec<(u32, u32)>,
}

impl Layout {
    fn of(chart: &Chart<'_>) -> Layout {
        let groups = chart.groups.len().max(1) as u32;
        let bars = chart.groups.iter().map(|group| group.bars.len()).max().unwrap_or(1) as u32;
        let group = (BAR * (bars + 1)).max(GROUP).max((WIDTH / groups).min(WIDEST));
        let width = (AXIS + groups * group + MARGIN).max(2 * MARGIN + letters(chart.title));
        let longest = chart.groups.iter().map(|group| letters(group.name)).max().unwrap_or(0);
        let lying = longest + LETTER <= group;
        let names = if lying { LINE } else { longest } + MARGIN;
        let mut legend = Vec::new();
        let (mut left, mut line) = (MARGIN, MARGIN + LINE);
        for name in chart.series {
            let entry = 15 + letters(name) + 2 * LETTER;
            if left > MARGIN && left + entry > width {
                (left, line) = (MARGIN, line + LINE);
            }
            legend.push((left, line));
            left += entry;
        }
        let top = line + LINE + MARGIN;
        Layout { width, height: top + HEIGHT + names, top, names, lying, legend }
    }
}

fn letters(text: &str) -> u32 {
    text.chars().count() as u32 * LETTER
}

fn colour(part: usize) -> RGBColor {
    PALETTE[part % PALETTE.len()]
}

fn style(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// A style for text that reads from bottom to top and ends at its position.
fn upwards(style: TextStyle<'static>, colour: RGBColor) -> TextStyle<'static> {
    let font = style.font.transform(FontTransform::Rotate270);
    font.color(&colour).pos(Pos::new(HPos::Right, VPos::Center))
}
