//! The crossbar as a design that a machine file can select.

use strata_memory::doors::{Design, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, ParameterError};

use super::super::parameters::MAX_BUFFER;
use super::{CrossbarConfig, CrossbarNetwork};

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
