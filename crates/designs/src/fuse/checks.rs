//! Checks that a configuration can be built.

use strata_memory::policy::Chosen;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::SetIndex;
use strata_memory::{LINE_BYTES, ParameterError};

use super::config::MAX_LINES;
use super::config::{ApproximationConfig, DeadWriteConfig, FuseConfig, PredictorConfig, SearchKind, SttHit};
use super::dead_write::MAX_TABLES;
use super::nvm_cbf::MAX_HASHES;
use crate::chassis::{self, WriteMissPolicy};

type Check = Result<(), ParameterError>;

pub(super) fn check(config: &FuseConfig) -> Check {
    chassis::check(&config.parameters(), &config.rooms())?;
    if *config.write_miss_policy == WriteMissPolicy::NoAllocate {
        return fault("write_miss_policy", "must be validate or fetch: the L1D allocates on writes (V)");
    }
    if config.sram.is_none() && config.stt.is_none() {
        return fault("sram", "there must be a bank of SRAM or of STT-MRAM");
    }
    if let Some(sram) = &config.sram {
        bank(["sram.sets", "sram.ways", "sram.replacement"], *sram.sets, *sram.ways, *sram.set_index)?;
        replacement("sram.replacement", &sram.replacement)?;
        if *sram.grows && (*sram.sets != 1 || config.stt.is_some()) {
            return fault("sram.grows", "only a bank of one set and without STT-MRAM beside it grows");
        }
    }
    check_stt(config)?;
    if let Some(bus) = &config.bus {
        let bytes = *bus.bytes_per_cycle;
        if !bytes.is_power_of_two() || bytes > LINE_BYTES {
            let message = format!("must be a power of two from 1 to {LINE_BYTES}, found {bytes}");
            return fault("bus.bytes_per_cycle", message);
        }
    }
    match (&config.queues, &config.sram, &config.stt) {
        (Some(_), Some(_), Some(_)) | (None, _, _) => {}
        _ => {
            return fault(
                "queues",
                "tag queue and swap buffer stand between SRAM and STT-MRAM: both are needed",
            );
        }
    }
    if let Some(queues) = &config.queues {
        within("queues.tag_queue_entries", *queues.tag_queue_entries as u64, 1, 1024)?;
        within("queues.swap_buffer_entries", *queues.swap_buffer_entries as u64, 1, 1024)?;
    }
    if let Some(predictor) = &config.predictor {
        if config.sram.is_none() || config.stt.is_none() {
            return fault("predictor", "it chooses between SRAM and STT-MRAM: both are needed");
        }
        check_predictor(predictor)?;
    }
    if let Some(dead_write) = &config.dead_write {
        if config.stt.is_none() || config.sram.is_some() {
            return fault("dead_write", "it belongs to a cache of STT-MRAM alone");
        }
        check_dead_write(dead_write, config)?;
    }
    Ok(())
}

fn check_stt(config: &FuseConfig) -> Check {
    let Some(stt) = &config.stt else {
        return match config.approximation {
            Some(_) => fault("approximation", "it searches an STT-MRAM bank, and there is none"),
            None => Ok(()),
        };
    };
    bank(["stt.sets", "stt.ways", "stt.replacement"], *stt.sets, *stt.ways, *stt.set_index)?;
    replacement("stt.replacement", &stt.replacement)?;
    within("stt.read_cycles", *stt.read_cycles, 1, 4096)?;
    within("stt.write_cycles", *stt.write_cycles, 1, 4096)?;
    if config.sram.is_none() {
        for (field, hit) in [("stt.read_hit", *stt.read_hit), ("stt.write_hit", *stt.write_hit)] {
            if hit == SttHit::Migrates {
                return fault(field, "must be stays: there is no SRAM to migrate to");
            }
        }
    }
    match (*stt.search, &config.approximation) {
        (SearchKind::True, None) => Ok(()),
        (SearchKind::True, Some(_)) => fault("approximation", "stt.search = \"true\" does not read it"),
        (SearchKind::Approximate, None) => fault("approximation", "stt.search = \"approximate\" needs it"),
        (SearchKind::Approximate, Some(approximation)) => {
            if config.queues.is_none() {
                return fault("stt.search", "an approximate search takes its time in a tag queue");
            }
            check_approximation(approximation, *stt.sets * *stt.ways)
        }
    }
}

