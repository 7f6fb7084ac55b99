//! Output of `printf` in kernels: kept as values while the kernel runs, and formatted afterwards, when strings can be
//! read.

use strata_ptx::exec::print::{Argument, format};
use strata_ptx::program::Kernel;

/// One `printf` call of one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print {
    /// Linear index of the CTA in the grid.
    pub cta: u64,
    /// Index of the warp within its CTA.
    pub warp: u32,
    /// Lane of the warp, 0 to 31.
    pub lane: u8,
    /// Index of the format string in the kernel's `formats`.
    pub format: u32,
    /// Argument values, in order.
    pub arguments: Vec<Argument>,
}

impl Print {
    /// Whether `rest` carries further arguments of the same call: same lane, same format.
    pub(crate) fn continues_with(&self, rest: &Print) -> bool {
        (self.cta, self.warp, self.lane, self.format) == (rest.cta, rest.warp, rest.lane, rest.format)
    }

    /// Formats the output. `read_string` returns the string at a `%s` argument's device address.
    pub fn text(&self, kernel: &Kernel, read_string: impl FnMut(u64) -> String) -> String {
        format(&kernel.formats[self.format as usize].text, &self.arguments, read_string)
    }
}
