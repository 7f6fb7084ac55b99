//! The SRAM L1D as a design that a machine file can select.

use strata_memory::area::Component;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite};
use strata_memory::{LINE_BYTES, ParameterError};

use super::{SramL1d, SramL1dConfig};
use crate::chassis;
use crate::sram_area::{BankGeometry, sram_cache};

impl Design for SramL1dConfig {
    fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        chassis::check_policies(self.insertion.as_ref(), self.prefetch.as_ref())?;
        chassis::check(&self.parameters(), &self.rooms())
    }

    fn outline(&self) -> String {
        let kilobytes = self.capacity_bytes() / 1024;
        format!("{kilobytes} KB, {} ways, {} MSHRs", *self.ways, *self.mshr_entries)
    }

    fn host_bytes(&self) -> u64 {
        let lines = *self.sets * *self.ways;
        (lines as u64 + self.chassis_items(*self.accesses_per_cycle)) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        sram_cache(&BankGeometry::of_lines(*self.sets, *self.ways))
    }
}

impl L1dDesign for SramL1dConfig {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways * LINE_BYTES) as u64
    }

    fn tells_news(&self) -> bool {
        true
    }

    fn follows_host_copies(&self) -> bool {
        true
    }

    fn can_resize(&self) -> bool {
        self.unified.as_ref().is_some_and(|unified| **unified)
    }

    fn check_capacity(&self, bytes: u64) -> Result<(), ParameterError> {
        let way = (*self.sets * LINE_BYTES) as u64;
        let most = *self.ways as u64;
        if bytes.is_multiple_of(way) && (1..=most).contains(&(bytes / way)) {
            return Ok(());
        }
        let message = format!("found a capacity of {bytes} bytes, expected 1 to {most} ways of {way}");
        Err(ParameterError::new("ways", message))
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        let mut config = self.clone();
        config.bypass_entries.value += site.held_loads;
        Ok(Box::new(SramL1d::new(&config, site.node, site.slices, site.seed)?))
    }
}
