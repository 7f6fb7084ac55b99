//! Orders the instructions of each block so that loads start early, as an assembler does.
//!
//! A warp issues in order and stalls at the first use of a value on its way, so the order decides how many of a
//! warp's accesses overlap. Text from compilers leaves each load beside its use. Here loads, and what their
//! addresses need, move up as far as dependences, memory order and a bound on the rows in flight
//! allow; everything else keeps its order.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use super::memory_order::{Extent, MemoryOrder};
use crate::ir::{VInst, VReg};
use crate::isa::Order;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
    let mut memory = MemoryOrder::default();
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
            memory.add(at as u32, &extent, |from| edge(from, 0));
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
    let mut ready = Ready::default();
    for at in (0..count as u32).filter(|at| dependences.waits_for[*at as usize] == 0) {
        ready.add(at, 0);
    }
    let mut landed = vec![false; count];
    let mut loaded_by: Vec<Vec<u32>> = vec![Vec::new(); count];
    let (mut in_flight, mut now) = (0, 0);
    let mut order = Vec::with_capacity(count);
    while let Some(at) = ready.take(now, in_flight, window, &dependences) {
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
                ready.add(to, usable_at[to_index]);
            }
        }
    }
    order
}

/// A heap with the smallest first.
type Smallest<T> = BinaryHeap<Reverse<T>>;

/// Instructions that wait for no other: those whose operands are on their way, with the slot when they are there, and
/// those that can go.
#[derive(Default)]
struct Ready {
    waiting: Smallest<(u32, u32)>,
    plain: Smallest<u32>,
    /// Those that a load waits for, by the rows that they put in flight themselves.
    hurried: Vec<Smallest<u32>>,
}

impl Ready {
    fn add(&mut self, at: u32, usable_at: u32) {
        self.waiting.push(Reverse((usable_at, at)));
    }

    /// Takes the next instruction to issue at slot `now`; what must wait comes last, the shortest wait first.
    fn take(&mut self, now: u32, in_flight: usize, window: usize, dependences: &Dependences) -> Option<u32> {
        let nothing = self.plain.is_empty() && self.hurried.iter().all(BinaryHeap::is_empty);
        let first = self.waiting.peek().map_or(0, |Reverse((usable_at, _))| *usable_at);
        let until = if nothing { now.max(first) } else { now };
        while let Some(Reverse((usable_at, at))) = self.waiting.peek().copied() {
            if usable_at > until {
                break;
            }
            self.waiting.pop();
            self.queue(at, dependences).push(Reverse(at));
        }
        let next = |queue: &Smallest<u32>| queue.peek().map(|Reverse(at)| *at);
        let fitting = self.hurried.iter().enumerate().filter(|(rows, _)| in_flight + rows <= window);
        let hurried = fitting.filter_map(|(_, queue)| next(queue)).min();
        let at = hurried.or_else(|| self.hurried.iter().chain([&self.plain]).filter_map(next).min())?;
        self.queue(at, dependences).pop();
        Some(at)
    }

    fn queue(&mut self, at: u32, dependences: &Dependences) -> &mut Smallest<u32> {
        if !dependences.feeds_load[at as usize] {
            return &mut self.plain;
        }
        let rows = dependences.rows[at as usize];
        if self.hurried.len() <= rows {
            self.hurried.resize_with(rows + 1, BinaryHeap::new);
        }
        &mut self.hurried[rows]
    }
}
