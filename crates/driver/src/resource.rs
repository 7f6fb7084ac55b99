//! Converts descriptors of arrays, textures and surfaces.

use strata_abi::driver::{ResourceDescriptor, TextureDescriptor, resource, texture};
use strata_gpu::device::BadTexture;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Channel, Filter, Format, Image, Layout, Levels, Read, Texture};

use crate::log;
use crate::objects::{Array, MipmappedArray};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// The texel format for a format number and a number of channels.
pub fn format(number: u32, channels: u32) -> Answer<Format> {
    let channel = match number {
        0x01 => Channel::U8,
        0x02 => Channel::U16,
        0x03 => Channel::U32,
        0x08 => Channel::S8,
        0x09 => Channel::S16,
        0x0a => Channel::S32,
        0x10 => Channel::F16,
        0x20 => Channel::F32,
        // Video planes, block-compressed formats and normalised formats.
        0x40..=0xff => return Err(Status::NotSupported),
        _ => return Err(Status::InvalidValue),
    };
    if !matches!(channels, 1 | 2 | 4) {
        return Err(Status::InvalidValue);
    }
    Ok(Format { channel, channels: channels as u8 })
}

/// The number of a texel format.
pub fn format_number(format: Format) -> u32 {
    match format.channel {
        Channel::U8 => 0x01,
        Channel::U16 => 0x02,
        Channel::U32 => 0x03,
        Channel::S8 => 0x08,
        Channel::S16 => 0x09,
        Channel::S32 => 0x0a,
        Channel::F16 => 0x10,
        Channel::F32 => 0x20,
    }
}

/// The addressing mode for a number.
pub fn addressing(number: u32) -> Answer<Addressing> {
    match number {
        0 => Ok(Addressing::Wrap),
        1 => Ok(Addressing::Clamp),
        2 => Ok(Addressing::Mirror),
        3 => Ok(Addressing::Border),
        _ => Err(Status::InvalidValue),
    }
}

/// The filter mode for a number.
pub fn filter(number: u32) -> Answer<Filter> {
    match number {
        0 => Ok(Filter::Point),
        1 => Ok(Filter::Linear),
        _ => Err(Status::InvalidValue),
    }
}

/// The status for a texture that the card refuses; the reason is also logged.
pub fn refused(error: &BadTexture) -> Status {
    log::once(error.to_string());
    match error {
        BadTexture::Shape(_) => Status::InvalidValue,
        BadTexture::Memory(strata_workloads::DeviceError::OutOfMemory { .. }) => Status::OutOfMemory,
        BadTexture::Memory(_) => Status::InvalidValue,
    }
}

/// Narrows a 64-bit size from a client to 32 bits.
pub fn side(value: u64) -> Answer<u32> {
    u32::try_from(value).map_err(|_| Status::InvalidValue)
}

/// The texel layout of a resource, and its levels of detail; `array` and `mipmapped` look up arrays.
pub fn levels(
    of: &ResourceDescriptor,
    array: impl FnOnce(Handle<Array>) -> Answer<Image>,
    mipmapped: impl FnOnce(Handle<MipmappedArray>) -> Answer<(Image, u32)>,
) -> Answer<(Image, u32)> {
    if of.kind == resource::MIPMAPPED && of.flags == 0 {
        return mipmapped(Handle::from_bits(of.place));
    }
    Ok((image(of, array)?, 1))
}

/// The texel layout of a resource with one level; `array` looks up arrays.
pub fn image(of: &ResourceDescriptor, array: impl FnOnce(Handle<Array>) -> Answer<Image>) -> Answer<Image> {
    if of.flags != 0 {
        return Err(Status::InvalidValue);
    }
    match of.kind {
        resource::ARRAY => array(Handle::from_bits(of.place)),
        resource::LINEAR => {
            let format = format(of.format, of.channels)?;
            let width = side(of.width / format.bytes() as u64)?;
            Ok(rows(of.place, format, [width, 1], None))
        }
        resource::PITCHED => {
            let format = format(of.format, of.channels)?;
            Ok(rows(of.place, format, [side(of.width)?, side(of.height)?], Some(of.pitch)))
        }
        _ => Err(Status::InvalidValue),
    }
}

/// The texel layout of linear memory: one row, or several at a pitch.
pub fn rows(base: u64, format: Format, [width, height]: [u32; 2], pitch: Option<u64>) -> Image {
    let (geometry, layout) = match pitch {
        None => (Geometry::D1, Layout::Linear),
        Some(pitch) => (Geometry::D2, Layout::Rows { pitch }),
    };
    Image { base, format, geometry, width, height, depth: 1, layout }
}

/// A texture that samples an image with so many levels of detail. Anisotropy has no effect.
pub fn texture(of: &TextureDescriptor, (image, count): (Image, u32)) -> Answer<Texture> {
    if of.flags & !(texture::INTEGER | texture::NORMALIZED | texture::EXACT_TRILINEAR) != 0 {
        log::once("sRGB and seamless cube maps are not supported".into());
        return Err(Status::NotSupported);
    }
    let [bias, least, most] = of.levels;
    let levels = Levels { count, filter: filter(of.level_filter)?, bias, least, most };
    let [x, y, z] = of.addressing;
    let channel = image.format.channel;
    let stays = of.flags & texture::INTEGER != 0 || !channel.can_normalize();
    Ok(Texture {
        image,
        addressing: [addressing(x)?, addressing(y)?, addressing(z)?],
        filter: filter(of.filter)?,
        read: if stays { Read::Element } else { Read::Normalized },
        normalized: of.flags & texture::NORMALIZED != 0,
        border: of.border,
        levels: if count == 1 { Levels::ONE } else { levels },
    })
}
