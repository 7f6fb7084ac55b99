//! Splits registers that the text reuses for unrelated values.
//!
//! Definitions that reach a common use belong to one web; each web becomes a register of its own, so that
//! most registers end with a single definition and the rest of the back end can reason about values.

use super::bits::BitSet;
use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use crate::ir::{VDst, VReg, VSrc};
use std::ops::Range;

/// Gives each web of each register a register of its own.
pub fn split(body: &mut Body, cfg: &Cfg) {
    let mut counts = vec![0u32; body.registers.len()];
    for inst in &body.code {
        definitions(inst).for_each(|reg| counts[reg.0 as usize] += 1);
    }
    // Sites of one register are numbered together, so that its definitions are a range of bits.
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(counts.len());
    let mut sites = 0;
    for count in &counts {
        let several = if *count > 1 { *count as usize } else { 0 };
        ranges.push(sites..sites + several);
        sites += several;
    }
    if sites == 0 {
        return;
    }
    let mut next: Vec<usize> = ranges.iter().map(|range| range.start).collect();
    // For each instruction and destination slot, its site.
    let site_of: Vec<Vec<usize>> = body
        .code
        .iter()
        .map(|inst| {
            inst.dst
                .iter()
                .map(|dst| match dst {
                    VDst::Reg(reg) if !ranges[reg.0 as usize].is_empty() => {
                        next[reg.0 as usize] += 1;
                        next[reg.0 as usize] - 1
                    }
                    _ => usize::MAX,
                })
                .collect()
        })
        .collect();

    let reach_in = reaching(body, cfg, &ranges, &site_of, sites);
    let mut joined = Union::new(sites);
    for block in &cfg.order {
        let mut reach = reach_in[block.index()].clone();
        for at in cfg.block(*block).range() {
            let inst = &body.code[at];
            for reg in uses(inst) {
                join(&mut joined, &reach, ranges[reg.0 as usize].clone(), None);
            }
            for (slot, reg) in inst.dst.iter().enumerate() {
                let (VDst::Reg(reg), site) = (reg, site_of[at][slot]) else { continue };
                if site == usize::MAX {
                    continue;
                }
                if inst.guard.is_some() {
                    // The lanes that the guard leaves out keep what they had.
                    join(&mut joined, &reach, ranges[reg.0 as usize].clone(), Some(site));
                } else {
                    ranges[reg.0 as usize].clone().for_each(|other| reach.remove(other));
                }
                reach.insert(site);
            }
        }
    }
    rename(body, cfg, &ranges, &site_of, &reach_in, &mut joined);
}

/// Puts the sites of a register that reach here, and `also`, into one web.
fn join(joined: &mut Union, reach: &BitSet, range: Range<usize>, also: Option<usize>) {
    let mut first = also;
    for site in range {
        if reach.contains(site) {
            match first {
                Some(first) => joined.union(first, site),
                None => first = Some(site),
            }
        }
    }
}

/// The sites that reach the start of each block.
fn reaching(
    body: &Body,
    cfg: &Cfg,
    ranges: &[Range<usize>],
    site_of: &[Vec<usize>],
    sites: usize,
) -> Vec<BitSet> {
    let blocks = cfg.blocks.len();
    let mut generated = vec![BitSet::new(sites); blocks];
    let mut killed = vec![BitSet::new(sites); blocks];
    for (at, inst) in body.code.iter().enumerate() {
        let block = cfg.block_of[at].index();
        for (slot, dst) in inst.dst.iter().enumerate() {
            let site = site_of[at][slot];
            let (VDst::Reg(reg), true) = (dst, site != usize::MAX) else { continue };
            if inst.guard.is_none() {
                for other in ranges[reg.0 as usize].clone() {
                    generated[block].remove(other);
                    killed[block].insert(other);
                }
            }
            generated[block].insert(site);
            killed[block].remove(site);
        }
    }
    let mut reach_in = vec![BitSet::new(sites); blocks];
    let mut changed = true;
    while changed {
        changed = false;
        for block in &cfg.order {
            let mut out = reach_in[block.index()].clone();
            out.subtract(&killed[block.index()]);
            out.union_with(&generated[block.index()]);
            for successor in &cfg.block(*block).successors {
                changed |= reach_in[successor.index()].union_with(&out);
            }
        }
    }
    reach_in
}

fn rename(
    body: &mut Body,
    cfg: &Cfg,
    ranges: &[Range<usize>],
    site_of: &[Vec<usize>],
    reach_in: &[BitSet],
    joined: &mut Union,
) {
    let mut name: Vec<Option<VReg>> = vec![None; joined.parent.len()];
    // The first web keeps the register's own name.
    for (reg, range) in ranges.iter().enumerate() {
        for site in range.clone() {
            let web = joined.find(site);
            if name[web].is_none() {
                let own = VReg(reg as u32);
                name[web] = Some(if site == range.start {
                    own
                } else {
                    let ty = body.ty(own);
                    body.fresh(ty)
                });
            }
        }
    }
    let name: Vec<VReg> =
        (0..name.len()).map(|site| name[joined.find(site)].expect("every web got a name")).collect();
    for block in &cfg.order {
        let mut reach = reach_in[block.index()].clone();
        for at in cfg.block(*block).range() {
            let inst = &mut body.code[at];
            // A use that no definition reaches reads an undefined value; any name will do.
            let current = |reg: VReg| {
                let sites = ranges.get(reg.0 as usize).cloned().unwrap_or(0..0);
                sites.clone().find(|site| reach.contains(*site)).map_or(reg, |site| name[site])
            };
            if let Some((guard, _)) = &mut inst.guard {
                *guard = current(*guard);
            }
            for src in &mut inst.src {
                if let VSrc::Reg(reg, _) = src {
                    *reg = current(*reg);
                }
            }
            for (slot, dst) in inst.dst.iter_mut().enumerate() {
                let site = site_of[at][slot];
                let (VDst::Reg(reg), true) = (dst, site != usize::MAX) else { continue };
                if inst.guard.is_none() {
                    ranges[reg.0 as usize].clone().for_each(|other| reach.remove(other));
                }
                reach.insert(site);
                *reg = name[site];
            }
        }
    }
}

/// Disjoint sets.
pub struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// Every index alone.
    pub fn new(count: usize) -> Union {
        Union { parent: (0..count as u32).collect() }
    }

    /// The representative of an index.
    pub fn find(&mut self, mut index: usize) -> usize {
        while self.parent[index] as usize != index {
            let up = self.parent[index] as usize;
            self.parent[index] = self.parent[up];
            index = up;
        }
        index
    }

    /// Puts two sets together under the representative of the first.
    pub fn union(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        self.parent[right] = left as u32;
    }
}
