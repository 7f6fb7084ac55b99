//! libcudart.so.13: what 13 has of its own. Everything else is in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument};

/// The version of the API: 1000 times major plus 10 times minor.
const VERSION: i32 = 13000;

api! {
    /// This library's.
    cudaRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// As 13 lays it out.
    cudaGetDeviceProperties(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V13)
    }

    /// With what concerns clusters.
    cudaFuncGetAttributes(to: Bytes, function: Bytes) {
        versions::function_attributes(to, 144, function)
    }

    /// With words that are reserved.
    cudaPointerGetAttributes(to: Bytes, address: u64) {
        versions::pointer_attributes(to, 88, address)
    }

    /// By location.
    cudaMemAdvise(address: u64, bytes: u64, advice: u32, location: u64) {
        versions::advise_at(address, bytes, advice, location)
    }

    /// By location.
    cudaMemPrefetchAsync | cudaMemPrefetchAsync_ptsz (
        address: u64, bytes: u64, location: u64, flags: u32, stream: StreamArgument,
    ) {
        versions::prefetch_to(address, bytes, location, flags, stream)
    }

    /// Null where the driver has none.
    cudaGetDriverEntryPoint | cudaGetDriverEntryPoint_ptsz (
        name: Text, function: Out<u64>, flags: u64, found: Out<u32>,
    ) {
        found.put_if_wanted(versions::driver_entry_point(name, function, VERSION, flags)?);
        Ok(())
    }

    /// As a version of the API knows it.
    cudaGetDriverEntryPointByVersion | cudaGetDriverEntryPointByVersion_ptsz (
        name: Text, function: Out<u64>, version: i32, flags: u64, found: Out<u32>,
    ) {
        found.put_if_wanted(versions::driver_entry_point(name, function, version, flags)?);
        Ok(())
    }
}
