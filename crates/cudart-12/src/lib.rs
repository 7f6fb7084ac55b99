//! libcudart.so.12: what 12 has of its own. Everything else is in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument};

/// The version of the API: 1000 times major plus 10 times minor.
const VERSION: i32 = 12090;

api! {
    /// This library's.
    cudaRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// What programs of 11 know.
    cudaGetDeviceProperties(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V11)
    }

    /// As 12 lays it out.
    cudaGetDeviceProperties_v2(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V12)
    }

    /// With what concerns clusters.
    cudaFuncGetAttributes(to: Bytes, function: Bytes) {
        versions::function_attributes(to, 144, function)
    }

    /// 24 bytes.
    cudaPointerGetAttributes(to: Bytes, address: u64) {
        versions::pointer_attributes(to, 24, address)
    }

    /// By device.
    cudaMemAdvise(address: u64, bytes: u64, advice: u32, device: i32) {
        versions::advise(address, bytes, advice, device)
    }

    /// By device.
    cudaMemPrefetchAsync | cudaMemPrefetchAsync_ptsz (
        address: u64, bytes: u64, device: i32, stream: StreamArgument,
    ) {
        versions::prefetch(address, bytes, device, stream)
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
