//! Builds the parts of an L1D from a checked configuration.

use strata_memory::LINE_BYTES;

use super::approximation::Approximation;
use super::bus::Bus;
use super::config::{
    ApproximationConfig, DeadWriteConfig, FuseConfig, PredictorConfig, Saturated, StoreBeforeStore, SttConfig,
};
use super::dead_write::{DeadWrite, DeadWriteShape};
use super::lines::Lines;
use super::nvm_cbf::{CbfShape, NvmCbf};
use super::places::{Places, PlacesShape};
use super::predictor::{HistoryShape, Predictor, SamplerShape};
use super::sram_bank::SramBank;
use super::stt_bank::SttBank;
use super::swap_buffer::SwapBuffer;

/// Builds the empty banks.
pub(super) fn lines(config: &FuseConfig) -> Lines {
    let stt = config.stt.as_ref().map(|stt| stt_bank(stt, config.approximation.as_ref()));
    let first = stt.as_ref().map_or(0, |stt| stt.places.frames()) as u32;
    let registers = config.queues.as_ref().map_or(0, |queues| *queues.swap_buffer_entries) as u32;
    let swap = SwapBuffer::new(first, registers);
    let sram = config.sram.as_ref().map(|sram| {
        let shape = PlacesShape {
            sets: *sram.sets,
            ways: *sram.ways,
            index: *sram.set_index,
            is_lru: sram.replacement.name() == "lru",
        };
        SramBank { places: Places::new(shape, first + registers), grows: *sram.grows }
    });
    let frames = (first + registers) as usize + sram.as_ref().map_or(0, |sram| sram.places.frames());
    let bus = config.bus.as_ref().map(|bus| Bus::new((LINE_BYTES / *bus.bytes_per_cycle) as u64));
    Lines::new(sram, stt, swap, bus, frames)
}

fn stt_bank(config: &SttConfig, approximation: Option<&ApproximationConfig>) -> SttBank {
    let shape = PlacesShape {
        sets: *config.sets,
        ways: *config.ways,
        index: *config.set_index,
        is_lru: config.replacement.name() == "lru",
    };
    let approximation = approximation.map(|approximation| {
        let filters = NvmCbf::new(CbfShape {
            filters: *approximation.filters,
            slots: *approximation.slots,
            hashes: *approximation.hash_functions,
            limit: limit(*approximation.counter_bits),
        });
        let rows = *config.sets * *config.ways / *approximation.comparators;
        let recounts = *approximation.saturated == Saturated::Recounted;
        Approximation::new(filters, *approximation.comparators, rows / *approximation.filters, recounts)
    });
    SttBank::new(Places::new(shape, 0), approximation, *config.read_cycles, *config.write_cycles)
}

/// The largest value of a counter with this many bits, 1 to 8.
fn limit(bits: u32) -> u8 {
    (u8::MAX) >> (8 - bits)
}

pub(super) fn predictor(config: &PredictorConfig) -> Predictor {
    let sampler = SamplerShape {
        sets: config.sampled_warps.len(),
        ways: *config.sampler_ways,
        tag_bits: *config.tag_bits,
    };
    let history = HistoryShape {
        entries: *config.history_entries,
        limit: limit(*config.counter_bits),
        initial: *config.initial_counter,
        unused_threshold: *config.unused_threshold,
        used_threshold: *config.used_threshold,
    };
    Predictor::new(sampler, history, &config.sampled_warps, *config.sampled_requests)
}

pub(super) fn dead_write(config: &DeadWriteConfig, whole: &FuseConfig) -> DeadWrite {
    DeadWrite::new(DeadWriteShape {
        sets: whole.stt.as_ref().map_or(1, |stt| *stt.sets),
        stride: *config.sampled_set_stride,
        ways: *config.sampler_ways,
        tag_bits: *config.tag_bits,
        signature_bits: *config.signature_bits,
        tables: *config.tables,
        entries: *config.history_entries,
        limit: limit(*config.counter_bits),
        initial: *config.initial_counter,
        threshold: *config.dead_threshold,
        stored_over_is_dead: config.store_before_store.as_deref() == Some(&StoreBeforeStore::Dead),
    })
}
