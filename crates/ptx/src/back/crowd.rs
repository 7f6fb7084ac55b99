//! Spills ahead of colouring, where far more is live at once than there are registers.
//!
//! A graph of such a kernel has an edge for each two values that are live together, and colouring would find out one by
//! one that most of them have no place. Here one walk over the code chooses, wherever too much is live, the values that
//! are used least for their length.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use super::color::Worth;
use super::costs::use_costs;
use super::interference::Pressure;
use super::live_set::LiveSet;
use super::liveness::Liveness;
use super::occurrences::Occurrences;
use crate::ir::VReg;
use crate::isa::Ty;
use std::collections::BTreeSet;

/// Chooses registers to spill when there are more live than limits allow: what is left has a place nearly everywhere.
pub fn victims(
    body: &Body,
    cfg: &Cfg,
    liveness: &Liveness,
    pressure: Pressure,
    rows: usize,
    predicates: usize,
) -> Vec<VReg> {
    if pressure.rows <= rows && pressure.predicates <= predicates {
        return Vec::new();
    }
    let mut crowd = Crowd {
        body,
        worth: worth(body, cfg),
        live: LiveSet::new(body),
        candidates: [BTreeSet::new(), BTreeSet::new()],
        spilled: vec![false; body.registers.len()],
        // Some stay free for what spilling needs.
        rows: rows - rows / 8,
        predicates,
    };
    for block in &cfg.order {
        crowd.live.become_all(&[]);
        crowd.candidates.iter_mut().for_each(BTreeSet::clear);
        liveness.live_out[block.index()].iter().for_each(|reg| crowd.enter(VReg(*reg)));
        for at in cfg.block(*block).range().rev() {
            let inst = &body.code[at];
            definitions(inst).for_each(|reg| crowd.enter(reg));
            crowd.relieve();
            if liveness.kills[at] {
                definitions(inst).for_each(|reg| crowd.leave(reg));
            }
            uses(inst).for_each(|reg| crowd.enter(reg));
            crowd.relieve();
        }
    }
    (0..body.registers.len()).filter(|reg| crowd.spilled[*reg]).map(|reg| VReg(reg as u32)).collect()
}

/// For each register, what its reads and writes cost for each instruction from its first to its last.
fn worth(body: &Body, cfg: &Cfg) -> Vec<f32> {
    let costs = use_costs(body, cfg, |reg| reg.0 as usize);
    let occurrences = Occurrences::new(body);
    let length = |reg: usize| {
        let of = occurrences.of(reg);
        of.last().map_or(0, |last| last.at - of[0].at)
    };
    costs.iter().enumerate().map(|(reg, cost)| cost / (length(reg) as f32 + 1.0)).collect()
}

/// What is live at a point of the walk and not spilled.
struct Crowd<'a> {
    body: &'a Body,
    worth: Vec<f32>,
    live: LiveSet<'a>,
    /// Those that can be spilled, the cheapest first: values in rows, and predicates.
    candidates: [BTreeSet<Worth>; 2],
    spilled: Vec<bool>,
    rows: usize,
    predicates: usize,
}

impl Crowd<'_> {
    fn enter(&mut self, reg: VReg) {
        let can = !self.body.is_temporary(reg) && self.body.ty(reg).rows() <= 2;
        if !self.spilled[reg.0 as usize] && self.live.insert(reg) && can {
            let worth = Worth(self.worth[reg.0 as usize], reg.0);
            self.candidates[self.kind(reg)].insert(worth);
        }
    }

    fn leave(&mut self, reg: VReg) {
        if self.live.remove(reg) {
            let worth = Worth(self.worth[reg.0 as usize], reg.0);
            self.candidates[self.kind(reg)].remove(&worth);
        }
    }

    fn relieve(&mut self) {
        while self.live.rows > self.rows && self.spill(0) {}
        while self.live.predicates() > self.predicates && self.spill(1) {}
    }

    /// Spills the cheapest candidate of a kind, if there is one.
    fn spill(&mut self, kind: usize) -> bool {
        let Some(Worth(_, reg)) = self.candidates[kind].pop_first() else { return false };
        self.spilled[reg as usize] = true;
        self.live.remove(VReg(reg))
    }

    fn kind(&self, reg: VReg) -> usize {
        usize::from(self.body.ty(reg) == Ty::Pred)
    }
}
