//! Cache-conscious wavefront scheduling (Rogers, O'Connor, Aamodt: "Cache-Conscious Wavefront Scheduling", MICRO 2012).
//!
//! Warps that reuse their own lines lose them when too many warps share an L1D. A detector finds such losses: every warp has an
//! array of *victim tags*, which takes the lines that it brought into the L1D and that left for others. A miss to a line in them is
//! locality lost. Each loss raises the warp's *score*, which falls by one a cycle to the base score. With the scores in
//! falling order, warps up to the *cut-off* may load; those behind it wait with their loads, and leave the L1D to those
//! that lost lines. The cut-off is the base score of all warps on the SM, so without losses all may load. Beside that,
//! schedulers are greedy then oldest.
//!
//! A loss gives a score of `losses / instructions * k_throttle * cut-off`, of the losses and instructions of the SM since the kernel
//! began: at least the base score, and at most the cut-off.
//!
//! The detector and the scores are the SM's, and its schedulers share them. The detector hears from the L1D which accesses missed
//! and which lines left; only the L1D knows the latter. A machine whose L1D does not tell is refused by name, since what an
//! SM itself sees, its misses, does not tell the loss of a line from its first use by another warp.
//!
//! ASSUMED, where the paper does not say or could not be consulted: losses and instructions are counted from a kernel's
//! beginning; a tag that was found leaves, as the line is back; a warp that starts has no tags; of two warps with equal scores
//! the older goes first; the first may load whatever its score; integers, rounded down; the most that a score can be. Without that,
//! a warp that waits at a barrier could hold those that it waits for back for as long as the formula likes.

mod scores;
mod victim_tags;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::LineAddress;
use strata_memory::doors::LineNews;

use super::greedy_then_oldest::GreedyThenOldest;
use super::policy::{SchedulerSite, View, WarpScheduler};
use super::throttle::{Moment, Throttle};
use scores::Scores;
use victim_tags::VictimTags;

/// Cache-conscious: greedy then oldest, and holds loads of warps back while others lose lines that they would use again
/// (Rogers, O'Connor, Aamodt, MICRO 2012). Without numbers it has the paper's. For L1Ds that tell what becomes of their lines.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ccws {
    /// Tags of lines that a warp has lost, 1 to 1024, in sets of `victim_ways`; the paper has 16.
    #[serde(default = "Ccws::victim_tags")]
    #[schemars(range(min = 1, max = 1024), extend("unit" = "tags"))]
    pub victim_tags: u32,
    /// Ways of a set of these tags, which they are a multiple of; the paper has 8.
    #[serde(default = "Ccws::victim_ways")]
    #[schemars(range(min = 1, max = 1024), extend("unit" = "ways"))]
    pub victim_ways: u32,
    /// How much a loss raises a warp's score, 0 to 1024; the paper has 8.
    #[serde(default = "Ccws::k_throttle")]
    #[schemars(range(min = 0, max = 1024))]
    pub k_throttle: u32,
    /// Score of a warp that has lost nothing of late, 1 to 65536; the paper has 100.
    #[serde(default = "Ccws::base_score")]
    #[schemars(range(min = 1, max = 1 << 16))]
    pub base_score: u32,
    #[serde(skip)]
    order: GreedyThenOldest,
}

/// The paper's numbers. ASSUMED: known from others' notes on its section 3.3 and figure 16, where it could not be consulted.
impl Ccws {
    fn victim_tags() -> u32 {
        16
    }

    fn victim_ways() -> u32 {
        8
    }

    fn k_throttle() -> u32 {
        8
    }

    fn base_score() -> u32 {
        100
    }
}

impl Default for Ccws {
    fn default() -> Ccws {
        Ccws {
            victim_tags: Ccws::victim_tags(),
            victim_ways: Ccws::victim_ways(),
            k_throttle: Ccws::k_throttle(),
            base_score: Ccws::base_score(),
            order: GreedyThenOldest::default(),
        }
    }
}

