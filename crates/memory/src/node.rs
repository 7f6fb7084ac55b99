//! Nodes of the network.

use strata_engine::typed_id;

typed_id! {
    /// A node of the network: SMs first, then LLC slices.
    NodeId, u16
}
