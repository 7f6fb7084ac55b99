//! The mesh as a design that a machine file can select.

use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{Coherence, Design, HOST_ITEM_BYTES, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, HEADER_BYTES, LINE_BYTES, ParameterError};

use super::parameters::{MAX_BUFFER, MAX_CHANNELS, MAX_CYCLES, MAX_SIDE};
use super::topology::LINKS;
use super::{MeshConfig, MeshNetwork, Switching};

impl MeshConfig {
    /// The numbers that have bounds: name, value, least, most.
    fn bounds(&self) -> [(&'static str, u64, u64, u64); 11] {
        let (side, buffer) = (MAX_SIDE as u64, u64::from(MAX_BUFFER));
        // A router has room for one node at least.
        let channels = MAX_CHANNELS / (LINKS + 1);
        [
            ("columns", *self.columns as u64, 1, side),
            ("rows", *self.rows as u64, 1, side),
            ("virtual_channels", *self.virtual_channels as u64, 1, channels as u64),
            ("buffer_flits", u64::from(*self.buffer_flits), 1, buffer),
            ("routing_cycles", *self.routing_cycles, 0, MAX_CYCLES),
            ("vc_allocation_cycles", *self.vc_allocation_cycles, 0, MAX_CYCLES),
            ("switch_cycles", *self.switch_cycles, 1, MAX_CYCLES),
            ("link_cycles", *self.link_cycles, 1, MAX_CYCLES),
            ("credit_cycles", *self.credit_cycles, 1, MAX_CYCLES),
            ("interface_cycles", *self.interface_cycles, 1, MAX_CYCLES),
            ("interface_flits", u64::from(*self.interface_flits), 1, buffer),
        ]
    }

    /// With virtual cut-through, a buffer holds the largest packet: a line, or a warp of atomics.
    fn check_cut_through(&self) -> Result<(), ParameterError> {
        let largest = HEADER_BYTES + AtomicBatch::LARGEST_WIRE_BYTES.max(LINE_BYTES as u32);
        let needed = self.flit_size()?.flits(largest);
        let room = *self.buffer_flits;
        if *self.switching == Switching::VirtualCutThrough && room < needed {
            let message = format!(
                "found {room}, expected at least the {needed} flits of the largest packet with virtual-cut-through"
            );
            return Err(ParameterError::new("buffer_flits", message));
        }
        Ok(())
    }
}

impl Design for MeshConfig {
    fn check(&self) -> Result<(), ParameterError> {
        for (field, value, least, most) in self.bounds() {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("found {value}, expected {least} to {most}")));
            }
        }
        self.check_cut_through()
    }

    fn outline(&self) -> String {
        format!(
            "mesh of {} x {} routers, {} virtual channels of {} flits of {} bytes",
            *self.columns, *self.rows, *self.virtual_channels, *self.buffer_flits, *self.flit_bytes
        )
    }

    fn host_bytes(&self) -> u64 {
        // The channels of a router and its nodes, each flit of another packet; credits on their way back.
        let flits = (self.routers() * MAX_CHANNELS) as u64;
        flits.saturating_mul(2 * u64::from(*self.buffer_flits)).saturating_mul(HOST_ITEM_BYTES)
    }
}

impl NetworkDesign for MeshConfig {
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        FlitSize::new(*self.flit_bytes)
    }

    fn link_latency_cycles(&self) -> u64 {
        *self.interface_cycles
    }

    fn link_flits(&self) -> u32 {
        *self.interface_flits
    }

    fn link_flits_key(&self) -> &'static str {
        "interface_flits"
    }

    fn joins_sms(&self) -> bool {
        true
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        let mesh = MeshNetwork::new(site.direction, self, site.ends)?;
        Ok(Box::new(if site.coherence == Coherence::Owners { mesh.with_purposes() } else { mesh }))
    }
}
