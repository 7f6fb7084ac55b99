//! What it would cost to keep values in memory.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use super::dominance::{Dominators, loop_depths};
use crate::ir::VReg;

/// For each group of registers that `group_of` tells, its reads and writes weighted by ten per loop around them.
pub fn use_costs(body: &Body, cfg: &Cfg, group_of: impl Fn(VReg) -> usize) -> Vec<f32> {
    let depths = loop_depths(cfg, &Dominators::new(cfg));
    let mut costs = vec![0.0; body.registers.len()];
    for (at, inst) in body.code.iter().enumerate() {
        let weight = 10f32.powi(depths[cfg.block_of[at].index()].min(6) as i32);
        for reg in uses(inst).chain(definitions(inst)) {
            costs[group_of(reg)] += weight;
        }
    }
    costs
}
