//! The instruction roofline: warp instructions a second over warp instructions for each byte, below what issue and each level's
//! bandwidth allow.

use maud::{Markup, html};

use super::bandwidth::Channel;
use super::bars;
use super::chart::px;
use super::colour::Palette;
use super::run_numbers::{of_machine, seconds, value_of, working_sms};
use crate::record::Record;
use crate::report::number;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// Space for the numbers at the left, above, at the right and below.
const LEFT: f64 = 52.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 14.0;
const BELOW: f64 = 40.0;

/// What a run reached. Rates are of 10^9 a second.
struct Reached {
    /// Warp instructions a second,
    rate: f64,
    /// and those that the schedulers can issue.
    issue: f64,
}

/// A level: instructions for each of its bytes, and the bytes a second that it can move.
struct Roof<'a> {
    channel: &'a Channel,
    intensity: f64,
    peak: f64,
}

impl Roof<'_> {
    /// Warp instructions a second that the level and the schedulers allow at this intensity.
    fn limit(&self, issue: f64) -> f64 {
        issue.min(self.intensity * self.peak)
    }
}

/// Decades of both axes, as powers of ten.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn of(roofs: &[Roof<'_>], reached: &Reached) -> Frame {
        let places = roofs.iter().flat_map(|roof| [roof.intensity, reached.issue / roof.peak]);
        let (least, most) =
            places.fold((f64::INFINITY, 0.0_f64), |(least, most), at| (least.min(at), most.max(at)));
        Frame {
            x: ((least / 2.0).log10().floor(), (most * 2.0).log10().ceil()),
            y: (reached.rate.min(reached.issue).log10().floor(), (reached.issue * 1.3).log10().ceil()),
        }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (value.log10() - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (self.y.1 - value.log10()) / (self.y.1 - self.y.0) * (HEIGHT - TOP - BELOW)
    }
}

fn decades((from, to): (f64, f64)) -> impl Iterator<Item = f64> {
    (from as i32..=to as i32).map(|power| 10f64.powi(power))
}

/// A power of ten.
fn power(value: f64) -> String {
    if (0.0009..1001.0).contains(&value) { format!("{value}") } else { format!("{value:e}") }
}

/// The roofline of a run, with what each roof allows; `None` if no level has a roof.
pub fn roofline(record: &Record, channels: &[Channel], palette: &mut Palette) -> Option<Markup> {
    let instructions = value_of(record, "run", "warp_instructions").filter(|count| *count > 0.0)?;
    let of = |path: &str| of_machine(record, path);
    let issue = working_sms(record)? * of("sm.schedulers")? * of("clocks.core_mhz")? / 1e3;
    let reached = Reached { rate: instructions / seconds(record)? / 1e9, issue };
    let roofs: Vec<Roof<'_>> = channels
        .iter()
        .filter(|channel| channel.is_level && channel.bytes > 0.0)
        .filter_map(|channel| {
            let intensity = instructions / channel.bytes;
            Some(Roof { channel, intensity, peak: channel.peak? / 1e9 })
        })
        .collect();
    (!roofs.is_empty()).then(|| {
        html! {
            div.roofed {
                figure data-title="instruction roofline" {
                    div.legend {
                        @for roof in &roofs { span.key { i class=(palette.part(roof.channel.place)) {} (roof.channel.name) } }
                    }
                    div.plot tabindex="0" role="group" aria-label="instruction roofline" { (drawing(&roofs, &reached, palette)) }
                }
                dl.roofs {
                    dt { "Issue" }
                    dd { (number(reached.rate)) " of " (number(reached.issue)) " G/s, " (bars::percent(reached.rate, reached.issue)) }
                    @for roof in &roofs { dt { (roof.channel.name) } dd { (said(roof, &reached)) } }
                }
            }
        }
    })
}

/// How far a run is below a roof.
fn said(roof: &Roof<'_>, reached: &Reached) -> String {
    let limit = roof.limit(reached.issue);
    format!(
        "{} warp instructions a byte; {} of {} G/s that {} allows, {}",
        number(roof.intensity),
        number(reached.rate),
        number(limit),
        if limit < reached.issue { "its bandwidth" } else { "issue" },
        bars::percent(reached.rate, limit)
    )
}

fn drawing(roofs: &[Roof<'_>], reached: &Reached, palette: &mut Palette) -> Markup {
    let frame = Frame::of(roofs, reached);
    let (left, right) = (10f64.powf(frame.x.0), 10f64.powf(frame.x.1));
    let bottom = 10f64.powf(frame.y.0);
    html! {
        svg.chart.roofline width=(px(WIDTH)) height=(px(HEIGHT)) viewBox=(format!("0 0 {} {}", px(WIDTH), px(HEIGHT))) role="img"
            aria-label="instruction roofline" {
            g.rule {
                @for value in decades(frame.x) {
                    @let x = px(frame.x(value));
                    line x1=(x) x2=(x) y1=(px(TOP)) y2=(px(HEIGHT - BELOW)) {}
                }
                @for value in decades(frame.y) {
                    @let y = px(frame.y(value));
                    line x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(y) y2=(y) {}
                }
            }
            g.names {
                @for value in decades(frame.x) {
                    text x=(px(frame.x(value))) y=(px(HEIGHT - BELOW + 16.0)) text-anchor="middle" { (power(value)) }
                }
                @for value in decades(frame.y) {
                    text x=(px(LEFT - 6.0)) y=(px(frame.y(value) + 2.0)) text-anchor="end" { (power(value)) }
                }
                text.unit x=(px((LEFT + WIDTH) / 2.0)) y=(px(HEIGHT - 5.0)) text-anchor="middle" {
                    "warp instructions a byte moved; upwards, warp instructions (10⁹/s)"
                }
            }
            line.issue x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(frame.y(reached.issue))) y2=(px(frame.y(reached.issue))) {
                title { "issue: " (number(reached.issue)) " G/s" }
            }
            @for roof in roofs {
                @let colour = palette.part(roof.channel.place);
                @let ridge = (reached.issue / roof.peak).min(right);
                @let from = (bottom / roof.peak).max(left);
                line class=(format!("roof {colour}")) x1=(px(frame.x(from))) y1=(px(frame.y(from * roof.peak))) x2=(px(frame.x(ridge)))
                    y2=(px(frame.y(ridge * roof.peak))) { title { (roof.channel.name) ": " (bars::rate(roof.peak * 1e9)) } }
            }
            @for roof in roofs {
                @let colour = palette.part(roof.channel.place);
                @let x = px(frame.x(roof.intensity));
                line class=(format!("reach {colour}")) x1=(x) x2=(x) y1=(px(frame.y(reached.rate))) y2=(px(frame.y(roof.limit(reached.issue)))) {}
                circle class=(colour) cx=(x) cy=(px(frame.y(reached.rate))) r="5.5" {
                    title { (roof.channel.name) ": " (said(roof, reached)) }
                }
            }
        }
    }
}
