//! The contract of register files, over every system and over sizes at which something is always full.

use strata_memory::doors::RegisterFileDesign;

use super::*;
use crate::contract::register_file::{Contract, check, check_with_skips};

const LEVELLINGS: [WearLevelling; 4] =
    [WearLevelling::BankPoint, WearLevelling::BankPointFromZero, WearLevelling::Entry, WearLevelling::None];

/// Every system of the paper, and small and odd ones.
fn designs() -> Vec<(String, Box<dyn RegisterFileDesign>)> {
    let mut designs: Vec<(String, Box<dyn RegisterFileDesign>)> = vec![
        ("sram".into(), Box::new(banked(banks(1, 1)))),
        ("stt".into(), Box::new(banked(banks(1, 4)))),
        (
            "reads first".into(),
            Box::new(BankedConfig { arbitration: cited(Arbitration::ReadsFirst), ..banked(banks(1, 4)) }),
        ),
        (
            "narrow banks".into(),
            Box::new(banked(BanksConfig { count: cited(32), bits: cited(32), ..banks(3, 7) })),
        ),
        (
            "never stalls".into(),
            Box::new(BankedConfig {
                write_backs: Some(cited(WriteBacks::NeverStall)),
                partial_writes: Some(cited(PartialWrites::WholeRow)),
                ..banked(banks(1, 4))
            }),
        ),
        (
            "ports never stall".into(),
            Box::new(HierarchicalConfig { write_backs: Some(cited(WriteBacks::NeverStall)), ..small(16, 4) }),
        ),
        ("stt-wb-bdi".into(), Box::new(write_buffered(16))),
        ("one entry".into(), Box::new(write_buffered(1))),
        (
            "wide banks".into(),
            Box::new(HierarchicalConfig {
                banks: BanksConfig { count: cited(4), bits: cited(512), ..banks(2, 9) },
                ..small(8, 2)
            }),
        ),
    ];
    for (lines, entries) in [(256, 16), (64, 16), (16, 4), (3, 1), (1, 1)] {
        for levelling in LEVELLINGS {
            let mut config = small(lines, entries);
            config.wear_levelling = cited(levelling);
            let name = format!("{lines} lines, {entries} entries, {levelling:?}");
            designs.push((name, Box::new(config)));
        }
    }
    for index in [CacheIndex::Row, CacheIndex::Tag, CacheIndex::RegisterFirst] {
        let mut config = small(32, 4);
        config.register_cache.as_mut().expect("it has one").index = cited(index);
        config.dead_rows = cited(DeadRows::Written);
        config.compression = CompressionConfig { cycles: cited(0), rows_per_cycle: cited(3) };
        designs.push((format!("{index:?}"), Box::new(config)));
    }
    designs
}

#[test]
fn the_contract_holds_for_every_register_file() {
    for (seed, (name, design)) in designs().into_iter().enumerate() {
        let seed = seed as u64;
        for contract in [
            Contract::dense(seed),
            Contract { partial: 90, alike: 90, lives: 20, ..Contract::dense(seed) },
            Contract { launches: 2, instructions: 500, ..Contract::wide(seed) },
            Contract { collectors: 1, operands: 1, willing: 100, delay: 1, ..Contract::dense(seed) },
        ] {
            let outcome = check_with_skips(&contract, &mut |site| design.build(site).unwrap());
            if let Err(fault) = outcome {
                panic!("{name}: {fault}\n{contract:?}");
            }
        }
    }
}

#[test]
fn a_check_uses_every_part() {
    // A buffer of two entries is always full; one row in two is written in part.
    for (config, never) in [
        (small(16, 2), &["merging_refusals"][..0]),
        (
            write_buffered(4),
            &["cache_reads", "evictions", "cache_bits_read", "cache_bits_written", "merging_refusals"][..],
        ),
    ] {
        let contract = Contract { partial: 60, instructions: 3000, ..Contract::dense(1) };
        let outcome = check(&contract, &mut |site| config.build(site).unwrap()).unwrap();
        for group in outcome.statistics.iter().flatten() {
            for (definition, value) in group.definitions.iter().zip(&group.values) {
                let expected = !never.contains(&definition.name) && !group.name.ends_with("wear");
                assert!(*value > 10 || !expected, "{}.{} is {value}", group.name, definition.name);
                assert!(expected || *value == 0 || group.name.ends_with("wear"), "{}", definition.name);
            }
        }
    }
}
