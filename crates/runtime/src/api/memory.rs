//! Allocates and frees memory of the device and pinned memory of the host.

use std::mem::offset_of;

use crate::api::api;
use crate::client::{Bytes, Extent, Out, Pitched};
use crate::context;
use crate::driver::{Pool, Stream};
use crate::error::{Answer, Error};

/// Size in bytes of the widest element for which rows of pitched memory are aligned.
const ELEMENT: u32 = 16;

/// Allocates device memory. Zero bytes give a null pointer, which may be freed.
fn allocate(address: Out<u64>, bytes: u64) -> Answer {
    let driver = context::ready()?;
    if bytes == 0 { address.put(0) } else { driver.cuMemAlloc_v2(address, bytes) }
}

/// Allocates pinned host memory. Zero bytes give a null pointer, which may be freed.
fn pinned(pointer: Out<u64>, bytes: u64, flags: u32) -> Answer {
    let driver = context::ready()?;
    if bytes == 0 { pointer.put(0) } else { driver.cuMemHostAlloc(pointer, bytes, flags) }
}

api! {
    /// Allocates zeroed device memory.
    cudaMalloc(address: Out<u64>, bytes: u64) {
        allocate(address, bytes)
    }

    /// Frees device memory. Null is accepted; many programs free null just to create the context.
    cudaFree(address: u64) {
        context::ready()?.cuMemFree_v2(address)
    }

    /// Allocates pinned host memory. All of it is mapped into the device's address space.
    cudaMallocHost(pointer: Out<u64>, bytes: u64) {
        pinned(pointer, bytes, 0)
    }

    /// Allocates pinned host memory. All of it is mapped, so `cudaHostAllocMapped` has no effect.
    cudaHostAlloc(pointer: Out<u64>, bytes: u64, flags: u32) {
        pinned(pointer, bytes, flags)
    }

    /// Frees pinned host memory, or null.
    cudaFreeHost(pointer: Bytes) {
        context::ready()?.cuMemFreeHost(pointer)
    }

    /// Allocates managed memory: host and device use one address.
    cudaMallocManaged(address: Out<u64>, bytes: u64, flags: u32) {
        if bytes == 0 {
            return Err(Error::InvalidValue);
        }
        context::ready()?.cuMemAllocManaged(address, bytes, flags)
    }

    /// Allocates a matrix of `rows` rows. Chooses the pitch, the distance between rows in bytes, and writes
    /// it.
    cudaMallocPitch(address: Out<u64>, pitch: Out<u64>, width: u64, rows: u64) {
        let driver = context::ready()?;
        if width == 0 || rows == 0 {
            pitch.put(0)?;
            return address.put(0);
        }
        driver.cuMemAllocPitch_v2(address, pitch, width, rows, ELEMENT)
    }

    /// Like `cudaMallocPitch`, for a volume of consecutive slices.
    cudaMalloc3D(to: Bytes, extent: Extent) {
        let driver = context::ready()?;
        let Extent { width, height, depth } = extent;
        let rows = height.checked_mul(depth).ok_or(Error::InvalidValue)?;
        let place = to.out::<Pitched>().place()?;
        if width == 0 || rows == 0 {
            place.put(Pitched { start: Bytes::NULL, pitch: 0, width, height });
            return Ok(());
        }
        // The driver writes address and pitch straight into the client's structure; the other fields are
        // written here.
        let pitch = Bytes::at(to.address() + offset_of!(Pitched, pitch) as u64);
        driver.cuMemAllocPitch_v2(to.out(), pitch.out(), width, rows, ELEMENT)?;
        let (start, pitch) = (to.values::<Bytes>().get()?, pitch.values::<u64>().get()?);
        place.put(Pitched { start, pitch, width, height });
        Ok(())
    }

    /// Maps host pages that the client allocated itself, so that the device can reach them.
    cudaHostRegister(pointer: Bytes, bytes: u64, flags: u32) {
        context::ready()?.cuMemHostRegister_v2(pointer, bytes, flags)
    }

    /// Undoes `cudaHostRegister`; takes the address that was registered.
    cudaHostUnregister(pointer: Bytes) {
        context::ready()?.cuMemHostUnregister(pointer)
    }

    /// The device address of pinned or registered host memory.
    cudaHostGetDevicePointer(address: Out<u64>, pointer: Bytes, flags: u32) {
        context::ready()?.cuMemHostGetDevicePointer_v2(address, pointer, flags)
    }

    /// The flags that pinned memory was allocated with.
    cudaHostGetFlags(flags: Out<u32>, pointer: Bytes) {
        context::ready()?.cuMemHostGetFlags(flags, pointer)
    }

    /// Free and total device memory.
    cudaMemGetInfo(free: Out<u64>, total: Out<u64>) {
        context::ready()?.cuMemGetInfo_v2(free, total)
    }

    /// Allocates device memory. The allocation is complete when the call returns.
    cudaMallocAsync | cudaMallocAsync_ptsz (address: Out<u64>, bytes: u64, stream: Stream) {
        context::ready()?.cuMemAllocAsync(address, bytes, stream)
    }

    /// Allocates immediately; all pools share one heap.
    cudaMallocFromPoolAsync | cudaMallocFromPoolAsync_ptsz (
        address: Out<u64>, bytes: u64, pool: Pool, stream: Stream,
    ) {
        context::ready()?.cuMemAllocFromPoolAsync(address, bytes, pool, stream)
    }

    /// Frees device memory. The memory is free when the call returns.
    cudaFreeAsync | cudaFreeAsync_ptsz (address: u64, stream: Stream) {
        context::ready()?.cuMemFreeAsync(address, stream)
    }

    /// Accepted without effect: every stream may use managed memory. Zero bytes mean the whole allocation.
    cudaStreamAttachMemAsync | cudaStreamAttachMemAsync_ptsz (stream: Stream, address: u64, bytes: u64, flags: u32) {
        context::ready()?.cuStreamAttachMemAsync(stream, address, bytes, flags)
    }

    /// Accepted without effect: managed memory does not move. The form of API version 12 and later.
    cudaMemPrefetchAsync_v2 | cudaMemPrefetchAsync_v2_ptsz (
        address: u64, bytes: u64, location: u64, flags: u32, stream: Stream,
    ) {
        context::ready()?.cuMemPrefetchAsync_v2(address, bytes, location, flags, stream)
    }

    /// Accepted without effect. The form of API version 12 and later.
    cudaMemAdvise_v2(address: u64, bytes: u64, advice: u32, location: u64) {
        context::ready()?.cuMemAdvise_v2(address, bytes, advice, location)
    }
}
