//! Functions for graphs whose signatures changed: edges got data, and instantiation and update lost results.

use crate::api::graph;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::Stream;
use crate::error::Answer;

/// Exports the functions whose edges have no data, as in versions 11 and 12.
#[macro_export]
macro_rules! edges_without_data {
    () => {
        $crate::api! {
            /// Writes the edges of a graph, or how many there are.
            cudaGraphGetEdges(graph: u64, from: Bytes, to: Bytes, count: Bytes) {
                $crate::versions::graphs::edges(graph, from, to, count)
            }

            /// Writes the nodes that a node waits for, or how many there are.
            cudaGraphNodeGetDependencies(node: u64, nodes: Bytes, count: Bytes) {
                $crate::versions::graphs::before(node, nodes, count)
            }

            /// Writes the nodes that wait for a node, or how many there are.
            cudaGraphNodeGetDependentNodes(node: u64, nodes: Bytes, count: Bytes) {
                $crate::versions::graphs::behind(node, nodes, count)
            }

            /// Adds edges.
            cudaGraphAddDependencies(graph: u64, from: Bytes, to: Bytes, count: u64) {
                $crate::versions::graphs::add_edges(graph, from, to, Bytes::NULL, count)
            }

            /// Removes edges.
            cudaGraphRemoveDependencies(graph: u64, from: Bytes, to: Bytes, count: u64) {
                $crate::versions::graphs::remove_edges(graph, from, to, Bytes::NULL, count)
            }

            /// Adds a node of any type.
            cudaGraphAddNode(to: Bytes, graph: u64, before: Bytes, count: u64, parameters: Bytes) {
                $crate::versions::graphs::add_node(to, graph, before, Bytes::NULL, count, parameters)
            }

            /// Copies the attributes of a launch to another: from the first to the second.
            cudaGraphKernelNodeCopyAttributes(from: u64, to: u64) {
                $crate::versions::graphs::copy_attributes(to, from)
            }

            /// Writes whether a stream is captured, and the number of the capture.
            cudaStreamGetCaptureInfo | cudaStreamGetCaptureInfo_ptsz (
                stream: StreamArgument, status: Bytes, number: Bytes,
            ) {
                let none = Bytes::NULL;
                $crate::versions::graphs::capture(stream, status, number, none, none, none, none)
            }

            /// Changes what a captured stream's next operation waits for.
            cudaStreamUpdateCaptureDependencies | cudaStreamUpdateCaptureDependencies_ptsz (
                stream: StreamArgument, nodes: Bytes, count: u64, flags: u32,
            ) {
                $crate::versions::graphs::change_capture(stream, nodes, Bytes::NULL, count, flags)
            }
        }
    };
}

/// Writes the edges of a graph without their data.
///
/// # Errors
/// If the driver refuses the graph, or the data of edges would be lost.
pub fn edges(graph: u64, from: Bytes, to: Bytes, count: Bytes) -> Answer {
    context::ready()?.cuGraphGetEdges_v2(graph, from, to, Bytes::NULL, count)
}

/// Writes the edges of a graph with their data.
///
/// # Errors
/// If the driver refuses the graph.
pub fn edges_with_data(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: Bytes) -> Answer {
    context::ready()?.cuGraphGetEdges_v2(graph, from, to, data, count)
}

/// Writes the nodes that a node waits for.
///
/// # Errors
/// If the driver refuses the node, or the data of edges would be lost.
pub fn before(node: u64, nodes: Bytes, count: Bytes) -> Answer {
    before_with_data(node, nodes, Bytes::NULL, count)
}

/// Writes the nodes that a node waits for, with the data of edges.
///
/// # Errors
/// If the driver refuses the node.
pub fn before_with_data(node: u64, nodes: Bytes, data: Bytes, count: Bytes) -> Answer {
    context::ready()?.cuGraphNodeGetDependencies_v2(node, nodes, data, count)
}

