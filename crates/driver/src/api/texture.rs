//! Texture and surface objects, whose handles are passed to kernels.

use strata_abi::driver::{ResourceDescriptor, TextureDescriptor, array, resource as kind};

use crate::api::api;
use crate::client::{Bytes, In, Out};
use crate::objects::{SurfaceObject, TextureObject};
use crate::resource::{self, refused};
use crate::state;
use crate::status::Status;

api! {
    /// Creates a texture object and writes its handle.
    cuTexObjectCreate = "cuTexObjectCreate" 5000 (
        to: Out<u64>, resource: In<ResourceDescriptor>, texture: In<TextureDescriptor>, view: Bytes,
    ) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let (resource, texture) = (resource.get()?, texture.get()?);
            // A view selects another format, or some of the levels or layers.
            if !view.is_null() {
                return Err(Status::NotSupported);
            }
            let image = resource::levels(
                &resource,
                |array| Ok(state.arrays.get(array)?.image),
                |array| state.levels_of(array),
            )?;
            state.on_device(image.0.base, image.0.bytes())?;
            let made = resource::texture(&texture, image)?;
            let handle = state.card()?.create_texture(made).map_err(|error| refused(&error))?;
            state.textures.insert(handle, TextureObject { context, resource, texture });
            place.put(handle);
            Ok(())
        })
    }

    /// Destroys a texture object; later fetches from it fail.
    cuTexObjectDestroy = "cuTexObjectDestroy" 5000 (handle: u64) {
        state::with_current(|state, _| {
            state.textures.remove(&handle).ok_or(Status::InvalidValue)?;
            state.card()?.destroy_header(handle);
            Ok(())
        })
    }

    /// Writes the resource descriptor that the object was created with.
    cuTexObjectGetResourceDesc = "cuTexObjectGetResourceDesc" 5000 (
        to: Out<ResourceDescriptor>, handle: u64,
    ) {
        state::with_current(|state, _| to.put(state.textures.get(&handle).ok_or(Status::InvalidValue)?.resource))
    }

    /// Writes the texture descriptor that the object was created with.
    cuTexObjectGetTextureDesc = "cuTexObjectGetTextureDesc" 5000 (
        to: Out<TextureDescriptor>, handle: u64,
    ) {
        state::with_current(|state, _| to.put(state.textures.get(&handle).ok_or(Status::InvalidValue)?.texture))
    }

    /// Fails: no object has a view.
    cuTexObjectGetResourceViewDesc = "cuTexObjectGetResourceViewDesc" 5000 (_to: Bytes, handle: u64) {
        state::with_current(|state, _| {
            state.textures.get(&handle).ok_or(Status::InvalidValue)?;
            Err(Status::InvalidValue)
        })
    }

    /// Creates a surface object for an array that was created for surfaces.
    cuSurfObjectCreate = "cuSurfObjectCreate" 5000 (to: Out<u64>, resource: In<ResourceDescriptor>) {
        state::with_current(|state, context| {
            let place = to.place()?;
            let resource = resource.get()?;
            if resource.kind != kind::ARRAY {
                return Err(Status::InvalidValue);
            }
            let image = resource::image(&resource, |handle| {
                let found = state.arrays.get(handle)?;
                let made_for_it = found.descriptor.flags & array::SURFACE != 0;
                if made_for_it { Ok(found.image) } else { Err(Status::InvalidValue) }
            })?;
            state.on_device(image.base, image.bytes())?;
            let handle = state.card()?.create_surface(image).map_err(|error| refused(&error))?;
            state.surfaces.insert(handle, SurfaceObject { context, resource });
            place.put(handle);
            Ok(())
        })
    }

    /// Destroys a surface object; later accesses to it fail.
    cuSurfObjectDestroy = "cuSurfObjectDestroy" 5000 (handle: u64) {
        state::with_current(|state, _| {
            state.surfaces.remove(&handle).ok_or(Status::InvalidValue)?;
            state.card()?.destroy_header(handle);
            Ok(())
        })
    }

    /// Writes the resource descriptor that the object was created with.
    cuSurfObjectGetResourceDesc = "cuSurfObjectGetResourceDesc" 5000 (
        to: Out<ResourceDescriptor>, handle: u64,
    ) {
        state::with_current(|state, _| to.put(state.surfaces.get(&handle).ok_or(Status::InvalidValue)?.resource))
    }

    /// Writes the maximum width of a linear texture, the same for every format.
    cuDeviceGetTexture1DLinearMaxWidth = "cuDeviceGetTexture1DLinearMaxWidth" 11010 (
        width: Out<usize>, format: u32, channels: u32, device: i32,
    ) {
        state::with(|_| {
            crate::api::device::check(device)?;
            crate::resource::format(format, channels)?;
            width.put(1 << 28)
        })
    }
}
