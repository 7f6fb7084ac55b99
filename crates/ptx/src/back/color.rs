//! Colours an interference graph: optimistic colouring (Briggs, Cooper, Torczon, "Improvements to graph
//! coloring register allocation", 1994), with aligned pairs and quadruples.

use super::interference::Graph;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Row or predicate number of a node that has none.
pub const NO_PLACE: u16 = u16::MAX;

/// One colouring problem: the nodes of one register file.
pub struct Problem<'a> {
    /// The graph; nodes of the other file are ignored.
    pub graph: &'a Graph,
    /// The nodes to colour.
    pub nodes: &'a [u32],
    /// Rows that each node takes: 1, 2, 4 or those of an array (predicates 1).
    pub widths: &'a [u8],
    /// What it costs to keep a node in memory instead; infinite for what must stay.
    pub costs: &'a [f32],
}

/// Which of several free places a node takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The lowest, single rows preferably in pairs that are already broken: leaves most room for others.
    Tight,
    /// The one with the fewest tenants: instructions wait less for each other only to reuse a row.
    Spread,
}

/// A colouring, or the nodes that found no place.
pub type Outcome = Result<Vec<u16>, Vec<u32>>;

/// What it costs to keep a node in memory for each place that it takes from others, and the node, ordered by both.
#[derive(Clone, Copy)]
pub struct Worth(pub f32, pub u32);

impl Ord for Worth {
    fn cmp(&self, other: &Worth) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Worth) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worth {
    fn eq(&self, other: &Worth) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worth {}

impl Problem<'_> {
    /// Colours with `rows` places. Wide nodes begin at multiples of their width.
    pub fn color(&self, rows: usize, style: Style) -> Outcome {
        let order = self.simplify(rows);
        let mut places = vec![NO_PLACE; self.widths.len()];
        let mut tenants = vec![0u32; rows];
        let mut failed = Vec::new();
        for node in order.into_iter().rev() {
            match self.choose(node, rows, &places, style, &tenants) {
                Some(place) => {
                    places[node as usize] = place as u16;
                    let width = usize::from(self.widths[node as usize]);
                    tenants[place..place + width].iter_mut().for_each(|count| *count += 1);
                }
                None => failed.push(node),
            }
        }
        if failed.is_empty() { Ok(places) } else { Err(failed) }
    }

    /// The aligned places of `node` that a neighbour may block.
    fn blocks(&self, node: u32, neighbour: u32) -> usize {
        usize::from(self.widths[neighbour as usize].div_ceil(self.widths[node as usize]))
    }

    /// The order in which nodes leave the graph: those that surely find a place first; when there is none,
    /// the cheapest for its trouble, in the hope that it finds one.
    fn simplify(&self, rows: usize) -> Vec<u32> {
        let slots = |node: u32| rows / usize::from(self.widths[node as usize]);
        let mut blocked = vec![0usize; self.widths.len()];
        for &node in self.nodes {
            blocked[node as usize] =
                self.graph.neighbours[node as usize].iter().map(|other| self.blocks(node, *other)).sum();
        }
        let mut waiting: Vec<bool> = vec![false; self.widths.len()];
        self.nodes.iter().for_each(|node| waiting[*node as usize] = true);
        let mut easy: Vec<u32> = Vec::new();
        // Wide nodes leave last among the easy ones, so that they choose first.
        let mut sizes: Vec<u8> = self.nodes.iter().map(|node| self.widths[*node as usize]).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for width in sizes {
            let wide = |node: &&u32| self.widths[**node as usize] == width;
            easy.extend(
                self.nodes.iter().filter(wide).filter(|node| blocked[**node as usize] < slots(**node)),
            );
        }
        easy.reverse();
        // What a node costs for its trouble only grows while its neighbours leave, so an entry may be out of date, but
        // never too great.
        let worth = |node: u32, blocked: &[usize]| {
            Reverse(Worth(self.costs[node as usize] / (blocked[node as usize] as f32 + 1.0), node))
        };
        let hard = self.nodes.iter().copied().filter(|node| blocked[*node as usize] >= slots(*node));
        let mut hard: BinaryHeap<_> = hard.map(|node| worth(node, &blocked)).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        loop {
            let node = match easy.pop() {
                Some(node) if waiting[node as usize] => node,
                Some(_) => continue,
                None => match hard.pop() {
                    None => return order,
                    Some(Reverse(Worth(_, node))) if !waiting[node as usize] => continue,
                    Some(entry) => {
                        let Reverse(Worth(_, node)) = entry;
                        let now = worth(node, &blocked);
                        if now != entry {
                            hard.push(now);
                            continue;
                        }
                        node
                    }
                },
            };
            waiting[node as usize] = false;
            order.push(node);
            for &other in &self.graph.neighbours[node as usize] {
                if waiting[other as usize] {
                    let before = blocked[other as usize];
                    blocked[other as usize] -= self.blocks(other, node);
                    if before >= slots(other) && blocked[other as usize] < slots(other) {
                        easy.push(other);
                    }
                }
            }
        }
    }

    /// A free place for a node, given its neighbours' places: a wished one, else one of the style. `tenants` counts
    /// the nodes in each row so far.
    fn choose(&self, node: u32, rows: usize, places: &[u16], style: Style, tenants: &[u32]) -> Option<usize> {
        let width = usize::from(self.widths[node as usize]);
        let mut taken = [0u64; 4];
        for &other in &self.graph.neighbours[node as usize] {
            let place = places[other as usize];
            if place != NO_PLACE {
                for row in usize::from(place)..usize::from(place) + usize::from(self.widths[other as usize]) {
                    taken[row >> 6] |= 1 << (row & 63);
                }
            }
        }
        let is_taken = |row: usize| taken[row >> 6] >> (row & 63) & 1 == 1;
        let is_free =
            |place: usize| place + width <= rows && (place..place + width).all(|row| !is_taken(row));
        for wish in &self.graph.wishes[node as usize] {
            let place = places[wish.other as usize];
            if place == NO_PLACE {
                continue;
            }
            let wanted = i32::from(place) + wish.distance;
            if wanted >= 0 && (wanted as usize).is_multiple_of(width) && is_free(wanted as usize) {
                return Some(wanted as usize);
            }
        }
        let mut free = (0..rows).step_by(width).filter(|place| is_free(*place));
        if style == Style::Spread {
            return free.min_by_key(|place| (tenants[*place..place + width].iter().sum::<u32>(), *place));
        }
        if width > 1 {
            return free.next();
        }
        let lowest = free.clone().next();
        free.find(|place| is_taken(place ^ 1)).or(lowest)
    }
}
