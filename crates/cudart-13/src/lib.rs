//! `libcudart.so.13`: the functions that are specific to version 13. The others are in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument};

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
}
