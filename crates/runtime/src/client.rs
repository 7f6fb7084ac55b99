//! A client's pointers, and the structures of the runtime API behind them.
#![allow(unsafe_code)]

pub use strata_abi::StaticText;
use strata_abi::{Refusal, plain_structs};

use crate::error::Error;

impl Refusal for Error {
    const INVALID_VALUE: Error = Error::InvalidValue;
}

/// Memory without a type; also functions and handles that are only handed on.
pub type Bytes = strata_abi::Bytes<Error>;
/// Where a result goes.
pub type Out<T> = strata_abi::Out<T, Error>;
/// A value, or several in a row.
pub type In<T> = strata_abi::In<T, Error>;
/// A NUL-terminated text.
pub type Text = strata_abi::Text<Error>;

plain_structs! {
    /// `dim3`.
    Dim3 {
        /// Along x.
        x: u32,
        /// Along y.
        y: u32,
        /// Along z.
        z: u32,
    }
    /// `cudaExtent`: width in elements where an array is, else in bytes.
    Extent {
        /// Of a row.
        width: u64,
        /// Rows of a slice.
        height: u64,
        /// Slices.
        depth: u64,
    }
    /// `cudaPos`.
    Position {
        /// As an extent's width.
        x: u64,
        /// Row.
        y: u64,
        /// Slice.
        z: u64,
    }
    /// `cudaPitchedPtr`.
    Pitched {
        /// Where it begins.
        start: Bytes,
        /// Bytes from row to row.
        pitch: u64,
        /// Width of a row.
        width: u64,
        /// Rows of a slice.
        height: u64,
    }
    /// `cudaMemcpy3DParms`.
    Copy3D {
        /// An array to copy from, or null.
        from_array: u64,
        /// Where to begin.
        from_at: Position,
        /// Memory to copy from, or null.
        from: Pitched,
        /// An array to copy to, or null.
        to_array: u64,
        /// Where to begin.
        to_at: Position,
        /// Memory to copy to, or null.
        to: Pitched,
        /// How much.
        extent: Extent,
        /// Direction.
        kind: u32,
        /// Nothing.
        padding: u32,
    }
    /// `cudaChannelFormatDesc`: bits of each channel, and what they are.
    Channels {
        /// First channel.
        x: u32,
        /// Second.
        y: u32,
        /// Third.
        z: u32,
        /// Fourth.
        w: u32,
        /// Signed, unsigned, float, none.
        kind: u32,
    }
    /// `cudaResourceDesc` as far as all versions have it.
    Resource {
        /// Array, mipmapped array, linear memory, pitched memory.
        kind: u32,
        /// Nothing.
        padding: u32,
        /// Array or address.
        what: u64,
        /// Of memory.
        channels: Channels,
        /// Nothing.
        more_padding: u32,
        /// Bytes of linear memory; elements of a row of pitched memory.
        size: u64,
        /// Rows of pitched memory.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
    }
    /// `cudaTextureDesc` as far as all versions have it.
    Sampling {
        /// By axis.
        address_x: u32,
        /// By axis.
        address_y: u32,
        /// By axis.
        address_z: u32,
        /// Nearest or linear.
        filter: u32,
        /// Elements, or normalised floats.
        read: u32,
        /// Whether values are sRGB.
        srgb: u32,
        /// Outside.
        border_red: f32,
        /// Outside.
        border_green: f32,
        /// Outside.
        border_blue: f32,
        /// Outside.
        border_alpha: f32,
        /// Whether coordinates go from 0 to 1.
        normalized: u32,
        /// At most.
        anisotropy: u32,
        /// Between levels.
        mipmap_filter: u32,
        /// Between levels.
        mipmap_bias: f32,
        /// Between levels.
        mipmap_least: f32,
        /// Between levels.
        mipmap_most: f32,
        /// Whether linear filtering may be coarser.
        no_trilinear_optimization: u32,
    }
    /// `textureReference`, its settings.
    TextureReference {
        /// Whether coordinates go from 0 to 1.
        normalized: u32,
        /// Nearest or linear.
        filter: u32,
        /// By axis.
        address_x: u32,
        /// By axis.
        address_y: u32,
        /// By axis.
        address_z: u32,
        /// Format.
        channels: Channels,
        /// Whether values are sRGB.
        srgb: u32,
    }
    /// `cudaLaunchConfig_t`.
    LaunchConfig {
        /// CTAs.
        grid: Dim3,
        /// Threads.
        block: Dim3,
        /// Dynamic, bytes.
        shared: u64,
        /// Or null.
        stream: u64,
        /// The driver API's in all but name.
        attributes: u64,
        /// How many.
        count: u32,
        /// Nothing.
        padding: u32,
    }
}
