//! Fills memory with a value. Each fill is complete when its call returns.

use crate::api::api;
use crate::api::handles::check_stream;
use crate::objects::Stream;
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Fills `count` elements.
fn set<const N: usize>(address: u64, element: [u8; N], count: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if !address.is_multiple_of(N as u64) {
            return Err(Status::InvalidValue);
        }
        let bytes = (count as u64).checked_mul(N as u64).ok_or(Status::InvalidValue)?;
        let to = state.on_device(address, bytes)?;
        state.set(to, &element, count as u64)
    })
}

/// Fills `width` elements of each of `rows` rows.
fn set_rows<const N: usize>(
    (address, pitch): (u64, usize),
    element: [u8; N],
    (width, rows): (usize, usize),
    on: Handle<Stream>,
) -> Answer {
    if width.checked_mul(N).is_none_or(|bytes| bytes > pitch) && rows > 1 {
        return Err(Status::InvalidValue);
    }
    // The number of rows does not matter if they are empty.
    let rows = if width == 0 { rows.min(1) } else { rows };
    for row in 0..rows as u64 {
        let at = row.checked_mul(pitch as u64).and_then(|at| at.checked_add(address));
        set(at.ok_or(Status::InvalidValue)?, element, width, on)?;
    }
    Ok(())
}

/// The default stream.
const DEFAULT: Handle<Stream> = Handle::NULL;

api! {
    /// Fills memory with a byte.
    cuMemsetD8_v2 | cuMemsetD8_v2_ptds = "cuMemsetD8" 3020 (address: u64, value: u8, count: usize) {
        set(address, [value], count, DEFAULT)
    }

    /// Fills memory with a 16-bit value.
    cuMemsetD16_v2 | cuMemsetD16_v2_ptds = "cuMemsetD16" 3020 (address: u64, value: u16, count: usize) {
        set(address, value.to_le_bytes(), count, DEFAULT)
    }

    /// Fills memory with a 32-bit value.
    cuMemsetD32_v2 | cuMemsetD32_v2_ptds = "cuMemsetD32" 3020 (address: u64, value: u32, count: usize) {
        set(address, value.to_le_bytes(), count, DEFAULT)
    }

    /// Fills memory with a byte, in a stream.
    cuMemsetD8Async | cuMemsetD8Async_ptsz = "cuMemsetD8Async" 3020 (
        address: u64, value: u8, count: usize, stream: Handle<Stream>,
    ) {
        set(address, [value], count, stream)
    }

    /// Fills memory with a 16-bit value, in a stream.
    cuMemsetD16Async | cuMemsetD16Async_ptsz = "cuMemsetD16Async" 3020 (
        address: u64, value: u16, count: usize, stream: Handle<Stream>,
    ) {
        set(address, value.to_le_bytes(), count, stream)
    }

    /// Fills memory with a 32-bit value, in a stream.
    cuMemsetD32Async | cuMemsetD32Async_ptsz = "cuMemsetD32Async" 3020 (
        address: u64, value: u32, count: usize, stream: Handle<Stream>,
    ) {
        set(address, value.to_le_bytes(), count, stream)
    }

    /// Fills rows of memory with a byte.
    cuMemsetD2D8_v2 | cuMemsetD2D8_v2_ptds = "cuMemsetD2D8" 3020 (
        address: u64, pitch: usize, value: u8, width: usize, rows: usize,
    ) {
        set_rows((address, pitch), [value], (width, rows), DEFAULT)
    }

    /// Fills rows of memory with a 16-bit value.
    cuMemsetD2D16_v2 | cuMemsetD2D16_v2_ptds = "cuMemsetD2D16" 3020 (
        address: u64, pitch: usize, value: u16, width: usize, rows: usize,
    ) {
        set_rows((address, pitch), value.to_le_bytes(), (width, rows), DEFAULT)
    }

    /// Fills rows of memory with a 32-bit value.
    cuMemsetD2D32_v2 | cuMemsetD2D32_v2_ptds = "cuMemsetD2D32" 3020 (
        address: u64, pitch: usize, value: u32, width: usize, rows: usize,
    ) {
        set_rows((address, pitch), value.to_le_bytes(), (width, rows), DEFAULT)
    }

    /// Fills rows of memory with a byte, in a stream.
    cuMemsetD2D8Async | cuMemsetD2D8Async_ptsz = "cuMemsetD2D8Async" 3020 (
        address: u64, pitch: usize, value: u8, width: usize, rows: usize, stream: Handle<Stream>,
    ) {
        set_rows((address, pitch), [value], (width, rows), stream)
    }

    /// Fills rows of memory with a 16-bit value, in a stream.
    cuMemsetD2D16Async | cuMemsetD2D16Async_ptsz = "cuMemsetD2D16Async" 3020 (
        address: u64, pitch: usize, value: u16, width: usize, rows: usize, stream: Handle<Stream>,
    ) {
        set_rows((address, pitch), value.to_le_bytes(), (width, rows), stream)
    }

    /// Fills rows of memory with a 32-bit value, in a stream.
    cuMemsetD2D32Async | cuMemsetD2D32Async_ptsz = "cuMemsetD2D32Async" 3020 (
        address: u64, pitch: usize, value: u32, width: usize, rows: usize, stream: Handle<Stream>,
    ) {
        set_rows((address, pitch), value.to_le_bytes(), (width, rows), stream)
    }
}
