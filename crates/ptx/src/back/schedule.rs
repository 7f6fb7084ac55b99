//! Orders the instructions of each block so that loads start early, as an assembler does.
//!
//! A warp issues in order and stalls at the first use of a value on its way, so the order decides how many of a
//! warp's accesses overlap. Text from compilers leaves each load beside its use. Here loads, and what their
//! addresses need, move up as far as dependences, memory order and bounds on the rows in flight and on the rows
//! that are live allow; everything else keeps its order. `docs/loads.md` compares the outcome with ptxas.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use super::live_set::LiveSet;
use super::liveness::Liveness;
use super::memory_order::{Extent, MemoryOrder};
use crate::ir::{VInst, VReg};
use crate::isa::{Order, Width};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Issue slots until a result can be used, in the order's own model of time. A load takes longer than what could hide it:
/// those by a loaded address come after the others, as in ptxas's code. No figure of `docs/loads.md` differs from 128 to 512.
const LOAD_LATENCY: u32 = 256;
/// Windows that are tried where rows run out, each half as wide as the one before.
const NARROWER: usize = 5;
const LATENCY: u32 = 4;

/// What bounds how far loads move.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most rows that loads may have on the way.
    pub window: usize,
    /// Most rows that may be live together where loads have moved.
    pub live: usize,
}

/// A body with its instructions in order, and the most rows that are live together in it.
pub struct Ordered {
    /// The body.
    pub body: Body,
    /// Rows.
    pub live: usize,
}

/// Orders a body. Each stretch of code between walls has the widest window that keeps to the bound on live rows; where none
/// does, the order with the fewest.
pub fn schedule(body: &Body, cfg: &Cfg, liveness: &Liveness, bounds: Bounds) -> Ordered {
    let mut scratch = Scratch::new(body.registers.len());
    let mut live = LiveRows::new(body, liveness);
    let mut code = body.code.clone();
    let mut most = 0;
    for block in &cfg.order {
        let range = cfg.block(*block).range();
        live.begin(&liveness.live_out[block.index()]);
        let mut end = range.end;
        for at in range.clone().rev() {
            if body.code[at].op.traits().order == Order::Wall {
                most = most.max(segment(&mut code, body, at + 1..end, &mut scratch, &mut live, bounds));
                most = most.max(live.walk(at, &[0]));
                end = at;
            }
        }
        most = most.max(segment(&mut code, body, range.start..end, &mut scratch, &mut live, bounds));
    }
    let mut ordered = body.clone();
    ordered.code = code;
    Ordered { body: ordered, live: most }
}

/// The rows that are live, followed back through a block.
struct LiveRows<'a> {
    body: &'a Body,
    kills: &'a [bool],
    set: LiveSet<'a>,
    /// What the last walk put in, and took out.
    changes: Vec<(VReg, bool)>,
}

impl<'a> LiveRows<'a> {
    fn new(body: &'a Body, liveness: &'a Liveness) -> LiveRows<'a> {
        LiveRows { body, kills: &liveness.kills, set: LiveSet::new(body), changes: Vec::new() }
    }

    /// Goes to the end of a block.
    fn begin(&mut self, live_out: &[u32]) {
        self.set.become_all(live_out);
    }

    /// Goes back over instructions, numbered from `start`, in an order; the most rows that are live together on the way.
    fn walk(&mut self, start: usize, order: &[u32]) -> usize {
        self.changes.clear();
        let mut most = self.set.rows;
        for at in order.iter().rev().map(|at| start + *at as usize) {
            let inst = &self.body.code[at];
            definitions(inst).for_each(|reg| self.put(reg));
            most = most.max(self.set.rows);
            if self.kills[at] {
                definitions(inst).for_each(|reg| self.take(reg));
            }
            uses(inst).for_each(|reg| self.put(reg));
            most = most.max(self.set.rows);
        }
        most
    }

    /// Goes back to where the last walk began.
    fn undo(&mut self) {
        for (reg, came) in self.changes.drain(..).rev() {
            if came {
                self.set.remove(reg)
            } else {
                self.set.insert(reg)
            };
        }
    }

    fn put(&mut self, reg: VReg) {
        if self.set.insert(reg) {
            self.changes.push((reg, true));
        }
    }

    fn take(&mut self, reg: VReg) {
        if self.set.remove(reg) {
            self.changes.push((reg, false));
        }
    }
}

