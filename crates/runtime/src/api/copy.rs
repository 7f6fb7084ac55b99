//! Copies. The direction says which address is the host's; with `cudaMemcpyDefault` the driver finds out.

use strata_abi::driver::{Array3dDescriptor, Corner, Cuboid, Rectangle, Side, memory};

use crate::api::api;
use crate::client::{Bytes, Copy3D, In, PeerCopy3D, Pitched, Position};
use crate::context;
use crate::driver::{Array, Driver, Stream};
use crate::error::{Answer, Error};
use crate::format::element_bytes;

/// Directions of a copy: values of `cudaMemcpyKind`.
pub mod kind {
    pub const HOST_TO_HOST: u32 = 0;
    pub const HOST_TO_DEVICE: u32 = 1;
    pub const DEVICE_TO_HOST: u32 = 2;
    pub const DEVICE_TO_DEVICE: u32 = 3;
    pub const DEFAULT: u32 = 4;
}

fn copy(to: Bytes, from: Bytes, bytes: u64, direction: u32, on: Stream) -> Answer {
    let driver = context::ready()?;
    match direction {
        kind::HOST_TO_HOST => {
            let side = |at: Bytes| Side { kind: memory::HOST, host: at.address(), ..Side::default() };
            let (from, to) = (side(from), side(to));
            driver.cuMemcpy2DAsync_v2(&Rectangle { from, to, width_bytes: bytes, height: 1 }, on)
        }
        kind::HOST_TO_DEVICE => driver.cuMemcpyHtoDAsync_v2(to.address(), from, bytes, on),
        kind::DEVICE_TO_HOST => driver.cuMemcpyDtoHAsync_v2(to, from.address(), bytes, on),
        kind::DEVICE_TO_DEVICE => driver.cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, on),
        kind::DEFAULT => driver.cuMemcpyAsync(to.address(), from.address(), bytes, on),
        _ => Err(Error::InvalidMemcpyDirection),
    }
}

/// The memory types of a copy's two sides, as (source, destination).
pub fn memories(direction: u32) -> Answer<(u32, u32)> {
    Ok(match direction {
        kind::HOST_TO_HOST => (memory::HOST, memory::HOST),
        kind::HOST_TO_DEVICE => (memory::HOST, memory::DEVICE),
        kind::DEVICE_TO_HOST => (memory::DEVICE, memory::HOST),
        kind::DEVICE_TO_DEVICE => (memory::DEVICE, memory::DEVICE),
        kind::DEFAULT => (memory::UNIFIED, memory::UNIFIED),
        _ => return Err(Error::InvalidMemcpyDirection),
    })
}

/// One side of a copy: rows of memory from an address on, or a position in an array.
#[derive(Clone, Copy)]
enum Place {
    Rows { start: Bytes, pitch: u64 },
    Array { array: Array, x_bytes: u64, y: u64 },
}

impl Place {
    fn side(self, kind: u32) -> Side {
        match self {
            Place::Rows { start, pitch } => {
                let address = start.address();
                Side { kind, host: address, device: address, pitch, ..Side::default() }
            }
            Place::Array { array, x_bytes, y } => {
                Side { kind: memory::ARRAY, x_bytes, y, array: array.0, ..Side::default() }
            }
        }
    }
}

/// Copies a rectangle of bytes.
fn rectangle(to: Place, from: Place, (width, height): (u64, u64), direction: u32, on: Stream) -> Answer {
    let driver = context::ready()?;
    let (from_kind, to_kind) = memories(direction)?;
    for place in [to, from] {
        if let Place::Rows { pitch, .. } = place
            && pitch < width
        {
            return Err(Error::InvalidPitchValue);
        }
    }
    if width == 0 || height == 0 {
        return Ok(());
    }
    let (from, to) = (from.side(from_kind), to.side(to_kind));
    driver.cuMemcpy2DAsync_v2(&Rectangle { from, to, width_bytes: width, height }, on)
}

