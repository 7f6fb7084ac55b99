//! A warp scheduler: of the ready warps, the one that started last.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_sm::scheduler::{View, WarpScheduler};

/// Picks the ready warp that started last (an example). Old warps wait for as long as young ones are ready.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct YoungestFirst {
    /// Its warps, oldest first.
    #[serde(skip)]
    by_age: Vec<usize>,
}

impl WarpScheduler for YoungestFirst {
    fn pick(&mut self, view: View) -> Option<usize> {
        self.by_age.iter().rev().copied().find(|warp| view.ready >> warp & 1 == 1)
    }

    fn add(&mut self, warp: usize) {
        self.by_age.push(warp);
    }

    fn remove(&mut self, warp: usize) {
        self.by_age.retain(|other| *other != warp);
    }
}