/// Per-register bookkeeping, kept between segments.
struct Scratch {
    last_write: Vec<u32>,
    readers: Vec<Vec<u32>>,
    touched: Vec<VReg>,
    lives: Vec<Life>,
}

impl Scratch {
    fn new(registers: usize) -> Scratch {
        Scratch {
            last_write: vec![u32::MAX; registers],
            readers: vec![Vec::new(); registers],
            touched: Vec::new(),
            lives: vec![Life::default(); registers],
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

/// Orders the instructions of a range, and says how many rows are live together there. `live` stands at its end, and then at
/// its start.
fn segment(
    code: &mut [VInst],
    body: &Body,
    range: Range<usize>,
    scratch: &mut Scratch,
    live: &mut LiveRows<'_>,
    bounds: Bounds,
) -> usize {
    let text: Vec<u32> = (0..range.len() as u32).collect();
    let in_range = &body.code[range.clone()];
    let is_load = |inst: &VInst| matches!(inst.op.traits().order, Order::Access(access) if access.is_load());
    if range.len() < 2 || bounds.window == 0 || !in_range.iter().any(is_load) {
        return live.walk(range.start, &text);
    }
    let dependences = dependences(in_range, body, scratch);
    for reg in in_range.iter().flat_map(|inst| uses(inst).chain(definitions(inst))) {
        scratch.lives[reg.0 as usize].later = live.set.contains(reg);
    }
    let mut best = (live.walk(range.start, &text), text);
    for window in std::iter::successors(Some(bounds.window), |window| Some(window / 2)).take(NARROWER) {
        let pressure = Pressure::new(body, in_range, &mut scratch.lives, &live.set);
        let order = order(&dependences, Bounds { window, ..bounds }, pressure);
        live.undo();
        let rows = live.walk(range.start, &order);
        let fits = rows <= bounds.live;
        if fits || rows < best.0 {
            best = (rows, order);
        }
        if fits {
            break;
        }
    }
    let (rows, order) = best;
    for (to, from) in range.clone().zip(order) {
        code[to] = in_range[from as usize].clone();
    }
    rows
}

/// What is known of a register while a stretch of code is ordered.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Reads that have no place in the order yet.
    reads: u32,
    /// Whether it has a value.
    here: bool,
    /// Whether that is needed behind the stretch.
    later: bool,
}

/// The rows that are live at the end of the order so far.
struct Pressure<'a> {
    body: &'a Body,
    code: &'a [VInst],
    lives: &'a mut [Life],
    rows: usize,
}

impl<'a> Pressure<'a> {
    /// At the start of a stretch, where `before` stands.
    fn new(body: &'a Body, code: &'a [VInst], lives: &'a mut [Life], before: &LiveSet<'_>) -> Pressure<'a> {
        for reg in code.iter().flat_map(|inst| uses(inst).chain(definitions(inst))) {
            let life = &mut lives[reg.0 as usize];
            *life = Life { reads: 0, here: before.contains(reg), later: life.later };
        }
        for reg in code.iter().flat_map(uses) {
            lives[reg.0 as usize].reads += 1;
        }
        Pressure { body, code, lives, rows: before.rows }
    }

    /// The rows that are live after an instruction that goes next.
    fn after(&self, at: u32) -> usize {
        let inst = &self.code[at as usize];
        let rows = |reg: VReg| Width::of(self.body.ty(reg)).rows();
        let reads = |reg: VReg| uses(inst).filter(|other| *other == reg).count() as u32;
        let writes = |reg: VReg| definitions(inst).any(|other| other == reg);
        let mut after = self.rows;
        for reg in definitions(inst) {
            let life = self.lives[reg.0 as usize];
            if !life.here && (life.later || life.reads > reads(reg)) {
                after += rows(reg);
            }
        }
        for (place, reg) in uses(inst).enumerate() {
            let life = self.lives[reg.0 as usize];
            let again = uses(inst).take(place).any(|other| other == reg);
            if life.here && !life.later && life.reads == reads(reg) && !again && !writes(reg) {
                after -= rows(reg);
            }
        }
        after
    }

    /// Puts an instruction next.
    fn pass(&mut self, at: u32) {
        self.rows = self.after(at);
        let inst = &self.code[at as usize];
        for reg in uses(inst) {
            let life = &mut self.lives[reg.0 as usize];
            life.reads -= 1;
            life.here &= life.later || life.reads > 0;
        }
        for reg in definitions(inst) {
            let life = &mut self.lives[reg.0 as usize];
            life.here = life.later || life.reads > 0;
        }
    }
}

