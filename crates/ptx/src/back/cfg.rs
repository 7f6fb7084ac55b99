//! Basic blocks and the edges between them.

use super::body::{Body, ends_flow, targets};
use crate::isa::Flow;
use std::ops::Range;

/// Index of a block in its [`Cfg`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Instructions that run one after another.
#[derive(Clone, Debug)]
pub struct Block {
    /// First instruction.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// Where control may go next, each once.
    pub successors: Vec<BlockId>,
    /// Where control may come from, each once.
    pub predecessors: Vec<BlockId>,
}

impl Block {
    /// Its instructions.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The control flow graph of a body. A guarded exit or trap stays inside its block: the lanes that
/// it ends need nothing afterwards, and the others go on.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks in the order of the code; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// The block of each instruction.
    pub block_of: Vec<BlockId>,
    /// Blocks that the entry reaches, in reverse postorder.
    pub order: Vec<BlockId>,
}

/// Which edges calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// Into the functions and from there back to every place that they return to.
    Entered,
    /// To the place that they return to: functions are apart.
    Passed,
}

impl Cfg {
    /// Finds blocks and edges. Functions are part of the graph: a call goes to their entries, a return to every place
    /// where one of its kind was called.
    pub fn new(body: &Body) -> Cfg {
        Cfg::with(body, Calls::Entered)
    }

    /// The graphs of the kernel and of each function alone, side by side: a call goes on behind it, a return ends.
    /// Blocks are those of [`Cfg::new`].
    pub fn of_functions(body: &Body) -> Cfg {
        Cfg::with(body, Calls::Passed)
    }

    fn with(body: &Body, calls: Calls) -> Cfg {
        let code = &body.code;
        let mut leads = vec![false; code.len() + 1];
        leads[0] = true;
        for (at, inst) in code.iter().enumerate() {
            for target in targets(inst, &body.tables) {
                leads[target as usize] = true;
            }
            let flow = inst.op.traits().flow;
            if matches!(flow, Flow::Call { .. }) {
                leads[inst.target as usize] = true;
            }
            let splits = matches!(flow, Flow::Branch | Flow::Indexed { .. });
            leads[at + 1] |= splits || ends_flow(inst);
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut block_of = Vec::with_capacity(code.len());
        for (at, leads) in leads.iter().take(code.len()).enumerate() {
            if *leads {
                blocks.push(Block {
                    start: at as u32,
                    end: at as u32,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                });
            }
            block_of.push(BlockId(blocks.len() as u32 - 1));
            blocks.last_mut().expect("the first instruction leads a block").end += 1;
        }
        // For each block, the last block whose successors include it, plus one.
        let mut succeeds = vec![0; blocks.len()];
        for block in 0..blocks.len() {
            let last = blocks[block].end as usize - 1;
            let mut successors: Vec<BlockId> = Vec::new();
            if !ends_flow(&code[last]) {
                successors.push(block_of[last + 1]);
                succeeds[block_of[last + 1].index()] = block + 1;
            }
            let (passed, jumps) = match code[last].op.traits().flow {
                Flow::Call { .. } if calls == Calls::Passed => (Some(code[last].target), false),
                Flow::Return { .. } if calls == Calls::Passed => (None, false),
                Flow::Next
                | Flow::Branch
                | Flow::Indexed { .. }
                | Flow::Call { .. }
                | Flow::Return { .. }
                | Flow::End => (None, true),
            };
            let jumps = targets(&code[last], &body.tables).filter(|_| jumps);
            // A place that nothing returns to may be gone.
            for target in jumps.chain(passed).filter(|target| (*target as usize) < code.len()) {
                let successor = block_of[target as usize];
                if std::mem::replace(&mut succeeds[successor.index()], block + 1) != block + 1 {
                    successors.push(successor);
                }
            }
            for successor in &successors {
                blocks[successor.index()].predecessors.push(BlockId(block as u32));
            }
            blocks[block].successors = successors;
        }
        let mut roots = vec![BlockId(0)];
        if calls == Calls::Passed {
            for inst in code.iter().filter(|inst| matches!(inst.op.traits().flow, Flow::Call { .. })) {
                roots.extend(targets(inst, &body.tables).map(|entry| block_of[entry as usize]));
            }
        }
        let order = reverse_postorder_of(blocks.len(), &roots, |block| &blocks[block.index()].successors);
        Cfg { blocks, block_of, order }
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }
}

/// The nodes that `root` reaches, each before its successors except along back edges.
pub fn reverse_postorder<'a>(
    nodes: usize,
    root: BlockId,
    successors: impl Fn(BlockId) -> &'a [BlockId],
) -> Vec<BlockId> {
    reverse_postorder_of(nodes, &[root], successors)
}

/// As [`reverse_postorder`], for what any of several roots reaches.
fn reverse_postorder_of<'a>(
    nodes: usize,
    roots: &[BlockId],
    successors: impl Fn(BlockId) -> &'a [BlockId],
) -> Vec<BlockId> {
    let mut seen = vec![false; nodes];
    let mut order = Vec::new();
    // The first root leads the order, so it is searched last.
    for root in roots.iter().rev() {
        if std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        let mut stack = vec![(*root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match successors(*node).get(*next) {
                Some(successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[successor.index()], true) {
                        stack.push((*successor, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order
}
