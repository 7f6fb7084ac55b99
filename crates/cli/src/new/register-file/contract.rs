//! The register file keeps the contract of its door: every row read is the last one written, and no instruction waits for ever.

use my_idea::ported::Config;
use strata_designs::contract::register_file::{Contract, check_with_skips};
use strata_engine::Cited;
use strata_memory::doors::RegisterFileDesign;

#[test]
fn the_contract_holds() {
    for (reads, writes) in [(1, 1), (6, 2), (64, 64)] {
        let config =
            Config { read_ports: Cited::new(reads, "a test"), write_ports: Cited::new(writes, "a test") };
        for contract in [Contract::dense(1), Contract::wide(2)] {
            let kept = check_with_skips(&contract, &mut |site| config.build(site).unwrap());
            kept.unwrap_or_else(|fault| panic!("{config:?}, {contract:?}: {fault}"));
        }
    }
}
