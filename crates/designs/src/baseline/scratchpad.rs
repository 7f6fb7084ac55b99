//! The scratchpad of a conventional machine: nothing behind the banks of shared memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_memory::ParameterError;
use strata_memory::doors::{Design, Scratchpad, ScratchpadDesign, ScratchpadSite};

/// Banks of SRAM, whose numbers are those of the load/store unit (`lsu.shared`), and nothing behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SramScratchpadConfig {}

impl Design for SramScratchpadConfig {
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    fn outline(&self) -> String {
        "SRAM".to_owned()
    }

    fn host_bytes(&self) -> u64 {
        0
    }
}

impl ScratchpadDesign for SramScratchpadConfig {
    fn stands_there(&self) -> bool {
        false
    }

    fn build(&self, _: ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError> {
        Ok(None)
    }
}
