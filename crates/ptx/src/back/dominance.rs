//! Dominators, loop depth, and where the lanes of a divergent branch meet again.

use super::body::Body;
use super::cfg::{Block, BlockId, Cfg, reverse_postorder};
use crate::isa::{Op, PC_NONE, Pc};

/// A tree of immediate dominators with constant-time queries.
#[derive(Clone, Debug)]
pub struct Dominators {
    idom: Vec<Option<BlockId>>,
    /// Preorder number of each node and the largest below it.
    span: Vec<(u32, u32)>,
}

impl Dominators {
    /// The dominators of the blocks that the entry reaches.
    pub fn new(cfg: &Cfg) -> Dominators {
        let idom = immediate(cfg.blocks.len(), &cfg.order, |block| &cfg.block(block).predecessors);
        let mut children: Vec<Vec<BlockId>> = vec![Vec::new(); cfg.blocks.len()];
        for block in &cfg.order {
            if let Some(parent) = idom[block.index()] {
                children[parent.index()].push(*block);
            }
        }
        let mut span = vec![(u32::MAX, 0); cfg.blocks.len()];
        let preorder = reverse_postorder(cfg.blocks.len(), BlockId(0), |block| &children[block.index()]);
        for (number, block) in preorder.iter().enumerate() {
            span[block.index()] = (number as u32, number as u32);
        }
        for block in preorder.iter().rev() {
            if let Some(parent) = idom[block.index()] {
                let last = span[block.index()].1;
                let parents = &mut span[parent.index()].1;
                *parents = (*parents).max(last);
            }
        }
        Dominators { idom, span }
    }

    /// The closest strict dominator; none for the entry and for unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block.index()]
    }

    /// Whether every path from the entry to `below` passes `above`.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let (first, last) = self.span[above.index()];
        (first..=last).contains(&self.span[below.index()].0)
    }

    /// Whether instruction `above` runs before instruction `below` on every path to it.
    pub fn instruction_dominates(&self, cfg: &Cfg, above: usize, below: usize) -> bool {
        let (from, to) = (cfg.block_of[above], cfg.block_of[below]);
        if from == to { above < below } else { self.dominates(from, to) }
    }
}

/// Immediate dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): iterate
/// over reverse postorder, intersecting along the tree. Irreducible graphs only take more rounds.
fn immediate<'a>(
    nodes: usize,
    order: &[BlockId],
    predecessors: impl Fn(BlockId) -> &'a [BlockId],
) -> Vec<Option<BlockId>> {
    let mut number = vec![u32::MAX; nodes];
    for (at, node) in order.iter().enumerate() {
        number[node.index()] = at as u32;
    }
    let mut idom: Vec<Option<BlockId>> = vec![None; nodes];
    let root = order[0];
    idom[root.index()] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in &order[1..] {
            let mut best: Option<BlockId> = None;
            for &predecessor in predecessors(node) {
                if idom[predecessor.index()].is_none() {
                    continue;
                }
                best = Some(match best {
                    None => predecessor,
                    Some(mut left) => {
                        let mut right = predecessor;
                        while left != right {
                            if number[left.index()] > number[right.index()] {
                                left = idom[left.index()].expect("processed nodes have a dominator");
                            } else {
                                right = idom[right.index()].expect("processed nodes have a dominator");
                            }
                        }
                        left
                    }
                });
            }
            changed |= idom[node.index()] != best;
            idom[node.index()] = best;
        }
    }
    idom[root.index()] = None;
    idom
}

/// Loops around each block: the number of natural loops that it lies in.
pub fn loop_depths(cfg: &Cfg, dominators: &Dominators) -> Vec<u32> {
    let mut depths = vec![0; cfg.blocks.len()];
    for &header in &cfg.order {
        let mut body = vec![false; cfg.blocks.len()];
        let mut work: Vec<BlockId> = Vec::new();
        for &latch in &cfg.block(header).predecessors {
            if dominators.dominates(header, latch) {
                work.push(latch);
            }
        }
        if work.is_empty() {
            continue;
        }
        body[header.index()] = true;
        depths[header.index()] += 1;
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut body[block.index()], true) {
                depths[block.index()] += 1;
                work.extend(&cfg.block(block).predecessors);
            }
        }
    }
    depths
}

