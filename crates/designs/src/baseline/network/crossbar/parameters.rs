//! The parameters of the crossbar.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use super::super::parameters::MAX_BUFFER;

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
