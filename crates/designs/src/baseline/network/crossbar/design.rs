//! The crossbar as a design that a machine file can select.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;
use strata_memory::doors::{Design, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, ParameterError};

use super::super::parameters::MAX_BUFFER;
use super::CrossbarNetwork;

/// The parameters of a crossbar with virtual output queues, the same for both directions. Cycles are those of the network's clock.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossbarConfig {
    /// Bytes that a port moves per cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub flit_bytes: Cited<u32>,
    /// Cycles from an input's queues to the receiver, for switch and wire, and as many from the sender to the queues.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub hop_latency_cycles: Cited<u64>,
    /// Room of an input, which its queues share, in flits.
    #[schemars(range(min = 1, max = MAX_BUFFER), extend("unit" = "flits"))]
    pub buffer_flits: Cited<u32>,
}

impl Design for CrossbarConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("hop_latency_cycles", *self.hop_latency_cycles, 10_000),
            ("buffer_flits", u64::from(*self.buffer_flits), u64::from(MAX_BUFFER)),
        ];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        self.flit_size().map(|_| ())
    }

    fn outline(&self) -> String {
        format!("crossbar with virtual output queues, flits of {} bytes", *self.flit_bytes)
    }

    /// What waits at an input is bounded with the link that leads to it.
    fn host_bytes(&self) -> u64 {
        0
    }
}

impl NetworkDesign for CrossbarConfig {
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        FlitSize::new(*self.flit_bytes)
    }

    fn link_latency_cycles(&self) -> u64 {
        *self.hop_latency_cycles
    }

    fn link_flits(&self) -> u32 {
        *self.buffer_flits
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        Ok(Box::new(CrossbarNetwork::new(site.direction, self, site.ends)?))
    }
}
