//! Neighbouring CTAs go to one SM.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{Dispatch, GridSite, SmView};
use super::round_robin::RoundRobin;

/// Hands out blocks of CTAs that follow each other in the grid: each block goes to one SM, round robin, once that has room for
/// all of it. Neighbours often read the same lines (block CTA scheduling: Lee et al., HPCA 2014).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// CTAs of a block, 1 to 32; as many as fit, where these are fewer. Lee et al. have blocks of 2.
    #[schemars(range(min = 1, max = 32), extend("unit" = "CTAs"))]
    pub ctas: u32,
    #[serde(skip)]
    order: RoundRobin,
    #[serde(skip)]
    site: Site,
    /// The SM of the block that has begun, if there is one.
    #[serde(skip)]
    begun: Option<usize>,
    /// Clusters of that block that are left.
    #[serde(skip)]
    left: u32,
}

/// The grid, in clusters: what a pick hands out.
#[derive(Clone, Copy, Debug, Default)]
struct Site {
    cluster: u32,
    per_block: u32,
    left: u64,
}

impl Blocks {
    /// Round robin of blocks of `ctas` CTAs.
    pub fn of(ctas: u32) -> Blocks {
        Blocks { ctas, order: RoundRobin::default(), site: Site::default(), begun: None, left: 0 }
    }
}

impl Dispatch for Blocks {
    fn check(&self) -> Result<(), String> {
        match self.ctas {
            1..=32 => Ok(()),
            found => Err(format!("found ctas = {found}, expected 1 to 32")),
        }
    }

    fn start(&mut self, site: &GridSite) {
        let cluster = site.cluster.max(1);
        let per_block = (self.ctas.min(site.most_per_sm) / cluster).max(1);
        self.site = Site { cluster, per_block, left: site.ctas.div_ceil(cluster.into()) };
    }

    fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
        let picked = match self.begun {
            Some(sm) => sms[sm].takes.then_some(sm)?,
            None => {
                // The last block may be smaller.
                let block = u64::from(self.site.per_block).min(self.site.left) as u32;
                let room = block * self.site.cluster;
                let sm = self.order.next(sms, |sm| sm.takes && sm.room >= room)?;
                (self.begun, self.left) = (Some(sm), block);
                sm
            }
        };
        self.left -= 1;
        self.site.left -= 1;
        if self.left == 0 {
            self.begun = None;
        }
        Some(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::policy::script::{Step, picks};

    #[test]
    fn neighbours_go_to_one_sm_that_has_room_for_all() {
        let cycle = || Step::Cycle;
        let start = [cycle(), cycle(), cycle(), cycle(), cycle()];
        let end = [Step::End(1), cycle(), Step::End(1), cycle(), cycle(), Step::End(0), cycle()];
        let steps: Vec<Step> = start.into_iter().chain(end).collect();
        // CTAs 0 to 6, of which three fit on each of two SMs. 0 and 1 go to SM 0, in two cycles, as an SM gets one a cycle; 2
        // and 3 to SM 1. Each has room for one CTA more, and none for a block. SM 1 has room for two after two ends, as one
        // place was free before the first: 4 and 5 go there. 6 is alone and goes to the next SM, in the cycle of 5.
        let cycles = picks(Blocks::of(2), (7, 2, 3), &steps);
        assert_eq!(cycles[..5], [vec![0], vec![0, 1], vec![1], vec![], vec![]]);
        assert_eq!(cycles[5..], [vec![1], vec![1, 0], vec![], vec![]]);
    }

    #[test]
    fn a_block_is_no_larger_than_what_fits() {
        let cycle = || Step::Cycle;
        let cycles = picks(Blocks::of(4), (5, 2, 2), &[cycle(), cycle(), cycle(), cycle()]);
        assert_eq!(cycles, [vec![0], vec![0, 1], vec![1], vec![]]);
    }

    #[test]
    fn a_block_of_clusters_has_whole_ones() {
        let mut policy = Blocks::of(5);
        // A pick hands out a cluster of two, so a block has two of them and needs room for four CTAs.
        policy.start(&GridSite { ctas: 8, cluster: 2, sms: 2, most_per_sm: 6 });
        let sms = |rooms: [u32; 2]| {
            rooms.map(|room| SmView { resident: 6 - room, room, fits: room >= 2, takes: room >= 2 })
        };
        assert_eq!(policy.pick(&sms([3, 3])), None);
        assert_eq!(policy.pick(&sms([3, 4])), Some(1));
        assert_eq!(policy.pick(&sms([4, 2])), Some(1), "the second cluster of the block");
        assert_eq!(policy.pick(&sms([4, 0])), Some(0));
    }

    #[test]
    fn a_block_that_no_sm_can_have_is_refused() {
        assert!(Blocks::of(2).check().is_ok());
        assert_eq!(Blocks::of(0).check().unwrap_err(), "found ctas = 0, expected 1 to 32");
    }
}