/// For each block, the first instruction of its immediate post-dominator: where lanes that part ways at
/// its end meet again. [`PC_NONE`] when they meet only by exiting.
///
/// Post-dominance is taken over the lanes that stay: a path that can only end in an early exit, a
/// trap or an endless loop does not keep the others from meeting, as lanes that exit leave every
/// reconvergence stack. So blocks are ranked by the first of the ends that they reach, and an edge to a
/// block of higher rank is no path to the meeting point. Ends that lanes reach through a barrier come
/// first, as those who go there must be together; then the last in the code, as compilers place the return.
///
/// `cfg` has the functions apart ([`Cfg::of_functions`]): lanes meet in the function where they part, at the latest
/// where it returns, and those of a call where the call returns.
pub fn reconvergence(body: &Body, cfg: &Cfg) -> Vec<Pc> {
    let blocks = cfg.blocks.len();
    let exit = BlockId(blocks as u32);
    let mut rank = vec![u32::MAX; blocks + 1];
    let mut reversed: Vec<Vec<BlockId>> = vec![Vec::new(); blocks + 1];
    let mut forward: Vec<Vec<BlockId>> = vec![Vec::new(); blocks + 1];
    let mut reachable = vec![false; blocks];
    for block in &cfg.order {
        reachable[block.index()] = true;
    }
    let ends = |block: usize| cfg.blocks[block].successors.is_empty();
    let last = |block: usize| body.code[cfg.blocks[block].end as usize - 1].op;
    let exits = |block: usize| last(block) == Op::Exit;
    let returns = |block: usize| matches!(last(block), Op::Return { .. });
    let passed = behind_barriers(body, &Cfg::new(body));
    // Returns, then exits, then traps, then any block of what is left, which never ends.
    let kinds: [&dyn Fn(usize) -> bool; 5] =
        [&returns, &|b| ends(b) && exits(b) && passed[b], &|b| ends(b) && exits(b), &ends, &|_| true];
    let mut next_rank = 0;
    for kind in kinds {
        for root in (0..blocks).rev() {
            if !reachable[root] || rank[root] != u32::MAX || !kind(root) {
                continue;
            }
            rank[root] = next_rank;
            forward[root].push(exit);
            reversed[exit.index()].push(BlockId(root as u32));
            let mut work = vec![root];
            while let Some(block) = work.pop() {
                for predecessor in &cfg.blocks[block].predecessors {
                    let before = predecessor.index();
                    if reachable[before] && rank[before] == u32::MAX {
                        rank[before] = next_rank;
                        work.push(before);
                    }
                }
            }
            next_rank += 1;
        }
    }
    for block in &cfg.order {
        for successor in &cfg.block(*block).successors {
            if rank[successor.index()] == rank[block.index()] {
                forward[block.index()].push(*successor);
                reversed[successor.index()].push(*block);
            }
        }
    }
    let order = reverse_postorder(blocks + 1, exit, |block| &reversed[block.index()]);
    let idom = immediate(blocks + 1, &order, |block| &forward[block.index()]);
    (0..blocks)
        .map(|block| match idom[block] {
            Some(meet) if meet != exit => {
                let start = cfg.block(meet).start;
                // Nothing is saved by waiting for each other only to exit.
                let only_exits =
                    body.code[start as usize].op == Op::Exit && body.code[start as usize].guard.is_none();
                if only_exits { PC_NONE } else { start }
            }
            _ => PC_NONE,
        })
        .collect()
}

/// For each block, whether a barrier lies in it or on a way to it.
fn behind_barriers(body: &Body, cfg: &Cfg) -> Vec<bool> {
    let has = |block: &Block| body.code[block.range()].iter().any(|inst| matches!(inst.op, Op::Barrier(_)));
    let mut passed: Vec<bool> = cfg.blocks.iter().map(has).collect();
    let mut work: Vec<usize> = (0..passed.len()).filter(|block| passed[*block]).collect();
    while let Some(block) = work.pop() {
        for successor in &cfg.blocks[block].successors {
            if !std::mem::replace(&mut passed[successor.index()], true) {
                work.push(successor.index());
            }
        }
    }
    passed
}
