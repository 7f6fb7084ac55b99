//! A chart as SVG. Colours come from the page's style sheet.

use maud::{Markup, html};

use super::layout::{FONT, HEIGHT, Layout, SMALL, tick};
use super::{Bar, Chart};
use crate::report::number;

/// Share of a bar's slot that is filled.
const SOLID: f64 = 0.86;

/// The drawing; `None` if there is no number to draw.
pub fn svg(chart: &Chart) -> Option<Markup> {
    let layout = Layout::of(chart)?;
    let (width, height) = (px(layout.width), px(layout.height));
    Some(html! {
        svg.chart width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img"
            aria-label=(chart.title) {
            (lines(chart, &layout))
            @for part in 0..chart.series.len() { (bars_of(chart, &layout, part)) }
            (broken(chart, &layout))
            (marks(chart, &layout))
            (names(chart, &layout))
            (axis(&layout))
            @if !chart.unit.is_empty() { text.unit x="0" y="12" { (chart.unit) } }
        }
    })
}

/// A length with a tenth of a pixel.
pub fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn lines(chart: &Chart, layout: &Layout) -> Markup {
    let right = px(layout.width - 8.0);
    let between = layout.left + chart.means as f64 * layout.pitch;
    html! {
        @if chart.means > 0 && chart.means < chart.groups.len() {
            rect.means x=(px(layout.left)) y=(px(layout.top)) width=(px(between - layout.left)) height=(px(HEIGHT)) {}
        }
        g.rule {
            @for value in layout.scale.ticks() {
                @let y = px(layout.y(value));
                line.zero[value == 0.0] x1=(px(layout.left)) x2=(right) y1=(y) y2=(y) {}
            }
        }
    }
}

/// The numbers of the axis, which the page's script keeps in sight.
fn axis(layout: &Layout) -> Markup {
    html! {
        g.axis {
            rect.ground x="0" y=(px(layout.top - 7.0)) width=(px(layout.left - 1.0)) height=(px(HEIGHT + 13.0)) {}
            @for value in layout.scale.ticks() {
                text x=(px(layout.left - 6.0)) y=(px(layout.y(value) + 4.0)) text-anchor="end" { (tick(value)) }
            }
        }
    }
}

/// Each bar with the left edge and the width of its slot, and its group's name.
fn places<'a>(chart: &'a Chart, layout: &'a Layout) -> impl Iterator<Item = (f64, f64, &'a Bar, &'a str)> {
    chart.groups.iter().enumerate().flat_map(move |(place, group)| {
        let slot = layout.bars / group.bars.len().max(1) as f64;
        let left = layout.group(place);
        let bars = group.bars.iter().enumerate();
        bars.map(move |(bar, of)| (left + bar as f64 * slot, slot, of, group.name.as_str()))
    })
}

fn bars_of(chart: &Chart, layout: &Layout, part: usize) -> Markup {
    let (name, variable) = &chart.series[part];
    let boxes = places(chart, layout).filter_map(|(left, slot, bar, group)| {
        let place = bar.parts.iter().position(|(of, _)| *of == part)?;
        let below: f64 = bar.parts[..place].iter().map(|(_, value)| value).sum();
        let value = bar.parts[place].1;
        let (one, other) = (layout.y(below), layout.y(below + value));
        let what = if bar.name.is_empty() || bar.name == *name {
            name.clone()
        } else {
            format!("{}, {name}", bar.name)
        };
        let title = format!("{group}, {what}: {}", with_unit(value, &chart.unit));
        Some((left, slot, one.min(other), (one - other).abs(), title))
    });
    html! {
        g class=(variable) data-series=(name) {
            @for (left, slot, top, height, title) in boxes {
                rect x=(px(left)) y=(px(top)) width=(px(slot * SOLID)) height=(px(height)) { title { (title) } }
            }
        }
    }
}

/// Formats a number with its unit.
pub fn with_unit(value: f64, unit: &str) -> String {
    if unit.is_empty() { number(value) } else { format!("{} {unit}", number(value)) }
}

/// A break near the upper end of each bar that is higher than the axis, and its number above. Numbers of
/// neighbours stand at different heights, so that they do not touch.
fn broken(chart: &Chart, layout: &Layout) -> Markup {
    let Some(cut) = layout.scale.cut else { return html! {} };
    let mut last: Option<(f64, bool)> = None;
    let mut numbers = Vec::new();
    for (left, slot, bar, _) in places(chart, layout) {
        let Some(height) = bar.height().filter(|height| *height > cut) else { continue };
        let raised = last.is_some_and(|(at, raised)| left - at < SMALL + 2.0 && !raised);
        last = Some((left, raised));
        numbers.push((left, slot * SOLID, raised, height));
    }
    let y = layout.top + 11.0;
    html! {
        g.break {
            @for (left, width, ..) in &numbers {
                @let (from, to) = (px(left - 1.5), px(left + width + 1.5));
                path d=(format!("M{from} {}L{to} {}M{from} {}L{to} {}", px(y + 2.0), px(y - 2.0), px(y + 6.0), px(y + 2.0))) {}
            }
        }
        g.over {
            @for (left, width, raised, height) in &numbers {
                @let x = px(left + width / 2.0 + SMALL * 0.35);
                @let base = layout.top - 4.0;
                @let y = px(if *raised { base - 29.0 } else { base });
                @if *raised {
                    @let middle = px(left + width / 2.0);
                    line x1=(middle) x2=(middle) y1=(px(base + 3.0)) y2=(px(base - 27.0)) {}
                }
                text x=(x) y=(y) transform=(format!("rotate(-90 {x} {y})")) { (number(*height)) }
            }
        }
    }
}

fn marks(chart: &Chart, layout: &Layout) -> Markup {
    html! {
        g.marks {
            @for (left, slot, bar, group) in places(chart, layout) {
                @if let Some(mark) = &bar.mark {
                    @let y = px(layout.y(mark.value));
                    @let (from, to) = (px(left - 2.5), px(left + slot * SOLID + 2.5));
                    g.loose[!mark.exact] {
                        @if mark.exact { line.halo x1=(from) x2=(to) y1=(y) y2=(y) {} }
                        line x1=(from) x2=(to) y1=(y) y2=(y) {
                            title { (group) ", " (bar.name) ": " (mark.text) }
                        }
                    }
                }
            }
        }
    }
}

fn names(chart: &Chart, layout: &Layout) -> Markup {
    let below = layout.top + HEIGHT;
    let numbered = if chart.stacks.is_empty() { 0.0 } else { 12.0 };
    html! {
        @if !chart.stacks.is_empty() {
            g.stacks {
                @for group in 0..chart.groups.len() {
                    @for place in 0..chart.stacks.len() {
                        @let slot = layout.bars / chart.stacks.len() as f64;
                        @let x = layout.group(group) + (place as f64 + SOLID / 2.0) * slot;
                        text x=(px(x)) y=(px(below + 11.0)) text-anchor="middle" { (place + 1) }
                    }
                }
            }
        }
        g.names {
            @for (place, group) in chart.groups.iter().enumerate() {
                @let middle = layout.group(place) + layout.bars / 2.0;
                @let (x, y) = (px(middle + FONT * 0.3), px(below + 14.0 + numbered));
                @if layout.lying {
                    text.mean[place < chart.means] x=(px(middle)) y=(px(below + 16.0 + numbered)) text-anchor="middle" {
                        (group.name)
                    }
                } @else {
                    text.mean[place < chart.means] x=(x) y=(y) text-anchor="end"
                        transform=(format!("rotate(-45 {x} {y})")) { (group.name) }
                }
            }
        }
    }
}
