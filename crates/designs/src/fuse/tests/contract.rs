//! The contract on every system, as it is and in miniature.

use super::super::*;
use super::{SYSTEMS, small, system};
use crate::contract::{Contract, Outcome, check_with_skips};

fn holds(name: &str, config: &FuseConfig, contract: Contract) -> Outcome {
    let outcome = check_with_skips(&contract, &mut |node, slices| {
        Box::new(FuseL1d::new(config, node, slices).unwrap())
    });
    outcome.unwrap_or_else(|fault| panic!("{name}: {fault}\n{contract:?}"))
}

#[test]
fn the_contract_holds_for_every_system() {
    for (name, _) in SYSTEMS {
        let config = system(name);
        let wide = Contract { lines: 2000, accesses: 6000, episodes: 2, ..Contract::alone(1) };
        holds(name, &config, wide);
        holds(name, &config, Contract::shared(2));
    }
}

#[test]
fn the_contract_holds_for_every_system_in_miniature() {
    for (name, _) in SYSTEMS {
        let config = small(name);
        for seed in 0..6 {
            holds(name, &config, Contract::alone(seed));
            holds(name, &config, Contract::shared(seed));
            holds(name, &config, Contract { lines: 4, special: 25, ..Contract::alone(seed) });
            holds(name, &config, Contract { willing: 100, delay: 2, ..Contract::shared(seed) });
            holds(name, &config, Contract { willing: 5, delay: 200, accesses: 150, ..Contract::alone(seed) });
        }
    }
}
