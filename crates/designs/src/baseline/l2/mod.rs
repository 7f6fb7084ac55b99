//! A conventional slice of the L2: set-associative and write-back; it performs atomics on its lines.
//!
//! The slice looks up requests in order, one per cycle. A request that finds its bytes is performed
//! immediately. One that does not takes an MSHR, and every later request to that line waits behind it. All
//! replies leave through one queue with one latency, and all requests to DRAM through another: replies for a
//! line therefore stay in order, and a line's dirty bytes reach DRAM before the line is fetched again.

mod config;
mod design;
mod halves;
mod lookup;
#[cfg(test)]
mod tests;

pub use crate::chassis::llc::L2Statistics;
pub use config::L2Config;
pub use halves::Halves;
pub use lookup::Conventional;

/// A conventional L2 slice.
pub type L2Slice = crate::chassis::llc::Slice<Conventional>;
