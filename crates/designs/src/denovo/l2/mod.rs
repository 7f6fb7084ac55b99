//! A slice of an L2 that is DeNovo's registry: a word's slot in the data array has the word or the name of its owner.
//!
//! Requests are looked up in order, one a cycle. Lines are fetched whole; requests to a line that is fetched wait in its MSHR. A
//! request whose words have owners is sent on to each of them. A line is evicted only when its registered words are back, and a
//! strong operation performed only when its words are: until then the request waits where it is, and with it those behind it. What
//! owners say comes by another way and is always taken, so that such waits end.

mod config;
mod design;
mod lookup;
mod owners;
mod registry;
mod statistics;
#[cfg(test)]
mod tests;

pub use config::DenovoL2Config;
pub use registry::Registry;
pub use statistics::RegistryStatistics;

/// An L2 slice that is DeNovo's registry.
pub type DenovoL2 = crate::chassis::llc::Slice<Registry>;
