//! Loops in which lanes wait for other threads.
//!
//! With independent threads, lanes that turn back in such a loop give way to others of their warp, as at the `YIELD` that a compiler puts
//! there. A loop is one when its end may depend on what another thread does to memory: when a strong load, an
//! atomic or a test of an mbarrier decides, directly or by what is computed from it or done because of it, whether lanes leave. So a loop
//! that takes a lock or polls a flag is one; a loop over data is none, however different its lanes' trip counts are.
//!
//! No lane waits for another in a loop that tries a `cas` again with the value that it has just read: it fails only where another
//! succeeds. Nor in one that adds to a counter, where each trip gets a number of its own.
//!
//! Weak loads are left out. Memory that another thread writes meanwhile must not be read by them (PTX ISA, "Memory
//! Consistency Model": a data race), and compilers read it once, before the loop.

use super::body::{Body, definitions, uses};
use super::cfg::{BlockId, Cfg};
use crate::ir::{Constant, VInst, VReg, VSrc};
use crate::isa::{AtomicOp, CacheOp, Flow, Op, Ordering, Space};

/// For each instruction, whether it turns back in a loop in which lanes may wait for others. `cfg` has the functions apart.
pub fn turns(body: &Body, cfg: &Cfg) -> Vec<bool> {
    let mut turns = vec![false; body.code.len()];
    let waits = body.code.iter().any(reads_others);
    if !waits {
        return turns;
    }
    let mut search = Search::new(body, cfg);
    for header in 0..cfg.blocks.len() as u32 {
        let header = BlockId(header);
        // Every loop turns back to an earlier place of the code somewhere.
        let latches = cfg.block(header).predecessors.iter().filter(|latch| **latch >= header);
        if search.enter(header, latches.clone().copied()) && search.waits() {
            for latch in latches {
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
        Op::Atomic { op: AtomicOp::Add | AtomicOp::Inc | AtomicOp::Dec, .. } => {
            matches!(inst.src.get(1), Some(VSrc::Const(Constant::Bits(0))))
        }
        Op::Atomic { .. } => true,
        Op::Mbarrier(barrier) => barrier.op.is_test(),
        _ => false,
    }
}

/// Whether it reads memory of a thread itself, where what the thread has put there comes back.
fn reads_own(inst: &VInst) -> bool {
    matches!(inst.op, Op::Load(mode) if matches!(mode.space, Space::Local | Space::Generic))
}

/// Looks at one loop after the other.
struct Search<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    /// For each register, the instructions that write it.
    writers: Vec<Vec<u32>>,
    /// The loop: its blocks, and for each block the number of the last loop that it was in.
    blocks: Vec<BlockId>,
    within: Vec<u32>,
    number: u32,
    header: BlockId,
    latches: Vec<BlockId>,
}

impl<'a> Search<'a> {
    fn new(body: &'a Body, cfg: &'a Cfg) -> Search<'a> {
        let mut writers = vec![Vec::new(); body.registers.len()];
        for (at, inst) in body.code.iter().enumerate() {
            for register in definitions(inst) {
                writers[register.0 as usize].push(at as u32);
            }
        }
        let within = vec![0; cfg.blocks.len()];
        Search {
            body,
            cfg,
            writers,
            blocks: Vec::new(),
            within,
            number: 0,
            header: BlockId(0),
            latches: Vec::new(),
        }
    }

    /// Goes to the loop of a header and those who turn back to it. False when there is none.
    fn enter(&mut self, header: BlockId, latches: impl Iterator<Item = BlockId>) -> bool {
        self.number += 1;
        self.header = header;
        self.latches.clear();
        self.latches.extend(latches);
        self.blocks.clear();
        let mut work = self.latches.clone();
        if work.is_empty() {
            return false;
        }
        self.within[header.index()] = self.number;
        self.blocks.push(header);
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut self.within[block.index()], self.number) != self.number {
                self.blocks.push(block);
                work.extend(&self.cfg.block(block).predecessors);
            }
        }
        true
    }

    fn is_within(&self, block: BlockId) -> bool {
        self.within[block.index()] == self.number
    }

    fn instructions(&self) -> impl Iterator<Item = &'a VInst> {
        let (body, cfg) = (self.body, self.cfg);
        self.blocks.iter().flat_map(move |block| &body.code[cfg.block(*block).range()])
    }

    /// Whether what other threads do may decide when lanes leave the loop.
    fn waits(&self) -> bool {
        if !self.instructions().any(|inst| reads_others(inst) || is_call(inst)) {
            return false;
        }
        let mut slice = Slice::new(self.body.registers.len());
        for &block in &self.blocks {
            let leaves = self.cfg.block(block).successors.iter().any(|next| !self.is_within(*next));
            for inst in &self.body.code[self.cfg.block(block).range()] {
                let ends = match inst.op.traits().flow {
                    Flow::End => true,
                    Flow::Branch | Flow::Indexed { .. } => leaves,
                    Flow::Next | Flow::Call { .. } | Flow::Return { .. } => false,
                };
                if ends {
                    slice.need(uses(inst));
                }
            }
        }
        // What a function that is apart returns may be what others wrote.
        slice.is_needed() && self.instructions().any(is_call) || self.depends(&mut slice, reads_others)
    }

    /// Whether what is needed depends on an instruction of the loop that `reads`.
    fn depends(&self, slice: &mut Slice, reads: fn(&VInst) -> bool) -> bool {
        while let Some(register) = slice.work.pop() {
            for &writer in &self.writers[register.0 as usize] {
                let block = self.cfg.block_of[writer as usize];
                if !self.is_within(block) {
                    continue;
                }
                let inst = &self.body.code[writer as usize];
                if self.tries_again(inst) {
                    continue;
                }
                if reads(inst) {
                    return true;
                }
                slice.need(uses(inst));
                if reads_own(inst) && !std::mem::replace(&mut slice.has_stores, true) {
                    let stores = self.instructions().filter(|inst| matches!(inst.op, Op::Store(_)));
                    stores.for_each(|store| slice.need(uses(store)));
                    slice.has_ways |= self.need_ways(slice);
                }
                if !slice.has_ways && !self.is_on_every_trip(block) {
                    slice.has_ways = self.need_ways(slice);
                }
            }
        }
        false
    }

    /// What decides which way lanes take through the loop is needed. Returns true.
    fn need_ways(&self, slice: &mut Slice) -> bool {
        let branches = |inst: &&VInst| matches!(inst.op.traits().flow, Flow::Branch | Flow::Indexed { .. });
        self.instructions().filter(branches).for_each(|branch| slice.need(uses(branch)));
        true
    }

    /// Whether it is a `cas` with a value that the loop itself has read before.
    fn tries_again(&self, inst: &VInst) -> bool {
        let Op::Atomic { op: AtomicOp::Cas, .. } = inst.op else { return false };
        let Some(VSrc::Reg(compared, _)) = inst.src.get(1) else { return false };
        let mut seen = Slice::new(self.body.registers.len());
        seen.need([*compared].into_iter());
        while let Some(register) = seen.work.pop() {
            for &writer in &self.writers[register.0 as usize] {
                let inst = &self.body.code[writer as usize];
                if !self.is_within(self.cfg.block_of[writer as usize]) {
                    continue;
                }
                if matches!(inst.op, Op::Atomic { .. } | Op::Load(_)) {
                    return true;
                }
                seen.need(uses(inst));
            }
        }
        false
    }

    /// Whether no trip through the loop goes past a block.
    fn is_on_every_trip(&self, block: BlockId) -> bool {
        if block == self.header {
            return true;
        }
        let mut seen = vec![self.header, block];
        let mut next = 0;
        while let Some(&from) = seen.get(next) {
            next += 1;
            if from == block {
                continue;
            }
            if self.latches.contains(&from) {
                return false;
            }
            for successor in &self.cfg.block(from).successors {
                if self.is_within(*successor) && !seen.contains(successor) {
                    seen.push(*successor);
                }
            }
        }
        true
    }
}

/// Registers whose values are needed.
struct Slice {
    needed: Vec<bool>,
    work: Vec<VReg>,
    /// Whether what the loop stores is among them.
    has_stores: bool,
    /// Whether what all its branches decide by is.
    has_ways: bool,
}

impl Slice {
    fn new(registers: usize) -> Slice {
        Slice { needed: vec![false; registers], work: Vec::new(), has_stores: false, has_ways: false }
    }

    fn need(&mut self, registers: impl Iterator<Item = VReg>) {
        for register in registers {
            if !std::mem::replace(&mut self.needed[register.0 as usize], true) {
                self.work.push(register);
            }
        }
    }

    fn is_needed(&self) -> bool {
        !self.work.is_empty()
    }
}

fn is_call(inst: &VInst) -> bool {
    matches!(inst.op.traits().flow, Flow::Call { .. })
}
