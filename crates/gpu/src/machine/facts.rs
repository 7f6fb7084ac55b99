//! What results say of a machine beside its name.

/// What a reader must know of the machine to read the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineFacts {
    /// Core clock in MHz.
    pub core_mhz: u32,
    /// Warp slots of an SM.
    pub warp_slots: u32,
    /// Peak DRAM bandwidth.
    pub dram_bytes_per_second: f64,
}
