//! Tests of the FUSE L1Ds.

mod bench;
mod contract;
mod filters;
mod golden;
mod planted;

use serde::Deserialize;

use super::FuseConfig;

/// The systems of the evaluation, as a machine reads them.
pub(super) const SYSTEMS: [(&str, &str); 10] = [
    ("fa-sram", include_str!("../../../systems/fuse/fa-sram.toml")),
    ("oracle", include_str!("../../../systems/fuse/oracle.toml")),
    ("stt-mram", include_str!("../../../systems/fuse/stt-mram.toml")),
    ("by-nvm", include_str!("../../../systems/fuse/by-nvm.toml")),
    ("victim-buffer", include_str!("../../../systems/fuse/victim-buffer.toml")),
    ("hybrid", include_str!("../../../systems/fuse/hybrid.toml")),
    ("base-fuse", include_str!("../../../systems/fuse/base-fuse.toml")),
    ("fa-fuse", include_str!("../../../systems/fuse/fa-fuse.toml")),
    ("fa-fuse-true", include_str!("../../../systems/fuse/fa-fuse-true.toml")),
    ("dy-fuse", include_str!("../../../systems/fuse/dy-fuse.toml")),
];

#[derive(Deserialize)]
struct System {
    l1d: Choice,
}

#[derive(Deserialize)]
struct Choice {
    fuse: FuseConfig,
}

/// Takes the ranges of assumed values from a table: they are no part of a configuration.
fn without_ranges(table: &mut toml::Table) {
    table.remove("range");
    table.iter_mut().filter_map(|(_, value)| value.as_table_mut()).for_each(without_ranges);
}

/// A system of the evaluation.
pub(super) fn system(name: &str) -> FuseConfig {
    let text = SYSTEMS.iter().find(|(known, _)| *known == name).expect("a system's name").1;
    let mut table: toml::Table = text.parse().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    without_ranges(&mut table);
    let system: System = table.try_into().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    system.l1d.fuse
}

/// A system in miniature, so that everything happens often.
pub(super) fn small(name: &str) -> FuseConfig {
    let mut config = system(name);
    config.hit_latency_cycles.value = 4;
    config.mshr_entries.value = 4;
    config.mshr_merges.value = 3;
    config.miss_queue.value = 4;
    config.write_buffer.value = 4;
    config.bypass_entries.value = 3;
    if let Some(sram) = &mut config.sram {
        (sram.sets.value, sram.ways.value) = if *sram.sets == 1 { (1, 8) } else { (2, 2) };
    }
    if let Some(stt) = &mut config.stt {
        (stt.sets.value, stt.ways.value) = if *stt.sets == 1 { (1, 16) } else { (4, 2) };
    }
    if let Some(approximation) = &mut config.approximation {
        approximation.filters.value = 4;
        approximation.slots.value = 4;
    }
    if let Some(queues) = &mut config.queues {
        queues.tag_queue_entries.value = 4;
        queues.swap_buffer_entries.value = 2;
    }
    if let Some(dead_write) = &mut config.dead_write {
        dead_write.sampled_set_stride.value = 2;
    }
    config
}