/// The driver's descriptor of an array.
pub fn describe(driver: &Driver, array: Array) -> Answer<Array3dDescriptor> {
    let mut descriptor = Array3dDescriptor::default();
    driver.cuArray3DGetDescriptor_v2(&mut descriptor, array)?;
    Ok(descriptor)
}

/// Size in bytes of a row of an array.
fn row(driver: &Driver, array: Array) -> Answer<u64> {
    let descriptor = describe(driver, array)?;
    Ok(descriptor.width.checked_mul(element_bytes(&descriptor)).unwrap_or(0))
}

/// Offset in bytes of a place in an array, whose rows follow one another.
fn offset(driver: &Driver, array: Array, x_bytes: u64, y: u64) -> Answer<u64> {
    let row = row(driver, array)?;
    let offset =
        if x_bytes < row { y.checked_mul(row).and_then(|start| start.checked_add(x_bytes)) } else { None };
    offset.ok_or(Error::InvalidValue)
}

/// Copies consecutive bytes into or out of the rows of an array: the rest of the first row, whole rows, and
/// the beginning of the last.
fn linear(
    (array, x_bytes, y): (Array, u64, u64),
    memory: Bytes,
    bytes: u64,
    direction: u32,
    on: Stream,
    into: bool,
) -> Answer {
    let driver = context::ready()?;
    let row = row(driver, array)?;
    if x_bytes >= row {
        return Err(Error::InvalidValue);
    }
    let (mut done, mut x, mut y) = (0, x_bytes, y);
    while done < bytes {
        let left = bytes - done;
        let (width, height) = if x == 0 && left >= row { (row, left / row) } else { (left.min(row - x), 1) };
        let rows = Place::Rows { start: Bytes::at(memory.address() + done), pitch: width };
        let place = Place::Array { array, x_bytes: x, y };
        let (to, from) = if into { (place, rows) } else { (rows, place) };
        rectangle(to, from, (width, height), direction, on)?;
        done += width * height;
        (x, y) = (0, y + height);
    }
    Ok(())
}

/// One side of a three-dimensional copy. `element` is the size in bytes of the unit that x counts.
fn corner(array: Array, (at, rows): (Position, Pitched), kind: u32, element: u64) -> Answer<Corner> {
    let both = array != Array::NULL && !rows.start.is_null();
    let neither = array == Array::NULL && rows.start.is_null();
    if both || neither {
        return Err(Error::InvalidValue);
    }
    let x_bytes = at.x.checked_mul(element).ok_or(Error::InvalidValue)?;
    Ok(Corner {
        x_bytes,
        y: at.y,
        z: at.z,
        kind: if array == Array::NULL { kind } else { memory::ARRAY },
        host: rows.start.address(),
        device: rows.start.address(),
        array: array.0,
        pitch: rows.pitch,
        height: rows.height,
        ..Corner::default()
    })
}

/// The driver's description of a copy.
pub fn cuboid_of(driver: &Driver, what: Copy3D) -> Answer<Cuboid> {
    let (from_array, to_array) = (Array(what.from_array), Array(what.to_array));
    let element = |array: Array| match array {
        Array::NULL => Ok(1),
        array => describe(driver, array).map(|descriptor| element_bytes(&descriptor)),
    };
    let (from_element, to_element) = (element(from_array)?, element(to_array)?);
    let (from_kind, to_kind) = memories(what.kind)?;
    // If an array takes part, the extent counts elements.
    let width = what.extent.width.checked_mul(from_element.max(to_element)).ok_or(Error::InvalidValue)?;
    Ok(Cuboid {
        from: corner(from_array, (what.from_at, what.from), from_kind, from_element)?,
        to: corner(to_array, (what.to_at, what.to), to_kind, to_element)?,
        width_bytes: width,
        height: what.extent.height,
        depth: what.extent.depth,
    })
}

