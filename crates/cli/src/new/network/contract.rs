//! The network keeps the contract of its door: every packet arrives once, at its receiver, and in order.

use my_idea::ideal::Config;
use strata_designs::contract::network::{Contract, check_with_skips};
use strata_engine::Cited;

#[test]
fn the_contract_holds() {
    for (latency, room) in [(1, 1), (8, 64)] {
        let config = Config {
            latency_cycles: Cited::new(latency, "a test"),
            room_packets: Cited::new(room, "a test"),
        };
        for contract in [Contract::crowded(1), Contract::sparse(2)] {
            let kept = check_with_skips(&contract, &config);
            kept.unwrap_or_else(|fault| panic!("{config:?}, {contract:?}: {fault}"));
        }
    }
}
