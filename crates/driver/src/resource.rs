//! Descriptions of arrays, textures and surfaces as the driver API lays them out, and what they mean.
#![allow(unsafe_code)]

use strata_gpu::device::BadTexture;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Channel, Filter, Format, Image, Layout, Read, Texture};

use crate::client::Plain;
use crate::log;
use crate::state::Array;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub format: u32,
    pub channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array3dDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// `CUDA_RESOURCE_DESC`: what it is, then a union.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceDescriptor {
    pub kind: u32,
    /// Array, or device address.
    pub place: u64,
    pub format: u32,
    pub channels: u32,
    /// Bytes of linear memory, or texels of a row.
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    /// The rest of the union's 128 bytes.
    pub reserved: [u64; 11],
    pub flags: u32,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureDescriptor {
    pub addressing: [u32; 3],
    pub filter: u32,
    pub flags: u32,
    pub anisotropy: u32,
    pub level_filter: u32,
    /// Bits of f32: bias, least and most level.
    pub levels: [u32; 3],
    /// Bits of f32.
    pub border: [u32; 4],
    pub reserved: [u32; 12],
}

// SAFETY: integers, and padding that is not looked at.
unsafe impl Plain for ArrayDescriptor {}
// SAFETY: as above.
unsafe impl Plain for Array3dDescriptor {}
// SAFETY: as above.
unsafe impl Plain for ResourceDescriptor {}
// SAFETY: as above.
unsafe impl Plain for TextureDescriptor {}

const _: () = {
    assert!(size_of::<ArrayDescriptor>() == 24);
    assert!(size_of::<Array3dDescriptor>() == 40);
    assert!(size_of::<ResourceDescriptor>() == 144);
    assert!(size_of::<TextureDescriptor>() == 104);
};

/// Kinds of resources.
pub mod kind {
    pub const ARRAY: u32 = 0;
    pub const MIPMAPPED: u32 = 1;
    pub const LINEAR: u32 = 2;
    pub const PITCHED: u32 = 3;
}

/// Flags of arrays.
pub mod array {
    pub const LAYERED: u32 = 1;
    pub const SURFACE: u32 = 2;
    pub const CUBE: u32 = 4;
    pub const GATHER: u32 = 8;
}

/// Flags of textures.
pub mod flags {
    pub const INTEGER: u32 = 1;
    pub const NORMALIZED: u32 = 2;
    pub const TRILINEAR: u32 = 0x20;
}

/// A texel of a format number and so many channels.
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
        // Video planes, block-compressed and normalized formats.
        0x40..=0xff => return Err(Status::NotSupported),
        _ => return Err(Status::InvalidValue),
    };
    if !matches!(channels, 1 | 2 | 4) {
        return Err(Status::InvalidValue);
    }
    Ok(Format { channel, channels: channels as u8 })
}

/// The number of a format.
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

/// An addressing mode.
pub fn addressing(number: u32) -> Answer<Addressing> {
    match number {
        0 => Ok(Addressing::Wrap),
        1 => Ok(Addressing::Clamp),
        2 => Ok(Addressing::Mirror),
        3 => Ok(Addressing::Border),
        _ => Err(Status::InvalidValue),
    }
}

/// A filter.
pub fn filter(number: u32) -> Answer<Filter> {
    match number {
        0 => Ok(Filter::Point),
        1 => Ok(Filter::Linear),
        _ => Err(Status::InvalidValue),
    }
}

/// What a card says of a description, and standard error too.
pub fn refused(error: &BadTexture) -> Status {
    log::once(error.to_string());
    match error {
        BadTexture::Shape(_) => Status::InvalidValue,
        BadTexture::Memory(strata_workloads::DeviceError::OutOfMemory { .. }) => Status::OutOfMemory,
        BadTexture::Memory(_) => Status::InvalidValue,
    }
}

/// A 32-bit number of what clients give in pointers' width.
fn side(value: usize) -> Answer<u32> {
    u32::try_from(value).map_err(|_| Status::InvalidValue)
}

impl ResourceDescriptor {
    /// The texels that it describes; `array` finds arrays.
    pub fn image(&self, array: impl FnOnce(Handle<Array>) -> Answer<Image>) -> Answer<Image> {
        if self.flags != 0 {
            return Err(Status::InvalidValue);
        }
        match self.kind {
            kind::ARRAY => array(Handle::from_bits(self.place)),
            kind::LINEAR => {
                let format = format(self.format, self.channels)?;
                let width = side(self.width / format.bytes())?;
                Ok(rows(self.place, format, [width, 1], None))
            }
            kind::PITCHED => {
                let format = format(self.format, self.channels)?;
                let sides = [side(self.width)?, side(self.height)?];
                Ok(rows(self.place, format, sides, Some(self.pitch as u64)))
            }
            kind::MIPMAPPED => Err(Status::NotSupported),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// Texels of linear memory: one row, or several at a pitch.
pub fn rows(base: u64, format: Format, [width, height]: [u32; 2], pitch: Option<u64>) -> Image {
    let (geometry, layout) = match pitch {
        None => (Geometry::D1, Layout::Linear),
        Some(pitch) => (Geometry::D2, Layout::Rows { pitch }),
    };
    Image { base, format, geometry, width, height, depth: 1, layout }
}

impl TextureDescriptor {
    /// What a texture reference is before anything is said of it.
    pub const ZERO: TextureDescriptor = TextureDescriptor {
        addressing: [0; 3],
        filter: 0,
        flags: 0,
        anisotropy: 0,
        level_filter: 0,
        levels: [0; 3],
        border: [0; 4],
        reserved: [0; 12],
    };

    /// How an image is read. Anisotropy and what chooses among levels change nothing: there is one level.
    pub fn texture(&self, image: Image) -> Answer<Texture> {
        if self.flags & !(flags::INTEGER | flags::NORMALIZED | flags::TRILINEAR) != 0 {
            log::once("sRGB and seamless cube maps are not supported".into());
            return Err(Status::NotSupported);
        }
        filter(self.level_filter)?;
        let [x, y, z] = self.addressing;
        let channel = image.format.channel;
        let stays = self.flags & flags::INTEGER != 0 || !channel.can_normalize();
        Ok(Texture {
            image,
            addressing: [addressing(x)?, addressing(y)?, addressing(z)?],
            filter: filter(self.filter)?,
            read: if stays { Read::Element } else { Read::Normalized },
            normalized: self.flags & flags::NORMALIZED != 0,
            border: self.border.map(f32::from_bits),
        })
    }
}
