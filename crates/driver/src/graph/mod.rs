//! Graphs: operations and what must be done before each. A graph is a plan; its launch runs the nodes one by one.

pub mod capture;
pub mod dot;
pub mod executable;
pub mod lent;
pub mod user;

use std::collections::BTreeMap;

use crate::graph::user::UserObject;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work::Work;

/// `CUgraphEdgeData`: ports of both ends and the type of the dependency.
pub type EdgeData = [u8; 8];

/// What must be done before what.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node that comes first.
    pub from: Handle<Node>,
    /// The node that waits for it.
    pub to: Handle<Node>,
    /// Data of the edge. Every operation is complete before the next begins, whatever the data says.
    pub data: EdgeData,
}

/// A node of a graph.
#[derive(Debug)]
pub struct Node {
    /// The graph that the node belongs to.
    pub graph: Handle<Graph>,
    /// What it does.
    pub work: Work,
    /// Number of the node within its graph.
    pub number: u32,
    /// The node that this one was copied from.
    pub original: Option<Handle<Node>>,
    /// The arguments that a client was shown last: it reads them at their address for as long as they are here.
    pub shown: Shown,
}

/// Arguments of a launch as a client reads them: the parameter block, and the address of each argument in it.
pub type Shown = (Box<[u8]>, Box<[u64]>);

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Unique number of the graph.
    pub number: u64,
    /// Its nodes in the order in which they were added.
    pub nodes: Vec<Handle<Node>>,
    /// Its edges in the order in which they were added.
    pub edges: Vec<Edge>,
    /// The node that the graph belongs to, if any.
    pub parent: Option<Handle<Node>>,
    /// Whether the graph is that of an executable one, which clients do not see.
    pub hidden: bool,
    /// References to users' objects.
    pub objects: BTreeMap<Handle<UserObject>, u32>,
    /// The number of the next node.
    pub next: u32,
}

