//! Physical registers: the fewest that hold every live value, within the limit.
//!
//! The fewest matters because the number of resident warps follows from it. Colouring is tried with as many
//! rows as are live at the worst point, then with one more, and so on; at the limit the values that found no
//! place go to local memory and everything begins again.

use super::body::Body;
use super::cfg::Cfg;
use super::color::{NO_PLACE, Outcome, Problem, Style};
use super::costs::use_costs;
use super::crowd;
use super::error::BackError;
use super::interference::{Graph, Pressure};
use super::limits::{Limits, RegisterAllocation, WideAccesses};
use super::liveness::Liveness;
use super::separate::{self, ValueNumbers};
use super::spill::{self, MAX_SPILLS, Slots};

use crate::ir::VReg;
use crate::isa::{Ty, Width};

/// A body whose registers all have a place.
pub struct Allocation {
    /// The code, spills included.
    pub body: Body,
    /// First row, or predicate number, of each register; [`NO_PLACE`] for one that is never used.
    pub places: Vec<u16>,
    /// 32-bit rows used.
    pub registers: u32,
    /// Predicates used.
    pub predicates: u32,
    /// Whether registers that are not live together may share a place.
    pub reuses: bool,
    /// What values are called, where that is not by their first row ([`WideAccesses::OneNumber`]).
    pub numbers: Option<ValueNumbers>,
    /// Local memory of the spills.
    pub slots: Slots,
    /// Whether so many registers are live together that each attempt is dear.
    pub crowded: bool,
}

impl Allocation {
    /// The place of a register that the code mentions.
    pub fn place(&self, reg: VReg) -> u8 {
        self.places[reg.0 as usize] as u8
    }
}

/// Most rows a thread can have.
const MAX_REGISTERS: usize = 255;
/// Most predicates a thread can have: a set of them is one word.
const MAX_PREDICATES: usize = 32;

/// Pairs of a written and a live register up to which a kernel gets the best code that is known: beyond, only one order is
/// tried, and what cannot have a place is spilled before there is a graph. ASSUMED: far above what compilers emit.
const CROWDED: usize = 1 << 22;
/// Most such pairs: their graph takes 512 MiB. ASSUMED: 263,000 instructions at the largest number of registers.
const MAX_CONFLICTS: usize = 1 << 26;
/// Pairs to look at while the fewest registers are sought; then as many are taken as there are.
const PATIENCE: usize = 1 << 28;

/// Gives every register of a body a place. Rows beyond `limits.registers` or predicates beyond
/// `limits.predicates` are used only when spilling cannot help.
pub fn allocate(mut body: Body, limits: Limits, local_bytes: u32) -> Result<Allocation, BackError> {
    let mut slots = Slots::new(local_bytes);
    let mut rows_limit = (limits.registers as usize).clamp(1, MAX_REGISTERS);
    let mut predicate_limit = (limits.predicates as usize).clamp(1, MAX_PREDICATES);
    let mut crowded = false;
    for round in 0.. {
        let cfg = Cfg::new(&body);
        let liveness = Liveness::new(&body, &cfg)?;
        let pressure = Pressure::new(&body, &cfg, &liveness);
        if pressure.conflicts > CROWDED {
            crowded = true;
            let victims = crowd::victims(&body, &cfg, &liveness, pressure, rows_limit, predicate_limit);
            if !victims.is_empty() {
                let groups: Vec<Vec<VReg>> = victims.into_iter().map(|reg| vec![reg]).collect();
                spill_groups(&mut body, &groups, &mut slots)?;
                continue;
            }
        }
        if pressure.conflicts > MAX_CONFLICTS {
            let what = "pairs of registers live at once";
            return Err(BackError::TooLarge { what, most: MAX_CONFLICTS });
        }
        let graph = Graph::new(&body, &cfg, &liveness);
        let costs = costs(&body, &cfg, &graph);
        let (mut rows, mut predicates) = (Vec::new(), Vec::new());
        let mut widths = vec![0u8; body.registers.len()];
        for (node, members) in graph.members.iter().enumerate() {
            if members.is_empty() {
                continue;
            }
            match Width::of(body.registers[node]) {
                Width::Predicate => {
                    widths[node] = 1;
                    predicates.push(node as u32);
                }
                width => {
                    widths[node] = width.rows() as u8;
                    rows.push(node as u32);
                }
            }
        }
        let of = |nodes| Problem { graph: &graph, nodes, widths: &widths, costs: &costs };
        let attempts = (PATIENCE / pressure.conflicts.max(1)).max(1);
        let in_memory = slots.bytes() > 0;
        let separate = limits.allocation == RegisterAllocation::Separate && !in_memory;
        let own = if !separate { None } else { separate::places(&body, rows_limit) };
        let row_colors = match &own {
            Some(_) => Ok(Vec::new()),
            None => fewest(&of(&rows), pressure.rows, rows_limit, attempts, |rows| limits.roomy(rows)),
        };
        let predicate_colors =
            fewest(&of(&predicates), pressure.predicates, predicate_limit, attempts, |_| {
                Some(predicate_limit)
            });
        let (row_colors, predicate_colors) = match (row_colors, predicate_colors) {
            (Ok(rows), Ok(predicates)) => (rows, predicates),
            (row_colors, predicate_colors) => {
                // One step at a time finds the best, but after many rounds the end must come in sight.
                let step = 1 << (round / 16).min(8);
                let mut victims = Vec::new();
                for (outcome, limit, most, what) in [
                    (row_colors, &mut rows_limit, MAX_REGISTERS, "registers"),
                    (predicate_colors, &mut predicate_limit, MAX_PREDICATES, "predicates"),
                ] {
                    let Err(failed) = outcome else { continue };
                    let chosen = victims_of(&graph, &costs, &failed, step);
                    if chosen.is_empty() {
                        if *limit == most {
                            return Err(BackError::TooManyLive { what, most });
                        }
                        *limit = if crowded { most } else { most.min(*limit + step) };
                    }
                    victims.extend(chosen);
                }
                let groups: Vec<Vec<VReg>> =
                    victims.iter().map(|node| graph.members[*node as usize].clone()).collect();
                spill_groups(&mut body, &groups, &mut slots)?;
                continue;
            }
        };
        let places: Vec<u16> = (0..body.registers.len())
            .map(|reg| {
                let node = graph.node_of[reg] as usize;
                match &own {
                    _ if body.registers[reg] == Ty::Pred => predicate_colors[node],
                    Some(own) => own[reg],
                    None => row_colors[node],
                }
            })
            .collect();
        let (mut registers, mut predicates) = (0, 0);
        for (reg, place) in places.iter().enumerate().filter(|(_, place)| **place != NO_PLACE) {
            match Width::of(body.registers[reg]) {
                Width::Predicate => predicates = predicates.max(u32::from(*place) + 1),
                width => registers = registers.max(u32::from(*place) + width.rows() as u32),
            }
        }
        let reuses = own.is_none();
        let numbers = match (limits.wide, own) {
            (WideAccesses::Rows | WideAccesses::Once, _) => None,
            (WideAccesses::OneNumber, Some(_)) => Some(ValueNumbers::separate(&body)),
            (WideAccesses::OneNumber, None) => value_numbers(&graph, &rows, &costs, registers as usize),
        };
        return Ok(Allocation { body, places, registers, predicates, reuses, numbers, slots, crowded });
    }
    unreachable!("each round spills or allows more registers")
}

