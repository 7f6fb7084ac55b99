//! The `endurance` section of a machine file.

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_engine::Cited;

use crate::energy::Per;

/// The `endurance` section: structures by name.
pub type EnduranceSection = BTreeMap<String, ArraySection>;

/// An array whose cells wear out: `[endurance.<structure>]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArraySection {
    /// Statistics group of the two counters.
    pub counts: String,
    /// Name of the counter of all writes.
    pub writes: String,
    /// Name of the counter of the writes to the most-written line; it is marked `[maximum]`.
    pub hottest: String,
    /// What the machine has one array for.
    pub per: Per,
    /// Lines in each array.
    pub lines: Cited<u64>,
    /// Writes that a cell endures.
    pub cell_writes: Cited<f64>,
}

impl ArraySection {
    /// Refuses impossible numbers. The error names the key.
    pub(super) fn check(&self) -> Result<(), String> {
        if *self.lines == 0 {
            return Err("lines: found 0, expected at least 1".into());
        }
        let endured = *self.cell_writes;
        if !endured.is_finite() || endured < 1.0 {
            return Err(format!("cell_writes: found {endured}, expected at least 1"));
        }
        Ok(())
    }
}
