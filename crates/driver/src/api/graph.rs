//! Graphs, and the edges between their nodes.

use std::collections::BTreeMap;

use crate::api::api;
use crate::api::edges::{add, edges, list, listed, neighbours, none, remove};
use crate::client::{In, Out, Text};
use crate::graph::parts::{EdgeData, Graph, Node};
use crate::state;
use crate::status::Status;
use crate::table::Handle;

/// Flag of a drawing: nodes are named by their handles, which `CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES` and _VERBOSE ask for.
const HANDLES: u32 = 1 | 1 << 10;

api! {
    /// Makes an empty graph. There are no flags.
    cuGraphCreate = "cuGraphCreate" 10000 (graph: Out<Handle<Graph>>, flags: u32) {
        state::with_current(|state, _| {
            let place = graph.place()?;
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            place.put(state.create_graph());
            Ok(())
        })
    }

    /// Destroys a graph; executable graphs made from it stay.
    cuGraphDestroy = "cuGraphDestroy" 10000 (graph: Handle<Graph>) {
        let gone = state::with(|state| {
            if state.graph(graph)?.parent.is_some() {
                return Err(Status::InvalidValue);
            }
            state.destroy_graph(graph)
        })?;
        gone.finish()
    }

    /// Copies a graph. One that allocates or frees memory cannot be copied.
    cuGraphClone = "cuGraphClone" 10000 (copy: Out<Handle<Graph>>, graph: Handle<Graph>) {
        state::with(|state| {
            let place = copy.place()?;
            state.graph(graph)?;
            if state.has_memory(graph)? {
                return Err(Status::NotSupported);
            }
            place.put(state.copy_graph(graph, false, &mut BTreeMap::new())?);
            Ok(())
        })
    }

    /// Finds the copy of a node.
    cuGraphNodeFindInClone = "cuGraphNodeFindInClone" 10000 (
        found: Out<Handle<Node>>, original: Handle<Node>, copy: Handle<Graph>,
    ) {
        state::with(|state| {
            let place = found.place()?;
            let nodes = &state.graph(copy)?.nodes;
            let is_copy = |node: &&Handle<Node>| {
                state.nodes.get(**node).is_ok_and(|node| node.original == Some(original))
            };
            place.put(*nodes.iter().find(is_copy).ok_or(Status::InvalidValue)?);
            Ok(())
        })
    }

    /// Writes a graph's unique number.
    cuGraphGetId = "cuGraphGetId" 13010 (graph: Handle<Graph>, number: Out<u32>) {
        state::with(|state| number.put(state.graph(graph)?.number as u32))
    }

    /// Writes the nodes of a graph, or how many there are.
    cuGraphGetNodes = "cuGraphGetNodes" 10000 (graph: Handle<Graph>, nodes: Out<u64>, count: Out<usize>) {
        state::with(|state| {
            let found = &state.graph(graph)?.nodes;
            list(found, &[(nodes, &|node: Handle<Node>| node.bits())], count, count.before())
        })
    }

    /// Writes the nodes that wait for no other, or how many there are.
    cuGraphGetRootNodes = "cuGraphGetRootNodes" 10000 (
        graph: Handle<Graph>, nodes: Out<u64>, count: Out<usize>,
    ) {
        state::with(|state| {
            let graph = state.graph(graph)?;
            let is_root = |node: &Handle<Node>| graph.before(*node).next().is_none();
            let roots: Vec<_> = graph.nodes.iter().copied().filter(is_root).collect();
            list(&roots, &[(nodes, &|node: Handle<Node>| node.bits())], count, count.before())
        })
    }

    /// Writes the edges of a graph, or how many there are.
    cuGraphGetEdges = "cuGraphGetEdges" 10000 (
        graph: Handle<Graph>, from: Out<u64>, to: Out<u64>, count: Out<usize>,
    ) {
        edges(graph, [from, to], None, count, count.before())
    }

    /// Writes the edges of a graph with their data, or how many there are.
    cuGraphGetEdges_v2 = "cuGraphGetEdges" 12030 (
        graph: Handle<Graph>, from: Out<u64>, to: Out<u64>, data: Out<u64>, count: Out<usize>,
    ) {
        edges(graph, [from, to], Some(data), count, count.before())
    }

    /// Writes the nodes that a node waits for, or how many there are.
    cuGraphNodeGetDependencies = "cuGraphNodeGetDependencies" 10000 (
        node: Handle<Node>, nodes: Out<u64>, count: Out<usize>,
    ) {
        neighbours(node, true, (nodes, None), count, count.before())
    }

    /// Writes the nodes that a node waits for, with the data of the edges, or how many there are.
    cuGraphNodeGetDependencies_v2 = "cuGraphNodeGetDependencies" 12030 (
        node: Handle<Node>, nodes: Out<u64>, data: Out<u64>, count: Out<usize>,
    ) {
        neighbours(node, true, (nodes, Some(data)), count, count.before())
    }

    /// Writes the nodes that wait for a node, or how many there are.
    cuGraphNodeGetDependentNodes = "cuGraphNodeGetDependentNodes" 10000 (
        node: Handle<Node>, nodes: Out<u64>, count: Out<usize>,
    ) {
        neighbours(node, false, (nodes, None), count, count.before())
    }

    /// Writes the nodes that wait for a node, with the data of the edges, or how many there are.
    cuGraphNodeGetDependentNodes_v2 = "cuGraphNodeGetDependentNodes" 12030 (
        node: Handle<Node>, nodes: Out<u64>, data: Out<u64>, count: Out<usize>,
    ) {
        neighbours(node, false, (nodes, Some(data)), count, count.before())
    }

    /// Adds edges.
    cuGraphAddDependencies = "cuGraphAddDependencies" 10000 (
        graph: Handle<Graph>, from: In<Handle<Node>>, to: In<Handle<Node>>, count: usize,
    ) {
        add(graph, listed(from, to, none(), count))
    }

    /// Adds edges with data.
    cuGraphAddDependencies_v2 = "cuGraphAddDependencies" 12030 (
        graph: Handle<Graph>, from: In<Handle<Node>>, to: In<Handle<Node>>, edges: In<EdgeData>, count: usize,
    ) {
        add(graph, listed(from, to, edges, count))
    }

    /// Removes edges.
    cuGraphRemoveDependencies = "cuGraphRemoveDependencies" 10000 (
        graph: Handle<Graph>, from: In<Handle<Node>>, to: In<Handle<Node>>, count: usize,
    ) {
        remove(graph, listed(from, to, none(), count))
    }

    /// Removes edges. Two nodes have one edge between them, so its data need not be compared.
    cuGraphRemoveDependencies_v2 = "cuGraphRemoveDependencies" 12030 (
        graph: Handle<Graph>, from: In<Handle<Node>>, to: In<Handle<Node>>, edges: In<EdgeData>, count: usize,
    ) {
        remove(graph, listed(from, to, edges, count))
    }

    /// Draws a graph to a file, in DOT.
    cuGraphDebugDotPrint = "cuGraphDebugDotPrint" 11030 (graph: Handle<Graph>, path: Text, flags: u32) {
        state::with(|state| {
            state.graph(graph)?;
            let text = state.dot(graph, flags & HANDLES != 0)?;
            std::fs::write(path.get()?, text).map_err(|_| Status::OperatingSystem)
        })
    }
}
