//! What texture and surface objects were made of, in each version's structures.

use strata_abi::Plain;
use strata_abi::driver::{ResourceDescriptor, TextureDescriptor, resource, texture as flag};

use crate::api::texture;
use crate::client::{Bytes, Channels, Resource, Sampling};
use crate::context;
use crate::error::Answer;
use crate::format;

/// Writes the resource of a texture object, as a `cudaResourceDesc` of so many bytes.
///
/// # Errors
/// If `to` is null, or there is no such object.
pub fn texture_resource(to: Bytes, size: usize, object: u64) -> Answer {
    let mut found = ResourceDescriptor::default();
    context::ready()?.cuTexObjectGetResourceDesc(&mut found, object)?;
    put(to, size, shown(&found)?)
}

/// Writes the resource of a surface object, as a `cudaResourceDesc` of so many bytes.
///
/// # Errors
/// If `to` is null, or there is no such object.
pub fn surface_resource(to: Bytes, size: usize, object: u64) -> Answer {
    let mut found = ResourceDescriptor::default();
    context::ready()?.cuSurfObjectGetResourceDesc(&mut found, object)?;
    put(to, size, shown(&found)?)
}

/// Writes how a texture object samples, as a `cudaTextureDesc` of so many bytes.
///
/// # Errors
/// If `to` is null, or there is no such object.
pub fn texture_sampling(to: Bytes, size: usize, object: u64) -> Answer {
    let driver = context::ready()?;
    let mut found = TextureDescriptor::default();
    driver.cuTexObjectGetTextureDesc(&mut found, object)?;
    let (mut made_of, is) = (ResourceDescriptor::default(), |flag| u32::from(found.flags & flag != 0));
    driver.cuTexObjectGetResourceDesc(&mut made_of, object)?;
    let format = texture::format_of(driver, &made_of)?.0;
    let [address_x, address_y, address_z] = found.addressing;
    let [mipmap_bias, mipmap_least, mipmap_most] = found.levels;
    let [border_red, border_green, border_blue, border_alpha] = found.border;
    put(
        to,
        size,
        Sampling {
            address_x,
            address_y,
            address_z,
            filter: found.filter,
            // Floats are what they are in either mode.
            read: u32::from(format::is_integer(format) && is(flag::INTEGER) == 0),
            srgb: is(flag::SRGB),
            border_red,
            border_green,
            border_blue,
            border_alpha,
            normalized: is(flag::NORMALIZED),
            anisotropy: found.anisotropy,
            mipmap_filter: found.level_filter,
            mipmap_bias,
            mipmap_least,
            mipmap_most,
            no_trilinear_optimization: is(flag::EXACT_TRILINEAR),
        },
    )
}

/// Writes a structure that has zeros behind what all versions share.
fn put<T: Plain>(to: Bytes, size: usize, shared: T) -> Answer {
    to.write(size)?.fill(0);
    to.out().put(shared)
}

/// A resource as the runtime API describes it.
fn shown(found: &ResourceDescriptor) -> Answer<Resource> {
    let of_memory = matches!(found.kind, resource::LINEAR | resource::PITCHED);
    let channels =
        if of_memory { format::channels(found.format, found.channels)? } else { Channels::default() };
    Ok(Resource {
        kind: found.kind,
        what: found.place,
        channels,
        size: found.width,
        height: found.height,
        pitch: found.pitch,
        ..Resource::default()
    })
}
