//! libcudart.so.11.0: what 11 has of its own. Everything else is in `strata-runtime`.
#![deny(unsafe_op_in_unsafe_fn)]

use strata_runtime::api;
use strata_runtime::client::{Bytes, Out, Text};
use strata_runtime::versions::{self, Layout, StreamArgument};

/// The version of the API: 1000 times major plus 10 times minor.
const VERSION: i32 = 11080;

api! {
    /// This library's.
    cudaRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// As 11 lays it out.
    cudaGetDeviceProperties(to: Bytes, device: i32) {
        versions::device_properties(to, device, Layout::V11)
    }

    /// 56 bytes.
    cudaFuncGetAttributes(to: Bytes, function: Bytes) {
        versions::function_attributes(to, 56, function)
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
    cudaGetDriverEntryPoint | cudaGetDriverEntryPoint_ptsz (name: Text, function: Out<u64>, flags: u64) {
        versions::driver_entry_point(name, function, VERSION, flags).map(|_| ())
    }
}
