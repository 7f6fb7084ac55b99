//! Parameters of a DMA engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, Scratchpad, ScratchpadDesign, ScratchpadSite};

use super::blocks::Blocks;
use super::engine::Engine;

/// The `dma` design behind `scratchpad`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaConfig {
    /// Accesses to lines under way at most.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "lines"))]
    pub accesses: Cited<u32>,
    /// Bytes of such a line, 64 or 128: those of the L1D.
    #[schemars(range(min = 64, max = 128), extend("unit" = "B"))]
    pub line_bytes: Cited<u32>,
    /// Whose memory instructions wait until a copy is done; the core's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Cited<Blocks>>,
}

impl DmaConfig {
    /// Whose memory instructions wait until a copy is done.
    pub fn blocks(&self) -> Blocks {
        self.blocks.as_ref().map_or_else(Blocks::default, |blocks| blocks.value)
    }
}

impl Design for DmaConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let found = *self.accesses;
        if !(1..=1024).contains(&found) {
            return Err(ParameterError::new("accesses", format!("must be 1 to 1024, found {found}")));
        }
        let found = *self.line_bytes;
        if ![64, 128].contains(&found) {
            return Err(ParameterError::new("line_bytes", format!("must be 64 or 128, found {found}")));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("SRAM, DMA of {} lines of {} bytes at a time", *self.accesses, *self.line_bytes)
    }

    fn host_bytes(&self) -> u64 {
        u64::from(*self.accesses) * HOST_ITEM_BYTES
    }
}

impl ScratchpadDesign for DmaConfig {
    fn access_bytes(&self) -> u32 {
        *self.line_bytes
    }

    fn build(&self, _: ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError> {
        self.check()?;
        let engine = Engine::new(*self.accesses as usize, u64::from(*self.line_bytes), self.blocks());
        Ok(Some(Box::new(engine)))
    }
}
