//! Loops in which lanes wait for other threads.
//!
//! With independent threads, lanes that turn back in such a loop give way to others of their warp, as at the `YIELD` that a compiler puts
//! there. A loop is one when its end may depend on what another thread does to memory: when a strong load, an
//! atomic or a test of an mbarrier decides, directly or by what is computed from it or done because of it, whether lanes leave. So a loop
//! that takes a lock or polls a flag is one; a loop over data is none, however different its lanes' trip counts are.
//!
//! No lane waits for another in a loop that tries a `cas` again with what it has just read there: it fails only where another
//! succeeds. Nor in one that adds to a counter which nothing else of the loop changes, where each trip gets a number of its own.
//!
//! Weak loads are left out. Memory that another thread writes meanwhile must not be read by them (PTX ISA, "Memory
//! Consistency Model": a data race), and compilers read it once, before the loop.

use super::body::{Body, definitions, uses};
use super::cfg::{Block, BlockId, Cfg};
use crate::ir::{Constant, VInst, VReg, VSrc};
use crate::isa::{AtomicOp, CacheOp, Flow, Op, Ordering, Space};

/// For each instruction, whether it turns back in a loop in which lanes may wait for others. `cfg` has the functions apart.
pub fn turns(body: &Body, cfg: &Cfg) -> Vec<bool> {
    let mut turns = vec![false; body.code.len()];
    if !body.code.iter().any(reads_others) {
        return turns;
    }
    let mut search = Search::new(body, cfg);
    for header in (0..cfg.blocks.len() as u32).map(BlockId) {
        if search.enter(header) && search.waits() {
            for latch in &search.latches {
                turns[cfg.block(*latch).end as usize - 1] = true;
            }
        }
    }
    turns
}

/// Whether it reads what other threads write.
fn reads_others(inst: &VInst) -> bool {
    match inst.op {
        Op::Load(mode) => {
            mode.ordering != Ordering::Weak || matches!(mode.cache, CacheOp::Global | CacheOp::Volatile)
        }
        Op::Atomic { .. } => true,
        Op::Mbarrier(barrier) => barrier.op.is_test(),
        _ => false,
    }
}

/// Whether it adds to what is in memory.
fn counts(inst: &VInst) -> bool {
    matches!(inst.op, Op::Atomic { op: AtomicOp::Add | AtomicOp::Inc | AtomicOp::Dec, .. })
        && inst.src.get(1) != Some(&VSrc::Const(Constant::Bits(0)))
}

/// Whether two instructions that access memory have the same address in one trip through a loop.
fn is_same_place(one: &VInst, other: &VInst) -> bool {
    one.src.first() == other.src.first() && one.offset == other.offset
}

/// Whether it reads memory of a thread itself, where what the thread has put there comes back.
fn reads_own(inst: &VInst) -> bool {
    matches!(inst.op, Op::Load(mode) if matches!(mode.space, Space::Local | Space::Generic))
}

/// For each block, a number that those have in common which come back to each other (Sharir, "A strong-connectivity algorithm", 1981).
fn components(cfg: &Cfg) -> Vec<u32> {
    let mut component = vec![u32::MAX; cfg.blocks.len()];
    for (number, root) in cfg.order.iter().enumerate() {
        let mut work = vec![*root];
        while let Some(block) = work.pop() {
            if component[block.index()] == u32::MAX {
                component[block.index()] = number as u32;
                work.extend(&cfg.block(block).predecessors);
            }
        }
    }
    component
}

/// A set of small numbers, emptied at once.
struct Marks {
    round: u32,
    of: Vec<u32>,
}

impl Marks {
    fn new(count: usize) -> Marks {
        Marks { round: 1, of: vec![0; count] }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    fn has(&self, number: usize) -> bool {
        self.of[number] == self.round
    }

    /// Returns whether it is new.
    fn add(&mut self, number: usize) -> bool {
        std::mem::replace(&mut self.of[number], self.round) != self.round
    }
}

/// Registers whose values are needed, and those of them whose writers are still to be looked at.
struct Slice {
    needed: Marks,
    work: Vec<VReg>,
}

impl Slice {
    fn new(registers: usize) -> Slice {
        Slice { needed: Marks::new(registers), work: Vec::new() }
    }

    fn clear(&mut self) {
        self.needed.clear();
        self.work.clear();
    }

    fn need(&mut self, inst: &VInst) {
        self.work.extend(uses(inst).filter(|register| self.needed.add(register.0 as usize)));
    }
}

/// Looks at one loop after the other.
struct Search<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    /// For each register, the instructions that write it.
    writers: Vec<Vec<u32>>,
    components: Vec<u32>,
    /// The loop: where it begins in the code, who turns back there, and all its blocks.
    header: BlockId,
    latches: Vec<BlockId>,
    blocks: Vec<BlockId>,
    within: Marks,
    /// What decides when lanes leave the loop.
    decides: Slice,
    /// What decides the value that a `cas` compares with.
    compared: Slice,
    /// Blocks that a search has seen.
    seen: Marks,
}

