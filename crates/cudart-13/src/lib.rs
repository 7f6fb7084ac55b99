//! `libcudart.so.13`: the functions that are specific to version 13. The others are in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument, graphs, objects};

/// The version of the API: 1000 times major plus 10 times minor.
const VERSION: i32 = 13000;

api! {
    /// Writes the version of this library.
    cudaRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// Writes a device's properties in version 13's layout.
    cudaGetDeviceProperties(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V13)
    }

    /// Writes a kernel's attributes, including those about clusters.
    cudaFuncGetAttributes(to: Bytes, function: Bytes) {
        versions::function_attributes(to, 144, function)
    }

    /// Writes a pointer's attributes, including reserved words.
    cudaPointerGetAttributes(to: Bytes, address: u64) {
        versions::pointer_attributes(to, 88, address)
    }

    /// Accepts advice on managed memory, given for a location. It has no effect.
    cudaMemAdvise(address: u64, bytes: u64, advice: u32, location: u64) {
        versions::advise_at(address, bytes, advice, location)
    }

    /// Accepts a prefetch to a location. It has no effect.
    cudaMemPrefetchAsync | cudaMemPrefetchAsync_ptsz (
        address: u64, bytes: u64, location: u64, flags: u32, stream: StreamArgument,
    ) {
        versions::prefetch_to(address, bytes, location, flags, stream)
    }

    /// Looks up a driver function. Writes null if there is none.
    cudaGetDriverEntryPoint | cudaGetDriverEntryPoint_ptsz (
        name: Text, function: Out<u64>, flags: u64, found: Out<u32>,
    ) {
        found.put_if_wanted(versions::driver_entry_point(name, function, VERSION, flags)?);
        Ok(())
    }

    /// Looks up a driver function as a given version of the API knows it.
    cudaGetDriverEntryPointByVersion | cudaGetDriverEntryPointByVersion_ptsz (
        name: Text, function: Out<u64>, version: i32, flags: u64, found: Out<u32>,
    ) {
        found.put_if_wanted(versions::driver_entry_point(name, function, version, flags)?);
        Ok(())
    }

    /// Writes what a texture object samples.
    cudaGetTextureObjectResourceDesc(to: Bytes, object: u64) {
        objects::texture_resource(to, 144, object)
    }

    /// Writes the array of a surface object.
    cudaGetSurfaceObjectResourceDesc(to: Bytes, object: u64) {
        objects::surface_resource(to, 144, object)
    }

    /// Writes how a texture object samples, including whether across the edges of cubes.
    cudaGetTextureObjectTextureDesc(to: Bytes, object: u64) {
        objects::texture_sampling(to, 72, object)
    }

    /// Makes a graph executable, with flags.
    cudaGraphInstantiate(executable: Bytes, graph: u64, flags: u64) {
        graphs::instantiate(executable, graph, flags)
    }

    /// Updates an executable graph.
    cudaGraphExecUpdate(executable: u64, graph: u64, result: Bytes) {
        graphs::update(executable, graph, result)
    }

    /// Writes the edges of a graph, or how many there are.
    cudaGraphGetEdges(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: Bytes) {
        graphs::edges_with_data(graph, from, to, data, count)
    }

    /// Writes the nodes that a node waits for, or how many there are.
    cudaGraphNodeGetDependencies(node: u64, nodes: Bytes, data: Bytes, count: Bytes) {
        graphs::before_with_data(node, nodes, data, count)
    }

    /// Writes the nodes that wait for a node, or how many there are.
    cudaGraphNodeGetDependentNodes(node: u64, nodes: Bytes, data: Bytes, count: Bytes) {
        graphs::behind_with_data(node, nodes, data, count)
    }

    /// Adds edges.
    cudaGraphAddDependencies(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64) {
        graphs::add_edges(graph, from, to, data, count)
    }

    /// Removes edges.
    cudaGraphRemoveDependencies(graph: u64, from: Bytes, to: Bytes, data: Bytes, count: u64) {
        graphs::remove_edges(graph, from, to, data, count)
    }

    /// Adds a node of any type.
    cudaGraphAddNode(to: Bytes, graph: u64, before: Bytes, data: Bytes, count: u64, parameters: Bytes) {
        graphs::add_node(to, graph, before, data, count, parameters)
    }

    /// Copies the attributes of a launch to another: to the first from the second.
    cudaGraphKernelNodeCopyAttributes(to: u64, from: u64) {
        graphs::copy_attributes(to, from)
    }

    /// Writes whether a stream is captured, the graph, and what the next operation waits for.
    cudaStreamGetCaptureInfo | cudaStreamGetCaptureInfo_ptsz (
        stream: StreamArgument, status: Bytes, number: Bytes, graph: Bytes, nodes: Bytes, data: Bytes, count: Bytes,
    ) {
        graphs::capture(stream, status, number, graph, nodes, data, count)
    }

    /// Changes what a captured stream's next operation waits for.
    cudaStreamUpdateCaptureDependencies | cudaStreamUpdateCaptureDependencies_ptsz (
        stream: StreamArgument, nodes: Bytes, data: Bytes, count: u64, flags: u32,
    ) {
        graphs::change_capture(stream, nodes, data, count, flags)
    }
}
