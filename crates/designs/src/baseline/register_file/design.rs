//! The SRAM register file as a design that a machine file can select.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::area::Component;
use strata_memory::doors::{Design, RegisterFile, RegisterFileDesign, RegisterFileSite};

use super::SramRegisterFile;

/// The parameters of a conventional register file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SramRegisterFileConfig {
    /// Number of single-ported banks; each is one row (32 lanes of 32 bits) wide. With `sm.sub_cores` each sub-core has an equal share.
    #[schemars(range(min = 1, max = 64), extend("unit" = "banks"))]
    pub banks: Cited<u32>,
    /// Cycles from a bank's grant to the operand in the collector.
    #[schemars(range(min = 1, max = 1000), extend("unit" = "cycles"))]
    pub read_latency_cycles: Cited<u32>,
    /// Area in square micrometres, where a source gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
    pub area_um2: Option<Cited<f64>>,
}

impl Design for SramRegisterFileConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [("banks", *self.banks, 64), ("read_latency_cycles", *self.read_latency_cycles, 1000)];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        match self.area_um2.as_deref() {
            Some(area) if !(area.is_finite() && *area > 0.0) => {
                Err(ParameterError::new("area_um2", format!("must be a number above 0, found {area}")))
            }
            _ => Ok(()),
        }
    }

    fn area(&self) -> Vec<Component> {
        let banks = |area: &Cited<f64>| Component::square_micrometres("banks", **area, area.source.clone());
        self.area_um2.iter().map(banks).collect()
    }

    fn outline(&self) -> String {
        format!("{} banks", *self.banks)
    }

    fn host_bytes(&self) -> u64 {
        // The list of reads: rows are counted with the SM's registers.
        32 << 10
    }
}

impl RegisterFileDesign for SramRegisterFileConfig {
    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError> {
        self.check()?;
        Ok(Box::new(SramRegisterFile::new(self, site)?))
    }
}
