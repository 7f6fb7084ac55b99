//! The register files as designs that a machine file can select.

use strata_memory::ParameterError;
use strata_memory::area::Component;
use strata_memory::doors::{
    Design, HOST_ITEM_BYTES, OperandAccesses, RegisterFile, RegisterFileDesign, RegisterFileSite,
};

use super::banked::BankedRegisterFile;
use super::config::{AccessesConfig, BankedConfig, HierarchicalConfig};
use super::hierarchical::HierarchicalRegisterFile;

/// Host memory for rows, wear and indicators of the largest register file, in bytes.
const ROWS_BYTES: u64 = 2 << 20;

impl Design for BankedConfig {
    fn check(&self) -> Result<(), ParameterError> {
        self.banks.check()?;
        self.area_um2.check()
    }

    fn area(&self) -> Vec<Component> {
        self.area_um2.table()
    }

    fn outline(&self) -> String {
        self.banks.outline()
    }

    fn host_bytes(&self) -> u64 {
        ROWS_BYTES
    }
}

impl RegisterFileDesign for BankedConfig {
    fn accesses(&self) -> OperandAccesses {
        AccessesConfig::rules(self.accesses.as_ref())
    }

    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError> {
        self.check()?;
        Ok(Box::new(BankedRegisterFile::new(self, site)))
    }
}

impl Design for HierarchicalConfig {
    fn check(&self) -> Result<(), ParameterError> {
        HierarchicalConfig::check(self)
    }

    fn area(&self) -> Vec<Component> {
        self.area_um2.table()
    }

    fn outline(&self) -> String {
        let cache = self.register_cache.as_ref();
        let cache =
            cache.map_or(String::new(), |cache| format!(", a register cache of {} lines", *cache.lines));
        let what = if self.write_buffer.is_some() { "central write" } else { "delay" };
        let entries = *self.buffer().entries;
        format!("{}{cache}, a {what} buffer of {entries} entries", self.banks.outline())
    }

    fn host_bytes(&self) -> u64 {
        let lines = self.register_cache.as_ref().map_or(0, |cache| *cache.lines);
        ROWS_BYTES + u64::from(lines + *self.buffer().entries) * HOST_ITEM_BYTES
    }
}

impl RegisterFileDesign for HierarchicalConfig {
    fn accesses(&self) -> OperandAccesses {
        AccessesConfig::rules(self.accesses.as_ref())
    }

    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError> {
        HierarchicalConfig::check(self)?;
        if let Some(cache) = &self.register_cache {
            let most = 1u32 << *cache.register_bits;
            if site.registers_per_thread > most {
                let message = format!(
                    "must name each of a thread's {} registers (sm.registers_per_thread), found {}: {most} of them",
                    site.registers_per_thread, *cache.register_bits
                );
                return Err(ParameterError::new("register_cache.register_bits", message));
            }
            let most = 1u32 << *cache.warp_bits;
            if site.warps > most {
                let message = format!(
                    "must name each of {} warps (sm.warp_slots), found {}: {most} of them",
                    site.warps, *cache.warp_bits
                );
                return Err(ParameterError::new("register_cache.warp_bits", message));
            }
        }
        Ok(Box::new(HierarchicalRegisterFile::new(self, site)))
    }
}