/// The fewest numbers that keep values of any width apart that are live together; `None` if there are not fewer than rows.
fn value_numbers(graph: &Graph, nodes: &[u32], costs: &[f32], rows: usize) -> Option<ValueNumbers> {
    let widths = vec![1; graph.members.len()];
    let problem = Problem { graph, nodes, widths: &widths, costs };
    let (count, of_node) =
        (1..=rows).find_map(|count| Some((count, problem.color(count, Style::Tight).ok()?)))?;
    let of = graph.node_of.iter().map(|node| of_node[*node as usize]).collect();
    Some(ValueNumbers { of, count: count as u32 })
}

/// Spills groups of registers, if a thread can have that much local memory.
fn spill_groups(body: &mut Body, groups: &[Vec<VReg>], slots: &mut Slots) -> Result<(), BackError> {
    let to_memory = groups.iter().filter(|group| body.ty(group[0]) != Ty::Pred);
    if slots.overflow(to_memory.count()) {
        return Err(BackError::TooLarge { what: "values that find no register", most: MAX_SPILLS });
    }
    spill::spill(body, groups, slots);
    Ok(())
}

/// Colours with the fewest rows from `least` to `most`, then spreads over those that cost nothing more; after so many
/// attempts, with the most.
fn fewest(
    problem: &Problem<'_>,
    least: usize,
    most: usize,
    attempts: usize,
    roomy: impl Fn(usize) -> Option<usize>,
) -> Outcome {
    for rows in (least.min(most)..most).take(attempts) {
        if let Ok(places) = problem.color(rows, Style::Tight) {
            let wide = roomy(rows).map(|wide| wide.min(most));
            let spread = wide.and_then(|wide| problem.color(wide, Style::Spread).ok());
            return Ok(spread.unwrap_or(places));
        }
    }
    problem.color(most, Style::Tight)
}

/// What to spill when `failed` found no place: those of them that can be, else at most so many of their
/// cheapest neighbours.
fn victims_of(graph: &Graph, costs: &[f32], failed: &[u32], most: usize) -> Vec<u32> {
    let can = |node: &u32| costs[*node as usize].is_finite();
    let mut victims: Vec<u32> = failed.iter().copied().filter(can).collect();
    if victims.is_empty() {
        let neighbours = failed.iter().flat_map(|node| &graph.neighbours[*node as usize]);
        victims.extend(neighbours.copied().filter(can));
        victims.sort_unstable();
        victims.dedup();
        victims.sort_by(|a, b| costs[*a as usize].total_cmp(&costs[*b as usize]));
        victims.truncate(most);
    }
    victims
}

/// For each node, its reads and writes weighted by ten per loop around them; infinite for one that must stay.
fn costs(body: &Body, cfg: &Cfg, graph: &Graph) -> Vec<f32> {
    let mut costs = use_costs(body, cfg, |reg| graph.node_of[reg.0 as usize] as usize);
    for (node, members) in graph.members.iter().enumerate() {
        if members.iter().any(|reg| body.is_temporary(*reg) || body.ty(*reg).rows() > 2) {
            costs[node] = f32::INFINITY;
        }
    }
    costs
}