/// List scheduling: each slot takes, of the instructions whose operands are there, one that a load waits for if that keeps to
/// the bounds, else the first in the text that does. Where none does, the first that is left in the text goes.
fn order(dependences: &Dependences, bounds: Bounds, mut pressure: Pressure<'_>) -> Vec<u32> {
    let mut waits_for = dependences.waits_for.clone();
    let count = waits_for.len();
    let mut usable_at = vec![0u32; count];
    let mut ready = Ready::new(count);
    for at in (0..count as u32).filter(|at| waits_for[*at as usize] == 0) {
        ready.add(at, 0);
    }
    let mut landed = vec![false; count];
    let mut loaded_by: Vec<Vec<u32>> = vec![Vec::new(); count];
    let (mut in_flight, mut now) = (0, 0);
    let mut order = Vec::with_capacity(count);
    let fits = |at: u32, in_flight: usize, pressure: &Pressure<'_>| {
        let after = pressure.after(at);
        in_flight + dependences.rows[at as usize] <= bounds.window && after <= bounds.live.max(pressure.rows)
    };
    while let Some(at) = ready.take(now, dependences, |at| fits(at, in_flight, &pressure)) {
        now = usable_at[at as usize].max(now) + 1;
        order.push(at);
        pressure.pass(at);
        for load in std::mem::take(&mut loaded_by[at as usize]) {
            if !std::mem::replace(&mut landed[load as usize], true) {
                in_flight -= dependences.rows[load as usize];
            }
        }
        in_flight += dependences.rows[at as usize];
        for &(to, latency) in &dependences.successors[at as usize] {
            let to_index = to as usize;
            if latency == LOAD_LATENCY && dependences.rows[at as usize] > 0 {
                loaded_by[to_index].push(at);
            }
            usable_at[to_index] = usable_at[to_index].max(now - 1 + latency);
            waits_for[to_index] -= 1;
            if waits_for[to_index] == 0 {
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
struct Ready {
    waiting: Smallest<(u32, u32)>,
    plain: Smallest<u32>,
    /// Those that a load waits for, by the rows that they put in flight themselves.
    hurried: Vec<Smallest<u32>>,
    /// Whether each has its place.
    placed: Vec<bool>,
    /// The first in the text that has none.
    first: usize,
}

impl Ready {
    fn new(count: usize) -> Ready {
        let (waiting, plain, hurried) = Default::default();
        Ready { waiting, plain, hurried, placed: vec![false; count], first: 0 }
    }

    fn add(&mut self, at: u32, usable_at: u32) {
        self.waiting.push(Reverse((usable_at, at)));
    }

    /// Takes the next instruction to issue at slot `now`; when the operands of none are there, as soon as one's are.
    fn take(&mut self, now: u32, dependences: &Dependences, fits: impl Fn(u32) -> bool) -> Option<u32> {
        while self.placed.get(self.first).copied()? {
            self.first += 1;
        }
        let mut until = now;
        let at = loop {
            while let Some(Reverse((usable_at, at))) = self.waiting.peek().copied() {
                if usable_at > until {
                    break;
                }
                self.waiting.pop();
                if !self.placed[at as usize] {
                    self.queue(at, dependences).push(Reverse(at));
                }
            }
            let heads = self.heads();
            let (hurried, plain) = heads.split_at(heads.len() - 1);
            let fitting =
                |heads: &[Option<u32>]| heads.iter().flatten().copied().filter(|at| fits(*at)).min();
            if let Some(at) = fitting(hurried).or_else(|| fitting(plain)) {
                break at;
            }
            match self.waiting.peek() {
                Some(Reverse((usable_at, _))) if heads.iter().all(Option::is_none) => until = *usable_at,
                _ => break self.first as u32,
            }
        };
        self.placed[at as usize] = true;
        Some(at)
    }

    /// The first in the text of each queue of those that can go, the plain ones last.
    fn heads(&mut self) -> Vec<Option<u32>> {
        let Ready { plain, hurried, placed, .. } = self;
        let head = |queue: &mut Smallest<u32>| loop {
            let Reverse(at) = *queue.peek()?;
            if !placed[at as usize] {
                break Some(at);
            }
            queue.pop();
        };
        hurried.iter_mut().chain([plain]).map(head).collect()
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
