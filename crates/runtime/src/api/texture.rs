//! Textures, by object and by reference.

use strata_abi::driver::{
    Array3dDescriptor, ArrayDescriptor, ResourceDescriptor, TextureDescriptor, resource, texture as flag,
};

use crate::api::api;
use crate::client::{Bytes, Channels, In, Out, ReferenceLevels, Resource, Sampling, TextureReference};
use crate::context;
use crate::driver::{Array, Driver, Mipmapped, TexRef};
use crate::error::{Answer, Error};
use crate::format;
use crate::registry;

/// Flag: the array is bound with its own format, as it must be.
const OVERRIDE_FORMAT: u32 = 1;

/// The driver's description of the resource that a client wants to sample or store to.
pub fn describe(driver: &Driver, from: In<Resource>) -> Answer<ResourceDescriptor> {
    let from = from.get()?;
    let (format, channels) = match from.kind {
        resource::LINEAR | resource::PITCHED => format::of(from.channels)?,
        resource::ARRAY => array_format(driver, Array(from.what))?,
        resource::MIPMAPPED => level_format(driver, Mipmapped(from.what))?,
        _ => (0, 0),
    };
    let (width, height, pitch) = match from.kind {
        resource::LINEAR => (from.size, 0, 0),
        resource::PITCHED => (from.size, from.height, from.pitch),
        _ => (0, 0, 0),
    };
    let (kind, place) = (from.kind, from.what);
    Ok(ResourceDescriptor {
        kind,
        place,
        format,
        channels,
        width,
        height,
        pitch,
        ..ResourceDescriptor::default()
    })
}

fn array_format(driver: &Driver, array: Array) -> Answer<(u32, u32)> {
    let mut found = Array3dDescriptor::default();
    driver.cuArray3DGetDescriptor_v2(&mut found, array)?;
    Ok((found.format, found.channels))
}

/// The format and number of channels of what the driver says that an object is made of.
pub fn format_of(driver: &Driver, of: &ResourceDescriptor) -> Answer<(u32, u32)> {
    match of.kind {
        resource::ARRAY => array_format(driver, Array(of.place)),
        resource::MIPMAPPED => level_format(driver, Mipmapped(of.place)),
        _ => Ok((of.format, of.channels)),
    }
}

/// The format of all levels.
fn level_format(driver: &Driver, array: Mipmapped) -> Answer<(u32, u32)> {
    let mut level = 0;
    driver.cuMipmappedArrayGetLevel(Bytes::to(&mut level), array, 0)?;
    array_format(driver, Array(level))
}

/// The driver's texture flags for a texture's settings; `format` is the format of its elements.
fn flags(format: u32, normalized_values: bool, normalized_coordinates: bool, srgb: bool) -> u32 {
    let set = |flag, on| if on { flag } else { 0 };
    set(flag::INTEGER, !normalized_values && format::is_integer(format))
        | set(flag::NORMALIZED, normalized_coordinates)
        | set(flag::SRGB, srgb)
}

fn create(object: Out<u64>, resource: In<Resource>, sampling: In<Sampling>, view: Bytes) -> Answer {
    let driver = context::ready()?;
    let mut resource = describe(driver, resource)?;
    let wanted = sampling.get()?;
    let exact = if wanted.no_trilinear_optimization != 0 { flag::EXACT_TRILINEAR } else { 0 };
    let normalized_values = wanted.read != 0;
    let flags = exact | flags(resource.format, normalized_values, wanted.normalized != 0, wanted.srgb != 0);
    if matches!(resource.kind, resource::ARRAY | resource::MIPMAPPED) {
        (resource.format, resource.channels) = (0, 0);
    }
    let texture = TextureDescriptor {
        addressing: [wanted.address_x, wanted.address_y, wanted.address_z],
        filter: wanted.filter,
        flags,
        anisotropy: wanted.anisotropy,
        level_filter: wanted.mipmap_filter,
        levels: [wanted.mipmap_bias, wanted.mipmap_least, wanted.mipmap_most],
        border: [wanted.border_red, wanted.border_green, wanted.border_blue, wanted.border_alpha],
        ..TextureDescriptor::default()
    };
    driver.cuTexObjectCreate(object, &resource, &texture, view)
}

/// The size that the C++ API passes for linear memory when the program gives none.
const ALL: u64 = u32::MAX as u64;

/// Number of bytes from an address to the end of its buffer.
fn left(driver: &Driver, address: u64) -> Answer<u64> {
    let (mut start, mut bytes) = (0, 0);
    driver.cuMemGetAddressRange_v2(&mut start, &mut bytes, address)?;
    Ok(start + bytes - address)
}

/// Unbinds a texture reference.
fn unbind(driver: &Driver, texture: TexRef) -> Answer {
    driver.cuTexRefSetAddress_v2(Bytes::NULL.out(), texture, 0, 0)
}

