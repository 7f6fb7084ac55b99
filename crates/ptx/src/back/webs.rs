//! Splits registers that the text reuses for unrelated values.
//!
//! Definitions that reach a common use belong to one web; each web becomes a register of its own, so that
//! most registers end with a single definition and the rest of the back end can reason about values.

use super::body::Body;
use super::cfg::Cfg;
use super::error::BackError;
use super::occurrences::{Kind, Occurrence, Occurrences, Region, mark};
use crate::ir::{VDst, VInst, VReg, VSrc};

/// Gives each web of each register a register of its own.
///
/// # Errors
/// When too many values live from block to block.
pub fn split(body: &mut Body, cfg: &Cfg) -> Result<(), BackError> {
    let occurrences = Occurrences::new(body);
    let mut splitter = Splitter {
        cfg,
        region: Region::new(cfg),
        entry: vec![0; cfg.blocks.len()],
        last: vec![0; cfg.blocks.len()],
    };
    for reg in 0..body.registers.len() {
        let of = occurrences.of(reg);
        if of.iter().filter(|occurrence| occurrence.kind != Kind::Read).count() > 1 {
            splitter.split(body, VReg(reg as u32), of)?;
        }
    }
    Ok(())
}

/// Splits one register after another. Its writes are numbered from 0 in the order of the code; behind them come the
/// blocks that a value enters which is wanted there: what enters is the one value of all its writes.
struct Splitter<'a> {
    cfg: &'a Cfg,
    region: Region<'a>,
    /// Per block that a value enters, its number.
    entry: Vec<usize>,
    /// Per block that writes, the number of its last write.
    last: Vec<usize>,
}

impl Splitter<'_> {
    fn split(&mut self, body: &mut Body, own: VReg, of: &[Occurrence]) -> Result<(), BackError> {
        self.region.turn_to(of)?;
        let writes = of.iter().filter(|occurrence| occurrence.kind != Kind::Read).count();
        let entered = std::mem::take(&mut self.region.entered);
        for (n, block) in entered.iter().enumerate() {
            self.entry[block.index()] = writes + n;
        }
        let mut webs = Union::new(writes + entered.len());
        self.walk(of, |occurrence, before, write| {
            // The lanes that the guard leaves out keep what they had.
            if let (Kind::Merge, Some(before)) = (occurrence.kind, before) {
                webs.union(before, write);
            }
        });
        for block in &entered {
            for before in &self.cfg.block(*block).predecessors {
                let from = if self.region.has(*before, mark::WRITES) {
                    self.last[before.index()]
                } else if self.region.has(*before, mark::ENTERS) {
                    self.entry[before.index()]
                } else {
                    continue;
                };
                webs.union(self.entry[block.index()], from);
            }
        }
        self.region.entered = entered;
        // The first web keeps the register's own name.
        let mut names: Vec<Option<VReg>> = vec![None; webs.parent.len()];
        for write in 0..writes {
            let web = webs.find(write);
            if names[web].is_none() {
                let ty = body.ty(own);
                names[web] = Some(if write == 0 { own } else { body.fresh(ty) });
            }
        }
        let mut name = |value: usize| names[webs.find(value)].expect("every web has a write");
        self.walk(of, |occurrence, before, write| {
            let inst = &mut body.code[occurrence.at as usize];
            match (occurrence.kind, before) {
                (Kind::Read, Some(before)) => rename_uses(inst, own, name(before)),
                // A use that no definition reaches reads an undefined value; any name will do.
                (Kind::Read, None) => {}
                (Kind::Merge | Kind::Write, _) => {
                    inst.dst[usize::from(occurrence.slot)] = VDst::Reg(name(write));
                }
            }
        });
        Ok(())
    }

    /// Visits the occurrences of the register at hand with the value that reaches each, if any does, and the number
    /// of the next write.
    fn walk(&mut self, of: &[Occurrence], mut visit: impl FnMut(Occurrence, Option<usize>, usize)) {
        let (mut write, mut current, mut within) = (0, None, None);
        for &occurrence in of {
            let block = self.cfg.block_of[occurrence.at as usize];
            if within != Some(block) {
                within = Some(block);
                current = self.region.has(block, mark::ENTERS).then(|| self.entry[block.index()]);
            }
            visit(occurrence, current, write);
            if occurrence.kind != Kind::Read {
                self.last[block.index()] = write;
                current = Some(write);
                write += 1;
            }
        }
    }
}

fn rename_uses(inst: &mut VInst, from: VReg, to: VReg) {
    if let Some((guard, _)) = &mut inst.guard
        && *guard == from
    {
        *guard = to;
    }
    for src in &mut inst.src {
        if let VSrc::Reg(reg, _) = src
            && *reg == from
        {
            *reg = to;
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
