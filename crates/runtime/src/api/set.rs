//! Fills memory with one byte value.

use crate::api::api;
use crate::client::{Bytes, Extent, Pitched};
use crate::context;
use crate::driver::Stream;
use crate::error::{Answer, Error};

fn rows(address: u64, pitch: u64, value: i32, width: u64, rows: u64, on: Stream) -> Answer {
    context::ready()?.cuMemsetD2D8Async(address, pitch, value as u8, width, rows, on)
}

fn slices(start: Bytes, pitch: u64, height: u64, value: i32, extent: Extent, on: Stream) -> Answer {
    for slice in 0..extent.depth {
        let offset = pitch.checked_mul(height).and_then(|bytes| bytes.checked_mul(slice));
        let at = offset.and_then(|offset| offset.checked_add(start.address())).ok_or(Error::InvalidValue)?;
        rows(at, pitch, value, extent.width, extent.height, on)?;
    }
    Ok(())
}

api! {
    /// Fills memory with the value's low byte.
    cudaMemset | cudaMemset_ptds (address: u64, value: i32, bytes: u64) {
        context::ready()?.cuMemsetD8Async(address, value as u8, bytes, Stream::NULL)
    }

    /// Fills memory with the value's low byte, in a stream.
    cudaMemsetAsync | cudaMemsetAsync_ptsz (address: u64, value: i32, bytes: u64, stream: Stream) {
        context::ready()?.cuMemsetD8Async(address, value as u8, bytes, stream)
    }

    /// Fills rows of memory.
    cudaMemset2D | cudaMemset2D_ptds (address: u64, pitch: u64, value: i32, width: u64, height: u64) {
        rows(address, pitch, value, width, height, Stream::NULL)
    }

    /// Fills rows of memory, in a stream.
    cudaMemset2DAsync | cudaMemset2DAsync_ptsz (
        address: u64, pitch: u64, value: i32, width: u64, height: u64, stream: Stream,
    ) {
        rows(address, pitch, value, width, height, stream)
    }

    /// Fills a box of memory.
    cudaMemset3D | cudaMemset3D_ptds (to: Pitched, value: i32, extent: Extent) {
        slices(to.start, to.pitch, to.height, value, extent, Stream::NULL)
    }

    /// Fills a box of memory, in a stream.
    cudaMemset3DAsync | cudaMemset3DAsync_ptsz (to: Pitched, value: i32, extent: Extent, stream: Stream) {
        slices(to.start, to.pitch, to.height, value, extent, stream)
    }
}