/// Writes the nodes that wait for a node.
///
/// # Errors
/// If the driver refuses the node, or the data of edges would be lost.
pub fn behind(node: u64, nodes: Bytes, count: Bytes) -> Answer {
    behind_with_data(node, nodes, Bytes::NULL, count)
}

/// Writes the nodes that wait for a node, with the data of edges.
///
/// # Errors
/// If the driver refuses the node.
pub fn behind_with_data(node: u64, nodes: Bytes, data: Bytes, count: Bytes) -> Answer {
    context::ready()?.cuGraphNodeGetDependentNodes_v2(node, nodes, data, count)
}

/// Adds edges.
///
/// # Errors
/// If the driver refuses them.
pub fn add_edges(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64) -> Answer {
    context::ready()?.cuGraphAddDependencies_v2(graph, from, to, data, count)
}

/// Removes edges.
///
/// # Errors
/// If the driver refuses them.
pub fn remove_edges(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64) -> Answer {
    context::ready()?.cuGraphRemoveDependencies_v2(graph, from, to, data, count)
}

/// Adds a node of any type.
///
/// # Errors
/// If the driver refuses it.
pub fn add_node(to: Bytes, graph: u64, before: Bytes, data: Bytes, count: u64, parameters: Bytes) -> Answer {
    graph::add_node(to, graph, before, data, count, parameters)
}

/// Copies the attributes of a launch.
///
/// # Errors
/// If the driver refuses the nodes.
pub fn copy_attributes(to: u64, from: u64) -> Answer {
    context::ready()?.cuGraphKernelNodeCopyAttributes(to, from)
}

/// Writes what a stream's capture is.
///
/// # Errors
/// If the driver refuses the stream, or the data of edges would be lost.
pub fn capture(
    stream: Stream,
    status: Bytes,
    number: Bytes,
    graph: Bytes,
    nodes: Bytes,
    data: Bytes,
    count: Bytes,
) -> Answer {
    context::ready()?.cuStreamGetCaptureInfo_v3(stream, status, number, graph, nodes, data, count)
}

/// Changes what a captured stream's next operation waits for.
///
/// # Errors
/// If the driver refuses the stream or the nodes.
pub fn change_capture(stream: Stream, nodes: Bytes, data: Bytes, count: u64, flags: u32) -> Answer {
    context::ready()?.cuStreamUpdateCaptureDependencies_v2(stream, nodes, data, count, flags)
}

/// Makes a graph executable. `node` gets null, and `log` the empty text: an error concerns the whole graph.
///
/// # Errors
/// If the driver refuses the graph.
pub fn instantiate_with_log(executable: Bytes, graph: u64, node: Out<u64>, log: Bytes, room: u64) -> Answer {
    node.put_if_wanted(0);
    if !log.is_null() && room > 0 {
        log.write(1)?[0] = 0;
    }
    instantiate(executable, graph, 0)
}

/// Makes a graph executable.
///
/// # Errors
/// If the driver refuses the graph.
pub fn instantiate(executable: Bytes, graph: u64, flags: u64) -> Answer {
    context::ready()?.cuGraphInstantiateWithFlags(executable, graph, flags)
}

/// Updates an executable graph; writes the node that prevents it, and why.
///
/// # Errors
/// If the graph has another form, or the driver refuses it.
pub fn update_with_node(executable: u64, graph: u64, node: Out<u64>, result: Out<u32>) -> Answer {
    let (node, result) = (node.place()?, result.place()?);
    let mut found = [0_u64; 3];
    let updated = context::ready()?.cuGraphExecUpdate_v2(executable, graph, Bytes::to(&mut found));
    node.put(found[1]);
    result.put(found[0] as u32);
    updated
}

/// Updates an executable graph; writes why that cannot be, and the nodes that prevent it.
///
/// # Errors
/// If the graph has another form, or the driver refuses it.
pub fn update(executable: u64, graph: u64, result: Bytes) -> Answer {
    context::ready()?.cuGraphExecUpdate_v2(executable, graph, result)
}
