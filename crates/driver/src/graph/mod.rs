//! Graphs: operations and what must be done before each. A graph is a plan; its launch runs the nodes one by one.

pub mod build;
pub mod capture;
pub mod dot;
pub mod executable;
pub mod lent;
pub mod parts;
pub mod user;
