//! Fills memory with a value. Each fill is complete when its call returns.

use crate::api::api;
use crate::graph::parts::{Fill, Work};
use crate::objects::Stream;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work;
use crate::work::fill::check;

/// A fill of one row.
fn line<const N: usize>(address: u64, element: [u8; N], count: usize) -> Answer<Fill> {
    let fill = rows((address, 0), element, (count, 1))?;
    if address.is_multiple_of(N as u64) { Ok(fill) } else { Err(Status::InvalidValue) }
}

/// A fill of `width` elements of each of `rows` rows.
fn rows<const N: usize>(
    (address, pitch): (u64, usize),
    element: [u8; N],
    (width, rows): (usize, usize),
) -> Answer<Fill> {
    let mut value = [0; 4];
    value[..N].copy_from_slice(&element);
    let (pitch, width, rows) = (pitch as u64, width as u64, rows as u64);
    let fill = Fill { address, pitch, value: u32::from_le_bytes(value), element: N as u32, width, rows };
    check(&fill).map(|()| fill)
}

/// Fills now.
fn now(fill: Answer<Fill>) -> Answer {
    work::synchronous(|_, _| fill.map(Work::Fill))
}

/// Fills in a stream.
fn in_stream(fill: Answer<Fill>, stream: Handle<Stream>) -> Answer {
    work::submit(stream, |_, _| fill.map(Work::Fill))
}

api! {
    /// Fills memory with a byte.
    cuMemsetD8_v2 | cuMemsetD8_v2_ptds = "cuMemsetD8" 3020 (address: u64, value: u8, count: usize) {
        now(line(address, [value], count))
    }

    /// Fills memory with a 16-bit value.
    cuMemsetD16_v2 | cuMemsetD16_v2_ptds = "cuMemsetD16" 3020 (address: u64, value: u16, count: usize) {
        now(line(address, value.to_le_bytes(), count))
    }

    /// Fills memory with a 32-bit value.
    cuMemsetD32_v2 | cuMemsetD32_v2_ptds = "cuMemsetD32" 3020 (address: u64, value: u32, count: usize) {
        now(line(address, value.to_le_bytes(), count))
    }

    /// Fills memory with a byte, in a stream.
    cuMemsetD8Async | cuMemsetD8Async_ptsz = "cuMemsetD8Async" 3020 (
        address: u64, value: u8, count: usize, stream: Handle<Stream>,
    ) {
        in_stream(line(address, [value], count), stream)
    }

    /// Fills memory with a 16-bit value, in a stream.
    cuMemsetD16Async | cuMemsetD16Async_ptsz = "cuMemsetD16Async" 3020 (
        address: u64, value: u16, count: usize, stream: Handle<Stream>,
    ) {
        in_stream(line(address, value.to_le_bytes(), count), stream)
    }

    /// Fills memory with a 32-bit value, in a stream.
    cuMemsetD32Async | cuMemsetD32Async_ptsz = "cuMemsetD32Async" 3020 (
        address: u64, value: u32, count: usize, stream: Handle<Stream>,
    ) {
        in_stream(line(address, value.to_le_bytes(), count), stream)
    }

    /// Fills rows of memory with a byte.
    cuMemsetD2D8_v2 | cuMemsetD2D8_v2_ptds = "cuMemsetD2D8" 3020 (
        address: u64, pitch: usize, value: u8, width: usize, height: usize,
    ) {
        now(rows((address, pitch), [value], (width, height)))
    }

    /// Fills rows of memory with a 16-bit value.
    cuMemsetD2D16_v2 | cuMemsetD2D16_v2_ptds = "cuMemsetD2D16" 3020 (
        address: u64, pitch: usize, value: u16, width: usize, height: usize,
    ) {
        now(rows((address, pitch), value.to_le_bytes(), (width, height)))
    }

    /// Fills rows of memory with a 32-bit value.
    cuMemsetD2D32_v2 | cuMemsetD2D32_v2_ptds = "cuMemsetD2D32" 3020 (
        address: u64, pitch: usize, value: u32, width: usize, height: usize,
    ) {
        now(rows((address, pitch), value.to_le_bytes(), (width, height)))
    }

    /// Fills rows of memory with a byte, in a stream.
    cuMemsetD2D8Async | cuMemsetD2D8Async_ptsz = "cuMemsetD2D8Async" 3020 (
        address: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle<Stream>,
    ) {
        in_stream(rows((address, pitch), [value], (width, height)), stream)
    }

    /// Fills rows of memory with a 16-bit value, in a stream.
    cuMemsetD2D16Async | cuMemsetD2D16Async_ptsz = "cuMemsetD2D16Async" 3020 (
        address: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Handle<Stream>,
    ) {
        in_stream(rows((address, pitch), value.to_le_bytes(), (width, height)), stream)
    }

    /// Fills rows of memory with a 32-bit value, in a stream.
    cuMemsetD2D32Async | cuMemsetD2D32Async_ptsz = "cuMemsetD2D32Async" 3020 (
        address: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle<Stream>,
    ) {
        in_stream(rows((address, pitch), value.to_le_bytes(), (width, height)), stream)
    }
}
