//! What a kernel prints: kept as values, turned into text after the kernel, when strings can be read.

use strata_ptx::exec::print::{Argument, format};
use strata_ptx::program::Kernel;

/// One lane's print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print {
    /// Index of the CTA in the grid.
    pub cta: u64,
    /// The warp's number in its CTA.
    pub warp: u32,
    /// Lane.
    pub lane: u8,
    /// Index into the kernel's formats.
    pub format: u32,
    /// Values of the arguments.
    pub arguments: Vec<Argument>,
}

impl Print {
    /// Whether another brings further arguments of the same line: the same lane prints it.
    pub(crate) fn continues_with(&self, rest: &Print) -> bool {
        (self.cta, self.warp, self.lane, self.format) == (rest.cta, rest.warp, rest.lane, rest.format)
    }

    /// The text; `read_string` fetches the bytes behind a `%s` pointer.
    pub fn text(&self, kernel: &Kernel, read_string: impl FnMut(u64) -> String) -> String {
        format(&kernel.formats[self.format as usize].text, &self.arguments, read_string)
    }
}
