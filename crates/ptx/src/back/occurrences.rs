//! Where each register is read and written, and the blocks through which its values live.
//!
//! Dataflow is solved register by register, over the blocks that its values pass and no others: most registers never
//! leave their block, so a set of registers for every block would be nearly empty and as large as the square of the code.

use super::body::{Body, uses};
use super::cfg::{BlockId, Cfg};
use super::error::BackError;
use crate::ir::{VDst, VReg};

/// Most values live from block to block, summed over the blocks: this bounds the memory of a compilation, and its time.
/// ASSUMED: 255 registers through 131,000 blocks, far above what compilers emit.
const MAX_LIVE: usize = 1 << 25;

/// What an occurrence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads the value.
    Read,
    /// Writes under a guard or to an array: lanes left out, or other registers, keep the value.
    Merge,
    /// Writes in every lane.
    Write,
}

/// One operand that names a register.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence {
    /// The instruction.
    pub at: u32,
    /// The destination, of a write.
    pub slot: u8,
    /// What it does.
    pub kind: Kind,
}

/// The occurrences of every register, each list in the order of execution within a block.
pub struct Occurrences {
    starts: Vec<u32>,
    all: Vec<Occurrence>,
}

impl Occurrences {
    /// Collects them.
    pub fn new(body: &Body) -> Occurrences {
        let mut starts = vec![0u32; body.registers.len() + 1];
        each(body, |reg, _| starts[reg.0 as usize + 1] += 1);
        for reg in 0..body.registers.len() {
            starts[reg + 1] += starts[reg];
        }
        let mut next = starts.clone();
        let nothing = Occurrence { at: 0, slot: 0, kind: Kind::Read };
        let mut all = vec![nothing; starts.last().map_or(0, |end| *end as usize)];
        each(body, |reg, occurrence| {
            all[next[reg.0 as usize] as usize] = occurrence;
            next[reg.0 as usize] += 1;
        });
        Occurrences { starts, all }
    }

    /// Those of one register.
    pub fn of(&self, reg: usize) -> &[Occurrence] {
        &self.all[self.starts[reg] as usize..self.starts[reg + 1] as usize]
    }
}

fn each(body: &Body, mut visit: impl FnMut(VReg, Occurrence)) {
    for (at, inst) in body.code.iter().enumerate() {
        let at = at as u32;
        uses(inst).for_each(|reg| visit(reg, Occurrence { at, slot: 0, kind: Kind::Read }));
        let kind = if inst.merges() { Kind::Merge } else { Kind::Write };
        for (slot, dst) in inst.dst.iter().enumerate() {
            if let VDst::Reg(reg) = dst {
                visit(*reg, Occurrence { at, slot: slot as u8, kind });
            }
        }
    }
}

/// What a block does to the register at hand, or what holds at its ends.
pub mod mark {
    /// Some occurrence writes.
    pub const WRITES: u8 = 1;
    /// Some unguarded one does.
    pub const OVERWRITES: u8 = 2;
    /// The value may be wanted at the start of the block, guarded writes counted as reads.
    pub const WANTED: u8 = 4;
    /// Besides, some write may have reached the start of the block.
    pub const ENTERS: u8 = 8;
    /// The value is live at the start of the block.
    pub const LIVE_IN: u8 = 16;
    /// The value is live at the end of the block.
    pub const LIVE_OUT: u8 = 32;
    /// Earlier values end in the block.
    pub const ENDS: u8 = 64;
}

/// The blocks of one register after another.
pub struct Region<'a> {
    cfg: &'a Cfg,
    reached: Vec<bool>,
    /// Per block, the marks and for which register they were made.
    marks: Vec<(u32, u8)>,
    turn: u32,
    /// Blocks where values were wanted so far, each once for each register.
    wanted: usize,
    /// Blocks with occurrences, ascending.
    pub blocks: Vec<BlockId>,
    /// Blocks that a value enters which may be wanted there.
    pub entered: Vec<BlockId>,
    /// Scratch of the searches.
    pub work: Vec<BlockId>,
}

impl<'a> Region<'a> {
    /// No register yet.
    pub fn new(cfg: &'a Cfg) -> Region<'a> {
        let mut reached = vec![false; cfg.blocks.len()];
        cfg.order.iter().for_each(|block| reached[block.index()] = true);
        Region {
            cfg,
            reached,
            marks: vec![(0, 0); cfg.blocks.len()],
            turn: 0,
            wanted: 0,
            blocks: Vec::new(),
            entered: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Whether a block bears a mark for the register at hand.
    pub fn has(&self, block: BlockId, mark: u8) -> bool {
        let (turn, marks) = self.marks[block.index()];
        turn == self.turn && marks & mark != 0
    }

    /// Sets a mark; true when it is new.
    pub fn set(&mut self, block: BlockId, mark: u8) -> bool {
        let entry = &mut self.marks[block.index()];
        if entry.0 != self.turn {
            *entry = (self.turn, 0);
        }
        let new = entry.1 & mark != mark;
        entry.1 |= mark;
        new
    }

    /// Turns to a register: marks [`mark::WRITES`], [`mark::OVERWRITES`], [`mark::WANTED`] and [`mark::ENTERS`].
    ///
    /// Writes are followed only where the value is wanted. That loses none: behind the last write on a way to such a
    /// place, the value is wanted all the way.
    ///
    /// # Errors
    /// When too many values live from block to block.
    pub fn turn_to(&mut self, occurrences: &[Occurrence]) -> Result<(), BackError> {
        self.turn += 1;
        self.blocks.clear();
        self.entered.clear();
        self.work.clear();
        for occurrence in occurrences {
            let block = self.cfg.block_of[occurrence.at as usize];
            if !self.reached[block.index()] {
                continue;
            }
            if self.blocks.last() != Some(&block) {
                self.blocks.push(block);
                if occurrence.kind != Kind::Write && self.set(block, mark::WANTED) {
                    self.work.push(block);
                }
            }
            match occurrence.kind {
                Kind::Read => {}
                Kind::Merge => _ = self.set(block, mark::WRITES),
                Kind::Write => _ = self.set(block, mark::WRITES | mark::OVERWRITES),
            }
        }
        let cfg = self.cfg;
        while let Some(block) = self.work.pop() {
            self.wanted += 1;
            for &before in &cfg.block(block).predecessors {
                if !self.has(before, mark::OVERWRITES) && self.set(before, mark::WANTED) {
                    self.work.push(before);
                }
            }
        }
        if self.wanted > MAX_LIVE {
            return Err(BackError::TooLarge { what: "values live from block to block", most: MAX_LIVE });
        }
        self.work.extend(self.blocks.iter().copied());
        self.work.retain(|block| self.marks[block.index()].1 & mark::WRITES != 0);
        while let Some(block) = self.work.pop() {
            for &after in &cfg.block(block).successors {
                if self.has(after, mark::WANTED) && self.set(after, mark::ENTERS) {
                    self.entered.push(after);
                    self.work.push(after);
                }
            }
        }
        Ok(())
    }
}
