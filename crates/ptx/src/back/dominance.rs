//! Dominators, loop depth, and where the lanes of a divergent branch meet again.

use super::body::Body;
use super::cfg::{Block, BlockId, Cfg, reverse_postorder};
use super::webs::Union;
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
        let idom = immediate(
            cfg.blocks.len(),
            cfg.order[0],
            |block| &cfg.block(block).successors,
            |block| &cfg.block(block).predecessors,
        );
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

    /// Number of a block: those that it dominates have the next higher ones.
    pub fn number(&self, block: BlockId) -> u32 {
        self.span[block.index()].0
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

/// Immediate dominators of the nodes that `root` reaches, by Lengauer and Tarjan, "A Fast Algorithm for Finding
/// Dominators in a Flowgraph" (1979), with path compression alone.
fn immediate<'a>(
    nodes: usize,
    root: BlockId,
    successors: impl Fn(BlockId) -> &'a [BlockId],
    predecessors: impl Fn(BlockId) -> &'a [BlockId],
) -> Vec<Option<BlockId>> {
    let Search { number, node, parent } = search(nodes, root, successors);
    let count = node.len();
    let mut forest = Forest::new(count);
    let mut idom = vec![0u32; count];
    // For each node, those whose semidominator it is.
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); count];
    for at in (1..count as u32).rev() {
        for before in predecessors(node[at as usize]) {
            let before = number[before.index()];
            if before != u32::MAX {
                let best = forest.evaluate(before);
                let semi = forest.semi[best as usize];
                forest.semi[at as usize] = forest.semi[at as usize].min(semi);
            }
        }
        bucket[forest.semi[at as usize] as usize].push(at);
        let up = parent[at as usize];
        forest.ancestor[at as usize] = up;
        for below in std::mem::take(&mut bucket[up as usize]) {
            let best = forest.evaluate(below);
            let closer = forest.semi[best as usize] < forest.semi[below as usize];
            idom[below as usize] = if closer { best } else { up };
        }
    }
    let mut result = vec![None; nodes];
    for at in 1..count {
        if idom[at] != forest.semi[at] {
            idom[at] = idom[idom[at] as usize];
        }
        result[node[at].index()] = Some(node[idom[at] as usize]);
    }
    result
}

/// A depth-first search from a root.
struct Search {
    /// Per node, when it was found; `u32::MAX` for one that was not.
    number: Vec<u32>,
    /// By number: the node.
    node: Vec<BlockId>,
    /// By number: the number of the node that it was found from.
    parent: Vec<u32>,
}

fn search<'a>(nodes: usize, root: BlockId, successors: impl Fn(BlockId) -> &'a [BlockId]) -> Search {
    let mut found = Search { number: vec![u32::MAX; nodes], node: vec![root], parent: vec![0] };
    found.number[root.index()] = 0;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        let (from, Some(&successor)) = (found.number[node.index()], successors(*node).get(*next)) else {
            stack.pop();
            continue;
        };
        *next += 1;
        if found.number[successor.index()] == u32::MAX {
            found.number[successor.index()] = found.node.len() as u32;
            found.node.push(successor);
            found.parent.push(from);
            stack.push((successor, 0));
        }
    }
    found
}

/// The part of the search tree whose semidominators are known; nodes go by number.
struct Forest {
    semi: Vec<u32>,
    /// The node with the smallest semidominator among those between one and its ancestor.
    best: Vec<u32>,
    /// Some node above in its tree; `u32::MAX` for a root.
    ancestor: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Forest {
        let own: Vec<u32> = (0..count as u32).collect();
        Forest { semi: own.clone(), best: own, ancestor: vec![u32::MAX; count], path: Vec::new() }
    }

    /// The node with the smallest semidominator from this one up to its root, the root left out.
    fn evaluate(&mut self, at: u32) -> u32 {
        let above = |forest: &Forest, at: u32| forest.ancestor[at as usize];
        if above(self, at) == u32::MAX {
            return at;
        }
        let mut top = at;
        while above(self, above(self, top)) != u32::MAX {
            self.path.push(top);
            top = above(self, top);
        }
        let root = above(self, top);
        while let Some(at) = self.path.pop() {
            let up = self.best[above(self, at) as usize];
            if self.semi[up as usize] < self.semi[self.best[at as usize] as usize] {
                self.best[at as usize] = up;
            }
            self.ancestor[at as usize] = root;
        }
        self.best[at as usize]
    }
}

/// Loops around each block: the number of natural loops that it lies in.
pub fn loop_depths(cfg: &Cfg, dominators: &Dominators) -> Vec<u32> {
    // Loops lie apart or inside each other. From the innermost outwards, each is put together under its header.
    let mut within = Union::new(cfg.blocks.len());
    let mut header_of: Vec<Option<BlockId>> = vec![None; cfg.blocks.len()];
    let mut depths = vec![0; cfg.blocks.len()];
    let mut work: Vec<BlockId> = Vec::new();
    for &header in cfg.order.iter().rev() {
        work.clear();
        let latches = &cfg.block(header).predecessors;
        work.extend(latches.iter().filter(|latch| dominators.dominates(header, **latch)));
        depths[header.index()] = u32::from(!work.is_empty());
        while let Some(block) = work.pop() {
            let outermost = within.find(block.index());
            if outermost != header.index() {
                within.union(header.index(), outermost);
                header_of[outermost] = Some(header);
                work.extend(&cfg.blocks[outermost].predecessors);
            }
        }
    }
    for block in &cfg.order {
        if let Some(header) = header_of[block.index()] {
            depths[block.index()] += depths[header.index()];
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
    let idom = immediate(blocks + 1, exit, |block| &reversed[block.index()], |block| &forward[block.index()]);
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
    let has = |block: &Block| body.code[block.range()].iter().any(|inst| inst.op.is_barrier());
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