fn cuboid(what: Copy3D, on: Stream) -> Answer {
    let driver = context::ready()?;
    if what.extent.width == 0 || what.extent.height == 0 || what.extent.depth == 0 {
        return Ok(());
    }
    driver.cuMemcpy3DAsync_v2(&cuboid_of(driver, what)?, on)
}

/// A copy between devices as one on the device.
fn on_the_device(what: In<PeerCopy3D>) -> Answer<Copy3D> {
    let what = what.get()?;
    context::check(what.from_device)?;
    context::check(what.to_device)?;
    let PeerCopy3D { from_array, from_at, from, to_array, to_at, to, extent, .. } = what;
    let kind = kind::DEVICE_TO_DEVICE;
    Ok(Copy3D { from_array, from_at, from, to_array, to_at, to, extent, kind, padding: 0 })
}

/// Rows of memory, `pitch` bytes apart.
fn rows(start: Bytes, pitch: u64) -> Place {
    Place::Rows { start, pitch }
}

/// A position in an array.
fn within(array: Array, x_bytes: u64, y: u64) -> Place {
    Place::Array { array, x_bytes, y }
}

/// The default stream.
const DEFAULT: Stream = Stream::NULL;

api! {
    /// Copies bytes between any two addresses, as `kind` says.
    cudaMemcpy | cudaMemcpy_ptds (to: Bytes, from: Bytes, bytes: u64, kind: u32) {
        copy(to, from, bytes, kind, DEFAULT)
    }

    /// Copies bytes, in a stream.
    cudaMemcpyAsync | cudaMemcpyAsync_ptsz (to: Bytes, from: Bytes, bytes: u64, kind: u32, stream: Stream) {
        copy(to, from, bytes, kind, stream)
    }

    /// Copies bytes between devices; both must be the one device.
    cudaMemcpyPeer(to: Bytes, to_device: i32, from: Bytes, from_device: i32, bytes: u64) {
        context::check(to_device)?;
        context::check(from_device)?;
        copy(to, from, bytes, kind::DEVICE_TO_DEVICE, DEFAULT)
    }

    /// Copies bytes between devices, in a stream; both must be the one device.
    cudaMemcpyPeerAsync(to: Bytes, to_device: i32, from: Bytes, from_device: i32, bytes: u64, stream: Stream) {
        context::check(to_device)?;
        context::check(from_device)?;
        copy(to, from, bytes, kind::DEVICE_TO_DEVICE, stream)
    }

    /// Copies rows of memory.
    cudaMemcpy2D | cudaMemcpy2D_ptds (
        to: Bytes, to_pitch: u64, from: Bytes, from_pitch: u64, width: u64, height: u64, kind: u32,
    ) {
        rectangle(rows(to, to_pitch), rows(from, from_pitch), (width, height), kind, DEFAULT)
    }

    /// Copies rows of memory, in a stream.
    cudaMemcpy2DAsync | cudaMemcpy2DAsync_ptsz (
        to: Bytes, to_pitch: u64, from: Bytes, from_pitch: u64, width: u64, height: u64, kind: u32, stream: Stream,
    ) {
        rectangle(rows(to, to_pitch), rows(from, from_pitch), (width, height), kind, stream)
    }

    /// Copies rows of memory into an array.
    cudaMemcpy2DToArray | cudaMemcpy2DToArray_ptds (
        to: Array, x: u64, y: u64, from: Bytes, pitch: u64, width: u64, height: u64, kind: u32,
    ) {
        rectangle(within(to, x, y), rows(from, pitch), (width, height), kind, DEFAULT)
    }

    /// Copies rows of memory into an array, in a stream.
    cudaMemcpy2DToArrayAsync | cudaMemcpy2DToArrayAsync_ptsz (
        to: Array, x: u64, y: u64, from: Bytes, pitch: u64, width: u64, height: u64, kind: u32, stream: Stream,
    ) {
        rectangle(within(to, x, y), rows(from, pitch), (width, height), kind, stream)
    }

    /// Copies rows of an array into memory.
    cudaMemcpy2DFromArray | cudaMemcpy2DFromArray_ptds (
        to: Bytes, pitch: u64, from: Array, x: u64, y: u64, width: u64, height: u64, kind: u32,
    ) {
        rectangle(rows(to, pitch), within(from, x, y), (width, height), kind, DEFAULT)
    }

    /// Copies rows of an array into memory, in a stream.
    cudaMemcpy2DFromArrayAsync | cudaMemcpy2DFromArrayAsync_ptsz (
        to: Bytes, pitch: u64, from: Array, x: u64, y: u64, width: u64, height: u64, kind: u32, stream: Stream,
    ) {
        rectangle(rows(to, pitch), within(from, x, y), (width, height), kind, stream)
    }

    /// Copies rows from array to array.
    cudaMemcpy2DArrayToArray | cudaMemcpy2DArrayToArray_ptds (
        to: Array, to_x: u64, to_y: u64, from: Array, from_x: u64, from_y: u64, width: u64, height: u64, kind: u32,
    ) {
        rectangle(within(to, to_x, to_y), within(from, from_x, from_y), (width, height), kind, DEFAULT)
    }

    /// Copies consecutive bytes of the rows of one array into those of another.
    cudaMemcpyArrayToArray | cudaMemcpyArrayToArray_ptds (
        to: Array, to_x: u64, to_y: u64, from: Array, from_x: u64, from_y: u64, bytes: u64, kind: u32,
    ) {
        let driver = context::ready()?;
        memories(kind)?;
        let (to_offset, from_offset) = (offset(driver, to, to_x, to_y)?, offset(driver, from, from_x, from_y)?);
        driver.cuMemcpyAtoA_v2(to, to_offset, from, from_offset, bytes)
    }

    /// Copies consecutive bytes into the rows of an array.
    cudaMemcpyToArray | cudaMemcpyToArray_ptds (to: Array, x: u64, y: u64, from: Bytes, bytes: u64, kind: u32) {
        linear((to, x, y), from, bytes, kind, DEFAULT, true)
    }

    /// Copies consecutive bytes into the rows of an array, in a stream.
    cudaMemcpyToArrayAsync | cudaMemcpyToArrayAsync_ptsz (
        to: Array, x: u64, y: u64, from: Bytes, bytes: u64, kind: u32, stream: Stream,
    ) {
        linear((to, x, y), from, bytes, kind, stream, true)
    }

    /// Copies the rows of an array into consecutive bytes.
    cudaMemcpyFromArray | cudaMemcpyFromArray_ptds (to: Bytes, from: Array, x: u64, y: u64, bytes: u64, kind: u32) {
        linear((from, x, y), to, bytes, kind, DEFAULT, false)
    }

    /// Copies the rows of an array into consecutive bytes, in a stream.
    cudaMemcpyFromArrayAsync | cudaMemcpyFromArrayAsync_ptsz (
        to: Bytes, from: Array, x: u64, y: u64, bytes: u64, kind: u32, stream: Stream,
    ) {
        linear((from, x, y), to, bytes, kind, stream, false)
    }

    /// Copies a box of memory or of an array.
    cudaMemcpy3D | cudaMemcpy3D_ptds (what: In<Copy3D>) {
        cuboid(what.get()?, DEFAULT)
    }

    /// Copies a box of memory or of an array, in a stream.
    cudaMemcpy3DAsync | cudaMemcpy3DAsync_ptsz (what: In<Copy3D>, stream: Stream) {
        cuboid(what.get()?, stream)
    }

    /// Copies a box between devices; both must be the one device.
    cudaMemcpy3DPeer | cudaMemcpy3DPeer_ptds (what: In<PeerCopy3D>) {
        cuboid(on_the_device(what)?, DEFAULT)
    }

    /// Copies a box between devices, in a stream; both must be the one device.
    cudaMemcpy3DPeerAsync | cudaMemcpy3DPeerAsync_ptsz (what: In<PeerCopy3D>, stream: Stream) {
        cuboid(on_the_device(what)?, stream)
    }
}
