//! Arrays, and copies of consecutive bytes into and out of them.

use strata_abi::driver::{Array3dDescriptor, ArrayDescriptor, array};
use strata_gpu::device::ArrayShape;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::Image;

use crate::api::api;
use crate::client::{Bytes, In, Out};
use crate::objects::{Array, Context, Stream};
use crate::resource::{format, refused, side};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::transfer::{self, Where};

/// The default stream.
const DEFAULT: Handle<Stream> = Handle::NULL;

/// The shape that a descriptor describes (CUDA Driver API, `cuArray3DCreate`).
pub fn shape(of: &Array3dDescriptor) -> Answer<ArrayShape> {
    if of.flags & !(array::LAYERED | array::SURFACE | array::CUBE | array::GATHER) != 0 {
        return Err(Status::NotSupported);
    }
    let layered = of.flags & array::LAYERED != 0;
    let geometry = match (of.height > 0, of.depth > 0) {
        _ if of.flags & array::CUBE != 0 => {
            if layered {
                Geometry::Cubes
            } else {
                Geometry::Cube
            }
        }
        (false, true) if layered => Geometry::Layers1,
        (true, true) if layered => Geometry::Layers2,
        (false, false) if !layered => Geometry::D1,
        (true, false) if !layered => Geometry::D2,
        (true, true) => Geometry::D3,
        _ => return Err(Status::InvalidValue),
    };
    // Four texels at a time are read from two dimensions only, as a GPU's driver has it.
    if of.flags & array::GATHER != 0 && geometry != Geometry::D2 {
        return Err(Status::InvalidValue);
    }
    Ok(ArrayShape {
        format: format(of.format, of.channels)?,
        geometry,
        width: side(of.width)?,
        height: side(of.height)?.max(1),
        depth: side(of.depth)?.max(1),
    })
}

fn create(
    state: &mut State,
    context: Handle<Context>,
    descriptor: Array3dDescriptor,
) -> Answer<Handle<Array>> {
    let shape = shape(&descriptor)?;
    let number = state.number();
    let image =
        state.card()?.alloc_array(&format!("array {number}"), shape).map_err(|error| refused(&error))?;
    Ok(state.arrays.insert(Array { context, image, descriptor, is_level: false }))
}

/// Splits a run of bytes in an array into rows: offset in the run, place, length.
fn runs(image: Image, offset: usize, bytes: usize) -> impl Iterator<Item = Answer<(usize, Where, usize)>> {
    let row = image.row_bytes() as usize;
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == bytes {
            return None;
        }
        let at = offset.checked_add(done)?;
        let length = (row - at % row).min(bytes - done);
        let rows = at / row;
        let height = image.height as usize;
        let piece =
            transfer::in_array(image, ((at % row) as u64, (rows % height) as u64, (rows / height) as u64));
        let from = done;
        done += length;
        Some(piece.map(|place| (from, place, length)))
    })
}

/// Copies between a run of bytes in an array and one in memory.
fn run(
    of: Handle<Array>,
    offset: usize,
    bytes: usize,
    on: Handle<Stream>,
    to_array: bool,
    other: impl FnOnce(&mut State) -> Answer<Where>,
) -> Answer {
    state::with_current(|state, _| {
        state.must_not_capture(on)?;
        let image = state.arrays.get(of)?.image;
        offset.checked_add(bytes).ok_or(Status::InvalidValue)?;
        if bytes == 0 {
            return Ok(());
        }
        let other = other(state)?;
        for piece in runs(image, offset, bytes) {
            let (from, place, length) = piece?;
            let memory = other.offset(from as u64)?;
            let (to, from) = if to_array { (place, memory) } else { (memory, place) };
            state.copy(to, from, length as u64)?;
        }
        Ok(())
    })
}

/// The answer for what only arrays of kinds that cannot be created have.
fn has_none(of: Handle<Array>) -> Answer {
    state::with_current(|state, _| {
        state.arrays.get(of)?;
        Err(Status::InvalidValue)
    })
}

