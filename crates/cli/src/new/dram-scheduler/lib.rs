//! A DRAM scheduler of one's own: reads pass writes, since a warp waits for what it reads and nobody for what is written.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_designs::registry::Registry;
use strata_memory::dram::{BankView, Pick, Scheduler};

/// Reads before writes, row hits before others, until so many writes wait for a bank; then row hits, then the oldest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadsFirst {
    /// Writes that make a bank serve them in turn, at least 1.
    pub writes: usize,
}

impl Scheduler for ReadsFirst {
    fn check(&self) -> Result<(), String> {
        if self.writes == 0 { Err("found writes = 0, expected at least 1".into()) } else { Ok(()) }
    }

    fn pick(&mut self, bank: &BankView<'_>) -> Pick {
        let writes = bank.requests().filter(|(_, request)| request.is_write()).count();
        let is_miss = |row| bank.open_row() != Some(row);
        let reads = bank.requests().filter(|(_, request)| !request.is_write());
        match reads.min_by_key(|(_, read)| (is_miss(read.row()), read.order())) {
            Some((slot, _)) if writes < self.writes => Pick::Request(slot),
            _ => Pick::OldestHit,
        }
    }
}

/// Adds the scheduler, as `my-idea`.
pub fn add(registry: Registry) -> Registry {
    registry.with_dram_scheduler::<ReadsFirst>("my-idea")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_comes_round_to_its_writes() {
        assert_eq!(ReadsFirst { writes: 1 }.check(), Ok(()));
        assert!(ReadsFirst { writes: 0 }.check().unwrap_err().ends_with("expected at least 1"));
    }
}
