//! Random programs without races, over sizes and policies.

use strata_engine::Cited;
use strata_memory::doors::{LanePath, LanePathDesign, LanePathSite};

use super::paper;
use crate::contract::lane_path::{Contract, check, check_with_skips};
use crate::tiny_cache::{BarrierEvicts, Bypass, TinyCacheConfig};

fn make(config: &TinyCacheConfig) -> impl FnMut(LanePathSite) -> Box<dyn LanePath> {
    move |site| config.build(site).expect("the parameters are right").expect("there are caches")
}

#[test]
fn programs_without_races_find_their_bytes() {
    let config = paper();
    for seed in 0..50 {
        for contract in [Contract::dense(seed), Contract::wide(seed)] {
            check_with_skips(&contract, &mut make(&config)).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
        }
    }
}

#[test]
fn every_size_and_policy_keeps_the_contract() {
    let cited = |value| Cited::new(value, "test");
    let mut seed = 0;
    for (lines, ways, line_bytes) in [(1, 1, 32), (4, 1, 128), (4, 4, 64), (16, 8, 32), (64, 8, 128)] {
        for bypass in [Bypass::None, Bypass::Shared, Bypass::Global] {
            for barrier in [BarrierEvicts::All, BarrierEvicts::Block] {
                let config = TinyCacheConfig {
                    lines: cited(lines),
                    ways: cited(ways),
                    line_bytes: cited(line_bytes),
                    latency_cycles: cited(3),
                    bypass: Cited::new(bypass, "test"),
                    barrier: Cited::new(barrier, "test"),
                };
                for contract in [Contract::dense(seed), Contract::wide(seed)] {
                    check_with_skips(&contract, &mut make(&config))
                        .unwrap_or_else(|fault| panic!("{config:?}, {seed}: {fault}"));
                }
                seed += 1;
            }
        }
    }
}

/// Ten thousand programs: `cargo test --release -p strata-designs --lib campaign -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn campaign() {
    let config = paper();
    for seed in 0..10_000 {
        let contract = if seed % 2 == 0 { Contract::dense(seed) } else { Contract::wide(seed) };
        check(&contract, &mut make(&config)).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
    }
}
