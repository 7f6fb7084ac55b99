//! Copies, at once.

use crate::api::api;
use crate::api::{array, stream};
use crate::client::{Bytes, In, Plain};
use crate::state::{self, Context, State, Stream};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::transfer::Where;

/// The default stream.
const DEFAULT: Handle<Stream> = Handle::NULL;

fn to_device(to: u64, from: Bytes, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        stream::check(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.on_device(to, bytes as u64)?;
        state.copy(to, Where::Host(from), bytes as u64)
    })
}

fn to_host(to: Bytes, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        stream::check(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let from = state.on_device(from, bytes as u64)?;
        state.copy(Where::Host(to), from, bytes as u64)
    })
}

fn on_device(to: u64, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        stream::check(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.on_device(to, bytes as u64)?;
        let from = state.on_device(from, bytes as u64)?;
        state.copy(to, from, bytes as u64)
    })
}

/// Each address is the device's where a buffer is, and else the host's.
fn anywhere(to: u64, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        stream::check(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.anywhere(to, bytes as u64)?;
        let from = state.anywhere(from, bytes as u64)?;
        state.copy(to, from, bytes as u64)
    })
}

/// `CUDA_MEMCPY2D`, one side of it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    x_bytes: usize,
    y: usize,
    kind: u32,
    host: Bytes,
    device: u64,
    array: u64,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rectangle {
    from: Side,
    to: Side,
    width_bytes: usize,
    height: usize,
}

#[allow(unsafe_code)]
// SAFETY: integers and pointers that are not followed unless checked.
unsafe impl Plain for Rectangle {}

/// `CUDA_MEMCPY3D`, one side of it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Corner {
    x_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: Bytes,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cuboid {
    from: Corner,
    to: Corner,
    width_bytes: usize,
    height: usize,
    depth: usize,
}

#[allow(unsafe_code)]
// SAFETY: integers and pointers that are not followed unless checked.
unsafe impl Plain for Cuboid {}

/// Kinds of memory in a description.
mod kind {
    pub const HOST: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const UNIFIED: u32 = 4;
}

impl From<Side> for Corner {
    fn from(side: Side) -> Corner {
        let Side { x_bytes, y, kind, host, device, array, pitch } = side;
        let (z, level, reserved, height) = (0, 0, 0, 0);
        Corner { x_bytes, y, z, level, kind, host, device, array, reserved, pitch, height }
    }
}

impl Corner {
    /// Where a row begins.
    fn row(&self, state: &mut State, width: usize, y: usize, z: usize) -> Answer<Where> {
        if self.kind == kind::ARRAY {
            let image = state.arrays.get(Handle::from_bits(self.array))?.image;
            let (y, z) = (self.y.checked_add(y), self.z.checked_add(z));
            let (y, z) = y.zip(z).ok_or(Status::InvalidValue)?;
            return array::place(image, (self.x_bytes, y, z));
        }
        let overflow = Status::InvalidValue;
        let pitch = if self.pitch == 0 { width } else { self.pitch } as u64;
        let plane = self.z.checked_add(z).and_then(|z| (z as u64).checked_mul(self.height as u64));
        let rows = plane.and_then(|rows| rows.checked_add(self.y as u64)?.checked_add(y as u64));
        let at = rows
            .and_then(|rows| rows.checked_mul(pitch)?.checked_add(self.x_bytes as u64))
            .ok_or(overflow)?;
        match self.kind {
            kind::HOST => Where::Host(self.host).offset(at),
            kind::DEVICE => state.on_device(self.device.checked_add(at).ok_or(overflow)?, width as u64),
            kind::UNIFIED => state.anywhere(self.device.checked_add(at).ok_or(overflow)?, width as u64),

            _ => Err(Status::InvalidValue),
        }
    }
}

fn cuboid(what: Cuboid, on: Handle<Stream>) -> Answer {
    let Cuboid { from, to, width_bytes, height, depth } = what;
    let too_narrow = |side: &Corner| side.kind != kind::ARRAY && side.pitch != 0 && side.pitch < width_bytes;
    if (too_narrow(&from) || too_narrow(&to)) && height > 1 {
        return Err(Status::InvalidValue);
    }
    state::with_current(|state, _| {
        stream::check(state, on)?;
        if width_bytes == 0 {
            return Ok(());
        }
        for z in 0..depth {
            for y in 0..height {
                let to = to.row(state, width_bytes, y, z)?;
                let from = from.row(state, width_bytes, y, z)?;
                state.copy(to, from, width_bytes as u64)?;
            }
        }
        Ok(())
    })
}

