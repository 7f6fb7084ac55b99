//! Physical registers: the fewest that hold every live value, within the limit.
//!
//! The fewest matters because the number of resident warps follows from it. Colouring is tried with as many
//! rows as are live at the worst point, then with one more, and so on; at the limit the values that found no
//! place go to local memory and everything begins again.

use super::body::Body;
use super::cfg::Cfg;
use super::color::{NO_PLACE, Outcome, Problem, Style};
use super::dominance::{Dominators, loop_depths};
use super::error::BackError;
use super::interference::Graph;
use super::limits::Limits;
use super::liveness::Liveness;
use super::spill::{self, Slots};

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
    /// Local memory of the spills.
    pub slots: Slots,
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

/// Gives every register of a body a place. Rows beyond `limits.registers` or predicates beyond
/// `limits.predicates` are used only when spilling cannot help.
pub fn allocate(mut body: Body, limits: Limits, local_bytes: u32) -> Result<Allocation, BackError> {
    let mut slots = Slots::new(local_bytes);
    let mut rows_limit = (limits.registers as usize).clamp(1, MAX_REGISTERS);
    let mut predicate_limit = (limits.predicates as usize).clamp(1, MAX_PREDICATES);
    loop {
        let cfg = Cfg::new(&body);
        let liveness = Liveness::new(&body, &cfg);
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
        let row_colors = fewest(&of(&rows), graph.pressure, rows_limit, |rows| limits.roomy(rows));
        let predicate_colors =
            fewest(&of(&predicates), graph.predicate_pressure, predicate_limit, |_| predicate_limit);
        let (row_colors, predicate_colors) = match (row_colors, predicate_colors) {
            (Ok(rows), Ok(predicates)) => (rows, predicates),
            (row_colors, predicate_colors) => {
                let mut victims = Vec::new();
                for (outcome, limit, most, what) in [
                    (row_colors, &mut rows_limit, MAX_REGISTERS, "registers"),
                    (predicate_colors, &mut predicate_limit, MAX_PREDICATES, "predicates"),
                ] {
                    let Err(failed) = outcome else { continue };
                    let chosen = victims_of(&graph, &costs, &failed);
                    if chosen.is_empty() {
                        if *limit == most {
                            return Err(BackError::TooManyLive { what, most });
                        }
                        *limit += 1;
                    }
                    victims.extend(chosen);
                }
                let groups: Vec<Vec<VReg>> =
                    victims.iter().map(|node| graph.members[*node as usize].clone()).collect();
                spill::spill(&mut body, &groups, &mut slots);
                continue;
            }
        };
        let places: Vec<u16> = (0..body.registers.len())
            .map(|reg| {
                let node = graph.node_of[reg] as usize;
                if body.registers[reg] == Ty::Pred { predicate_colors[node] } else { row_colors[node] }
            })
            .collect();
        let (mut registers, mut predicates) = (0, 0);
        for (reg, place) in places.iter().enumerate().filter(|(_, place)| **place != NO_PLACE) {
            match Width::of(body.registers[reg]) {
                Width::Predicate => predicates = predicates.max(u32::from(*place) + 1),
                width => registers = registers.max(u32::from(*place) + width.rows() as u32),
            }
        }
        return Ok(Allocation { body, places, registers, predicates, slots });
    }
}

/// Colours with the fewest rows from `least` to `most`, then spreads over those that cost nothing more.
fn fewest(problem: &Problem<'_>, least: usize, most: usize, roomy: impl Fn(usize) -> usize) -> Outcome {
    for rows in least.min(most)..most {
        if let Ok(places) = problem.color(rows, Style::Tight) {
            let wide = roomy(rows).min(most);
            return Ok(problem.color(wide, Style::Spread).unwrap_or(places));
        }
    }
    problem.color(most, Style::Tight)
}

/// What to spill when `failed` found no place: those of them that can be, else their cheapest neighbour.
fn victims_of(graph: &Graph, costs: &[f32], failed: &[u32]) -> Vec<u32> {
    let can = |node: &u32| costs[*node as usize].is_finite();
    let mut victims: Vec<u32> = failed.iter().copied().filter(can).collect();
    if victims.is_empty() {
        let neighbours = failed.iter().flat_map(|node| &graph.neighbours[*node as usize]);
        let cheapest = neighbours
            .copied()
            .filter(can)
            .min_by(|a, b| costs[*a as usize].total_cmp(&costs[*b as usize]).then(a.cmp(b)));
        victims.extend(cheapest);
    }
    victims
}

/// For each node, its reads and writes weighted by ten per loop around them.
fn costs(body: &Body, cfg: &Cfg, graph: &Graph) -> Vec<f32> {
    let depths = loop_depths(cfg, &Dominators::new(cfg));
    let mut costs = vec![0.0; body.registers.len()];
    for (at, inst) in body.code.iter().enumerate() {
        let weight = 10f32.powi(depths[cfg.block_of[at].index()].min(6) as i32);
        for reg in super::body::uses(inst).chain(super::body::definitions(inst)) {
            costs[graph.node_of[reg.0 as usize] as usize] += weight;
        }
    }
    for (node, members) in graph.members.iter().enumerate() {
        if members.iter().any(|reg| body.is_temporary(*reg) || body.ty(*reg).rows() > 2) {
            costs[node] = f32::INFINITY;
        }
    }
    costs
}
