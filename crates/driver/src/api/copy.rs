//! Copies. Each is complete when its call returns.

use strata_abi::driver::{Corner, Cuboid, Rectangle, memory};

use crate::api::api;
use crate::api::array;
use crate::api::handles::check_stream;
use crate::client::{Bytes, In};
use crate::objects::{Context, Stream};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::transfer::Where;

/// The default stream.
const DEFAULT: Handle<Stream> = Handle::NULL;

fn to_device(to: u64, from: Bytes, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.on_device(to, bytes as u64)?;
        state.copy(to, Where::Host(from), bytes as u64)
    })
}

fn to_host(to: Bytes, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let from = state.on_device(from, bytes as u64)?;
        state.copy(Where::Host(to), from, bytes as u64)
    })
}

fn on_device(to: u64, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.on_device(to, bytes as u64)?;
        let from = state.on_device(from, bytes as u64)?;
        state.copy(to, from, bytes as u64)
    })
}

/// Copies between two addresses; each is a device address if a buffer contains it, else a host address.
fn anywhere(to: u64, from: u64, bytes: usize, on: Handle<Stream>) -> Answer {
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = state.anywhere(to, bytes as u64)?;
        let from = state.anywhere(from, bytes as u64)?;
        state.copy(to, from, bytes as u64)
    })
}

/// The start of a row on one side of a copy; `y` and `z` count from the side's corner.
fn row(of: &Corner, state: &mut State, width: u64, y: u64, z: u64) -> Answer<Where> {
    let overflow = Status::InvalidValue;
    let (y, z) = of.y.checked_add(y).zip(of.z.checked_add(z)).ok_or(overflow)?;
    if of.kind == memory::ARRAY {
        let image = state.arrays.get(Handle::from_bits(of.array))?.image;
        return array::place(image, (of.x_bytes, y, z));
    }
    let pitch = if of.pitch == 0 { width } else { of.pitch };
    let rows = z.checked_mul(of.height).and_then(|rows| rows.checked_add(y));
    let at = rows.and_then(|rows| rows.checked_mul(pitch)?.checked_add(of.x_bytes)).ok_or(overflow)?;
    let on_device = of.device.checked_add(at).ok_or(overflow);
    match of.kind {
        memory::HOST => Where::Host(Bytes::at(of.host)).offset(at),
        memory::DEVICE => state.on_device(on_device?, width),
        memory::UNIFIED => state.anywhere(on_device?, width),
        _ => Err(Status::InvalidValue),
    }
}

fn cuboid(what: Cuboid, on: Handle<Stream>) -> Answer {
    let Cuboid { from, to, width_bytes, height, depth } = what;
    let too_narrow =
        |side: &Corner| side.kind != memory::ARRAY && side.pitch != 0 && side.pitch < width_bytes;
    if (too_narrow(&from) || too_narrow(&to)) && height > 1 {
        return Err(Status::InvalidValue);
    }
    state::with_current(|state, _| {
        check_stream(state, on)?;
        if width_bytes == 0 || height == 0 {
            return Ok(());
        }
        for z in 0..depth {
            for y in 0..height {
                let to = row(&to, state, width_bytes, y, z)?;
                let from = row(&from, state, width_bytes, y, z)?;
                state.copy(to, from, width_bytes)?;
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
    /// Copies from host to device.
    cuMemcpyHtoD_v2 | cuMemcpyHtoD_v2_ptds = "cuMemcpyHtoD" 3020 (to: u64, from: Bytes, bytes: usize) {
        to_device(to, from, bytes, DEFAULT)
    }

    /// Copies from device to host.
    cuMemcpyDtoH_v2 | cuMemcpyDtoH_v2_ptds = "cuMemcpyDtoH" 3020 (to: Bytes, from: u64, bytes: usize) {
        to_host(to, from, bytes, DEFAULT)
    }

    /// Copies within device memory; ranges may overlap.
    cuMemcpyDtoD_v2 | cuMemcpyDtoD_v2_ptds = "cuMemcpyDtoD" 3020 (to: u64, from: u64, bytes: usize) {
        on_device(to, from, bytes, DEFAULT)
    }

    /// Copies between any two addresses.
    cuMemcpy | cuMemcpy_ptds = "cuMemcpy" 4000 (to: u64, from: u64, bytes: usize) {
        anywhere(to, from, bytes, DEFAULT)
    }

    /// Copies from host to device, in a stream.
    cuMemcpyHtoDAsync_v2 | cuMemcpyHtoDAsync_v2_ptsz = "cuMemcpyHtoDAsync" 3020 (
        to: u64, from: Bytes, bytes: usize, stream: Handle<Stream>,
    ) {
        to_device(to, from, bytes, stream)
    }

    /// Copies from device to host, in a stream.
    cuMemcpyDtoHAsync_v2 | cuMemcpyDtoHAsync_v2_ptsz = "cuMemcpyDtoHAsync" 3020 (
        to: Bytes, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        to_host(to, from, bytes, stream)
    }

    /// Copies within device memory, in a stream.
    cuMemcpyDtoDAsync_v2 | cuMemcpyDtoDAsync_v2_ptsz = "cuMemcpyDtoDAsync" 3020 (
        to: u64, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        on_device(to, from, bytes, stream)
    }

    /// Copies between any two addresses, in a stream.
    cuMemcpyAsync | cuMemcpyAsync_ptsz = "cuMemcpyAsync" 4000 (to: u64, from: u64, bytes: usize, stream: Handle<Stream>) {
        anywhere(to, from, bytes, stream)
    }

    /// Copies between contexts of the one device.
    cuMemcpyPeer | cuMemcpyPeer_ptds = "cuMemcpyPeer" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
    ) {
        state::with(|state| {
            state.contexts.get(to_context)?;
            state.contexts.get(from_context).map(|_| ())
        })?;
        on_device(to, from, bytes, DEFAULT)
    }

    /// Copies between contexts of the one device, in a stream.
    cuMemcpyPeerAsync | cuMemcpyPeerAsync_ptsz = "cuMemcpyPeerAsync" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
        stream: Handle<Stream>,
    ) {
        state::with(|state| {
            state.contexts.get(to_context)?;
            state.contexts.get(from_context).map(|_| ())
        })?;
        on_device(to, from, bytes, stream)
    }

    /// Copies a rectangle between memory and arrays.
    cuMemcpy2D_v2 | cuMemcpy2D_v2_ptds = "cuMemcpy2D" 3020 (what: In<Rectangle>) {
        rectangle(what, DEFAULT)
    }

    /// Copies a rectangle of any pitch.
    cuMemcpy2DUnaligned_v2 | cuMemcpy2DUnaligned_v2_ptds = "cuMemcpy2DUnaligned" 3020 (what: In<Rectangle>) {
        rectangle(what, DEFAULT)
    }

    /// Copies a rectangle, in a stream.
    cuMemcpy2DAsync_v2 | cuMemcpy2DAsync_v2_ptsz = "cuMemcpy2DAsync" 3020 (what: In<Rectangle>, stream: Handle<Stream>) {
        rectangle(what, stream)
    }

    /// Copies a cuboid between memory and arrays.
    cuMemcpy3D_v2 | cuMemcpy3D_v2_ptds = "cuMemcpy3D" 3020 (what: In<Cuboid>) {
        cuboid(what.get()?, DEFAULT)
    }

    /// Copies a cuboid, in a stream.
    cuMemcpy3DAsync_v2 | cuMemcpy3DAsync_v2_ptsz = "cuMemcpy3DAsync" 3020 (what: In<Cuboid>, stream: Handle<Stream>) {
        cuboid(what.get()?, stream)
    }
}
