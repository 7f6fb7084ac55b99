//! Surfaces, by object and by reference.

use crate::api::api;
use crate::api::texture::describe;
use crate::client::{Bytes, Channels, In, Out, Resource};
use crate::context;
use crate::driver::Array;
use crate::error::Error;
use crate::registry;

api! {
    /// Creates a surface object for an array.
    cudaCreateSurfaceObject(object: Out<u64>, resource: In<Resource>) {
        let driver = context::ready()?;
        let mut resource = describe(driver, resource)?;
        (resource.format, resource.channels) = (0, 0);
        driver.cuSurfObjectCreate(object, &resource)
    }

    /// Destroys a surface object. Its array stays valid.
    cudaDestroySurfaceObject(object: u64) {
        let driver = context::ready()?;
        if object == 0 { Ok(()) } else { driver.cuSurfObjectDestroy(object) }
    }

    /// Binds a surface reference to an array, whose own format applies.
    cudaBindSurfaceToArray(reference: Bytes, array: Array, _channels: In<Channels>) {
        let driver = context::ready()?;
        driver.cuSurfRefSetArray(registry::surface(driver, reference)?, array, 0)
    }

    /// Writes the reference behind a surface variable, which is the variable itself.
    cudaGetSurfaceReference(reference: Out<Bytes>, symbol: Bytes) {
        if symbol.is_null() { Err(Error::InvalidSurface) } else { reference.put(symbol) }
    }
}