fn rectangle(what: In<Rectangle>, on: Handle<Stream>) -> Answer {
    let Rectangle { from, to, width_bytes, height } = what.get()?;
    cuboid(Cuboid { from: from.into(), to: to.into(), width_bytes, height, depth: 1 }, on)
}

api! {
    /// Host to device.
    cuMemcpyHtoD_v2 = "cuMemcpyHtoD" 3020 (to: u64, from: Bytes, bytes: usize) {
        to_device(to, from, bytes, DEFAULT)
    }

    /// Device to host.
    cuMemcpyDtoH_v2 = "cuMemcpyDtoH" 3020 (to: Bytes, from: u64, bytes: usize) {
        to_host(to, from, bytes, DEFAULT)
    }

    /// Device to device; ranges may overlap.
    cuMemcpyDtoD_v2 = "cuMemcpyDtoD" 3020 (to: u64, from: u64, bytes: usize) {
        on_device(to, from, bytes, DEFAULT)
    }

    /// Anywhere to anywhere.
    cuMemcpy = "cuMemcpy" 4000 (to: u64, from: u64, bytes: usize) {
        anywhere(to, from, bytes, DEFAULT)
    }

    /// Host to device.
    cuMemcpyHtoDAsync_v2 = "cuMemcpyHtoDAsync" 3020 (
        to: u64, from: Bytes, bytes: usize, stream: Handle<Stream>,
    ) {
        to_device(to, from, bytes, stream)
    }

    /// Device to host.
    cuMemcpyDtoHAsync_v2 = "cuMemcpyDtoHAsync" 3020 (
        to: Bytes, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        to_host(to, from, bytes, stream)
    }

    /// Device to device.
    cuMemcpyDtoDAsync_v2 = "cuMemcpyDtoDAsync" 3020 (
        to: u64, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        on_device(to, from, bytes, stream)
    }

    /// Anywhere to anywhere.
    cuMemcpyAsync = "cuMemcpyAsync" 4000 (to: u64, from: u64, bytes: usize, stream: Handle<Stream>) {
        anywhere(to, from, bytes, stream)
    }

    /// Between contexts of the one device.
    cuMemcpyPeer = "cuMemcpyPeer" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
    ) {
        state::with(|state| {
            state.contexts.get(to_context)?;
            state.contexts.get(from_context).map(|_| ())
        })?;
        on_device(to, from, bytes, DEFAULT)
    }

    /// Between contexts of the one device.
    cuMemcpyPeerAsync = "cuMemcpyPeerAsync" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
        stream: Handle<Stream>,
    ) {
        state::with(|state| {
            state.contexts.get(to_context)?;
            state.contexts.get(from_context).map(|_| ())
        })?;
        on_device(to, from, bytes, stream)
    }

    /// A rectangle.
    cuMemcpy2D_v2 = "cuMemcpy2D" 3020 (what: In<Rectangle>) {
        rectangle(what, DEFAULT)
    }

    /// A rectangle of any pitch.
    cuMemcpy2DUnaligned_v2 = "cuMemcpy2DUnaligned" 3020 (what: In<Rectangle>) {
        rectangle(what, DEFAULT)
    }

    /// A rectangle.
    cuMemcpy2DAsync_v2 = "cuMemcpy2DAsync" 3020 (what: In<Rectangle>, stream: Handle<Stream>) {
        rectangle(what, stream)
    }

    /// A cuboid.
    cuMemcpy3D_v2 = "cuMemcpy3D" 3020 (what: In<Cuboid>) {
        cuboid(what.get()?, DEFAULT)
    }

    /// A cuboid.
    cuMemcpy3DAsync_v2 = "cuMemcpy3DAsync" 3020 (what: In<Cuboid>, stream: Handle<Stream>) {
        cuboid(what.get()?, stream)
    }
}
