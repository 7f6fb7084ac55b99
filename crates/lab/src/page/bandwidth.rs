//! How much of what each level can move a run used.

use maud::{Markup, html};
use strata_gpu::machine::Machine;

use super::bars;
use super::colour::Palette;
use super::run_numbers::{of_design, of_machine, seconds, sum_of, value_of, working_sms};
use crate::record::Record;

/// A level, with what it moved and what it could.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Its name.
    pub name: &'static str,
    /// The place of its colour.
    pub place: usize,
    /// Bytes that moved.
    pub bytes: f64,
    /// Bytes a second that can; `None` where the machine does not say.
    pub peak: Option<f64>,
    /// Where the peak comes from.
    how: String,
    /// Whether it is a level of the hierarchy, which has a roof.
    pub is_level: bool,
}

/// Bytes of a line, of every machine: the most that an access has.
const LINE: f64 = 128.0;

/// The levels whose bytes a run counted.
pub fn channels(record: &Record, machine: Option<&Machine>) -> Vec<Channel> {
    let gpu = |key: &str| of_machine(record, &format!("gpu.{key}"));
    let sms = working_sms(record);
    let slices = gpu("channels").zip(gpu("slices_per_channel")).map(|(channels, each)| channels * each);
    let core = of_machine(record, "clocks.core_mhz");
    let mhz = |clock: &str| of_machine(record, &format!("clocks.{clock}")).or(core);
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
    let width = of_design(record, "l1d", "sector_bytes").unwrap_or(LINE);
    let l1d = of(sms.map(|sms| sms * ports), Some(width), core, "ports");
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
    let width = of_design(record, "llc", "data_bytes_per_cycle").or(Some(LINE));
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
                                            (bars::share(used / peak, &palette.part(channel.place), &bars::percent(used, peak)))
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