/// Unbinds a texture reference and gives it the settings of its host variable.
fn settle(driver: &Driver, reference: Bytes, channels: Channels) -> Answer<TexRef> {
    let (texture, normalized_values) = registry::texture(driver, reference)?;
    let wanted = reference.values::<TextureReference>().get()?;
    let (format, count) = format::of(channels)?;
    unbind(driver, texture)?;
    registry::unbind(reference);
    driver.cuTexRefSetFormat(texture, format, count)?;
    for (axis, mode) in (0..).zip([wanted.address_x, wanted.address_y, wanted.address_z]) {
        driver.cuTexRefSetAddressMode(texture, axis, mode)?;
    }
    driver.cuTexRefSetFilterMode(texture, wanted.filter)?;
    driver.cuTexRefSetFlags(
        texture,
        flags(format, normalized_values, wanted.normalized != 0, wanted.srgb != 0),
    )?;
    Ok(texture)
}

api! {
    /// Creates a texture object. The `_v2` description has one more word, for cube maps.
    cudaCreateTextureObject | cudaCreateTextureObject_v2 (
        object: Out<u64>, resource: In<Resource>, sampling: In<Sampling>, view: Bytes,
    ) {
        create(object, resource, sampling, view)
    }

    /// Destroys a texture object. The memory it sampled stays valid.
    cudaDestroyTextureObject(object: u64) {
        let driver = context::ready()?;
        if object == 0 { Ok(()) } else { driver.cuTexObjectDestroy(object) }
    }

    /// Fails: no texture object has a view of its resource.
    cudaGetTextureObjectResourceViewDesc(view: Bytes, object: u64) {
        context::ready()?.cuTexObjectGetResourceViewDesc(view, object)
    }

    /// Writes the greatest width of a texture of linear memory.
    cudaDeviceGetTexture1DLinearMaxWidth(width: Out<u64>, channels: In<Channels>, device: i32) {
        let driver = context::check(device)?;
        let (format, channels) = format::of(channels.get()?)?;
        driver.cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device)
    }

    /// Binds a texture reference to linear memory. Writes the offset from the device's alignment to the
    /// address.
    cudaBindTexture(offset: Out<u64>, reference: Bytes, address: u64, channels: In<Channels>, bytes: u64) {
        let driver = context::ready()?;
        let texture = settle(driver, reference, channels.get()?)?;
        let bytes = if bytes == ALL { left(driver, address)? } else { bytes };
        // Without a place for it, the driver refuses an address that has an offset.
        let mut found = 0;
        let place = if offset.place().is_ok() { Bytes::to(&mut found) } else { Bytes::NULL };
        driver.cuTexRefSetAddress_v2(place.out(), texture, address, bytes)?;
        offset.put_if_wanted(found);
        registry::bind(reference, found);
        Ok(())
    }

    /// Binds a texture reference to rows of memory.
    cudaBindTexture2D(
        offset: Out<u64>, reference: Bytes, address: u64, channels: In<Channels>, width: u64, height: u64,
        pitch: u64,
    ) {
        let driver = context::ready()?;
        let channels = channels.get()?;
        let texture = settle(driver, reference, channels)?;
        let (format, channels) = format::of(channels)?;
        driver.cuTexRefSetAddress2D_v3(
            texture, &ArrayDescriptor { width, height, format, channels }, address, pitch,
        )?;
        offset.put_if_wanted(0);
        registry::bind(reference, 0);
        Ok(())
    }

    /// Binds a texture reference to an array.
    cudaBindTextureToArray(reference: Bytes, array: Array, channels: In<Channels>) {
        let driver = context::ready()?;
        let texture = settle(driver, reference, channels.get()?)?;
        driver.cuTexRefSetArray(texture, array, OVERRIDE_FORMAT)?;
        registry::bind(reference, 0);
        Ok(())
    }

    /// Binds a texture reference to an array with levels of detail.
    cudaBindTextureToMipmappedArray(reference: Bytes, array: Mipmapped, channels: In<Channels>) {
        let driver = context::ready()?;
        let texture = settle(driver, reference, channels.get()?)?;
        let levels = Bytes::at(reference.address() + size_of::<TextureReference>() as u64);
        let levels = levels.values::<ReferenceLevels>().get()?;
        driver.cuTexRefSetMaxAnisotropy(texture, levels.anisotropy)?;
        driver.cuTexRefSetMipmapFilterMode(texture, levels.filter)?;
        driver.cuTexRefSetMipmapLevelBias(texture, levels.bias)?;
        driver.cuTexRefSetMipmapLevelClamp(texture, levels.least, levels.most)?;
        driver.cuTexRefSetMipmappedArray(texture, array, OVERRIDE_FORMAT)?;
        registry::bind(reference, 0);
        Ok(())
    }

    /// Writes the offset that the last binding of a texture reference has.
    cudaGetTextureAlignmentOffset(offset: Out<u64>, reference: Bytes) {
        offset.put(registry::offset(reference)?)
    }

    /// Unbinds a texture reference. The memory it sampled stays valid.
    cudaUnbindTexture(reference: Bytes) {
        let driver = context::ready()?;
        unbind(driver, registry::texture(driver, reference)?.0)?;
        registry::unbind(reference);
        Ok(())
    }

    /// Writes the reference behind a texture variable, which is the variable itself.
    cudaGetTextureReference(reference: Out<Bytes>, symbol: Bytes) {
        if symbol.is_null() { Err(Error::InvalidTexture) } else { reference.put(symbol) }
    }
}
