//! What energy of a run each line, instruction, CTA or buffer brings about.
//!
//! An event that accounts count belongs to who counted it. The events of other parts are shared out in proportion to what brings them about,
//! such as accesses or bytes. What nothing here is known to bring about goes to the part that has what belongs to none. Leakage is left out:
//! it is due to time.

use super::report::{EnergyReport, EventEnergy, StructureEnergy};
use crate::results::{Counted, ELSEWHERE, modes};

/// DRAM's group, and its counters of bytes.
const DRAM: &str = "dram";
const READ: &str = "read_bytes";
const WRITTEN: &str = "written_bytes";

/// What brings about the events of a part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Rows of operands.
    Operands,
    /// Instructions.
    Instructions,
    /// Lanes' addresses.
    Lanes,
    /// Addresses of shared memory.
    Shared,
    /// Accesses of the L1D.
    Accesses,
    /// Bytes that the L1D did not serve.
    Below,
    /// Bytes that memory served.
    Served,
    /// Bytes that were written.
    Written,
}

impl Cause {
    /// That of an event which accounts do not count; `None` if none is known.
    fn of(structure: &StructureEnergy, event: &EventEnergy) -> Option<Cause> {
        if modes::is_name_in_cache_mode(event.group) {
            return None;
        }
        match structure.door.as_deref() {
            Some("sm.register_file") => return Some(Cause::Operands),
            Some("lane_path") => return Some(Cause::Lanes),
            Some("scratchpad") => return Some(Cause::Shared),
            Some("l1d") => return Some(Cause::Accesses),
            Some("network" | "llc") => return Some(Cause::Below),
            _ => {}
        }
        match (event.group, event.counter) {
            ("instruction_cache", _) => Some(Cause::Instructions),
            (DRAM, READ) => Some(Cause::Served),
            (DRAM, WRITTEN) => Some(Cause::Written),
            _ => None,
        }
    }

    /// How much of it a part has.
    fn weight(self, part: &Counted) -> u64 {
        let of = |group: &str, counter: &str| part.get(group, counter).unwrap_or_default();
        let served = |level: &str| of("served", &format!("{level}_bytes"));
        let below = || ["llc", "extended", "memory", "owner"].map(served).iter().sum::<u64>();
        // What waits for no bytes is written.
        let written = || of("lsu", "bytes_accessed").saturating_sub(served("l1d") + below());
        match self {
            Cause::Operands => of("operands", "rows_read") + of("operands", "rows_written"),
            Cause::Instructions => of("sm", "warp_instructions"),
            Cause::Lanes => of("lsu", "lane_addresses"),
            Cause::Shared => of("lsu", "shared_addresses"),
            Cause::Accesses => of("lsu", "accesses"),
            Cause::Below => below() + written(),
            Cause::Served => served("memory"),
            Cause::Written => written(),
        }
    }
}

/// Shares the energy of a run's events out to the parts of a breakdown, which then add up to it.
pub(crate) fn share_out(energy: &EnergyReport, parts: &mut [Counted]) {
    let Some(elsewhere) = parts.iter().position(|part| part.name == ELSEWHERE) else { return };
    for structure in &energy.structures {
        let mut shares = vec![0.0; parts.len()];
        for event in &structure.events {
            let of_parts = of_parts(structure, event, parts);
            shares[elsewhere] += event.pj() - of_parts.iter().sum::<f64>();
            shares.iter_mut().zip(of_parts).for_each(|(share, pj)| *share += pj);
        }
        for (part, pj) in parts.iter_mut().zip(shares) {
            part.energy_pj.push((structure.name.clone(), pj));
        }
    }
}

/// By part: the energy of an event that it brings about.
fn of_parts(structure: &StructureEnergy, event: &EventEnergy, parts: &[Counted]) -> Vec<f64> {
    let own = |part: &Counted| part.get(event.group, event.counter);
    if parts.iter().any(|part| own(part).is_some()) {
        return parts.iter().map(|part| own(part).unwrap_or_default() as f64 * event.each_pj).collect();
    }
    let mut all = vec![0.0; parts.len()];
    for (cause, pj) in causes(structure, event) {
        let weights: Vec<u64> = parts.iter().map(|part| cause.weight(part)).collect();
        let whole = weights.iter().sum::<u64>().max(1) as f64;
        all.iter_mut().zip(weights).for_each(|(all, weight)| *all += pj * weight as f64 / whole);
    }
    all
}

