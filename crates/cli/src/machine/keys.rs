//! `strata machine keys`: every key that `--set` takes.

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_gpu::machine::MachineValue;
use toml::Value;

use crate::choice::MachineChoice;
use crate::table::{self, Cells};
use crate::{Finished, print};

/// Arguments of `strata machine keys`.
#[derive(Args)]
pub struct KeysArguments {
    /// Print only keys that contain this text.
    filter: Option<String>,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints a line for each key.
///
/// # Errors
/// A machine that cannot be loaded, or a filter that no key contains.
pub fn keys(arguments: &KeysArguments) -> Result<Finished, String> {
    let values = arguments.machine.load(&[])?.values();
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let rows: Vec<Cells> = values.iter().filter(|value| value.path.contains(filter)).map(row).collect();
    if rows.is_empty() {
        let alike = did_you_mean(filter, values.iter().flat_map(|value| value.path.split('.')));
        return Err(format!("no key contains `{filter}`{alike}, `strata machine keys` shows all"));
    }
    print(&table::text(&table::titles(&["key", "value", "type", "unit"]), &rows, table::width()))?;
    Ok(Finished::Well)
}

fn row(of: &MachineValue) -> Cells {
    vec![of.path.clone(), of.value.to_string(), kind(&of.value).to_owned(), unit(&of.path).to_owned()]
}

/// The type of a value, in a user's words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "whole number",
        Value::Float(_) => "number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "list",
        Value::Table(_) => "table",
        Value::String(_) | Value::Datetime(_) => "text",
    }
}

/// Ends of keys that carry a unit, and the unit.
const UNITS: &[(&str, &str)] = &[
    ("_bytes", "B"),
    ("_mhz", "MHz"),
    ("_mib", "MiB"),
    ("_cycles", "core cycles"),
    ("_nw", "nW"),
    ("_uw", "uW"),
    ("_mw", "mW"),
];

/// Sections of parts with a clock of their own, and the unit of their cycles.
const CLOCKS: &[(&str, &str)] = &[
    ("network.", "network cycles"),
    ("llc.", "L2 cycles"),
    ("memory_cache.", "L2 cycles"),
    ("cpu.", "CPU cycles"),
];

/// The unit of a key, from its name; empty for a count or a name.
fn unit(path: &str) -> &'static str {
    let is_command =
        |path: &str| path.ends_with("_cycles") || path.contains(".timing.") || path.contains(".refresh.");
    if path == "dram.controller_latency_cycles" {
        return "L2 cycles";
    }
    if path.starts_with("dram.") && is_command(path) {
        return "DRAM command cycles";
    }
    if path.ends_with("_cycles")
        && let Some((_, unit)) = CLOCKS.iter().find(|(section, _)| path.starts_with(section))
    {
        return unit;
    }
    if path.contains(".pj.") {
        return "pJ";
    }
    UNITS.iter().find(|(end, _)| path.ends_with(end)).map_or("", |(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use strata_gpu::machine::Machine;

    use super::*;

    #[test]
    fn every_key_that_is_listed_can_be_set() {
        for value in Machine::load("gtx480", &[]).unwrap().values() {
            let set = format!("{}={}", value.path, value.value);
            Machine::load("gtx480", &[set]).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn units_follow_from_names() {
        assert_eq!(unit("gpu.interleave_bytes"), "B");
        assert_eq!(unit("sm.timing.int_add.latency_cycles"), "core cycles");
        assert_eq!(unit("dram.timing.rcd"), "DRAM command cycles");
        assert_eq!(unit("dram.controller_latency_cycles"), "L2 cycles");
        assert_eq!(unit("network.multistage.hop_latency_cycles"), "network cycles");
        assert_eq!(unit("llc.conventional.hit_latency_cycles"), "L2 cycles");
        assert_eq!(unit("cpu.address_latency_cycles"), "CPU cycles");
        assert_eq!(unit("energy.l1d.pj.l1d.data_reads"), "pJ");
        assert_eq!(unit("gpu.sms"), "");
    }
}
