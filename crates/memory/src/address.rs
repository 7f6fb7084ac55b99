//! Device addresses and lines.

use std::fmt;

/// Bytes of a line, the unit of tags, trays and packets. A line consists of whole sectors.
pub const LINE_BYTES: usize = 128;

/// A byte address in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The line that holds the byte.
    #[inline]
    pub const fn line(self) -> LineAddress {
        LineAddress(self.0 / LINE_BYTES as u64)
    }

    /// Offset of the byte in its line.
    #[inline]
    pub const fn offset(self) -> usize {
        (self.0 % LINE_BYTES as u64) as usize
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The number of a line: a byte address divided by [`LINE_BYTES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineAddress(pub u64);

impl LineAddress {
    /// Address of the line's first byte.
    #[inline]
    pub const fn base(self) -> Address {
        Address(self.0 * LINE_BYTES as u64)
    }
}

impl fmt::Display for LineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base().fmt(f)
    }
}