impl<'a> Search<'a> {
    fn new(body: &'a Body, cfg: &'a Cfg) -> Search<'a> {
        let mut writers = vec![Vec::new(); body.registers.len()];
        for (at, inst) in body.code.iter().enumerate() {
            for register in definitions(inst) {
                writers[register.0 as usize].push(at as u32);
            }
        }
        Search {
            body,
            cfg,
            writers,
            components: components(cfg),
            header: BlockId(0),
            latches: Vec::new(),
            blocks: Vec::new(),
            within: Marks::new(cfg.blocks.len()),
            decides: Slice::new(body.registers.len()),
            compared: Slice::new(body.registers.len()),
            seen: Marks::new(cfg.blocks.len()),
        }
    }

    /// Goes to the loop of those who turn back to a block. False when nobody does.
    fn enter(&mut self, header: BlockId) -> bool {
        let component = self.components[header.index()];
        self.header = header;
        self.latches.clear();
        // Every loop turns back to an earlier place of the code somewhere.
        let before = self.cfg.block(header).predecessors.iter();
        self.latches.extend(before.filter(|block| **block >= header));
        self.latches.retain(|block| self.components[block.index()] == component);
        if component == u32::MAX || self.latches.is_empty() {
            return false;
        }
        self.within.clear();
        self.within.add(header.index());
        self.blocks.clear();
        self.blocks.push(header);
        let mut work = self.latches.clone();
        while let Some(block) = work.pop() {
            if self.components[block.index()] == component && self.within.add(block.index()) {
                self.blocks.push(block);
                work.extend(&self.cfg.block(block).predecessors);
            }
        }
        true
    }

    fn is_within(&self, block: BlockId) -> bool {
        self.within.has(block.index())
    }

    /// Whether any instruction of the loop is such.
    fn any(&self, is: impl Fn(&VInst) -> bool) -> bool {
        self.blocks.iter().any(|block| self.body.code[self.cfg.block(*block).range()].iter().any(&is))
    }

    /// What such instructions of the loop use decides.
    fn need(&mut self, is: impl Fn(&VInst) -> bool) {
        for block in &self.blocks {
            let insts = &self.body.code[self.cfg.block(*block).range()];
            insts.iter().filter(|inst| is(inst)).for_each(|inst| self.decides.need(inst));
        }
    }

    /// Whether what other threads do may decide when lanes leave the loop.
    fn waits(&mut self) -> bool {
        if !self.any(|inst| reads_others(inst) || is_call(inst)) {
            return false;
        }
        self.decides.clear();
        for block in &self.blocks {
            let Block { successors, .. } = self.cfg.block(*block);
            let leaves = successors.iter().any(|next| !self.within.has(next.index()));
            for inst in &self.body.code[self.cfg.block(*block).range()] {
                let decides = match inst.op.traits().flow {
                    Flow::End => true,
                    Flow::Branch | Flow::Indexed { .. } => leaves,
                    Flow::Next | Flow::Call { .. } | Flow::Return { .. } => false,
                };
                if decides {
                    self.decides.need(inst);
                }
            }
        }
        // What a function that is apart returns may be what others wrote.
        !self.decides.work.is_empty() && self.any(is_call) || self.depends()
    }

    /// Whether what decides depends on what others write.
    fn depends(&mut self) -> bool {
        let (mut has_stores, mut has_ways) = (false, false);
        while let Some(register) = self.decides.work.pop() {
            for place in 0..self.writers[register.0 as usize].len() {
                let writer = self.writers[register.0 as usize][place] as usize;
                let block = self.cfg.block_of[writer];
                let inst = &self.body.code[writer];
                if !self.is_within(block) || self.ends_by_itself(inst) {
                    continue;
                }
                if reads_others(inst) {
                    return true;
                }
                self.decides.need(inst);
                let stores = reads_own(inst);
                if stores && !has_stores {
                    has_stores = true;
                    self.need(|inst| matches!(inst.op, Op::Store(_)));
                }
                // Whether it is written at all depends on the way that a lane takes.
                if !has_ways && (stores || !self.is_on_every_trip(block)) {
                    has_ways = true;
                    self.need(|inst| matches!(inst.op.traits().flow, Flow::Branch | Flow::Indexed { .. }));
                }
            }
        }
        false
    }

    /// Whether it is an atomic whose value ends a loop without anything that others do.
    fn ends_by_itself(&mut self, inst: &VInst) -> bool {
        let changes = |other: &VInst| {
            matches!(other.op, Op::Store(_) | Op::Atomic { .. } | Op::Reduce { .. })
                && !std::ptr::eq(other, inst)
                && is_same_place(other, inst)
        };
        counts(inst) && !self.any(changes) || self.tries_again(inst)
    }

    /// Whether it is a `cas` with a value that the loop has read in the same place.
    fn tries_again(&mut self, inst: &VInst) -> bool {
        let (Op::Atomic { op: AtomicOp::Cas, .. }, Some(VSrc::Reg(compared, _))) = (inst.op, inst.src.get(1))
        else {
            return false;
        };
        self.compared.clear();
        self.compared.needed.add(compared.0 as usize);
        self.compared.work.push(*compared);
        while let Some(register) = self.compared.work.pop() {
            for writer in &self.writers[register.0 as usize] {
                let writer = *writer as usize;
                let read = &self.body.code[writer];
                if !self.within.has(self.cfg.block_of[writer].index()) {
                    continue;
                }
                if !matches!(read.op, Op::Atomic { .. } | Op::Load(_)) {
                    self.compared.need(read);
                } else if is_same_place(read, inst) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether no trip through the loop goes past a block.
    fn is_on_every_trip(&mut self, block: BlockId) -> bool {
        if block == self.header {
            return true;
        }
        self.seen.clear();
        self.seen.add(block.index());
        self.seen.add(self.header.index());
        let mut work = vec![self.header];
        while let Some(from) = work.pop() {
            if self.latches.contains(&from) {
                return false;
            }
            for next in &self.cfg.block(from).successors {
                if self.within.has(next.index()) && self.seen.add(next.index()) {
                    work.push(*next);
                }
            }
        }
        true
    }
}

fn is_call(inst: &VInst) -> bool {
    matches!(inst.op.traits().flow, Flow::Call { .. })
}
