//! Graphs are made, copied and destroyed.

use std::collections::BTreeMap;

use crate::graph::parts::{Edge, EdgeData, Graph, Node, Shown, Work};
use crate::graph::user::Gone;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

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
    pub fn destroy_graph(&mut self, graph: Handle<Graph>) -> Answer<Gone> {
        let held = self.graphs.remove(graph)?;
        let mut gone = Gone::default();
        for node in held.nodes {
            gone.join(self.drop_node(node)?);
        }
        for (object, count) in held.objects {
            gone.join(self.release(object, count)?);
        }
        Ok(gone)
    }

    /// Removes a node from the table; its graph no longer names it.
    fn drop_node(&mut self, node: Handle<Node>) -> Answer<Gone> {
        match self.nodes.remove(node)?.work {
            Work::Graph(child) => self.destroy_graph(child),
            Work::Allocate { address, .. } => self.disown(address).map(|()| Gone::default()),
            _ => Ok(Gone::default()),
        }
    }

    /// Removes a node from its graph, with its edges.
    pub fn remove_node(&mut self, node: Handle<Node>) -> Answer<Gone> {
        let graph = self.nodes.get(node)?.graph;
        let held = self.graphs.get_mut(graph)?;
        held.nodes.retain(|other| *other != node);
        held.edges.retain(|edge| edge.from != node && edge.to != node);
        self.drop_node(node)
    }
}
