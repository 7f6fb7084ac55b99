//! `libcudart.so.12`: the functions that are specific to version 12. The others are in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument, graphs, objects};

/// The version of the API: 1000 times major plus 10 times minor.
const VERSION: i32 = 12090;

api! {
    /// Writes the version of this library.
    cudaRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// Writes a device's properties in version 11's layout, for programs of version 11.
    cudaGetDeviceProperties(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V11)
    }

    /// Writes a device's properties in version 12's layout.
    cudaGetDeviceProperties_v2(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V12)
    }

    /// Writes a kernel's attributes, including those about clusters.
    cudaFuncGetAttributes(to: Bytes, function: Bytes) {
        versions::function_attributes(to, 144, function)
    }

    /// Writes a pointer's attributes, 24 bytes.
    cudaPointerGetAttributes(to: Bytes, address: u64) {
        versions::pointer_attributes(to, 24, address)
    }

    /// Accepts advice on managed memory, given for a device. It has no effect.
    cudaMemAdvise(address: u64, bytes: u64, advice: u32, device: i32) {
        versions::advise(address, bytes, advice, device)
    }

    /// Accepts a prefetch to a device. It has no effect.
    cudaMemPrefetchAsync | cudaMemPrefetchAsync_ptsz (
        address: u64, bytes: u64, device: i32, stream: StreamArgument,
    ) {
        versions::prefetch(address, bytes, device, stream)
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
        objects::texture_resource(to, 64, object)
    }

    /// Writes the array of a surface object.
    cudaGetSurfaceObjectResourceDesc(to: Bytes, object: u64) {
        objects::surface_resource(to, 64, object)
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
}

strata_runtime::edges_without_data! {}