fn check_approximation(config: &ApproximationConfig, lines: usize) -> Check {
    within("approximation.comparators", *config.comparators as u64, 1, 4096)?;
    within("approximation.filters", *config.filters as u64, 1, 65536)?;
    within("approximation.hash_functions", *config.hash_functions as u64, 1, MAX_HASHES as u64)?;
    within("approximation.slots", *config.slots as u64, 1, 65536)?;
    within("approximation.counter_bits", u64::from(*config.counter_bits), 1, 8)?;
    let at_once = *config.comparators * *config.filters;
    if !lines.is_multiple_of(at_once) {
        let message = format!(
            "filters times comparators must divide the {lines} lines of the STT-MRAM bank, found {at_once}"
        );
        return fault("approximation.filters", message);
    }
    Ok(())
}

fn check_predictor(config: &PredictorConfig) -> Check {
    let warps = &*config.sampled_warps;
    within("predictor.sampled_warps", warps.len() as u64, 1, 256)?;
    if (1..warps.len()).any(|at| warps[..at].contains(&warps[at])) {
        return fault("predictor.sampled_warps", "each warp slot stands there once");
    }
    within("predictor.sampler_ways", *config.sampler_ways as u64, 1, 256)?;
    within("predictor.tag_bits", u64::from(*config.tag_bits), 1, 57)?;
    let counters = Counters {
        entries: ("predictor.history_entries", *config.history_entries),
        bits: ("predictor.counter_bits", *config.counter_bits),
        initial: ("predictor.initial_counter", *config.initial_counter),
        threshold: ("predictor.unused_threshold", *config.unused_threshold),
        added: 1,
    };
    counters.check()?;
    within(
        "predictor.used_threshold",
        u64::from(*config.used_threshold),
        0,
        u64::from(*config.unused_threshold),
    )
}

fn check_dead_write(config: &DeadWriteConfig, whole: &FuseConfig) -> Check {
    let sets = whole.stt.as_ref().map_or(1, |stt| *stt.sets);
    within("dead_write.sampled_set_stride", *config.sampled_set_stride as u64, 1, sets as u64)?;
    within("dead_write.sampler_ways", *config.sampler_ways as u64, 1, 256)?;
    within("dead_write.tag_bits", u64::from(*config.tag_bits), 1, 57)?;
    within("dead_write.signature_bits", u64::from(*config.signature_bits), 1, 32)?;
    within("dead_write.tables", *config.tables as u64, 1, MAX_TABLES as u64)?;
    let counters = Counters {
        entries: ("dead_write.history_entries", *config.history_entries),
        bits: ("dead_write.counter_bits", *config.counter_bits),
        initial: ("dead_write.initial_counter", *config.initial_counter),
        threshold: ("dead_write.dead_threshold", *config.dead_threshold),
        added: *config.tables as u64,
    };
    counters.check()
}

/// The counters of a table, with the names of their fields.
struct Counters {
    entries: (&'static str, usize),
    bits: (&'static str, u32),
    initial: (&'static str, u8),
    threshold: (&'static str, u8),
    /// Number of counters whose sum is compared with the threshold.
    added: u64,
}

impl Counters {
    fn check(&self) -> Check {
        let (field, entries) = self.entries;
        if !entries.is_power_of_two() || entries > 65536 {
            return fault(field, format!("must be a power of two from 1 to 65536, found {entries}"));
        }
        within(self.bits.0, u64::from(self.bits.1), 1, 8)?;
        let limit = (1 << self.bits.1) - 1;
        within(self.initial.0, u64::from(self.initial.1), 0, limit)?;
        within(self.threshold.0, u64::from(self.threshold.1), 0, self.added * limit)
    }
}

fn bank(fields: [&'static str; 3], sets: usize, ways: usize, index: SetIndex) -> Check {
    within(fields[0], sets as u64, 1, MAX_LINES as u64)?;
    within(fields[1], ways as u64, 1, MAX_LINES as u64)?;
    if sets * ways > MAX_LINES {
        return fault(
            fields[0],
            format!("must be at most {MAX_LINES} lines in all, found {sets} sets of {ways} ways"),
        );
    }
    if index != SetIndex::Modulo && !sets.is_power_of_two() {
        return fault(fields[0], format!("an index of bits needs a power of two, found {sets}"));
    }
    Ok(())
}

fn replacement(field: &'static str, policy: &Chosen<dyn ReplacementPolicy>) -> Check {
    let is_listed = ["lru", "fifo"].contains(&policy.name());
    if is_listed { Ok(()) } else { fault(field, "must be lru or fifo") }
}

fn within(field: &'static str, value: u64, least: u64, most: u64) -> Check {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    fault(field, format!("must be {least} to {most}, found {value}"))
}

fn fault(field: &'static str, message: impl Into<String>) -> Check {
    Err(ParameterError::new(field, message))
}
