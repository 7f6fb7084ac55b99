//! The barriers of clusters. All CTAs of a cluster are on one SM. ASSUMED: GPUs spread them over the SMs of a GPC; on one SM they
//! reach each other's shared memory as fast as their own, and compete for its banks.
//!
//! A warp arrives once, whatever other warps do, and later waits until all warps of the cluster that have not ended have arrived.

use crate::launch::Launch;
use strata_ptx::isa::Op;

/// A cluster with CTAs on the SM.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// Its number in the grid.
    number: u64,
    /// Its warp slots.
    warps: u64,
    /// Warps that have arrived in this phase, and those that have ended.
    arrived: u32,
    exited: u32,
}

/// What a warp did out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfTurn;

/// The barriers of the clusters on an SM. Bit n of every mask is warp slot n.
#[derive(Debug, Default)]
pub struct Clusters {
    /// Whether the kernel has such a barrier.
    is_used: bool,
    /// Warps of a cluster.
    warps: u32,
    clusters: Vec<Cluster>,
    arrived: u64,
    passed: u64,
    waiting: u64,
}

impl Clusters {
    /// Makes ready for a launch.
    pub fn prepare(&mut self, launch: &Launch) {
        let has_barrier = |op: Op| matches!(op, Op::ClusterArrive | Op::ClusterWait);
        *self = Clusters {
            is_used: launch.kernel.code.iter().any(|instruction| has_barrier(instruction.op)),
            warps: launch.cluster_ctas() * launch.warps_per_cta(),
            ..Clusters::default()
        };
    }

    /// A CTA of a cluster starts in these warp slots.
    pub fn start(&mut self, number: u64, warps: u64) {
        if !self.is_used {
            return;
        }
        self.arrived &= !warps;
        self.passed &= !warps;
        match self.clusters.iter_mut().find(|cluster| cluster.number == number) {
            Some(cluster) => cluster.warps |= warps,
            None => self.clusters.push(Cluster { number, warps, arrived: 0, exited: 0 }),
        }
    }

    /// A warp arrives. Returns the warps that may go on.
    ///
    /// # Errors
    /// When it has arrived before and not waited since.
    pub fn arrive(&mut self, warp: usize) -> Result<u64, OutOfTurn> {
        let bit = 1 << warp;
        if (self.arrived | self.passed) & bit != 0 {
            return Err(OutOfTurn);
        }
        self.arrived |= bit;
        let index = self.index_of(bit).ok_or(OutOfTurn)?;
        self.clusters[index].arrived += 1;
        Ok(self.open(index))
    }

    /// A warp waits. Returns whether it must.
    ///
    /// # Errors
    /// When it has not arrived.
    pub fn wait(&mut self, warp: usize) -> Result<bool, OutOfTurn> {
        let bit = 1 << warp;
        if self.passed & bit != 0 {
            self.passed &= !bit;
            return Ok(false);
        }
        if self.arrived & bit == 0 {
            return Err(OutOfTurn);
        }
        self.waiting |= bit;
        Ok(true)
    }

    /// A warp ends. Returns the warps that may go on.
    pub fn exited(&mut self, warp: usize) -> u64 {
        let bit = 1 << warp;
        let Some(index) = self.index_of(bit) else { return 0 };
        let cluster = &mut self.clusters[index];
        cluster.exited += 1;
        if self.arrived & bit != 0 {
            cluster.arrived -= 1;
            self.arrived &= !bit;
        }
        // Its slot may belong to another cluster next.
        cluster.warps &= !bit;
        if cluster.exited == self.warps {
            self.clusters.swap_remove(index);
            return 0;
        }
        self.open(index)
    }

    fn index_of(&self, bit: u64) -> Option<usize> {
        self.clusters.iter().position(|cluster| cluster.warps & bit != 0)
    }

    /// Opens a barrier if all that have not ended have arrived.
    fn open(&mut self, index: usize) -> u64 {
        let cluster = &mut self.clusters[index];
        if cluster.arrived == 0 || cluster.arrived + cluster.exited < self.warps {
            return 0;
        }
        cluster.arrived = 0;
        let released = self.waiting & cluster.warps;
        self.waiting &= !released;
        self.passed |= self.arrived & cluster.warps & !released;
        self.arrived &= !cluster.warps;
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two CTAs of two warps, in slots 0, 1 and 4, 5.
    fn pair() -> Clusters {
        let mut clusters = Clusters { is_used: true, warps: 4, ..Clusters::default() };
        clusters.start(7, 0b11);
        clusters.start(7, 0b11_0000);
        clusters
    }

    #[test]
    fn the_last_to_arrive_releases_those_that_wait() {
        let mut clusters = pair();
        assert_eq!(clusters.arrive(0), Ok(0));
        assert_eq!(clusters.wait(0), Ok(true));
        assert_eq!(clusters.arrive(1), Ok(0));
        assert_eq!(clusters.arrive(4), Ok(0));
        assert_eq!(clusters.wait(4), Ok(true));
        assert_eq!(clusters.arrive(5), Ok(0b1_0001));
        // The others find it open, and the next phase is a new one.
        assert_eq!(clusters.wait(5), Ok(false));
        assert_eq!(clusters.arrive(0), Ok(0));
        assert_eq!(clusters.wait(1), Ok(false));
        assert_eq!(clusters.wait(0), Ok(true));
    }

    #[test]
    fn a_cta_that_has_not_started_is_waited_for() {
        let mut clusters = Clusters { is_used: true, warps: 2, ..Clusters::default() };
        clusters.start(3, 0b1);
        assert_eq!(clusters.arrive(0), Ok(0));
        assert_eq!(clusters.wait(0), Ok(true));
        clusters.start(3, 0b10);
        assert_eq!(clusters.arrive(1), Ok(0b1));
    }

    #[test]
    fn an_end_counts_as_an_arrival() {
        let mut clusters = pair();
        for warp in [0, 1, 4] {
            assert_eq!(clusters.arrive(warp), Ok(0));
            assert_eq!(clusters.wait(warp), Ok(true));
        }
        assert_eq!(clusters.exited(5), 0b1_0011);
        // Another cluster in the slots of the first CTA.
        assert_eq!(clusters.exited(0), 0);
        assert_eq!(clusters.exited(1), 0);
        clusters.start(8, 0b11);
        assert_eq!(clusters.arrive(4), Ok(0), "alone, and open at once");
        assert_eq!(clusters.wait(4), Ok(false));
        assert_eq!(clusters.arrive(0), Ok(0));
        assert_eq!(clusters.wait(0), Ok(true));
    }

    #[test]
    fn turns_are_kept() {
        let mut clusters = pair();
        assert_eq!(clusters.wait(0), Err(OutOfTurn));
        assert_eq!(clusters.arrive(0), Ok(0));
        assert_eq!(clusters.arrive(0), Err(OutOfTurn));
    }
}
