//! Parameters of a DMA engine.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, Scratchpad, ScratchpadDesign, ScratchpadSite};

use super::engine::Engine;

/// The `dma` design behind `scratchpad`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DmaConfig {
    /// Accesses to lines under way at most; 1 to 1024.
    pub accesses: Cited<u32>,
}

impl Design for DmaConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let found = *self.accesses;
        if (1..=1024).contains(&found) {
            return Ok(());
        }
        Err(ParameterError::new("accesses", format!("must be 1 to 1024, found {found}")))
    }

    fn outline(&self) -> String {
        format!("SRAM, DMA of {} lines at a time", *self.accesses)
    }

    fn host_bytes(&self) -> u64 {
        u64::from(*self.accesses) * HOST_ITEM_BYTES
    }
}

impl ScratchpadDesign for DmaConfig {
    fn build(&self, _: ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError> {
        self.check()?;
        Ok(Some(Box::new(Engine::new(*self.accesses as usize))))
    }
}
