//! Which registers hold a value that is still needed.
//!
//! The analysis follows the paths of one lane, and that is enough for a warp. A physical register is a row
//! with a place for each lane, and a write changes the places of the active lanes only; so what lanes on the
//! other side of a divergent branch, or past a reconvergence point, keep in the same row stays theirs.
//! Each lane takes a path of the control flow graph, and on each path plain liveness holds. Instructions
//! that look at other lanes (shuffles, votes) read those lanes' places at the same instruction, where the
//! operand is live for all of them.
//!
//! A guarded write leaves the other lanes alone, so it does not end the life of what was there before,
//! unless nothing can have been there: a register counts as live only where some definition may have
//! reached it.

use super::bits::BitSet;
use super::body::{Body, definitions, uses};
use super::cfg::Cfg;

/// The result, per block and per instruction.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Registers live where each block begins.
    pub live_in: Vec<BitSet>,
    /// Registers live where each block ends.
    pub live_out: Vec<BitSet>,
    /// For each instruction, whether its writes end the lives of earlier values.
    pub kills: Vec<bool>,
}

impl Liveness {
    /// Solves the dataflow equations of a body.
    pub fn new(body: &Body, cfg: &Cfg) -> Liveness {
        let registers = body.registers.len();
        let blocks = cfg.blocks.len();
        let (defined_in, defined_out) = maybe_defined(body, cfg);
        let mut kills = vec![true; body.code.len()];
        let mut reads = vec![BitSet::new(registers); blocks];
        let mut writes = vec![BitSet::new(registers); blocks];
        for (index, block) in cfg.blocks.iter().enumerate() {
            let mut defined = defined_in[index].clone();
            for at in block.range() {
                let inst = &body.code[at];
                if inst.guard.is_some() {
                    kills[at] = !definitions(inst).any(|reg| defined.contains(reg.0 as usize));
                }
                definitions(inst).for_each(|reg| {
                    defined.insert(reg.0 as usize);
                });
            }
            for at in block.range().rev() {
                let inst = &body.code[at];
                if kills[at] {
                    for reg in definitions(inst) {
                        reads[index].remove(reg.0 as usize);
                        writes[index].insert(reg.0 as usize);
                    }
                } else {
                    // The old value is needed in the lanes left out, so the write is a read of it too.
                    definitions(inst).for_each(|reg| {
                        reads[index].insert(reg.0 as usize);
                    });
                }
                uses(inst).for_each(|reg| {
                    reads[index].insert(reg.0 as usize);
                });
            }
        }
        let mut live_in: Vec<BitSet> = reads;
        let mut live_out = vec![BitSet::new(registers); blocks];
        for (live, defined) in live_in.iter_mut().zip(&defined_in) {
            live.intersect_with(defined);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.order.iter().rev() {
                let index = block.index();
                for successor in &cfg.block(block).successors {
                    live_out[index].union_with(&live_in[successor.index()]);
                }
                live_out[index].intersect_with(&defined_out[index]);
                changed |= live_in[index].union_masked(&live_out[index], &writes[index], &defined_in[index]);
            }
        }
        Liveness { live_in, live_out, kills }
    }
}

/// For each block, the registers that a definition may reach where it begins and where it ends.
fn maybe_defined(body: &Body, cfg: &Cfg) -> (Vec<BitSet>, Vec<BitSet>) {
    let registers = body.registers.len();
    let mut defined_out = vec![BitSet::new(registers); cfg.blocks.len()];
    for (at, inst) in body.code.iter().enumerate() {
        definitions(inst).for_each(|reg| {
            defined_out[cfg.block_of[at].index()].insert(reg.0 as usize);
        });
    }
    let mut defined_in = vec![BitSet::new(registers); cfg.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &cfg.order {
            let index = block.index();
            defined_out[index].union_with(&defined_in[index]);
            for successor in &cfg.block(block).successors {
                changed |= defined_in[successor.index()].union_with(&defined_out[index]);
            }
        }
    }
    (defined_in, defined_out)
}
