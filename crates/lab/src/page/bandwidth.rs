//! How much of what each level can move a run used, and the roofs that this sets.

use maud::{Markup, html};
use strata_gpu::machine::Machine;

use super::bars;
use super::chart::px;
use super::colour::Palette;
use super::run_numbers::{of_design, of_machine, seconds, sum_of, value_of};
use crate::record::Record;
use crate::report::number;

/// A level, with what it moved and what it could.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    name: &'static str,
    place: usize,
    /// Bytes that moved.
    bytes: f64,
    /// Bytes a second that can; `None` where the machine does not say.
    peak: Option<f64>,
    /// Where the peak comes from.
    how: String,
    /// Whether it is a level of the hierarchy, which has a roof.
    is_level: bool,
}

/// The levels whose bytes a run counted.
pub fn channels(record: &Record, machine: Option<&Machine>) -> Vec<Channel> {
    let gpu = |key: &str| of_machine(record, &format!("gpu.{key}"));
    // SMs in cache mode, and those that rest, run no kernel.
    let idle = gpu("cache_sms").unwrap_or_default() + gpu("gated_sms").unwrap_or_default();
    let sms = gpu("sms").map(|sms| sms - idle);
    let slices = gpu("channels").zip(gpu("slices_per_channel")).map(|(channels, each)| channels * each);
    let core = of_machine(record, "clocks.core_mhz");
    let mhz = |clock: &str| of_machine(record, &format!("clocks.{clock}")).or(core);
    let line = of_machine(record, "lsu.segment_bytes");
    let mut channels = Vec::new();
    let mut add = |name, place, is_level, bytes: Option<f64>, peak: Option<(f64, String)>| {
        let (peak, how) = peak.map_or((None, String::new()), |(peak, how)| (Some(peak), how));
        channels.extend(bytes.map(|bytes| Channel { name, place, bytes, peak, how, is_level }));
    };
    let of = |count: Option<f64>, width: Option<f64>, mhz: Option<f64>, what: &str| {
        let (count, width, mhz) = (count?, width?, mhz?);
        Some((count * width * mhz * 1e6, format!("{count} {what} of {width} B a cycle at {mhz} MHz")))
    };
    let ports = of_design(record, "l1d", "accesses_per_cycle").unwrap_or(1.0);
    let l1d = of(sms.map(|sms| sms * ports), line, core, "ports");
    add("L1D", 2, true, value_of(record, "lsu", "bytes_accessed"), l1d);
    let flit = of_design(record, "network", "flit_bytes");
    let ends = sms.zip(slices).map(|(sms, slices)| sms.min(slices));
    for (name, place, group) in
        [("network, requests", 1, "network.request"), ("network, replies", 5, "network.reply")]
    {
        let peak = of(ends, flit, mhz("network_mhz"), "ports");
        add(name, place, false, value_of(record, group, "wire_bytes"), peak);
    }
    let payload = ["network.request", "network.reply"].map(|group| value_of(record, group, "payload_bytes"));
    let width = of_design(record, "llc", "data_bytes_per_cycle").or(line);
    let llc = payload.into_iter().flatten().reduce(|one, other| one + other);
    add("LLC", 4, true, llc, of(slices, width, mhz("l2_mhz"), "slices"));
    let dram = machine.map(|machine| machine.facts().dram_bytes_per_second);
    let dram = dram.map(|peak| (peak, "data buses of all channels".to_owned()));
    add("DRAM", 0, true, sum_of(record, "dram", &["read_bytes", "written_bytes"]), dram);
    channels
}

