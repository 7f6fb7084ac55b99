//! The SRAM bank, which reads and writes in one cycle.

use super::places::Places;

/// A bank that reads and writes in one cycle (Table I), like the array of the conventional L1D: an access
/// from the door, a fill and an access that waited in an MSHR never conflict.
#[derive(Clone, Debug)]
pub(super) struct SramBank {
    pub places: Places,
    /// Whether it adds frames instead of evicting: the Oracle of Fig. 3.
    pub grows: bool,
}
