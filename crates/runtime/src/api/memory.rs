//! Memory that is allocated and freed.

use crate::api::api;
use crate::client::{Bytes, Extent, Out, Pitched};
use crate::context;
use crate::driver::{Pool, Stream};
use crate::error::{Answer, Error};

/// Bytes of the widest element for which rows of pitched memory are aligned.
const ELEMENT: u32 = 16;

/// Nothing is allocated as null, which can be freed.
fn allocate(address: Out<u64>, bytes: u64) -> Answer {
    let driver = context::ready()?;
    if bytes == 0 { address.put(0) } else { driver.cuMemAlloc_v2(address, bytes) }
}

fn pinned(pointer: Out<u64>, bytes: u64, flags: u32) -> Answer {
    let driver = context::ready()?;
    if bytes == 0 { pointer.put(0) } else { driver.cuMemHostAlloc(pointer, bytes, flags) }
}

api! {
    /// Zeroed.
    cudaMalloc(address: Out<u64>, bytes: u64) {
        allocate(address, bytes)
    }

    /// Null too: many programs make the context so.
    cudaFree(address: u64) {
        context::ready()?.cuMemFree_v2(address)
    }

    /// Mapped, as all pinned memory is.
    cudaMallocHost(pointer: Out<u64>, bytes: u64) {
        pinned(pointer, bytes, 0)
    }

    /// Mapped, as all pinned memory is.
    cudaHostAlloc(pointer: Out<u64>, bytes: u64, flags: u32) {
        pinned(pointer, bytes, flags)
    }

    /// Pinned memory, or null.
    cudaFreeHost(pointer: Bytes) {
        context::ready()?.cuMemFreeHost(pointer)
    }

    /// At one address on host and device.
    cudaMallocManaged(address: Out<u64>, bytes: u64, flags: u32) {
        if bytes == 0 {
            return Err(Error::InvalidValue);
        }
        context::ready()?.cuMemAllocManaged(address, bytes, flags)
    }

    /// Rows at multiples of the pitch.
    cudaMallocPitch(address: Out<u64>, pitch: Out<u64>, width: u64, rows: u64) {
        let driver = context::ready()?;
        if width == 0 || rows == 0 {
            pitch.put(0)?;
            return address.put(0);
        }
        driver.cuMemAllocPitch_v2(address, pitch, width, rows, ELEMENT)
    }

    /// Slices of rows at multiples of the pitch.
    cudaMalloc3D(to: Bytes, extent: Extent) {
        let driver = context::ready()?;
        let Extent { width, height, depth } = extent;
        let rows = height.checked_mul(depth).ok_or(Error::InvalidValue)?;
        let place = to.out::<Pitched>().place()?;
        if width == 0 || rows == 0 {
            place.put(Pitched { start: Bytes::NULL, pitch: 0, width, height });
            return Ok(());
        }
        // Address, pitch: written where the client has them, then completed.
        let pitch = Bytes::at(to.address() + 8);
        driver.cuMemAllocPitch_v2(to.out(), pitch.out(), width, rows, ELEMENT)?;
        let (start, pitch) = (to.values::<Bytes>().get()?, pitch.values::<u64>().get()?);
        place.put(Pitched { start, pitch, width, height });
        Ok(())
    }

    /// The client's pages.
    cudaHostRegister(pointer: Bytes, bytes: u64, flags: u32) {
        context::ready()?.cuMemHostRegister_v2(pointer, bytes, flags)
    }

    /// By the address that was registered.
    cudaHostUnregister(pointer: Bytes) {
        context::ready()?.cuMemHostUnregister(pointer)
    }

    /// Where the device has pinned or registered memory.
    cudaHostGetDevicePointer(address: Out<u64>, pointer: Bytes, flags: u32) {
        context::ready()?.cuMemHostGetDevicePointer_v2(address, pointer, flags)
    }

    /// What pinned memory was made with.
    cudaHostGetFlags(flags: Out<u32>, pointer: Bytes) {
        context::ready()?.cuMemHostGetFlags(flags, pointer)
    }

    /// What is left, and the machine's.
    cudaMemGetInfo(free: Out<u64>, total: Out<u64>) {
        context::ready()?.cuMemGetInfo_v2(free, total)
    }

    /// At once.
    cudaMallocAsync | cudaMallocAsync_ptsz (address: Out<u64>, bytes: u64, stream: Stream) {
        context::ready()?.cuMemAllocAsync(address, bytes, stream)
    }

    /// From the one heap.
    cudaMallocFromPoolAsync | cudaMallocFromPoolAsync_ptsz (
        address: Out<u64>, bytes: u64, pool: Pool, stream: Stream,
    ) {
        context::ready()?.cuMemAllocFromPoolAsync(address, bytes, pool, stream)
    }

    /// At once.
    cudaFreeAsync | cudaFreeAsync_ptsz (address: u64, stream: Stream) {
        context::ready()?.cuMemFreeAsync(address, stream)
    }

    /// Managed memory is everybody's. No bytes are all of an allocation.
    cudaStreamAttachMemAsync | cudaStreamAttachMemAsync_ptsz (stream: Stream, address: u64, bytes: u64, flags: u32) {
        context::ready()?.cuStreamAttachMemAsync(stream, address, bytes, flags)
    }

    /// Where managed memory should be, as from version 12 of the API on: it is where it is.
    cudaMemPrefetchAsync_v2 | cudaMemPrefetchAsync_v2_ptsz (
        address: u64, bytes: u64, location: u64, flags: u32, stream: Stream,
    ) {
        context::ready()?.cuMemPrefetchAsync_v2(address, bytes, location, flags, stream)
    }

    /// How managed memory is used, as from version 12 of the API on: it makes no difference.
    cudaMemAdvise_v2(address: u64, bytes: u64, advice: u32, location: u64) {
        context::ready()?.cuMemAdvise_v2(address, bytes, advice, location)
    }
}
