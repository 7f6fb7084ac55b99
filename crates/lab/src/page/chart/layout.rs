//! Sizes and positions in a chart, in pixels, and the scale of its axis.

use super::Chart;

/// Height of the area of the bars.
pub const HEIGHT: f64 = 240.0;
/// Sizes of text.
pub const FONT: f64 = 12.0;
pub const SMALL: f64 = 9.5;
/// Width of an average letter, as a share of the text's size.
const LETTER: f64 = 0.62;
/// Widths of a bar's slot: the least, the greatest, and that of a bar with a number below it.
const SLOT: (f64, f64) = (6.0, 38.0);
const NUMBERED: f64 = 12.0;
/// Space between groups: the least, and its share of a group.
const GAP: (f64, f64) = (9.0, 0.22);
/// Width that the groups fill if there is room.
const WIDTH: f64 = 1130.0;
/// Height of the two rows of numbers above broken bars.
const BROKEN: f64 = 66.0;
/// Height of the line with the unit.
const UNIT: f64 = 18.0;

/// Where things are.
pub struct Layout {
    pub width: f64,
    pub height: f64,
    /// Space at the left for the axis' numbers.
    pub left: f64,
    /// Upper end of the area of the bars.
    pub top: f64,
    /// Width of a group without the gap, and with it.
    pub bars: f64,
    pub pitch: f64,
    /// Whether names lie below their groups; else they stand askew.
    pub lying: bool,
    pub scale: Scale,
}

impl Layout {
    /// `None` if there is no number to draw.
    pub fn of(chart: &Chart) -> Option<Layout> {
        let scale = Scale::of(chart)?;
        let slots = chart.groups.iter().map(|group| group.bars.len()).max().unwrap_or(1).max(1) as f64;
        let count = chart.groups.len() as f64;
        let least = if chart.stacks.is_empty() { SLOT.0 } else { NUMBERED };
        let room = WIDTH / count;
        let slot = ((room - GAP.0.max(GAP.1 * room)) / slots).clamp(least, SLOT.1);
        let bars = slot * slots;
        let pitch = (bars + GAP.0.max(GAP.1 * bars)).max(20.0);
        let numbers = scale.ticks().into_iter().map(|value| letters(&tick(value), FONT));
        let axis = numbers.fold(0.0, f64::max) + 10.0;
        // Names stand askew and end below the middle of their group.
        let reach = |(place, group): (usize, &super::Group)| {
            letters(&group.name, FONT) * 0.71 - (place as f64 + 0.5) * pitch
        };
        let longest = chart.groups.iter().map(|group| letters(&group.name, FONT)).fold(0.0, f64::max);
        let lying = longest < pitch - 4.0;
        let askew = chart.groups.iter().enumerate().map(reach).filter(|_| !lying);
        let left = askew.fold(axis, f64::max).ceil();
        let top =
            if scale.cut.is_some() { BROKEN } else { 8.0 } + if chart.unit.is_empty() { 0.0 } else { UNIT };
        let below = (if lying { 24.0 } else { longest * 0.71 + 26.0 })
            + if chart.stacks.is_empty() { 0.0 } else { 12.0 };
        let width = left + count * pitch + 8.0;
        Some(Layout { width, height: top + HEIGHT + below, left, top, bars, pitch, lying, scale })
    }

    /// Height of a value on the page.
    pub fn y(&self, value: f64) -> f64 {
        let (from, to) = self.scale.range;
        self.top + HEIGHT * (1.0 - (value.clamp(from, to) - from) / (to - from))
    }

    /// Left edge of a group.
    pub fn group(&self, place: usize) -> f64 {
        self.left + place as f64 * self.pitch + (self.pitch - self.bars) / 2.0
    }
}

/// The axis.
pub struct Scale {
    /// The least and the greatest value.
    pub range: (f64, f64),
    step: f64,
    /// Height at which bars are broken.
    pub cut: Option<f64>,
}

impl Scale {
    fn of(chart: &Chart) -> Option<Scale> {
        let heights: Vec<f64> = chart.bars().filter_map(super::Bar::height).collect();
        let marks = chart.bars().filter_map(|bar| bar.mark.as_ref()).map(|mark| mark.value);
        let published = marks.fold(0.0, f64::max);
        let greatest = heights.iter().copied().reduce(f64::max)?;
        let top = greatest.max(published);
        let bottom = heights.iter().copied().fold(0.0, f64::min);
        let cut = cut(heights).map(|cut| cut.max(1.2 * published)).filter(|cut| *cut < greatest);
        let whole = Scale::between(bottom, cut.unwrap_or(top));
        Some(match cut {
            Some(end) => Scale { range: (whole.range.0, end), cut, ..whole },
            None => whole,
        })
    }

    /// An axis from a round number at or just below the least value to one at or just above the greatest.
    pub fn between(least: f64, greatest: f64) -> Scale {
        let step = step((greatest - least).max(f64::MIN_POSITIVE));
        let end = ((greatest / step - 1e-6).ceil() * step).max(least + step);
        Scale { range: ((least / step).floor() * step, end), step, cut: None }
    }

    /// The numbers on the axis.
    pub fn ticks(&self) -> Vec<f64> {
        let (from, to) = self.range;
        let first = (from / self.step).round() as i64;
        let values = (first..).map(|place| place as f64 * self.step);
        values.take_while(|value| *value <= to + 1e-6 * self.step).collect()
    }
}

/// A round step that divides a range into about five.
fn step(range: f64) -> f64 {
    let raw = range / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= 0.85 * raw).unwrap_or(10.0 * power)
}

/// Height at which bars are broken; a broken bar shows its number. Without it, a few very high bars would
/// flatten all others. It is twice the height that three quarters of the bars stay below, and applies if some
/// bar is at least twice as high again.
pub fn cut(mut heights: Vec<f64>) -> Option<f64> {
    heights.sort_by(f64::total_cmp);
    let (lowest, top) = (heights.first()?, heights.last()?);
    let cut = 2.0 * heights[heights.len() * 3 / 4];
    (*lowest >= 0.0 && cut > 0.0 && *top > 2.0 * cut).then_some(cut)
}

/// Formats a number on the axis, without trailing digits.
pub fn tick(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number just written");
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{}", rounded + 0.0)
    }
}

/// Width of a text of a size.
pub fn letters(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}
