//! Refresh policies: when which banks are refreshed. One file each.

mod all_bank;
mod none;
mod per_bank;

pub use all_bank::AllBank;
pub use none::NoRefresh;
pub use per_bank::PerBank;

use std::fmt;

crate::policy_family! {
    RefreshPolicy:
    "none" => NoRefresh,
    "all-bank" => AllBank,
    "per-bank" => PerBank,
}

/// A refresh policy.
///
/// A refresh that is due goes before every request of its banks: their rows are closed as soon as the timing rules allow,
/// then the refresh is commanded. One that is late does not delay the due times of those that follow.
///
/// The type that the policy is read as is its section of a machine file: its fields are the keys.
pub trait RefreshPolicy: fmt::Debug + Send + Sync {
    /// DRAM cycles between two refreshes of a channel with `banks` banks, of which each is to be refreshed once in `refi` cycles;
    /// `None` refreshes nothing.
    fn interval(&self, refi: u64, banks: usize) -> Option<u64>;

    /// What a refresh is of. Refreshes are numbered from 0.
    fn target(&self, number: u64, banks: usize) -> RefreshTarget;
}

/// What a refresh is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshTarget {
    /// All banks, which serve nothing meanwhile.
    AllBanks,
    /// One bank; the others go on.
    Bank(usize),
}
