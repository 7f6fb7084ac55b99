//! Arrays: the memory behind textures and surfaces.

use strata_abi::driver::Array3dDescriptor;

use crate::api::{api, plain_api};
use crate::client::{Bytes, Channels, Extent, In, Out};
use crate::context;
use crate::driver::Array;
use crate::error::Answer;
use crate::format;

/// The driver's descriptor of an array that a client wants.
pub fn wanted(channels: In<Channels>, extent: Extent, flags: u32) -> Answer<Array3dDescriptor> {
    let (format, channels) = format::of(channels.get()?)?;
    let Extent { width, height, depth } = extent;
    Ok(Array3dDescriptor { width, height, depth, format, channels, flags })
}

fn create(array: Out<Array>, channels: In<Channels>, extent: Extent, flags: u32) -> Answer {
    context::ready()?.cuArray3DCreate_v2(array, &wanted(channels, extent, flags)?)
}

fn describe(array: Array) -> Answer<Array3dDescriptor> {
    let mut descriptor = Array3dDescriptor::default();
    context::ready()?.cuArray3DGetDescriptor_v2(&mut descriptor, array)?;
    Ok(descriptor)
}

api! {
    /// Allocates a one-dimensional array if the height is 0, else a two-dimensional one. `flags` are the
    /// driver API's.
    cudaMallocArray(array: Out<Array>, channels: In<Channels>, width: u64, height: u64, flags: u32) {
        create(array, channels, Extent { width, height, depth: 0 }, flags)
    }

    /// Allocates an array of one, two or three dimensions, or a layered one.
    cudaMalloc3DArray(array: Out<Array>, channels: In<Channels>, extent: Extent, flags: u32) {
        create(array, channels, extent, flags)
    }

    /// Frees an array. Null is ignored.
    cudaFreeArray(array: Array) {
        let driver = context::ready()?;
        if array == Array::NULL { Ok(()) } else { driver.cuArrayDestroy(array) }
    }

    /// Fails: no array has planes.
    cudaArrayGetPlane(plane: Out<Array>, array: Array, number: u32) {
        context::ready()?.cuArrayGetPlane(plane, array, number)
    }

    /// Fails: only arrays that get their memory later may be asked, and there are none.
    cudaArrayGetMemoryRequirements(requirements: Bytes, array: Array, device: i32) {
        context::ready()?.cuArrayGetMemoryRequirements(requirements, array, device)
    }

    /// Fails: no array is sparse.
    cudaArrayGetSparseProperties(properties: Bytes, array: Array) {
        context::ready()?.cuArrayGetSparseProperties(properties, array)
    }

    /// Writes an array's channels, extent and flags, each if its pointer is not null.
    cudaArrayGetInfo(channels: Out<Channels>, extent: Out<Extent>, flags: Out<u32>, array: Array) {
        let found = describe(array)?;
        channels.put_if_wanted(format::channels(found.format, found.channels)?);
        extent.put_if_wanted(Extent { width: found.width, height: found.height, depth: found.depth });
        flags.put_if_wanted(found.flags);
        Ok(())
    }

    /// Writes the channel format of an array.
    cudaGetChannelDesc(channels: Out<Channels>, array: Array) {
        let place = channels.place()?;
        let found = describe(array)?;
        place.put(format::channels(found.format, found.channels)?);
        Ok(())
    }
}

plain_api! {
    /// Returns a channel format with the given bits per channel and kind.
    cudaCreateChannelDesc(x: u32, y: u32, z: u32, w: u32, kind: u32) -> Channels
    | Channels { x: 0, y: 0, z: 0, w: 0, kind: 0 }; {
        Channels { x, y, z, w, kind }
    }
}
