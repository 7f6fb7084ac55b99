//! Which registers may not share a place, and which would like to.

use super::body::{Body, copy, definitions, uses};
use super::cfg::Cfg;
use super::live_set::LiveSet;
use super::liveness::Liveness;
use super::webs::Union;
use crate::ir::{VDst, VReg, VSrc};
use crate::isa::{Op, Ty};
use std::collections::HashSet;

/// The interference graph after coalescing. A node is named by one of the registers in it.
pub struct Graph {
    /// For each register, its node.
    pub node_of: Vec<u32>,
    /// The registers of each node, empty for a register that is not a node's name or is never used.
    pub members: Vec<Vec<VReg>>,
    /// Neighbours of each node, ascending, each once.
    pub neighbours: Vec<Vec<u32>>,
    /// Places that a node would like, relative to another node's.
    pub wishes: Vec<Vec<Wish>>,
}

/// "Put me `distance` rows above `other`": makes a pack or unpack a no-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The other node.
    pub other: u32,
    /// Rows, possibly negative.
    pub distance: i32,
}

impl Graph {
    /// Builds the graph of a body and merges the two sides of every copy that do not interfere.
    pub fn new(body: &Body, cfg: &Cfg, liveness: &Liveness) -> Graph {
        let registers = body.registers.len();
        let mut degrees = vec![0u32; registers];
        conflicts(body, cfg, liveness, |one, other| {
            degrees[one as usize] += 1;
            degrees[other as usize] += 1;
        });
        // With what they need and no more: the lists are most of the memory of a compilation.
        let mut neighbours: Vec<Vec<u32>> =
            degrees.into_iter().map(|degree| Vec::with_capacity(degree as usize)).collect();
        conflicts(body, cfg, liveness, |one, other| {
            neighbours[one as usize].push(other);
            neighbours[other as usize].push(one);
        });
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let mut graph = Graph {
            node_of: Vec::new(),
            members: vec![Vec::new(); registers],
            neighbours,
            wishes: vec![Vec::new(); registers],
        };
        graph.coalesce(body);
        let mut used = vec![false; registers];
        for inst in &body.code {
            uses(inst).chain(definitions(inst)).for_each(|reg| used[reg.0 as usize] = true);
        }
        for reg in (0..registers).filter(|reg| used[*reg]) {
            graph.members[graph.node_of[reg] as usize].push(VReg(reg as u32));
        }
        graph.collect_wishes(body);
        graph
    }

    /// Merges copy-related registers.
    fn coalesce(&mut self, body: &Body) {
        let mut nodes = Union::new(body.registers.len());
        // Pairs that were found to interfere: they always will.
        let mut refused: HashSet<(usize, usize)> = HashSet::new();
        for inst in &body.code {
            let Some((dst, src)) = copy(body, inst) else { continue };
            let (left, right) = (nodes.find(dst.0 as usize), nodes.find(src.0 as usize));
            // A temporary merged with a long life would keep that life from being spilled.
            if left == right || body.is_temporary(dst) || body.is_temporary(src) {
                continue;
            }
            // The longer list stays in place; the shorter one is searched and merged.
            let (keep, drop) = if self.neighbours[left].len() >= self.neighbours[right].len() {
                (left, right)
            } else {
                (right, left)
            };
            let pair = (left.min(right), left.max(right));
            if refused.contains(&pair) {
                continue;
            }
            if self.neighbours[drop].iter().any(|other| nodes.find(*other as usize) == keep) {
                refused.insert(pair);
                continue;
            }
            let mut moved = std::mem::take(&mut self.neighbours[drop]);
            for other in &mut moved {
                *other = nodes.find(*other as usize) as u32;
                self.neighbours[*other as usize].push(keep as u32);
            }
            self.neighbours[keep].append(&mut moved);
            nodes.union(keep, drop);
        }
        self.node_of = (0..body.registers.len()).map(|reg| nodes.find(reg) as u32).collect();
        for node in 0..self.neighbours.len() {
            let mut list = std::mem::take(&mut self.neighbours[node]);
            list.iter_mut().for_each(|other| *other = self.node_of[*other as usize]);
            list.sort_unstable();
            list.dedup();
            self.neighbours[node] = list;
        }
    }

