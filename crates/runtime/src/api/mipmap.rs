//! Arrays with levels of detail. A level is an array that is copied to and from like any other, and goes with the whole.

use crate::api::api;
use crate::api::array::wanted;
use crate::client::{Bytes, Channels, Extent, In, Out};
use crate::context;
use crate::driver::Mipmapped;

api! {
    /// Allocates an array with levels of detail. Of more levels than its extent has, those that there are. `flags` are the
    /// driver API's.
    cudaMallocMipmappedArray(array: Out<Mipmapped>, channels: In<Channels>, extent: Extent, levels: u32, flags: u32) {
        let driver = context::ready()?;
        driver.cuMipmappedArrayCreate(array, &wanted(channels, extent, flags)?, levels)
    }

    /// Frees an array with all its levels. Null is ignored.
    cudaFreeMipmappedArray(array: Mipmapped) {
        let driver = context::ready()?;
        if array == Mipmapped::NULL { Ok(()) } else { driver.cuMipmappedArrayDestroy(array) }
    }

    /// Writes a level, as an array.
    cudaGetMipmappedArrayLevel(level: Bytes, array: Mipmapped, number: u32) {
        context::ready()?.cuMipmappedArrayGetLevel(level, array, number)
    }

    /// Fails: only arrays that get their memory later may be asked, and there are none.
    cudaMipmappedArrayGetMemoryRequirements(requirements: Bytes, array: Mipmapped, device: i32) {
        context::ready()?.cuMipmappedArrayGetMemoryRequirements(requirements, array, device)
    }

    /// Fails: no array is sparse.
    cudaMipmappedArrayGetSparseProperties(properties: Bytes, array: Mipmapped) {
        context::ready()?.cuMipmappedArrayGetSparseProperties(properties, array)
    }
}
