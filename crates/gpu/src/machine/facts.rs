//! Figures of a machine that results carry beside its name.

/// Figures of a machine that are needed to read its results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineFacts {
    /// Core clock in MHz.
    pub core_mhz: u32,
    /// Warp slots of each SM.
    pub warp_slots: u32,
    /// Peak DRAM bandwidth in bytes per second, over all channels.
    pub dram_bytes_per_second: f64,
}
