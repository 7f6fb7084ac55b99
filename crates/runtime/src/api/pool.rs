//! Memory pools.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::Pool;

api! {
    /// The one that is always there.
    cudaDeviceGetDefaultMemPool(pool: Out<Pool>, device: i32) {
        context::ready()?.cuDeviceGetDefaultMemPool(pool, device)
    }

    /// The one that was set, or the default.
    cudaDeviceGetMemPool(pool: Out<Pool>, device: i32) {
        context::ready()?.cuDeviceGetMemPool(pool, device)
    }

    /// For allocations that name none.
    cudaDeviceSetMemPool(device: i32, pool: Pool) {
        context::ready()?.cuDeviceSetMemPool(device, pool)
    }

    /// Of properties that are the driver API's.
    cudaMemPoolCreate(pool: Out<Pool>, properties: Bytes) {
        context::ready()?.cuMemPoolCreate(pool, properties)
    }

    /// What was allocated from it stays.
    cudaMemPoolDestroy(pool: Pool) {
        context::ready()?.cuMemPoolDestroy(pool)
    }

    /// Gives back what is kept.
    cudaMemPoolTrimTo(pool: Pool, bytes: u64) {
        context::ready()?.cuMemPoolTrimTo(pool, bytes)
    }

    /// Numbers are the driver API's.
    cudaMemPoolGetAttribute(pool: Pool, number: u32, value: Bytes) {
        context::ready()?.cuMemPoolGetAttribute(pool, number, value)
    }

    /// Numbers are the driver API's.
    cudaMemPoolSetAttribute(pool: Pool, number: u32, value: Bytes) {
        context::ready()?.cuMemPoolSetAttribute(pool, number, value)
    }
}
