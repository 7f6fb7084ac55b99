//! Which registers may not share a place, and which would like to.

use super::bits::BitSet;
use super::body::{Body, copy, definitions, uses};
use super::cfg::Cfg;
use super::liveness::Liveness;
use super::webs::Union;
use crate::ir::{VDst, VReg, VSrc};
use crate::isa::{Op, Ty, Width};

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
    /// The most 32-bit rows live at once.
    pub pressure: usize,
    /// The most predicates live at once.
    pub predicate_pressure: usize,
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
        let mut builder = Builder {
            body,
            neighbours: vec![Vec::new(); registers],
            used: BitSet::new(registers),
            pressure: 0,
            predicate_pressure: 0,
        };
        for block in &cfg.order {
            let mut live = liveness.live_out[block.index()].clone();
            builder.measure(&live);
            for at in cfg.block(*block).range().rev() {
                builder.instruction(at, liveness.kills[at], &mut live);
            }
        }
        for list in &mut builder.neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let mut graph = Graph {
            node_of: Vec::new(),
            members: vec![Vec::new(); registers],
            neighbours: builder.neighbours,
            wishes: vec![Vec::new(); registers],
            pressure: builder.pressure,
            predicate_pressure: builder.predicate_pressure,
        };
        graph.coalesce(body);
        for reg in builder.used.iter() {
            graph.members[graph.node_of[reg] as usize].push(VReg(reg as u32));
        }
        graph.collect_wishes(body);
        graph
    }

    /// Merges copy-related registers.
    fn coalesce(&mut self, body: &Body) {
        let mut nodes = Union::new(body.registers.len());
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
            if self.neighbours[drop].iter().any(|other| nodes.find(*other as usize) == keep) {
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

struct Builder<'a> {
    body: &'a Body,
    neighbours: Vec<Vec<u32>>,
    used: BitSet,
    pressure: usize,
    predicate_pressure: usize,
}

impl Builder<'_> {
    /// Walks backwards over one instruction.
    fn instruction(&mut self, at: usize, kills: bool, live: &mut BitSet) {
        let inst = &self.body.code[at];
        // The source of a copy holds the same value as its destination, so the two may share a place.
        let same = copy(self.body, inst).filter(|_| kills).map(|(_, src)| src);
        // A result nobody reads still lands somewhere, so it is live for a moment.
        definitions(inst).for_each(|reg| {
            live.insert(reg.0 as usize);
            self.used.insert(reg.0 as usize);
        });
        for reg in definitions(inst) {
            for other in live.iter() {
                if other != reg.0 as usize && same != Some(VReg(other as u32)) {
                    self.edge(reg.0, other as u32);
                }
            }
        }
        self.measure(live);
        if kills {
            definitions(inst).for_each(|reg| live.remove(reg.0 as usize));
        }
        uses(inst).for_each(|reg| {
            live.insert(reg.0 as usize);
            self.used.insert(reg.0 as usize);
        });
        self.measure(live);
    }

    fn edge(&mut self, left: u32, right: u32) {
        let is_predicate = |reg: u32| self.body.ty(VReg(reg)) == Ty::Pred;
        if is_predicate(left) == is_predicate(right) {
            self.neighbours[left as usize].push(right);
            self.neighbours[right as usize].push(left);
        }
    }

    fn measure(&mut self, live: &BitSet) {
        let (mut rows, mut predicates) = (0, 0);
        for reg in live.iter() {
            match Width::of(self.body.ty(VReg(reg as u32))) {
                Width::Predicate => predicates += 1,
                width => rows += width.rows(),
            }
        }
        self.pressure = self.pressure.max(rows);
        self.predicate_pressure = self.predicate_pressure.max(predicates);
    }
}
