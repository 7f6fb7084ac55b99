//! An L1 data cache whose words are kept coherent by DeNovo: tags by line, states by word, written words registered and kept.
//!
//! An access is performed when the table says so for each of its words, in order of arrival for each line. A store is done as soon as
//! it is in the cache; its registration is under way then, and a fence or the end of the kernel waits for it. A flush
//! invalidates words that are not registered, in one cycle; those that are stay.
//!
//! A registration waits for others of its line, so that they share a request (DeNovo's write combining; reading 13), until its time
//! is up, a flush begins, or an access has to wait or finds no room.
//!
//! A tag stands for a line of memory or for half of one (`block.rs`).
//!
//! Two queues lead to two networks: requests, which may have to wait below, and what it says of words that it owns. Whatever
//! arrives is taken in order of arrival, one packet a cycle and bank.

mod access;
mod arrivals;
mod block;
mod cache;
mod config;
mod design;
mod statistics;
#[cfg(test)]
mod tests;

pub use cache::DenovoL1d;
pub use config::DenovoL1dConfig;
pub use statistics::DenovoStatistics;
