//! What a policy sees of a request to a line.

use crate::address::LineAddress;
use crate::node::NodeId;

/// The instruction behind a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its program counter; 0 where no instruction is known.
    pub pc: u32,
    /// Its warp's slot.
    pub warp: u8,
}

/// What a request does with a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TouchKind {
    /// Reads bytes of it.
    #[default]
    Load,
    /// Writes bytes of it: a store, or what a level above writes back.
    Store,
    /// Performs atomic operations on it.
    Atomic,
    /// Brings it before it is asked for.
    Prefetch,
}

/// A request to a line, as a policy sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// The line, numbered as its cache numbers lines.
    pub line: LineAddress,
    /// The instruction behind it.
    pub origin: Origin,
    /// The node from which it comes: the SM.
    pub node: NodeId,
    /// What it does.
    pub kind: TouchKind,
}
