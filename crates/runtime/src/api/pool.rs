//! Memory pools. All pools allocate from the driver's one heap.

use crate::api::api;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::Pool;

api! {
    /// Writes the device's default pool.
    cudaDeviceGetDefaultMemPool(pool: Out<Pool>, device: i32) {
        context::ready()?.cuDeviceGetDefaultMemPool(pool, device)
    }

    /// Writes the device's current pool: the one that was set, or the default.
    cudaDeviceGetMemPool(pool: Out<Pool>, device: i32) {
        context::ready()?.cuDeviceGetMemPool(pool, device)
    }

    /// Sets the pool for allocations that name none.
    cudaDeviceSetMemPool(device: i32, pool: Pool) {
        context::ready()?.cuDeviceSetMemPool(device, pool)
    }

    /// Writes the default pool of a location.
    cudaMemGetDefaultMemPool(pool: Out<Pool>, location: Bytes, kind: u32) {
        context::ready()?.cuMemGetDefaultMemPool(pool, location, kind)
    }

    /// Writes the current pool of a location.
    cudaMemGetMemPool(pool: Out<Pool>, location: Bytes, kind: u32) {
        context::ready()?.cuMemGetMemPool(pool, location, kind)
    }

    /// Sets the current pool of a location.
    cudaMemSetMemPool(location: Bytes, kind: u32, pool: Pool) {
        context::ready()?.cuMemSetMemPool(location, kind, pool)
    }

    /// Writes the access that a location has to a pool's memory.
    cudaMemPoolGetAccess(flags: Out<u32>, pool: Pool, location: Bytes) {
        context::ready()?.cuMemPoolGetAccess(flags, pool, location)
    }

    /// Accepts access of the device, which has it.
    cudaMemPoolSetAccess(pool: Pool, accesses: Bytes, count: u64) {
        context::ready()?.cuMemPoolSetAccess(pool, accesses, count)
    }

    /// Creates a pool. The properties are the driver API's.
    cudaMemPoolCreate(pool: Out<Pool>, properties: Bytes) {
        context::ready()?.cuMemPoolCreate(pool, properties)
    }

    /// Destroys a pool. Memory allocated from it stays valid.
    cudaMemPoolDestroy(pool: Pool) {
        context::ready()?.cuMemPoolDestroy(pool)
    }

    /// Releases unused memory that the pool holds.
    cudaMemPoolTrimTo(pool: Pool, bytes: u64) {
        context::ready()?.cuMemPoolTrimTo(pool, bytes)
    }

    /// Writes an attribute of a pool. Numbers are the driver API's.
    cudaMemPoolGetAttribute(pool: Pool, number: u32, value: Bytes) {
        context::ready()?.cuMemPoolGetAttribute(pool, number, value)
    }

    /// Sets an attribute of a pool. Numbers are the driver API's.
    cudaMemPoolSetAttribute(pool: Pool, number: u32, value: Bytes) {
        context::ready()?.cuMemPoolSetAttribute(pool, number, value)
    }
}
