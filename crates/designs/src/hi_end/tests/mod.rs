//! Tests of the register files as wholes.

mod contract;
mod planted;
mod timing;

use strata_engine::Cited;

use super::*;

fn cited<T>(value: T) -> Cited<T> {
    Cited::new(value, "test")
}

/// The paper's banks, with a technology's latencies.
fn banks(read_latency_cycles: u32, write_cycles: u32) -> BanksConfig {
    BanksConfig {
        count: cited(64),
        bits: cited(64),
        read_latency_cycles: cited(read_latency_cycles),
        write_cycles: cited(write_cycles),
    }
}

fn buffer(entries: u32, read_latency_cycles: u32) -> BufferConfig {
    BufferConfig {
        entries: cited(entries),
        eager_from: cited(entries.div_ceil(2)),
        read_latency_cycles: cited(read_latency_cycles),
    }
}

fn banked(banks: BanksConfig) -> BankedConfig {
    let arbitration = cited(Arbitration::WritesFirst);
    let (write_backs, partial_writes, accesses) = (None, None, None);
    BankedConfig {
        banks,
        arbitration,
        write_backs,
        partial_writes,
        accesses,
        area_um2: AreaConfig::default(),
    }
}

/// Hi-End with the numbers of the paper.
fn hi_end() -> HierarchicalConfig {
    HierarchicalConfig {
        banks: banks(4, 4),
        compression: CompressionConfig { cycles: cited(2), rows_per_cycle: cited(1) },
        wear_levelling: cited(WearLevelling::BankPoint),
        dead_rows: cited(DeadRows::Dropped),
        write_backs: None,
        accesses: None,
        register_cache: Some(RegisterCacheConfig {
            lines: cited(256),
            banks: cited(4),
            index: cited(CacheIndex::Row),
            register_bits: cited(5),
            warp_bits: cited(6),
            read_latency_cycles: cited(1),
        }),
        delay_buffer: Some(buffer(16, 2)),
        write_buffer: None,
        area_um2: AreaConfig::default(),
    }
}

/// Hi-End with a register cache of `lines` lines, so that rows soon leave it, and a delay buffer of `entries`.
fn small(lines: u32, entries: u32) -> HierarchicalConfig {
    let mut config = hi_end();
    let cache = config.register_cache.as_mut().expect("it has one");
    (cache.lines, cache.banks, cache.register_bits) = (cited(lines), cited(4.min(lines)), cited(8));
    config.delay_buffer = Some(buffer(entries, 2));
    config
}

/// Compressed banks behind a central write buffer.
fn write_buffered(entries: u32) -> HierarchicalConfig {
    HierarchicalConfig {
        register_cache: None,
        delay_buffer: None,
        write_buffer: Some(buffer(entries, 1)),
        ..hi_end()
    }
}
