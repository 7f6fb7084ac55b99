//! Inputs that several workloads share.

pub(crate) mod graph;
