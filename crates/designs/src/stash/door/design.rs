//! The stash's section of a machine file: `scratchpad.stash`.

use strata_memory::ParameterError;
use strata_memory::area::Component;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, Scratchpad, ScratchpadDesign, ScratchpadSite};

use super::StashScratchpad;
use crate::denovo::NODES;
use crate::stash::config::StashConfig;

impl Design for StashConfig {
    fn check(&self) -> Result<(), ParameterError> {
        StashConfig::check(self)
    }

    fn outline(&self) -> String {
        format!("stash of {} KiB, {} mappings", *self.bytes >> 10, *self.map_entries)
    }

    fn host_bytes(&self) -> u64 {
        // Words with their states and flights, chunks, and items that may be under way for each word.
        u64::from(*self.bytes) / 4 * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        StashConfig::area(self)
    }
}

impl ScratchpadDesign for StashConfig {
    fn needs_owners(&self) -> bool {
        self.own_registry().is_none()
    }

    fn access_bytes(&self) -> u32 {
        if self.own_registry().is_some() { *self.line_bytes } else { 0 }
    }

    fn check_place(&self, bytes: u32, ctas: u32) -> Result<(), ParameterError> {
        let (mine, slots) = (*self.bytes, *self.ctas);
        if mine != bytes {
            let message = format!("must be those of the SM's shared memory ({bytes}), found {mine}");
            return Err(ParameterError::new("bytes", message));
        }
        if slots < ctas {
            let message = format!("must be at least the SM's CTA slots ({ctas}), found {slots}");
            return Err(ParameterError::new("ctas", message));
        }
        Ok(())
    }

    fn build(&self, site: ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError> {
        StashConfig::check(self)?;
        self.check_place(site.bytes, site.ctas)?;
        if self.needs_owners() && site.node.0 >= NODES.into() {
            let message =
                format!("a slot of the registry names nodes 0 to {}, found {}", NODES - 1, site.node.0);
            return Err(ParameterError::new("node", message));
        }
        Ok(Some(Box::new(StashScratchpad::new(self, site))))
    }
}
