//! Nodes of graphs are added, changed and read.

use strata_abi::driver::KernelNode;

use crate::api::edges::dependencies;
use crate::client::{Bytes, In, Out};
use crate::graph::parts::{EdgeData, Executable, Graph, Node, Shown, Work};
use crate::graph::user::Gone;
use crate::objects::{Attributes, Event};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Adds a node that does what `make` returns.
pub fn add(
    to: Out<Handle<Node>>,
    graph: Handle<Graph>,
    before: Answer<Vec<(Handle<Node>, EdgeData)>>,
    make: impl FnOnce(&mut State) -> Answer<Work>,
) -> Answer {
    let failed = state::with_current(|state, _| {
        let place = to.place()?;
        state.graph(graph)?;
        let before = before?;
        if before.iter().any(|(node, _)| state.nodes.get(*node).is_ok_and(|node| node.graph != graph)) {
            return Err(Status::InvalidValue);
        }
        let work = make(state)?;
        match state.add_node(graph, &before, work.clone()) {
            Ok(node) => {
                place.put(node);
                Ok(None)
            }
            // What was made for the node goes with it.
            Err(status) => Ok(Some((status, state.discard(work)?))),
        }
    })?;
    match failed {
        None => Ok(()),
        Some((status, gone)) => gone.finish().and(Err(status)),
    }
}

/// Without data of edges.
pub fn plain(nodes: In<Handle<Node>>, count: usize) -> Answer<Vec<(Handle<Node>, EdgeData)>> {
    dependencies(nodes, Bytes::at(0).values(), count)
}

/// Replaces a node's operation by one of the same type. What was the node's own before is gone.
pub fn replace(node: Handle<Node>, make: impl FnOnce(&mut State) -> Answer<Work>) -> Answer {
    let gone = state::with_current(|state, _| {
        state.graph(state.nodes.get(node)?.graph)?;
        let work = make(state)?;
        put(state, node, work)
    })?;
    gone.finish()
}

/// Replaces the operation of an executable graph's node by one of the same type.
pub fn replace_in(
    executable: Handle<Executable>,
    node: Handle<Node>,
    make: impl FnOnce(&mut State) -> Answer<Work>,
) -> Answer {
    let gone = state::with_current(|state, _| {
        let copy = state.copy_of(executable, node)?;
        let work = make(state)?;
        put(state, copy, work)
    })?;
    gone.finish()
}

/// Replaces a node's operation. Attributes of a launch stay; graphs and memory cannot be replaced.
fn put(state: &mut State, node: Handle<Node>, mut work: Work) -> Answer<Gone> {
    let old = &state.nodes.get(node)?.work;
    let is_fixed = matches!(work, Work::Graph(_) | Work::Allocate { .. } | Work::Free(_));
    if old.kind() != work.kind() || is_fixed {
        let _ = old;
        let gone = state.discard(work)?;
        return gone.finish().and(Err(Status::InvalidValue));
    }
    if let (Work::Kernel(old), Work::Kernel(new)) = (old, &mut work) {
        new.attributes.clone_from(&old.attributes);
    }
    let held = state.nodes.get_mut(node)?;
    (held.work, held.shown) = (work, Shown::default());
    Ok(Gone::default())
}

impl State {
    /// Frees what was made for an operation that no node has.
    fn discard(&mut self, work: Work) -> Answer<Gone> {
        match work {
            Work::Graph(graph) => self.destroy_graph(graph),
            Work::Allocate { address, .. } => self.disown(address).map(|()| Default::default()),
            _ => Ok(Default::default()),
        }
    }

    /// The parameters of a kernel's node, with arguments at an address that stays until the node changes.
    pub fn show(&mut self, node: Handle<Node>) -> Answer<KernelNode> {
        let Work::Kernel(launch) = &self.nodes.get(node)?.work else { return Err(Status::InvalidValue) };
        let launch = launch.clone();
        let params = &self.functions.get(launch.function)?.entry.kernel.params;
        let block = launch.block.into_boxed_slice();
        let start = Bytes::of(&block).address();
        let each: Box<[u64]> = params.iter().map(|param| start + u64::from(param.offset)).collect();
        let given = KernelNode {
            function: launch.function.bits(),
            grid: launch.shape.grid,
            block: launch.shape.block,
            shared: launch.shape.dynamic_shared,
            each: each.as_ptr().expose_provenance() as u64,
            ..KernelNode::default()
        };
        self.nodes.get_mut(node)?.shown = (block, each);
        Ok(given)
    }

    /// The attributes of a kernel's node.
    pub fn attributes(&mut self, node: Handle<Node>) -> Answer<&mut Attributes> {
        self.graph(self.nodes.get(node)?.graph)?;
        match &mut self.nodes.get_mut(node)?.work {
            Work::Kernel(launch) => Ok(&mut launch.attributes),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// Reads a node's operation.
pub fn read<R>(node: Handle<Node>, read: impl FnOnce(&mut State, &Work) -> Answer<R>) -> Answer<R> {
    state::with(|state| {
        let held = state.nodes.get(node)?;
        state.graph(held.graph)?;
        let work = held.work.clone();
        read(state, &work)
    })
}

pub fn event_of(
    node: Handle<Node>,
    of: impl FnOnce(&Work) -> Option<Handle<Event>>,
    to: Out<Handle<Event>>,
) -> Answer {
    read(node, |_, work| to.put(of(work).ok_or(Status::InvalidValue)?))
}