impl WarpScheduler for Ccws {
    const HEARS_L1D: bool = true;

    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(format!("found {name} = {value}, expected {low} to {high}"))
        };
        within("victim_tags", self.victim_tags, 1, 1024)?;
        within("victim_ways", self.victim_ways, 1, 1024)?;
        within("k_throttle", self.k_throttle, 0, 1024)?;
        within("base_score", self.base_score, 1, 1 << 16)?;
        if !self.victim_tags.is_multiple_of(self.victim_ways) {
            let (tags, ways) = (self.victim_tags, self.victim_ways);
            return Err(format!("found victim_tags = {tags}, expected a multiple of victim_ways = {ways}"));
        }
        Ok(())
    }

    fn pick(&mut self, view: View) -> Option<usize> {
        self.order.pick(view)
    }

    fn add(&mut self, warp: usize) {
        self.order.add(warp);
    }

    fn remove(&mut self, warp: usize) {
        self.order.remove(warp);
    }

    fn throttle(&self, site: &SchedulerSite) -> Option<Box<dyn Throttle>> {
        Some(Box::new(LostLocality::new(self, site.warps)))
    }
}

statistics! {
    /// What the detector of lost locality counts.
    pub struct CcwsStatistics: "ccws" {
        /// Misses of the L1D that brought a line.
        misses: "accesses",
        /// Lines that left the L1D for others.
        evictions: "lines",
        /// Misses to lines that their warp had brought and lost: in its victim tags.
        lost: "accesses",
        /// Loads that could have issued and were held back, counted in each cycle.
        held: "load-cycles",
    }
    laws {
        "lost <= misses": |s| s.lost <= s.misses,
        "lost <= evictions": |s| s.lost <= s.evictions,
    }
}

/// The detector and the scores of an SM.
#[derive(Debug)]
struct LostLocality {
    k_throttle: u64,
    scores: Scores,
    /// By warp slot.
    victims: Vec<VictimTags>,
    /// The warps that brought the lines in the L1D.
    brought: HashMap<LineAddress, u8>,
    /// Losses since the kernel began.
    losses: u64,
    /// Instructions that the SM had issued when the kernel began.
    issued_before: u64,
    statistics: CcwsStatistics,
}

impl LostLocality {
    fn new(config: &Ccws, warps: usize) -> LostLocality {
        let tags = VictimTags::new(config.victim_tags as usize, config.victim_ways as usize);
        LostLocality {
            k_throttle: config.k_throttle.into(),
            scores: Scores::new(config.base_score),
            victims: vec![tags; warps],
            brought: HashMap::new(),
            losses: 0,
            issued_before: 0,
            statistics: CcwsStatistics::default(),
        }
    }

    /// The score that a loss gives.
    fn score(&self, at: Moment) -> u64 {
        let instructions = (at.issued - self.issued_before).max(1);
        let product =
            u128::from(self.losses) * u128::from(self.k_throttle) * u128::from(self.scores.cutoff());
        let score = product / u128::from(instructions);
        score.min(self.scores.cutoff().into()) as u64
    }
}

impl Throttle for LostLocality {
    fn begin(&mut self, at: Moment) {
        (self.losses, self.issued_before) = (0, at.issued);
        // The L1D was emptied when the last kernel ended.
        self.brought.clear();
    }

    fn add(&mut self, warp: usize, _: Moment) {
        self.scores.add(warp);
        self.victims[warp].clear();
    }

    fn remove(&mut self, warp: usize, _: Moment) {
        self.scores.remove(warp);
    }

    fn hear(&mut self, news: LineNews, at: Moment) {
        match news {
            LineNews::Missed { line, warp } => {
                self.statistics.misses += 1;
                self.brought.insert(line, warp);
                if self.victims[usize::from(warp)].take(line) {
                    self.statistics.lost += 1;
                    self.losses += 1;
                    self.scores.raise(warp.into(), self.score(at), at.now);
                }
            }
            LineNews::Evicted { line } => {
                self.statistics.evictions += 1;
                if let Some(warp) = self.brought.remove(&line) {
                    self.victims[usize::from(warp)].enter(line);
                }
            }
            LineNews::Emptied => self.brought.clear(),
        }
    }

    fn hold(&mut self, loads: u64, at: Moment) -> u64 {
        let held = loads & !self.scores.may_load(loads, at.now);
        self.statistics.held += u64::from(held.count_ones());
        held
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}

#[cfg(test)]
mod tests;