/// What brings an event about which accounts do not count, and how much of its energy: nothing, if no cause is known. Rows are opened for
/// bytes that are read and for bytes that are written, as many as there are of each.
fn causes(structure: &StructureEnergy, event: &EventEnergy) -> Vec<(Cause, f64)> {
    if (event.group, event.counter) != (DRAM, "activates") {
        return Cause::of(structure, event).map(|cause| (cause, event.pj())).into_iter().collect();
    }
    let count = |counter| {
        let bytes = structure.events.iter().find(|event| event.group == DRAM && event.counter == counter);
        bytes.map_or(0.0, |event| event.count as f64)
    };
    let (read, written) = (count(READ), count(WRITTEN));
    let share = |bytes: f64| event.pj() * bytes / (read + written).max(1.0);
    vec![(Cause::Served, share(read)), (Cause::Written, share(written))]
}

#[cfg(test)]
mod tests {
    use strata_engine::statistics::{Definition, Group, Mark};

    use super::*;

    fn group(name: &'static str, counters: &[(&'static str, u64)]) -> Group {
        let definition =
            |(name, _): &(&'static str, u64)| Definition { name, unit: "", meaning: "", mark: Mark::Energy };
        let definitions: Vec<Definition> = counters.iter().map(definition).collect();
        let values = counters.iter().map(|(_, value)| *value).collect();
        Group { name, definitions: definitions.leak(), values, laws: Vec::new(), broken: None }
    }

    fn structure(
        name: &str,
        door: Option<&str>,
        event: (&'static str, &'static str, u64, f64),
    ) -> StructureEnergy {
        let (group, counter, count, each_pj) = event;
        StructureEnergy {
            name: name.into(),
            door: door.map(str::to_owned),
            off_chip: false,
            leakage_pj: 1.0,
            events: vec![EventEnergy { group, counter, count, each_pj }],
        }
    }

    /// A line that computes, and one that loads 96 bytes from DRAM and 32 from the LLC, and another that stores 32.
    #[test]
    fn events_go_to_who_counts_them_or_brings_them_about() {
        let compute = vec![
            group("sm", &[("warp_instructions", 3), ("lanes_int", 96)]),
            group("operands", &[("rows_read", 6), ("rows_written", 3)]),
        ];
        let load = vec![
            group("sm", &[("warp_instructions", 1), ("lanes_int", 0)]),
            group("operands", &[("rows_read", 2), ("rows_written", 1)]),
            group("lsu", &[("accesses", 4), ("bytes_accessed", 128)]),
            group("served", &[("llc_bytes", 32), ("memory_bytes", 96)]),
        ];
        let store = vec![group("lsu", &[("accesses", 1), ("bytes_accessed", 32)])];
        let parts = [("k:1", compute), ("k:2", load), ("k:3", store), (ELSEWHERE, Vec::new())];
        let mut parts = parts.map(|(name, groups)| Counted::new(name.into(), groups));
        // Of its bytes three in four are read, for which six of eight rows are opened.
        let mut dram = structure("dram", None, (DRAM, READ, 96, 1.0));
        let of_dram = |counter, count, each_pj| EventEnergy { group: DRAM, counter, count, each_pj };
        dram.events.extend([
            of_dram(WRITTEN, 32, 1.0),
            of_dram("activates", 8, 5.0),
            of_dram("refreshes", 1, 7.0),
        ]);
        let structures = vec![
            structure("execution", None, ("sm", "lanes_int", 100, 0.5)),
            structure("register_file", Some("sm.register_file"), ("register_file", "reads", 24, 2.0)),
            structure("l1d", Some("l1d"), ("l1d", "data_reads", 7, 10.0)),
            dram,
            structure("refresh", None, ("timer", "ticks", 4, 1.0)),
        ];
        let energy = EnergyReport { seconds: 1.0, structures, unknown: Vec::new() };
        share_out(&energy, &mut parts);
        let of = |part: &Counted| part.energy_pj.iter().map(|(_, pj)| *pj).collect::<Vec<_>>();
        // Three quarters of the rows are the first line's. Four additions that no part counted are nobody's, as are ticks.
        assert_eq!(of(&parts[0]), [48.0, 36.0, 0.0, 0.0, 0.0]);
        assert_eq!(of(&parts[1]), [0.0, 12.0, 56.0, 96.0 + 30.0, 0.0]);
        assert_eq!(of(&parts[2]), [0.0, 0.0, 14.0, 32.0 + 10.0, 0.0]);
        assert_eq!(of(&parts[3]), [2.0, 0.0, 0.0, 7.0, 4.0]);
        assert_eq!(parts.iter().filter_map(Counted::dynamic_pj).sum::<f64>(), energy.dynamic_pj());
    }
}
