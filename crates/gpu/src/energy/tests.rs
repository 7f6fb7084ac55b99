//! Energies that do not match a machine's counters are refused by name; those that do add up.

use std::path::Path;

use strata_engine::statistics::{Group, Mark};

use super::Meter;
use super::meter::CPU_CORES;
use crate::catalogue;
use crate::machine::{Machine, builtin, system};

fn meter(machine: &Machine) -> Result<Meter, String> {
    Ok(Meter::new(machine, &catalogue::statistics(machine)?)?.expect("a machine with energies"))
}

/// Built-in machines that have energies.
fn machines() -> Vec<&'static str> {
    let has = |name: &&str| Machine::load(name, &[]).unwrap().file().energy.is_some();
    let machines: Vec<&str> = builtin().iter().map(|builtin| builtin.name).filter(has).collect();
    assert!(machines.contains(&"gtx480"));
    machines
}

/// The first built-in machine with one text replaced by another.
fn changed(found: &str, replaced: &str) -> Result<Meter, String> {
    let text = builtin()[0].text;
    assert!(text.contains(found), "the machine file has {found:?}");
    let text = text.replace(found, replaced);
    let machine = Machine::parse(Path::new("m.toml"), &text, &[]).map_err(|error| error.to_string())?;
    meter(&machine)
}

#[test]
fn every_machine_with_energies_has_one_for_every_event() {
    for machine in machines() {
        let machine = Machine::load(machine, &[]).unwrap_or_else(|error| panic!("{error}"));
        let meter = meter(&machine).unwrap_or_else(|error| panic!("{error}"));
        let left_out = if machine.file().cpu_cores() > 0 { vec![CPU_CORES] } else { vec![] };
        assert_eq!(meter.unknown(), left_out, "{}: parts without energy", machine.origin());
    }
}

#[test]
fn every_system_that_comes_along_has_the_energies_of_what_it_replaces() {
    let mut lacking = Vec::new();
    for (machine, system) in
        machines().into_iter().flat_map(|m| system::builtin().iter().map(move |s| (m, s)))
    {
        let Some(machine) = system::tests::machine_with(machine, system.name) else { continue };
        let meter = meter(&machine).unwrap_or_else(|error| panic!("{error}"));
        let unknown: Vec<&str> =
            meter.unknown().iter().map(String::as_str).filter(|part| *part != CPU_CORES).collect();
        if !unknown.is_empty() {
            lacking.push(format!("{}: no energy of {}", machine.origin(), unknown.join(", ")));
        }
    }
    assert!(lacking.is_empty(), "docs/energy.md says what to add:\n{}", lacking.join("\n"));
}

#[test]
fn mistakes_are_named_with_file_key_found_and_expected() {
    for (found, replaced, message) in [
        (
            "pj.l1d.data_reads",
            "pj.l1d.data_reeds",
            "m.toml: energy.l1d.pj.l1d: found `data_reeds`, expected one of its energy events: tag_reads, tag_writes, \
             data_reads, data_writes, past_loads, past_writes",
        ),
        (
            "pj.l1d.data_reads",
            "# pj.l1d.data_reads",
            "m.toml: energy.l1d.pj.l1d: found nothing for `data_reads`, expected its energy",
        ),
        (
            "pj.dram.activates",
            "pj.dram.row_hits = { value = 1, source = \"x\" }\npj.dram.activates",
            "m.toml: energy.dram.pj.dram: found `row_hits`, expected one of its energy events: read_bytes, \
             written_bytes, activates, refreshes",
        ),
        (
            "pj.lsu.shared_passes",
            "pj.lsv.shared_passes",
            "m.toml: energy.shared_memory.pj: found the group `lsv`, expected one of sm, lsu, register_file, l1d, \
             instruction_cache, constant_cache, l2, dram, network.request, network.reply",
        ),
        (
            "[energy.rest]\n",
            "[energy.rest]\npj.lsu.shared_passes = { value = 1, source = \"x\" }\n",
            "m.toml: energy.shared_memory.pj.lsu: found a second energy for `shared_passes`, expected one: `rest` \
             has it",
        ),
        (
            "pj.l1d.data_reads = { value = 150",
            "pj.l1d.data_reads = { value = -150",
            "m.toml: energy.l1d.pj.l1d.data_reads: found -150, expected a number from 0 on",
        ),
        (
            "leakage_mw.sram = { value = 58, source = \"FUSE Table I: L1-SRAM\"",
            "leakage_mw.sram = { value = 58, source = \" \"",
            "m.toml: energy.l1d.leakage_mw.sram: found no source, expected one, or `ASSUMED: why`",
        ),
        (
            "pj.l1d.data_reads",
            "area_um2.sram = { value = -1, source = \"x\" }\npj.l1d.data_reads",
            "m.toml: energy.l1d.area_um2.sram: found -1, expected a number from 0 on",
        ),
        (
            "leakage_mw.constant = { value = 30000",
            "leakage_mw.constant = { value = inf",
            "m.toml: energy.rest.leakage_mw.constant: found inf, expected a number from 0 on",
        ),
    ] {
        // Only the machine's check knows the line.
        let error = changed(found, replaced).unwrap_err();
        let (file, rest) = error.split_once(": ").expect("a file");
        assert!(file.split(':').next() == Some("m.toml") && format!("m.toml: {rest}") == message, "{error}");
    }
    let unknown = changed("[energy.rest]\n", "[energy.rest]\nleakage_nw = 1\n").unwrap_err();
    assert!(
        unknown.contains("unknown field `leakage_nw` (did you mean `leakage_mw`?), expected one of `per`"),
        "{unknown}"
    );
    let per = changed("[energy.rest]\nper = \"gpu\"", "[energy.rest]\nper = \"warp\"").unwrap_err();
    assert!(per.contains("unknown variant `warp`, expected one of `sm`, `slice`, `channel`, `gpu`"), "{per}");
}

