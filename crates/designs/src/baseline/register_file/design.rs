//! The SRAM register file as a design that a machine file can select.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::doors::{Design, RegisterFile, RegisterFileDesign, RegisterFileSite};

use super::SramRegisterFile;

/// The parameters of a conventional register file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SramRegisterFileConfig {
    /// Number of single-ported banks, 1 to 64; each is one row (32 lanes of 32 bits) wide.
    pub banks: Cited<u32>,
    /// Cycles from a bank's grant to the operand in the collector, at least 1.
    pub read_latency_cycles: Cited<u32>,
}

impl Design for SramRegisterFileConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [("banks", *self.banks, 64), ("read_latency_cycles", *self.read_latency_cycles, 1000)];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("{} banks", *self.banks)
    }

    fn host_bytes(&self) -> u64 {
        // Queues of tickets: rows are counted with the SM's registers.
        u64::from(*self.banks) * 4096
    }
}

impl RegisterFileDesign for SramRegisterFileConfig {
    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError> {
        self.check()?;
        Ok(Box::new(SramRegisterFile::new(self, site)))
    }
}
