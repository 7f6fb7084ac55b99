//! What the steps of simplification know of a body: which registers hold one value, and where.

use super::body::{Body, definitions};
use super::cfg::Cfg;
use super::dominance::Dominators;
use crate::ir::VReg;

/// Single definitions and dominance.
pub struct Facts<'a> {
    /// The control flow graph.
    pub cfg: &'a Cfg,
    dominators: Dominators,
    /// The only instruction that writes a register, when it writes all of it in all lanes.
    pub definition: Vec<Option<usize>>,
}

impl Facts<'_> {
    /// Gathers the facts of a body.
    pub fn new<'a>(body: &Body, cfg: &'a Cfg) -> Facts<'a> {
        let mut definition = vec![None; body.registers.len()];
        let mut count = vec![0; body.registers.len()];
        for (at, inst) in body.code.iter().enumerate() {
            for reg in definitions(inst) {
                count[reg.0 as usize] += 1;
                let only = count[reg.0 as usize] == 1 && !inst.merges();
                definition[reg.0 as usize] = only.then_some(at);
            }
        }
        Facts { cfg, dominators: Dominators::new(cfg), definition }
    }

    /// Whether a register has a single, unguarded definition.
    pub fn is_value(&self, reg: VReg) -> bool {
        self.definition[reg.0 as usize].is_some()
    }

    /// Whether a register's only definition runs before instruction `at` on every path.
    pub fn holds_at(&self, reg: VReg, at: usize) -> bool {
        self.definition[reg.0 as usize]
            .is_some_and(|from| self.dominators.instruction_dominates(self.cfg, from, at))
    }

    /// Number of an instruction's block: those that it dominates have the next higher ones.
    pub fn number_of_block(&self, at: usize) -> u32 {
        self.dominators.number(self.cfg.block_of[at])
    }
}
