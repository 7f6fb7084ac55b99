//! The kinds of accounts.

/// What accounts are kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Instructions, by their index in the kernel's code.
    Instruction,
    /// CTAs, by their linear index in the grid.
    Cta,
    /// Global memory that the program has allocated, by its place among the launch's allocations.
    Buffer,
    /// Nothing: all is one account, in which accesses are told apart by their latency.
    Whole,
}