/// Bars of the bandwidth that a run used on average, of each level's peak; `None` if it moved nothing.
pub fn table(record: &Record, channels: &[Channel], palette: &mut Palette) -> Option<Markup> {
    let seconds = seconds(record)?;
    (!channels.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="group" aria-label="bandwidth" {
                table.sort.wide data-title="bandwidth" {
                    thead { tr { th.words { "bandwidth" } th { "of the peak" } th { "used" } th { "peak" } th.words { "the peak is that of" } } }
                    tbody {
                        @for channel in channels {
                            @let used = channel.bytes / seconds;
                            tr {
                                td.words { (channel.name) }
                                @match channel.peak {
                                    Some(peak) => {
                                        td data-value=(format!("{}", used / peak)) {
                                            span.barred { (bars::share(used / peak, &palette.part(channel.place))) (bars::percent(used, peak)) }
                                        }
                                    }
                                    None => { td {} }
                                }
                                td data-value=(format!("{used}")) { (bars::rate(used)) }
                                @match channel.peak { Some(peak) => { td data-value=(format!("{peak}")) { (bars::rate(peak)) } } None => { td {} } }
                                td.words.meaning { (channel.how) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Where things are in a drawing with two logarithmic axes.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const BELOW: f64 = 40.0;

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value.log10() - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - 12.0)
    }

    fn y(&self, value: f64) -> f64 {
        10.0 + (self.y.1 - value.log10()) / (self.y.1 - self.y.0) * (HEIGHT - 10.0 - BELOW)
    }
}

/// A level with a roof: instructions for each of its bytes, and the bytes a second that it can move.
struct Roof<'a> {
    channel: &'a Channel,
    intensity: f64,
    peak: f64,
}

/// The instruction roofline: warp instructions a second over warp instructions for each byte, below what issue and each
/// level's bandwidth allow; `None` if no level has a roof.
pub fn roofline(record: &Record, channels: &[Channel], palette: &mut Palette) -> Option<Markup> {
    let instructions = value_of(record, "run", "warp_instructions").filter(|count| *count > 0.0)?;
    let reached = instructions / seconds(record)? / 1e9;
    let sm = |key: &str| of_machine(record, key);
    let issue = sm("gpu.sms")? * sm("sm.schedulers")? * sm("clocks.core_mhz")? / 1e3;
    let roofs: Vec<Roof<'_>> = channels
        .iter()
        .filter(|channel| channel.is_level && channel.bytes > 0.0)
        .filter_map(|channel| {
            Some(Roof { channel, intensity: instructions / channel.bytes, peak: channel.peak? / 1e9 })
        })
        .collect();
    if roofs.is_empty() {
        return None;
    }
    let places = roofs.iter().flat_map(|roof| [roof.intensity, issue / roof.peak]);
    let (least, most) =
        places.fold((f64::INFINITY, 0.0_f64), |(least, most), at| (least.min(at), most.max(at)));
    let frame = Frame {
        x: ((least / 2.0).log10().floor(), (most * 2.0).log10().ceil()),
        y: (reached.min(issue).log10().floor(), (issue * 1.3).log10().ceil()),
    };
    let decades = |(from, to): (f64, f64)| (from as i32..=to as i32).map(|power| 10f64.powi(power));
    let power =
        |value: f64| if (0.001..1000.0).contains(&value) { format!("{value}") } else { format!("{value:e}") };
    let (right, bottom) = (10f64.powf(frame.x.1), 10f64.powf(frame.y.0));
    let said = |roof: &Roof<'_>| {
        let limit = issue.min(roof.intensity * roof.peak);
        format!(
            "{}: {} warp instructions a byte, {} of {} G/s that its roof allows",
            roof.channel.name,
            number(roof.intensity),
            number(reached),
            number(limit)
        )
    };
    Some(html! {
        figure data-title="instruction roofline" {
            div.legend {
                @for roof in &roofs {
                    span.key { i class=(palette.part(roof.channel.place)) {} (roof.channel.name) " " span.note { (bars::rate(roof.peak * 1e9)) } }
                }
                span.key.plain { "issue " (number(issue)) " G/s" }
            }
            div.plot {
                svg.chart.roofline width=(px(WIDTH)) height=(px(HEIGHT)) viewBox=(format!("0 0 {} {}", px(WIDTH), px(HEIGHT))) role="img"
                    aria-label="instruction roofline" {
                    g.rule {
                        @for value in decades(frame.x) { @let x = px(frame.x(value)); line x1=(x) x2=(x) y1="10" y2=(px(HEIGHT - BELOW)) {} }
                        @for value in decades(frame.y) { @let y = px(frame.y(value)); line x1=(px(LEFT)) x2=(px(WIDTH - 12.0)) y1=(y) y2=(y) {} }
                    }
                    g.names {
                        @for value in decades(frame.x) {
                            text x=(px(frame.x(value))) y=(px(HEIGHT - BELOW + 16.0)) text-anchor="middle" { (power(value)) }
                        }
                        @for value in decades(frame.y) {
                            text x=(px(LEFT - 6.0)) y=(px(frame.y(value) + 4.0)) text-anchor="end" { (power(value)) }
                        }
                        text.unit x=(px((LEFT + WIDTH) / 2.0)) y=(px(HEIGHT - 5.0)) text-anchor="middle" {
                            "warp instructions a byte moved; upwards, warp instructions (10⁹/s)"
                        }
                    }
                    line.issue x1=(px(LEFT)) x2=(px(WIDTH - 12.0)) y1=(px(frame.y(issue))) y2=(px(frame.y(issue))) {
                        title { "issue: " (number(issue)) "e9 warp instructions a second" }
                    }
                    @for roof in &roofs {
                        @let colour = palette.part(roof.channel.place);
                        @let ridge = (issue / roof.peak).min(right);
                        @let from = (bottom / roof.peak).max(10f64.powf(frame.x.0));
                        line class=(format!("roof {colour}")) x1=(px(frame.x(from))) y1=(px(frame.y(from * roof.peak))) x2=(px(frame.x(ridge)))
                            y2=(px(frame.y(ridge * roof.peak))) { title { (roof.channel.name) ": " (bars::rate(roof.peak * 1e9)) } }
                    }
                    @for roof in &roofs {
                        @let colour = palette.part(roof.channel.place);
                        @let x = px(frame.x(roof.intensity));
                        @let limit = issue.min(roof.intensity * roof.peak);
                        line class=(format!("reach {colour}")) x1=(x) x2=(x) y1=(px(frame.y(reached))) y2=(px(frame.y(limit))) {}
                        circle class=(colour) cx=(x) cy=(px(frame.y(reached))) r="5.5" { title { (said(roof)) } }
                    }
                }
            }
        }
    })
}
