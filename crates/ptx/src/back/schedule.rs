//! Orders the instructions of each block so that loads start early, as an assembler does.
//!
//! A warp issues in order and stalls at the first use of a value on its way, so the order decides how many of a
//! warp's accesses overlap. Text from compilers leaves each load beside its use. Here loads, and what their
//! addresses need, move up as far as dependences, memory order and a bound on the rows in flight
//! allow; everything else keeps its order.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use crate::ir::{Constant, VInst, VReg, VSrc};
use crate::isa::{Access, CacheOp, MemoryMode, Order, Space};
use std::ops::Range;

/// Bounds to try on the rows that loads of one block may have on the way before their first use, widest first; those
/// above [`Options::load_window`](super::Options::load_window) are left out. With zero the text's order stays.
pub const WINDOWS: [usize; 5] = [32, 16, 8, 4, 0];
/// Issue slots until a result can be used, in the order's own model of time.
const LOAD_LATENCY: u32 = 32;
const LATENCY: u32 = 4;

/// Reorders a body in place; loads put at most `window` rows in flight.
pub fn schedule(body: &mut Body, cfg: &Cfg, window: usize) {
    if window == 0 {
        return;
    }
    let mut scratch = Scratch::new(body.registers.len());
    for block in &cfg.order {
        let range = cfg.block(*block).range();
        let mut start = range.start;
        for at in range.clone() {
            if body.code[at].op.traits().order == Order::Wall {
                segment(body, start..at, &mut scratch, window);
                start = at + 1;
            }
        }
        segment(body, start..range.end, &mut scratch, window);
    }
}

/// The base of an access of which nothing is known.
const UNKNOWN: (u64, usize) = (u64::MAX, 0);

/// Where an access lies, when that is known relative to others: the address operand, which write of it is meant,
/// and the bytes.
struct Extent {
    access: Access,
    base: (u64, usize),
    bytes: Range<i64>,
}

impl Extent {
    fn new(inst: &VInst, access: Access, version: impl Fn(VReg) -> usize) -> Extent {
        let bytes = (access.mode.ty.bytes() * usize::from(access.mode.vector)) as i64;
        let (base, from) = match inst.src[0] {
            _ if !access.is_addressed => (UNKNOWN, 0),
            VSrc::Reg(reg, _) => ((u64::from(reg.0), version(reg)), 0),
            VSrc::Const(Constant::Bits(bits)) => ((u64::MAX - 1, 0), bits as i64),
            VSrc::Const(Constant::Symbol { symbol, addend }) => ((1 << 32 | u64::from(symbol), 0), addend),
            _ => (UNKNOWN, 0),
        };
        // Addresses in the windows are sums of low words. What is so far off that it may wrap is not known.
        let narrow = matches!(access.mode.space, Space::Shared | Space::Local | Space::Param);
        let from = from.wrapping_add(inst.offset);
        let from = if narrow { i64::from(from as i32) } else { from };
        let base = if from.unsigned_abs() >> 30 == 0 { base } else { UNKNOWN };
        Extent { access, base, bytes: from..from.wrapping_add(bytes) }
    }

    /// Whether the two must keep their order.
    fn conflicts(&self, other: &Extent) -> bool {
        let (mine, theirs) = (self.access.mode, other.access.mode);
        // Nothing is gained by reordering writes.
        if self.access.writes && other.access.writes {
            return true;
        }
        if !self.access.writes && !other.access.writes {
            return false;
        }
        let read_only = |mode: MemoryMode| {
            matches!(mode.space, Space::Const | Space::Param) || mode.cache == CacheOp::NonCoherent
        };
        let apart =
            mine.space != theirs.space && mine.space != Space::Generic && theirs.space != Space::Generic;
        // The same number means another place in another space: a generic address of a window, and an offset in it.
        let disjoint = mine.space == theirs.space
            && self.base == other.base
            && self.base != UNKNOWN
            && (self.bytes.end <= other.bytes.start || other.bytes.end <= self.bytes.start);
        !(apart || disjoint || read_only(mine) || read_only(theirs))
    }
}

/// Per-register bookkeeping, kept between segments.
struct Scratch {
    last_write: Vec<u32>,
    readers: Vec<Vec<u32>>,
    touched: Vec<VReg>,
}

