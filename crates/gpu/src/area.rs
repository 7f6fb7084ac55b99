//! The area of a machine's designs, where their papers say how it is counted.

use strata_designs::fuse::area::{FilterGeometry, FuseGeometry, SttGeometry};
use strata_designs::fuse::{self, FuseConfig};
use strata_memory::LINE_BYTES;
pub use strata_memory::area::{AreaSize, Component, total};
use strata_memory::area::{BankGeometry, sram_cache};

use crate::machine::{L1dChoice, Machine};

/// Bits of an address in the tags (FUSE V-C: 19 bits of tag for 64 sets of 128-byte lines).
const ADDRESS_BITS: u64 = 32;

/// The rows of an SM's L1D.
pub fn l1d(machine: &Machine) -> Vec<Component> {
    match &machine.file().l1d {
        L1dChoice::Sram(config) => sram_cache(&bank(*config.sets, *config.ways)),
        L1dChoice::Fuse(config) => fuse::area::l1d(&fuse_geometry(config)),
    }
}

/// What FUSE's rules count of an L1D.
fn fuse_geometry(config: &FuseConfig) -> FuseGeometry {
    let number = |value: usize| value as u64;
    FuseGeometry {
        sram: config.sram.as_ref().map(|sram| bank(*sram.sets, *sram.ways)),
        stt: config.stt.as_ref().map(|stt| SttGeometry {
            bank: bank(*stt.sets, *stt.ways),
            // Table I: a sense amplifier a way; one line of the approximately fully associative bank.
            sensed: config.approximation.as_ref().map_or(number(*stt.ways), |_| 1),
            comparators: config.approximation.as_ref().map_or(number(*stt.ways), |a| number(*a.comparators)),
            // Table III: 64 wordlines; a set-associative bank has one for each set.
            wordlines: if *stt.sets == 1 { 64 } else { number(*stt.sets) },
        }),
        filters: config
            .approximation
            .as_ref()
            .map(|a| FilterGeometry { filters: number(*a.filters), counters: number(*a.slots) }),
        swap_entries: config.queues.as_ref().map_or(0, |queues| number(*queues.swap_buffer_entries)),
        queue_entries: config.queues.as_ref().map_or(0, |queues| number(*queues.tag_queue_entries)),
        predictor: config.predictor.as_ref().map(|predictor| {
            (
                number(predictor.sampled_warps.len() * *predictor.sampler_ways),
                number(*predictor.history_entries),
            )
        }),
    }
}

/// A bank of 128-byte lines.
fn bank(sets: usize, ways: usize) -> BankGeometry {
    let [sets, ways, line_bytes] = [sets, ways, LINE_BYTES].map(|number| number as u64);
    BankGeometry { sets, ways, line_bytes, address_bits: ADDRESS_BITS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_the_first_column_of_table_iii() {
        let area = |sets: &[String]| total(&l1d(&Machine::load("gtx480", sets).unwrap())).0;
        assert_eq!(area(&[]), 1_732_620);
        // Twice the ways: twice everything but the decoders.
        assert_eq!(area(&["l1d.ways=8".into()]), 2 * 1_732_620 - 1_124);
    }
}
