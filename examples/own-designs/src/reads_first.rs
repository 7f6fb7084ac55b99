//! A DRAM scheduler that lets reads pass writes: a warp waits for what it reads, nobody for what is written.

use schemars::JsonSchema;
use serde::Deserialize;
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