api! {
    /// Creates an array of one or two dimensions.
    cuArrayCreate_v2 = "cuArrayCreate" 3020 (to: Out<Handle<Array>>, of: In<ArrayDescriptor>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let ArrayDescriptor { width, height, format, channels } = of.get()?;
            let whole = Array3dDescriptor { width, height, depth: 0, format, channels, flags: 0 };
            place.put(create(state, context, whole)?);
            Ok(())
        })
    }

    /// Creates an array of any shape.
    cuArray3DCreate_v2 = "cuArray3DCreate" 3020 (to: Out<Handle<Array>>, of: In<Array3dDescriptor>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            place.put(create(state, context, of.get()?)?);
            Ok(())
        })
    }

    /// Writes the array's descriptor, without its depth.
    cuArrayGetDescriptor_v2 = "cuArrayGetDescriptor" 3020 (to: Out<ArrayDescriptor>, of: Handle<Array>) {
        state::with_current(|state, _| {
            let Array3dDescriptor { width, height, format, channels, .. } = state.arrays.get(of)?.descriptor;
            to.put(ArrayDescriptor { width, height, format, channels })
        })
    }

    /// Writes the array's descriptor.
    cuArray3DGetDescriptor_v2 = "cuArray3DGetDescriptor" 3020 (
        to: Out<Array3dDescriptor>, of: Handle<Array>,
    ) {
        state::with_current(|state, _| to.put(state.arrays.get(of)?.descriptor))
    }

    /// Destroys an array. Textures and surfaces on it then refer to freed memory.
    cuArrayDestroy = "cuArrayDestroy" 2000 (of: Handle<Array>) {
        state::with_current(|state, _| state.destroy_array(of))
    }

    /// Fails: no array has planes, since formats of video are refused.
    cuArrayGetPlane = "cuArrayGetPlane" 11020 (_to: Out<Handle<Array>>, of: Handle<Array>, _plane: u32) {
        has_none(of)
    }

    /// Fails: every array has its memory from the beginning, and only those that get it later may be asked.
    cuArrayGetMemoryRequirements = "cuArrayGetMemoryRequirements" 11060 (
        _to: Bytes, of: Handle<Array>, _device: i32,
    ) {
        has_none(of)
    }

    /// Fails: no array is sparse.
    cuArrayGetSparseProperties = "cuArrayGetSparseProperties" 11010 (_to: Bytes, of: Handle<Array>) {
        has_none(of)
    }

    /// Copies from host to array.
    cuMemcpyHtoA_v2 | cuMemcpyHtoA_v2_ptds = "cuMemcpyHtoA" 3020 (to: Handle<Array>, offset: usize, from: Bytes, bytes: usize) {
        run(to, offset, bytes, DEFAULT, true, |_| Ok(Where::Host(from)))
    }

    /// Copies from host to array, in a stream.
    cuMemcpyHtoAAsync_v2 | cuMemcpyHtoAAsync_v2_ptsz = "cuMemcpyHtoAAsync" 3020 (
        to: Handle<Array>, offset: usize, from: Bytes, bytes: usize, stream: Handle<Stream>,
    ) {
        run(to, offset, bytes, stream, true, |_| Ok(Where::Host(from)))
    }

    /// Copies from array to host.
    cuMemcpyAtoH_v2 | cuMemcpyAtoH_v2_ptds = "cuMemcpyAtoH" 3020 (to: Bytes, from: Handle<Array>, offset: usize, bytes: usize) {
        run(from, offset, bytes, DEFAULT, false, |_| Ok(Where::Host(to)))
    }

    /// Copies from array to host, in a stream.
    cuMemcpyAtoHAsync_v2 | cuMemcpyAtoHAsync_v2_ptsz = "cuMemcpyAtoHAsync" 3020 (
        to: Bytes, from: Handle<Array>, offset: usize, bytes: usize, stream: Handle<Stream>,
    ) {
        run(from, offset, bytes, stream, false, |_| Ok(Where::Host(to)))
    }

    /// Copies from device memory to an array.
    cuMemcpyDtoA_v2 | cuMemcpyDtoA_v2_ptds = "cuMemcpyDtoA" 3020 (to: Handle<Array>, offset: usize, from: u64, bytes: usize) {
        run(to, offset, bytes, DEFAULT, true, |state| state.on_device(from, bytes as u64))
    }

    /// Copies from an array to device memory.
    cuMemcpyAtoD_v2 | cuMemcpyAtoD_v2_ptds = "cuMemcpyAtoD" 3020 (to: u64, from: Handle<Array>, offset: usize, bytes: usize) {
        run(from, offset, bytes, DEFAULT, false, |state| state.on_device(to, bytes as u64))
    }

    /// Copies from array to array.
    cuMemcpyAtoA_v2 | cuMemcpyAtoA_v2_ptds = "cuMemcpyAtoA" 3020 (
        to: Handle<Array>, to_offset: usize, from: Handle<Array>, from_offset: usize, bytes: usize,
    ) {
        state::with_current(|state, _| {
            let (to, from) = (state.arrays.get(to)?.image, state.arrays.get(from)?.image);
            to_offset.checked_add(bytes).ok_or(Status::InvalidValue)?;
            from_offset.checked_add(bytes).ok_or(Status::InvalidValue)?;
            let mut all = Vec::new();
            for piece in runs(from, from_offset, bytes) {
                let (_, place, length) = piece?;
                all.extend(state.bytes_at(place, length)?);
            }
            for piece in runs(to, to_offset, bytes) {
                let (at, place, length) = piece?;
                state.put_bytes(place, &all[at..at + length])?;
            }
            Ok(())
        })
    }
}
