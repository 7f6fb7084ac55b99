//! Copies. Each is complete when its call returns.

use strata_abi::driver::{Corner, Cuboid, Rectangle, memory};

use crate::api::api;
use crate::client::{Bytes, In};
use crate::graph::parts::Work;
use crate::objects::{Context, Stream};
use crate::state;
use crate::status::Answer;
use crate::table::Handle;
use crate::work;
use crate::work::copy::check;

/// One side of a copy of consecutive bytes.
fn side(kind: u32, address: u64) -> Corner {
    match kind {
        memory::HOST => Corner { kind, host: address, ..Corner::default() },
        _ => Corner { kind, device: address, ..Corner::default() },
    }
}

/// A copy of consecutive bytes; of none, anything may be the address.
fn line(to: (u32, u64), from: (u32, u64), bytes: usize) -> Cuboid {
    let (to, from) = (side(to.0, to.1), side(from.0, from.1));
    Cuboid { from, to, width_bytes: bytes as u64, height: 1, depth: 1 }
}

fn to_device(to: u64, from: Bytes, bytes: usize) -> Cuboid {
    line((memory::DEVICE, to), (memory::HOST, from.address()), bytes)
}

fn to_host(to: Bytes, from: u64, bytes: usize) -> Cuboid {
    line((memory::HOST, to.address()), (memory::DEVICE, from), bytes)
}

fn on_device(to: u64, from: u64, bytes: usize) -> Cuboid {
    line((memory::DEVICE, to), (memory::DEVICE, from), bytes)
}

/// A copy between two addresses; each is a device address if a buffer contains it, else a host address.
fn anywhere(to: u64, from: u64, bytes: usize) -> Cuboid {
    line((memory::UNIFIED, to), (memory::UNIFIED, from), bytes)
}

/// Copies now.
fn now(what: Cuboid) -> Answer {
    work::synchronous(|state, _| {
        check(state, &what)?;
        Ok(Work::Copy(what))
    })
}

/// Copies in a stream.
fn in_stream(what: Cuboid, stream: Handle<Stream>) -> Answer {
    work::submit(stream, |state, _| {
        check(state, &what)?;
        Ok(Work::Copy(what))
    })
}

fn rectangle(what: In<Rectangle>) -> Answer<Cuboid> {
    let Rectangle { from, to, width_bytes, height } = what.get()?;
    Ok(Cuboid { from: from.into(), to: to.into(), width_bytes, height, depth: 1 })
}

/// Refuses contexts that do not exist.
fn contexts<const N: usize>(contexts: [Handle<Context>; N]) -> Answer {
    state::with(|state| contexts.iter().try_for_each(|context| state.contexts.get(*context).map(|_| ())))
}

/// A `CUDA_MEMCPY3D_PEER`, which differs from a `CUDA_MEMCPY3D` by a context in place of each side's reserved word. It
/// counts for device memory.
fn between_contexts(what: In<Cuboid>) -> Answer<Cuboid> {
    let mut what = what.get()?;
    for side in [&mut what.from, &mut what.to] {
        let context = Handle::from_bits(std::mem::take(&mut side.reserved));
        if matches!(side.kind, memory::DEVICE | memory::UNIFIED) {
            contexts([context])?;
        }
    }
    Ok(what)
}

