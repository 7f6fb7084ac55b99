//! The crossbar and the butterfly as a design that a machine file can select.

use strata_memory::doors::{Design, HOST_ITEM_BYTES, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, ParameterError};

use super::parameters::{MAX_BUFFER, Shape};
use super::{MultistageConfig, MultistageNetwork, Topology};

impl Design for MultistageConfig {
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
        // What no number of nodes makes right; the nodes are known when it is built.
        Shape::new(*self.topology, 0..0, 0..0)?;
        self.flit_size().map(|_| ())
    }

    fn outline(&self) -> String {
        let topology = match *self.topology {
            Topology::Crossbar => "crossbar".to_owned(),
            Topology::Butterfly { radix, stages } => {
                format!("butterfly of {stages} stages of {radix} ports")
            }
        };
        format!("{topology}, flits of {} bytes", *self.flit_bytes)
    }

    fn host_bytes(&self) -> u64 {
        // Buffers between stages; those at its ends belong to links.
        let ports = match *self.topology {
            Topology::Crossbar => 0,
            Topology::Butterfly { radix, stages } => {
                let wires = (radix as u64).saturating_pow(stages.try_into().unwrap_or(u32::MAX));
                wires.saturating_mul(stages as u64)
            }
        };
        ports.saturating_mul(2 * u64::from(*self.buffer_flits)).saturating_mul(HOST_ITEM_BYTES)
    }
}

impl NetworkDesign for MultistageConfig {
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
        Ok(Box::new(MultistageNetwork::new(site.direction, self, site.ends)?))
    }
}