    fn collect_wishes(&mut self, body: &Body) {
        for inst in &body.code {
            let (whole, pieces): (VReg, Vec<Option<VReg>>) = match inst.op {
                Op::Pack { whole: Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64, pieces: 2 } => {
                    let VDst::Reg(whole) = inst.dst[0] else { continue };
                    let piece = |src: &VSrc| if let VSrc::Reg(reg, _) = src { Some(*reg) } else { None };
                    (whole, inst.src.iter().map(piece).collect())
                }
                Op::Unpack { whole: Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64, pieces: 2 } => {
                    let VSrc::Reg(whole, _) = inst.src[0] else { continue };
                    let piece = |dst: &VDst| if let VDst::Reg(reg) = dst { Some(*reg) } else { None };
                    (whole, inst.dst.iter().map(piece).collect())
                }
                _ => continue,
            };
            for (half, piece) in pieces.into_iter().enumerate() {
                let Some(piece) = piece else { continue };
                let (whole, piece) = (self.node_of[whole.0 as usize], self.node_of[piece.0 as usize]);
                self.wishes[piece as usize].push(Wish { other: whole, distance: half as i32 });
                self.wishes[whole as usize].push(Wish { other: piece, distance: -(half as i32) });
            }
        }
    }
}

/// Visits each pair of registers of one file of which one is written while the other is live; some pairs come twice.
fn conflicts(body: &Body, cfg: &Cfg, liveness: &Liveness, mut visit: impl FnMut(u32, u32)) {
    backwards(body, cfg, liveness, |at, live| {
        let Some(at) = at else { return };
        let inst = &body.code[at];
        // The source of a copy holds the same value as its destination, so the two may share a place.
        let same = copy(body, inst).filter(|_| liveness.kills[at]).map_or(u32::MAX, |(_, src)| src.0);
        for reg in definitions(inst) {
            for other in live.like(reg) {
                if *other != reg.0 && *other != same {
                    visit(reg.0, *other);
                }
            }
        }
    });
}

/// Walks over each block from its end and shows each instruction with what is live behind it, its results included: one
/// that nobody reads still lands somewhere, so it is live for a moment. Last comes what is live at the block's start.
fn backwards(
    body: &Body,
    cfg: &Cfg,
    liveness: &Liveness,
    mut visit: impl FnMut(Option<usize>, &LiveSet<'_>),
) {
    let mut live = LiveSet::new(body);
    for block in &cfg.order {
        live.become_all(&liveness.live_out[block.index()]);
        for at in cfg.block(*block).range().rev() {
            let inst = &body.code[at];
            definitions(inst).for_each(|reg| _ = live.insert(reg));
            visit(Some(at), &live);
            if liveness.kills[at] {
                definitions(inst).for_each(|reg| _ = live.remove(reg));
            }
            uses(inst).for_each(|reg| _ = live.insert(reg));
        }
        visit(None, &live);
    }
}

/// How much is live, as far as that can be told without a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// The most 32-bit rows live at once.
    pub rows: usize,
    /// The most predicates live at once.
    pub predicates: usize,
    /// Pairs of a written and a live register: twice as many entries may the lists of neighbours have.
    pub conflicts: usize,
}

impl Pressure {
    /// Measures a body.
    pub fn new(body: &Body, cfg: &Cfg, liveness: &Liveness) -> Pressure {
        let mut pressure = Pressure::default();
        backwards(body, cfg, liveness, |at, live| {
            pressure.rows = pressure.rows.max(live.rows);
            pressure.predicates = pressure.predicates.max(live.predicates());
            let written = at.into_iter().flat_map(|at| definitions(&body.code[at]));
            pressure.conflicts += written.map(|reg| live.like(reg).len()).sum::<usize>();
        });
        pressure
    }
}