impl Graph {
    /// The edges that lead to a node.
    pub fn before(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == node)
    }

    /// The edges that lead from a node.
    pub fn behind(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == node)
    }

    /// The nodes in an order in which each comes behind all that it waits for: of those that may be next, the one
    /// that was added first. `None` if there is a cycle.
    pub fn order(&self) -> Option<Vec<Handle<Node>>> {
        let place: BTreeMap<_, _> =
            self.nodes.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let mut waits = vec![0_usize; self.nodes.len()];
        let mut behind = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            waits[place[&edge.to]] += 1;
            behind[place[&edge.from]].push(place[&edge.to]);
        }
        let mut ready: std::collections::BTreeSet<usize> =
            (0..waits.len()).filter(|place| waits[*place] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(next) = ready.pop_first() {
            order.push(self.nodes[next]);
            for then in &behind[next] {
                waits[*then] -= 1;
                if waits[*then] == 0 {
                    ready.insert(*then);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }
}

impl State {
    /// Makes an empty graph.
    pub fn create_graph(&mut self) -> Handle<Graph> {
        let number = self.number();
        self.graphs.insert(Graph { number, ..Graph::default() })
    }

    /// A graph that a client may name.
    pub fn graph(&self, graph: Handle<Graph>) -> Answer<&Graph> {
        self.graphs
            .get(graph)
            .and_then(|found| if found.hidden { Err(Status::InvalidHandle) } else { Ok(found) })
    }

    /// Adds a node that waits for others of the graph.
    pub fn add_node(
        &mut self,
        graph: Handle<Graph>,
        before: &[(Handle<Node>, EdgeData)],
        work: Work,
    ) -> Answer<Handle<Node>> {
        let held = self.graphs.get(graph)?;
        for (place, (node, _)) in before.iter().enumerate() {
            let repeated = before[..place].iter().any(|(other, _)| other == node);
            if repeated || self.nodes.get(*node).is_ok_and(|node| node.graph != graph) {
                return Err(Status::InvalidValue);
            }
            self.nodes.get(*node)?;
        }
        let number = held.next;
        let node = self.nodes.insert(Node { graph, work, number, original: None, shown: Shown::default() });
        if let Work::Graph(child) = self.nodes.get(node)?.work {
            self.graphs.get_mut(child)?.parent = Some(node);
        }
        let held = self.graphs.get_mut(graph)?;
        held.next += 1;
        held.nodes.push(node);
        held.edges.extend(before.iter().map(|(from, data)| Edge { from: *from, to: node, data: *data }));
        Ok(node)
    }

    /// Copies a graph with all within it. `pairs` gets each node and its copy.
    pub fn copy_graph(
        &mut self,
        graph: Handle<Graph>,
        hidden: bool,
        pairs: &mut BTreeMap<Handle<Node>, Handle<Node>>,
    ) -> Answer<Handle<Graph>> {
        let held = self.graphs.get(graph)?;
        let (nodes, edges, objects) = (held.nodes.clone(), held.edges.clone(), held.objects.clone());
        let copy = self.create_graph();
        self.graphs.get_mut(copy)?.hidden = hidden;
        for node in nodes {
            let work = match self.nodes.get(node)?.work.clone() {
                Work::Graph(child) => Work::Graph(self.copy_graph(child, hidden, pairs)?),
                other => other,
            };
            let number = self.nodes.get(node)?.number;
            let made = self.add_node(copy, &[], work)?;
            let made_node = self.nodes.get_mut(made)?;
            (made_node.number, made_node.original) = (number, Some(node));
            let next = &mut self.graphs.get_mut(copy)?.next;
            *next = (*next).max(number + 1);
            pairs.insert(node, made);
        }
        for (object, count) in &objects {
            self.retain(*object, *count)?;
        }
        let copied = self.graphs.get_mut(copy)?;
        copied.objects = objects;
        copied.edges =
            edges.iter().map(|edge| Edge { from: pairs[&edge.from], to: pairs[&edge.to], ..*edge }).collect();
        Ok(copy)
    }

    /// Whether a graph or one within it allocates or frees memory. Such a graph cannot be copied or changed.
    pub fn has_memory(&self, graph: Handle<Graph>) -> Answer<bool> {
        for node in &self.graphs.get(graph)?.nodes {
            let found = match &self.nodes.get(*node)?.work {
                Work::Allocate { .. } | Work::Free(_) => true,
                Work::Graph(child) => self.has_memory(*child)?,
                _ => false,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Destroys a graph with all within it. Returns what is to be called for users' objects that nothing refers to
    /// any more.
    pub fn destroy_graph(&mut self, graph: Handle<Graph>) -> Answer<user::Gone> {
        let held = self.graphs.remove(graph)?;
        let mut gone = user::Gone::default();
        for node in held.nodes {
            gone.join(self.drop_node(node)?);
        }
        for (object, count) in held.objects {
            gone.join(self.release(object, count)?);
        }
        Ok(gone)
    }

    /// Removes a node from the table; its graph no longer names it.
    fn drop_node(&mut self, node: Handle<Node>) -> Answer<user::Gone> {
        match self.nodes.remove(node)?.work {
            Work::Graph(child) => self.destroy_graph(child),
            Work::Allocate { address, .. } => self.disown(address).map(|()| user::Gone::default()),
            _ => Ok(user::Gone::default()),
        }
    }

    /// Removes a node from its graph, with its edges.
    pub fn remove_node(&mut self, node: Handle<Node>) -> Answer<user::Gone> {
        let graph = self.nodes.get(node)?.graph;
        let held = self.graphs.get_mut(graph)?;
        held.nodes.retain(|other| *other != node);
        held.edges.retain(|edge| edge.from != node && edge.to != node);
        self.drop_node(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_node_behind_those_it_waits_for_and_a_cycle_has_none() {
        let node = |n: u64| Handle::from_bits(n);
        let edge = |from, to| Edge { from: node(from), to: node(to), data: [0; 8] };
        let mut graph = Graph { nodes: (0..4).map(node).collect(), ..Graph::default() };
        graph.edges = vec![edge(3, 0), edge(0, 1), edge(3, 2)];
        assert_eq!(graph.order(), Some(vec![node(3), node(0), node(1), node(2)]));
        graph.edges.push(edge(1, 3));
        assert_eq!(graph.order(), None);
    }
}
