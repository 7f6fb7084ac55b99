//! Parts that stand in front of others and pass everything on, while somebody observes it: a trace, the critical path, or who counts how full
//! queues are.

mod l1d;
mod llc;

pub use l1d::{L1dObserver, ObservedL1d};
pub use llc::{DramName, LlcObserver, ObservedLlc};