#[test]
fn a_design_takes_its_energy_with_it() {
    let overlay = |energy: &str| {
        let system =
            system::builtin().iter().find(|system| system.name == "l1-sram").expect("it is built in");
        let design = system.text.split("[energy.l1d]").next().expect("a split has a first part");
        let path =
            std::env::temp_dir().join(format!("strata-energy-{}-{}.toml", std::process::id(), energy.len()));
        std::fs::write(&path, format!("{design}\n{energy}")).unwrap();
        let machine = Machine::load_with("gtx480", &[path.to_str().unwrap()], &[]);
        std::fs::remove_file(&path).unwrap();
        machine.unwrap_or_else(|error| panic!("{error}"))
    };
    let without = overlay("");
    assert_eq!(without.replaced_energies(), ["l1d"]);
    assert_eq!(meter(&without).unwrap().unknown(), ["l1d"]);
    let other = overlay(
        "[energy.cache]\nper = \"sm\"\ndoor = \"l1d\"\npj.l1d.data_reads = { value = 1, source = \"x\" }\n\
         pj.l1d.data_writes = { value = 1, source = \"x\" }\npj.l1d.tag_reads = { value = 0, source = \"x\" }\n\
         pj.l1d.tag_writes = { value = 0, source = \"x\" }\npj.l1d.past_loads = { value = 0, source = \"x\" }\n\
         pj.l1d.past_writes = { value = 0, source = \"x\" }\n",
    );
    assert!(other.replaced_energies().is_empty());
    let meter = meter(&other).unwrap();
    assert!(meter.unknown().is_empty());
    let report = meter.report(&catalogue::statistics(&other).unwrap(), 0);
    assert!(report.structure("l1d").is_none() && report.structure("cache").is_some());
}

/// What the machine would report if every event had happened `n` times.
fn counted(machine: &Machine, n: u64) -> Vec<Group> {
    let mut groups = catalogue::statistics(machine).unwrap();
    for group in &mut groups {
        for (definition, value) in group.definitions.iter().zip(&mut group.values) {
            *value = if definition.mark == Mark::Energy { n } else { 0 };
        }
    }
    groups
}

#[test]
fn energy_is_counts_times_numbers_and_power_times_time() {
    let sets =
        ["energy.l1d.pj.l1d.data_reads=1000".to_owned(), "energy.dram.leakage_mw.background=500".into()];
    let machine = Machine::load("gtx480", &sets).unwrap();
    let meter = meter(&machine).unwrap();
    // 7000 cycles at 700 MHz are 10 microseconds.
    let report = meter.report(&counted(&machine, 3), 7000);
    assert!((report.seconds - 10e-6).abs() < 1e-15);
    let l1d = report.structure("l1d").unwrap();
    assert_eq!(l1d.dynamic_pj(), 3.0 * (1000.0 + 120.0 + 150.0), "a read, a write and a load that goes past");
    // 15 of 58 mW for 10 us.
    assert!((l1d.leakage_pj - 15.0 * 58e-3 * 10e-6 * 1e12).abs() < 1e-3);
    // 6 channels of 500 mW for 10 us.
    let dram = report.structure("dram").unwrap();
    assert!((dram.leakage_pj - 6.0 * 0.5 * 10e-6 * 1e12).abs() < 1e-3);
    let sum: f64 = report.structures.iter().map(|structure| structure.total_pj()).sum();
    assert!((report.total_pj() - sum).abs() < 1e-6 * sum);
    assert!((report.watts() - sum * 1e-12 / 10e-6).abs() < 1e-9 * sum);
    let off_chip: f64 = ["network_requests", "network_replies", "l2", "dram"]
        .map(|name| report.structure(name).unwrap().total_pj())
        .iter()
        .sum();
    assert!((report.off_chip_share() - off_chip / sum).abs() < 1e-12);
    let still = meter.report(&counted(&machine, 3), 0);
    assert!((report.off_chip_dynamic_share() - still.off_chip_share()).abs() < 1e-12);
}

#[test]
fn nothing_that_happens_costs_nothing_but_leakage() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let meter = meter(&machine).unwrap();
    let idle = meter.report(&counted(&machine, 0), 700);
    assert_eq!(idle.dynamic_pj(), 0.0);
    assert!(idle.leakage_pj() > 0.0);
    let nothing = meter.report(&counted(&machine, 0), 0);
    assert_eq!((nothing.total_pj(), nothing.watts(), nothing.off_chip_share()), (0.0, 0.0, 0.0));
}

#[test]
fn a_machine_without_energies_has_no_meter() {
    let text = builtin()[0].text;
    let without = &text[..text.find("[energy.").unwrap()];
    let machine = Machine::parse(Path::new("m.toml"), without, &[]).unwrap();
    assert!(Meter::new(&machine, &catalogue::statistics(&machine).unwrap()).unwrap().is_none());
    // A system's energy for one design does not make a whole one either.
    let path = std::env::temp_dir().join(format!("strata-no-energy-{}.toml", std::process::id()));
    std::fs::write(&path, without).unwrap();
    let machine = Machine::load_with(path.to_str().unwrap(), &["l1-sram"], &[]);
    std::fs::remove_file(&path).unwrap();
    assert!(machine.unwrap_or_else(|error| panic!("{error}")).file().energy.is_none());
}
