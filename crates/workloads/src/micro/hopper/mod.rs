//! What came with compute capability 9.0: clusters, bulk copies and products of warpgroups.

mod bulk;
mod clusters;
mod products;

use super::benchmark::Benchmark;
use super::{Scale, Target};

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    if target.capability < 90 {
        return vec![];
    }
    [clusters::all(scale), bulk::all(scale, target), products::all(scale)].concat()
}
