//! The `endurance` section of a machine file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use crate::energy::Per;

/// The `endurance` section: structures by name.
pub type EnduranceSection = BTreeMap<String, ArraySection>;

/// An array whose cells wear out: `[endurance.<structure>]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySection {
    /// Statistics group of the counters.
    pub counts: String,
    /// Name of the counter of all writes.
    pub writes: String,
    /// Name of the counter of the writes to the most-written line; it is marked `[maximum]`.
    pub hottest: String,
    /// Name of the counter of the writes to the most-written bank; it is marked `[maximum]`. With `entries`,
    /// it gives the lifetime if each bank's writes were spread evenly over its entries.
    pub hottest_bank: Option<String>,
    /// Entries of a bank, over which its writes might be spread evenly.
    #[schemars(range(min = 1), extend("unit" = "entries"))]
    pub entries: Option<Cited<u64>>,
    /// What the machine has one array for.
    pub per: Per,
    /// Lines in each array. It gives the lifetime if all writes were spread evenly over all lines.
    #[schemars(range(min = 1), extend("unit" = "lines"))]
    pub lines: Option<Cited<u64>>,
    /// Writes that a cell endures.
    #[schemars(range(min = 1), extend("unit" = "writes"))]
    pub cell_writes: Cited<f64>,
}

impl ArraySection {
    /// Refuses impossible numbers. The error names the key.
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, count) in [("lines", &self.lines), ("entries", &self.entries)] {
            if count.as_deref() == Some(&0) {
                return Err(format!("{key}: found 0, expected at least 1"));
            }
        }
        match (&self.hottest_bank, &self.entries) {
            (Some(_), None) => return Err("entries: found nothing, expected it beside `hottest_bank`".into()),
            (None, Some(_)) => return Err("hottest_bank: found nothing, expected it beside `entries`".into()),
            _ => (),
        }
        let endured = *self.cell_writes;
        if !endured.is_finite() || endured < 1.0 {
            return Err(format!("cell_writes: found {endured}, expected at least 1"));
        }
        Ok(())
    }
}
