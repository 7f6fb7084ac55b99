//! Textures and surfaces: what a handle stands for, which bytes a fetch reads, and what it makes of them.
//!
//! A texture unit looks a handle up in the launch's [`Headers`], as hardware does in its table of texture headers. From
//! the header and a lane's coordinates it finds a [`Footprint`]: the addresses of one texel, or of the two, four or eight
//! that a linear filter blends, and their weights. The bytes at these addresses come from whatever memory the caller has;
//! [`filter::resolve`] turns them into results. So the reference executor and the timed machine read the same bytes, each
//! through its own memory.
//!
//! Coordinates, addressing modes and weights follow the CUDA C++ Programming Guide, "Texture Fetching".

pub mod filter;
mod format;
mod headers;
mod image;
mod sample;
mod surface;
#[cfg(test)]
mod tests;

pub use format::{Channel, Format, MAX_TEXEL_BYTES};
pub use headers::{Header, Headers};
pub use image::{Image, Layout};
pub use sample::{Addressing, Filter, Footprint, MAX_TEXELS, Read, Texture, footprint};
pub use surface::{Beyond, place};

use crate::exec::Operands;

/// The coordinates of a lane, a layer's number first: sources from slot 1 on.
pub fn coordinates(operands: &impl Operands, count: usize, lane: usize) -> [u32; 4] {
    std::array::from_fn(|n| if n < count { operands.source(1 + n, 0).0[lane] } else { 0 })
}

/// The handle of a lane: source 0.
pub fn handle(operands: &impl Operands, lane: usize) -> u64 {
    u64::from(operands.source(0, 1).0[lane]) << 32 | u64::from(operands.source(0, 0).0[lane])
}