api! {
    /// Copies from host to device.
    cuMemcpyHtoD_v2 | cuMemcpyHtoD_v2_ptds = "cuMemcpyHtoD" 3020 (to: u64, from: Bytes, bytes: usize) {
        now(to_device(to, from, bytes))
    }

    /// Copies from device to host.
    cuMemcpyDtoH_v2 | cuMemcpyDtoH_v2_ptds = "cuMemcpyDtoH" 3020 (to: Bytes, from: u64, bytes: usize) {
        now(to_host(to, from, bytes))
    }

    /// Copies within device memory; ranges may overlap.
    cuMemcpyDtoD_v2 | cuMemcpyDtoD_v2_ptds = "cuMemcpyDtoD" 3020 (to: u64, from: u64, bytes: usize) {
        now(on_device(to, from, bytes))
    }

    /// Copies between any two addresses.
    cuMemcpy | cuMemcpy_ptds = "cuMemcpy" 4000 (to: u64, from: u64, bytes: usize) {
        now(anywhere(to, from, bytes))
    }

    /// Copies from host to device, in a stream.
    cuMemcpyHtoDAsync_v2 | cuMemcpyHtoDAsync_v2_ptsz = "cuMemcpyHtoDAsync" 3020 (
        to: u64, from: Bytes, bytes: usize, stream: Handle<Stream>,
    ) {
        in_stream(to_device(to, from, bytes), stream)
    }

    /// Copies from device to host, in a stream.
    cuMemcpyDtoHAsync_v2 | cuMemcpyDtoHAsync_v2_ptsz = "cuMemcpyDtoHAsync" 3020 (
        to: Bytes, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        in_stream(to_host(to, from, bytes), stream)
    }

    /// Copies within device memory, in a stream.
    cuMemcpyDtoDAsync_v2 | cuMemcpyDtoDAsync_v2_ptsz = "cuMemcpyDtoDAsync" 3020 (
        to: u64, from: u64, bytes: usize, stream: Handle<Stream>,
    ) {
        in_stream(on_device(to, from, bytes), stream)
    }

    /// Copies between any two addresses, in a stream.
    cuMemcpyAsync | cuMemcpyAsync_ptsz = "cuMemcpyAsync" 4000 (to: u64, from: u64, bytes: usize, stream: Handle<Stream>) {
        in_stream(anywhere(to, from, bytes), stream)
    }

    /// Copies between contexts of the one device.
    cuMemcpyPeer | cuMemcpyPeer_ptds = "cuMemcpyPeer" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
    ) {
        contexts([to_context, from_context])?;
        now(on_device(to, from, bytes))
    }

    /// Copies between contexts of the one device, in a stream.
    cuMemcpyPeerAsync | cuMemcpyPeerAsync_ptsz = "cuMemcpyPeerAsync" 4000 (
        to: u64, to_context: Handle<Context>, from: u64, from_context: Handle<Context>, bytes: usize,
        stream: Handle<Stream>,
    ) {
        contexts([to_context, from_context])?;
        in_stream(on_device(to, from, bytes), stream)
    }

    /// Copies a rectangle between memory and arrays.
    cuMemcpy2D_v2 | cuMemcpy2D_v2_ptds = "cuMemcpy2D" 3020 (what: In<Rectangle>) {
        now(rectangle(what)?)
    }

    /// Copies a rectangle of any pitch.
    cuMemcpy2DUnaligned_v2 | cuMemcpy2DUnaligned_v2_ptds = "cuMemcpy2DUnaligned" 3020 (what: In<Rectangle>) {
        now(rectangle(what)?)
    }

    /// Copies a rectangle, in a stream.
    cuMemcpy2DAsync_v2 | cuMemcpy2DAsync_v2_ptsz = "cuMemcpy2DAsync" 3020 (what: In<Rectangle>, stream: Handle<Stream>) {
        in_stream(rectangle(what)?, stream)
    }

    /// Copies a cuboid between memory and arrays.
    cuMemcpy3D_v2 | cuMemcpy3D_v2_ptds = "cuMemcpy3D" 3020 (what: In<Cuboid>) {
        now(what.get()?)
    }

    /// Copies a cuboid, in a stream.
    cuMemcpy3DAsync_v2 | cuMemcpy3DAsync_v2_ptsz = "cuMemcpy3DAsync" 3020 (what: In<Cuboid>, stream: Handle<Stream>) {
        in_stream(what.get()?, stream)
    }

    /// Copies a cuboid between contexts of the one device.
    cuMemcpy3DPeer | cuMemcpy3DPeer_ptds = "cuMemcpy3DPeer" 4000 (what: In<Cuboid>) {
        now(between_contexts(what)?)
    }

    /// Copies a cuboid between contexts of the one device, in a stream.
    cuMemcpy3DPeerAsync | cuMemcpy3DPeerAsync_ptsz = "cuMemcpy3DPeerAsync" 4000 (
        what: In<Cuboid>, stream: Handle<Stream>,
    ) {
        in_stream(between_contexts(what)?, stream)
    }
}
