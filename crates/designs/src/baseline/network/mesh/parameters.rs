//! The mesh's parameters in a machine file.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use super::topology::LINKS;

/// Most columns, and most rows. ASSUMED: far above any GPU.
pub(super) const MAX_SIDE: usize = 64;
/// Most virtual channels of a router's inputs together: masks have this width.
pub(super) const MAX_CHANNELS: usize = 128;
/// Largest buffer in flits. ASSUMED: far above any network.
pub(super) const MAX_BUFFER: u32 = 4096;
/// Most cycles of anything. ASSUMED: far above any network.
pub(super) const MAX_CYCLES: u64 = 10_000;

/// When a packet may take a virtual channel of the next router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// When nobody else has it; its flits follow as room appears.
    Wormhole,
    /// When nobody else has it and it has room for all of the packet's flits.
    VirtualCutThrough,
}

/// At which router each node is. CPU cores and GMMUs have the nodes behind the SMs' and count as SMs. Routers have numbers row by row, router 0 in the first column of the first row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Placement {
    /// Nodes one after the other, a router each: SMs, then LLC slices. With more nodes than routers it begins again.
    InOrder,
    /// SMs one after the other from router 0, and LLC slices one after the other from router 0: a router has
    /// one of each, as in a NUCA.
    Together,
    /// LLC slices in turn over the routers of the first and the last row, SMs in turn over the others.
    TopAndBottom,
    /// The router of each node, by node number: SMs, then CPU cores, then LLC slices.
    List(Vec<u16>),
}

/// The parameters of a mesh, the same for both directions. Cycles are those of the network's clock.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshConfig {
    /// Routers in a row.
    #[schemars(range(min = 1, max = MAX_SIDE), extend("unit" = "routers"))]
    pub columns: Cited<usize>,
    /// Rows of routers.
    #[schemars(range(min = 1, max = MAX_SIDE), extend("unit" = "routers"))]
    pub rows: Cited<usize>,
    /// At which router each node is.
    pub placement: Cited<Placement>,
    /// Bytes that a link moves per cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub flit_bytes: Cited<u32>,
    /// When a packet may take a virtual channel.
    pub switching: Cited<Switching>,
    /// Virtual channels of each input, for each class of messages.
    #[schemars(range(min = 1, max = MAX_CHANNELS / (LINKS + 1)), extend("unit" = "channels"))]
    pub virtual_channels: Cited<usize>,
    /// Room of each virtual channel's buffer, in flits.
    #[schemars(range(min = 1, max = MAX_BUFFER), extend("unit" = "flits"))]
    pub buffer_flits: Cited<u32>,
    /// Cycles from the arrival of a head to its first bid for a virtual channel; 0 with look-ahead routing.
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub routing_cycles: Cited<u64>,
    /// Cycles from the grant of a virtual channel to the first bid for the switch; 0 if both are allocated at once.
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub vc_allocation_cycles: Cited<u64>,
    /// Cycles from the grant of the switch to the link.
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub switch_cycles: Cited<u64>,
    /// Cycles on a link between routers.
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub link_cycles: Cited<u64>,
    /// Cycles from the grant of the switch, with which a flit leaves its buffer, until the router before may
    /// fill its place.
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub credit_cycles: Cited<u64>,
    /// Cycles between a node and its router, each way.
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub interface_cycles: Cited<u64>,
    /// Room, in flits, at the receiving end of such a link: packets on their way into the network, or out of it.
    #[schemars(range(min = 1, max = MAX_BUFFER), extend("unit" = "flits"))]
    pub interface_flits: Cited<u32>,
}

impl MeshConfig {
    /// Number of routers.
    pub(super) fn routers(&self) -> usize {
        *self.columns * *self.rows
    }
}
