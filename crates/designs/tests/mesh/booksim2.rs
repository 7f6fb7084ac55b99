//! What BookSim 2 measured, and the mesh that has the same routers.

use serde::Deserialize;
use strata_designs::baseline::{MeshConfig, Placement, Switching};
use strata_engine::Cited;

use crate::load::{FLIT_BYTES, Pattern};

/// `booksim2.toml`: what BookSim 2 measured, and how.
#[derive(Deserialize)]
struct Published {
    curve: Vec<Curve>,
}

/// One curve.
#[derive(Deserialize)]
pub struct Curve {
    pub side: usize,
    pub virtual_channels: usize,
    pub pattern: Pattern,
    pub flits: u32,
    /// Offered flits per node and cycle, and the average latency of packets in cycles.
    pub points: Vec<(f64, f64)>,
    /// Flits per node and cycle that come through when every node always has one to send.
    pub saturation: f64,
}

pub fn published() -> Vec<Curve> {
    let published: Published = toml::from_str(include_str!("booksim2.toml")).expect("the file is ours");
    published.curve
}

/// BookSim's router of these measurements: look-ahead routing, a cycle each for channels, switch and its passage.
pub fn config(side: usize, virtual_channels: usize) -> MeshConfig {
    fn cited<T>(value: T) -> Cited<T> {
        Cited::new(value, "booksim2.toml")
    }
    MeshConfig {
        columns: cited(side),
        rows: cited(side),
        placement: cited(Placement::Together),
        flit_bytes: cited(FLIT_BYTES),
        switching: cited(Switching::Wormhole),
        virtual_channels: cited(virtual_channels),
        buffer_flits: cited(8),
        routing_cycles: cited(0),
        vc_allocation_cycles: cited(1),
        switch_cycles: cited(2),
        link_cycles: cited(1),
        credit_cycles: cited(2),
        interface_cycles: cited(1),
        interface_flits: cited(64),
    }
}
