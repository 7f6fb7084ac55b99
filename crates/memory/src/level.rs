//! Where the bytes of an answer come from.

/// The level that serves a request. It says nothing to the model: who counts what loads find asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// The last-level cache had the bytes.
    #[default]
    Llc,
    /// An SM in cache mode had them.
    Extended,
    /// They came from below the last-level cache: a memory-side cache, or DRAM.
    Memory,
    /// Another L1D or a stash, which owns the words, sent them.
    Owner,
}
