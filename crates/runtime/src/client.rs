//! A client's pointers, and the structures of the runtime API behind them.
#![allow(unsafe_code)]

pub use strata_abi::StaticText;
use strata_abi::{Refusal, plain_structs};

use crate::error::Error;

impl Refusal for Error {
    const INVALID_VALUE: Error = Error::InvalidValue;
}

/// Untyped memory; also functions and handles that are only passed on.
pub type Bytes = strata_abi::Bytes<Error>;
/// A pointer to which a result is written.
pub type Out<T> = strata_abi::Out<T, Error>;
/// A pointer to one or more consecutive values.
pub type In<T> = strata_abi::In<T, Error>;
/// A NUL-terminated string.
pub type Text = strata_abi::Text<Error>;

plain_structs! {
    /// `dim3`: the size of a grid or of a CTA.
    Dim3 {
        /// Size along x.
        x: u32,
        /// Size along y.
        y: u32,
        /// Size along z.
        z: u32,
    }
    /// `cudaExtent`. The width counts elements if an array takes part, else bytes.
    Extent {
        /// Width of a row.
        width: u64,
        /// Rows in a slice.
        height: u64,
        /// Number of slices in the volume.
        depth: u64,
    }
    /// `cudaPos`: a position within a volume.
    Position {
        /// Offset within a row, in the units of an extent's width.
        x: u64,
        /// Row within the slice.
        y: u64,
        /// Index of the slice.
        z: u64,
    }
    /// `cudaPitchedPtr`: rows of memory and their pitch.
    Pitched {
        /// Address of the first row.
        start: Bytes,
        /// Distance between rows in bytes.
        pitch: u64,
        /// Width of a row in bytes.
        width: u64,
        /// Rows in a slice.
        height: u64,
    }
    /// `cudaMemcpy3DParms`: a copy of a volume.
    Copy3D {
        /// Array to copy from, or null.
        from_array: u64,
        /// Position of the source's first element.
        from_at: Position,
        /// Memory to copy from, or null.
        from: Pitched,
        /// Array to copy to, or null.
        to_array: u64,
        /// Position of the destination's first element.
        to_at: Position,
        /// Memory to copy to, or null.
        to: Pitched,
        /// Size of the copied box.
        extent: Extent,
        /// Direction of the copy, a `cudaMemcpyKind`.
        kind: u32,
        /// Unused padding.
        padding: u32,
    }
    /// `cudaMemcpy3DPeerParms`: a copy of a volume between devices.
    PeerCopy3D {
        /// Array to copy from, or null.
        from_array: u64,
        /// Position of the source's first element.
        from_at: Position,
        /// Memory to copy from, or null.
        from: Pitched,
        /// Device of the source.
        from_device: i32,
        /// Unused padding.
        padding: u32,
        /// Array to copy to, or null.
        to_array: u64,
        /// Position of the destination's first element.
        to_at: Position,
        /// Memory to copy to, or null.
        to: Pitched,
        /// Device of the destination.
        to_device: i32,
        /// Unused padding.
        more_padding: u32,
        /// Size of the copied box.
        extent: Extent,
    }
    /// `cudaChannelFormatDesc`: bits and kind of each channel.
    Channels {
        /// Bits of the first channel.
        x: u32,
        /// Bits of the second channel.
        y: u32,
        /// Bits of the third channel.
        z: u32,
        /// Bits of the fourth channel.
        w: u32,
        /// Kind of the channels: signed, unsigned, float or none.
        kind: u32,
    }
    /// The part of `cudaResourceDesc` that all versions share.
    Resource {
        /// Kind of the resource: array, mipmapped array, linear memory or pitched memory.
        kind: u32,
        /// Unused padding.
        padding: u32,
        /// The array, or the address of the memory.
        what: u64,
        /// Channel format of memory.
        channels: Channels,
        /// Unused padding.
        more_padding: u32,
        /// Bytes of linear memory, or elements in a row of pitched memory.
        size: u64,
        /// Rows of pitched memory.
        height: u64,
        /// Distance between rows in bytes.
        pitch: u64,
    }
    /// The part of `cudaTextureDesc` that all versions share.
    Sampling {
        /// Addressing mode along x.
        address_x: u32,
        /// Addressing mode along y.
        address_y: u32,
        /// Addressing mode along z.
        address_z: u32,
        /// Filter mode: nearest or linear.
        filter: u32,
        /// Read mode: element values or normalised floats.
        read: u32,
        /// Whether values are sRGB.
        srgb: u32,
        /// Red value outside the texture.
        border_red: f32,
        /// Green value outside the texture.
        border_green: f32,
        /// Blue value outside the texture.
        border_blue: f32,
        /// Alpha value outside the texture.
        border_alpha: f32,
        /// Whether coordinates are normalised to the range from 0 to 1.
        normalized: u32,
        /// Maximum anisotropy of a fetch.
        anisotropy: u32,
        /// Filter mode between mipmap levels.
        mipmap_filter: u32,
        /// Bias added to the mipmap level.
        mipmap_bias: f32,
        /// Lowest mipmap level to use.
        mipmap_least: f32,
        /// Highest mipmap level to use.
        mipmap_most: f32,
        /// Whether the driver may not optimise trilinear filtering.
        no_trilinear_optimization: u32,
    }
    /// The settings of a `textureReference`.
    TextureReference {
        /// Whether coordinates are normalised to the range from 0 to 1.
        normalized: u32,
        /// Filter mode: nearest or linear.
        filter: u32,
        /// Addressing mode along x.
        address_x: u32,
        /// Addressing mode along y.
        address_y: u32,
        /// Addressing mode along z.
        address_z: u32,
        /// Channel format of a texel.
        channels: Channels,
        /// Whether values are sRGB.
        srgb: u32,
    }
    /// The settings of a `textureReference` for levels of detail, which follow the others.
    ReferenceLevels {
        /// Maximum anisotropy of a fetch.
        anisotropy: u32,
        /// Filter mode between levels.
        filter: u32,
        /// Bias added to the level.
        bias: f32,
        /// Lowest level to use.
        least: f32,
        /// Highest level to use.
        most: f32,
    }
    /// `cudaLaunchConfig_t`: shape, stream and attributes of a launch.
    LaunchConfig {
        /// Size of the grid in CTAs.
        grid: Dim3,
        /// Size of a CTA in threads.
        block: Dim3,
        /// Dynamic shared memory in bytes.
        shared: u64,
        /// The stream, or null for the default stream.
        stream: u64,
        /// Launch attributes, laid out as the driver API's.
        attributes: u64,
        /// Number of launch attributes.
        count: u32,
        /// Unused padding.
        padding: u32,
    }
}
