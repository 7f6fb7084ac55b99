//! The SRAM bank.

use super::places::Places;

/// A bank that reads and writes in one cycle (Table I), as the conventional L1D's array does: an access from the
/// door, a fill and an access that waited in an MSHR do not meet.
#[derive(Clone, Debug)]
pub(super) struct SramBank {
    pub places: Places,
    /// It takes more frames instead of evicting: the Oracle of Fig. 3.
    pub grows: bool,
}
