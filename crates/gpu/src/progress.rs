//! Where a run stands, for those who watch it.

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of the launch, from 0.
    pub launch: u64,
    /// Its kernel.
    pub kernel: String,
    /// Core cycles simulated.
    pub cycle: u64,
    /// CTAs of the launch.
    pub ctas: u64,
    /// CTAs that have ended.
    pub ctas_done: u64,
}