impl Scratch {
    fn new(registers: usize) -> Scratch {
        Scratch {
            last_write: vec![u32::MAX; registers],
            readers: vec![Vec::new(); registers],
            touched: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for reg in self.touched.drain(..) {
            self.last_write[reg.0 as usize] = u32::MAX;
            self.readers[reg.0 as usize].clear();
        }
    }
}

/// The dependences of a segment; instructions are numbered from its start.
struct Dependences {
    /// Who waits for each instruction, and for how long.
    successors: Vec<Vec<(u32, u32)>>,
    /// How many each instruction waits for.
    waits_for: Vec<u32>,
    /// Whether a load's address depends on the instruction, or it is one.
    feeds_load: Vec<bool>,
    /// For each load, the rows it brings and how many instructions use them.
    rows: Vec<usize>,
}

fn dependences(code: &[VInst], body: &Body, scratch: &mut Scratch) -> Dependences {
    let mut successors: Vec<Vec<(u32, u32)>> = vec![Vec::new(); code.len()];
    let mut waits_for = vec![0; code.len()];
    let orders: Vec<Order> = code.iter().map(|inst| inst.op.traits().order).collect();
    let is_load = |order: &Order| matches!(order, Order::Access(access) if access.is_load());
    let mut feeds_load: Vec<bool> = orders.iter().map(is_load).collect();
    let rows = |inst: &VInst| definitions(inst).map(|reg| body.ty(reg).rows()).sum();
    let rows = code.iter().zip(&feeds_load).map(|(inst, load)| if *load { rows(inst) } else { 0 }).collect();
    let mut makers: Vec<Vec<u32>> = vec![Vec::new(); code.len()];
    let mut extents: Vec<(u32, Extent)> = Vec::new();
    let mut last_collective = None;
    for (at, inst) in code.iter().enumerate() {
        let mut edge = |from: u32, latency: u32| {
            successors[from as usize].push((at as u32, latency));
            waits_for[at] += 1;
        };
        let latency = |from: u32| match orders[from as usize] {
            Order::Access(_) => LOAD_LATENCY,
            Order::Free | Order::Collective | Order::Wall => LATENCY,
        };
        for reg in uses(inst) {
            let from = scratch.last_write[reg.0 as usize];
            if from != u32::MAX {
                edge(from, latency(from));
                makers[at].push(from);
            }
        }
        for reg in definitions(inst) {
            let from = scratch.last_write[reg.0 as usize];
            if from != u32::MAX {
                edge(from, latency(from));
            }
            for &reader in &scratch.readers[reg.0 as usize] {
                edge(reader, 0);
            }
        }
        if orders[at] == Order::Collective {
            last_collective.replace(at as u32).into_iter().for_each(|from| edge(from, 0));
        }
        if let Order::Access(access) = orders[at] {
            let extent = Extent::new(inst, access, |reg| scratch.last_write[reg.0 as usize] as usize);
            for (other, earlier) in &extents {
                if extent.conflicts(earlier) {
                    edge(*other, 0);
                }
            }
            extents.push((at as u32, extent));
        }
        for reg in uses(inst) {
            scratch.readers[reg.0 as usize].push(at as u32);
            scratch.touched.push(reg);
        }
        for reg in definitions(inst) {
            scratch.last_write[reg.0 as usize] = at as u32;
            scratch.readers[reg.0 as usize].clear();
            scratch.touched.push(reg);
        }
    }
    scratch.clear();
    for at in (0..code.len()).rev() {
        if feeds_load[at] {
            for from in &makers[at] {
                feeds_load[*from as usize] = true;
            }
        }
    }
    Dependences { successors, waits_for, feeds_load, rows }
}

/// Reorders the instructions of a range.
fn segment(body: &mut Body, range: Range<usize>, scratch: &mut Scratch, window: usize) {
    if range.len() < 2 {
        return;
    }
    let order = {
        let code = &body.code[range.clone()];
        let dependences = dependences(code, body, scratch);
        if !dependences.rows.iter().any(|rows| *rows > 0) {
            return;
        }
        order(dependences, window)
    };
    let mut old: Vec<Option<VInst>> = body.code[range.clone()].iter().cloned().map(Some).collect();
    for (to, from) in range.zip(order) {
        body.code[to] = old[from as usize].take().expect("each instruction is placed once");
    }
}

/// List scheduling: each slot takes, of the instructions whose operands are there, one that a load waits
/// for if rows may still be put in flight, else the first in the text.
fn order(mut dependences: Dependences, window: usize) -> Vec<u32> {
    let count = dependences.waits_for.len();
    let mut usable_at = vec![0u32; count];
    let mut ready: Vec<u32> =
        (0..count as u32).filter(|at| dependences.waits_for[*at as usize] == 0).collect();
    let mut landed = vec![false; count];
    let mut loaded_by: Vec<Vec<u32>> = vec![Vec::new(); count];
    let (mut in_flight, mut now) = (0, 0);
    let mut order = Vec::with_capacity(count);
    while !ready.is_empty() {
        let rank = |at: u32| {
            let fits = in_flight + dependences.rows[at as usize] <= window;
            let hurried = dependences.feeds_load[at as usize] && fits;
            // What must wait comes last, the shortest wait first.
            (usable_at[at as usize].max(now), !hurried, at)
        };
        let chosen = (0..ready.len()).min_by_key(|n| rank(ready[*n])).expect("something is ready");
        let at = ready.swap_remove(chosen);
        now = usable_at[at as usize].max(now) + 1;
        order.push(at);
        for load in std::mem::take(&mut loaded_by[at as usize]) {
            if !std::mem::replace(&mut landed[load as usize], true) {
                in_flight -= dependences.rows[load as usize];
            }
        }
        in_flight += dependences.rows[at as usize];
        for (to, latency) in std::mem::take(&mut dependences.successors[at as usize]) {
            let to_index = to as usize;
            if latency == LOAD_LATENCY && dependences.rows[at as usize] > 0 {
                loaded_by[to_index].push(at);
            }
            usable_at[to_index] = usable_at[to_index].max(now - 1 + latency);
            dependences.waits_for[to_index] -= 1;
            if dependences.waits_for[to_index] == 0 {
                ready.push(to);
            }
        }
    }
    order
}
