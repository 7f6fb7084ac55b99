//! Textures and surfaces: what a handle stands for, which bytes a fetch reads, and what it makes of them.
//!
//! A texture unit looks a handle up in the launch's [`Headers`], as hardware does in its table of texture headers. From
//! the header and a lane's coordinates it finds a [`Footprint`]: the addresses of one texel, or of the two, four or eight
//! that a linear filter blends, in one level of detail or two, and their weights. The bytes at these addresses come from whatever memory the caller has;
//! [`filter::resolve`] turns them into results. So the reference executor and the timed machine read the same bytes, each
//! through its own memory.
//!
//! Coordinates, addressing modes and weights follow the CUDA C++ Programming Guide, "Texture Fetching".

mod cube;
mod description;
pub mod filter;
mod format;
mod headers;
mod image;
mod levels;
mod sample;
mod surface;
#[cfg(test)]
mod tests;

pub use description::{Addressing, Filter, Levels, Read, Texture};
pub use format::{Channel, Format, MAX_TEXEL_BYTES};
pub use headers::{Header, Headers};
pub use image::{Image, Layout};
pub use levels::MAX_DETAILS;
pub use sample::{Footprint, MAX_TEXELS, footprint};
pub use surface::{Beyond, place};

use crate::exec::Operands;
use crate::isa::{TextureFetch, TextureQuery};

/// The coordinates of a lane, a layer's number first: sources from slot 1 on.
pub fn coordinates(operands: &impl Operands, count: usize, lane: usize) -> [u32; 4] {
    std::array::from_fn(|n| if n < count { operands.source(1 + n, 0).0[lane] } else { 0 })
}

/// What chooses the level of a lane's fetch: the sources behind the coordinates.
pub fn details(operands: &impl Operands, fetch: &TextureFetch, lane: usize) -> [u32; MAX_DETAILS] {
    let first = 1 + fetch.geometry.coordinates();
    let count = fetch.details();
    std::array::from_fn(|n| if n < count { operands.source(first + n, 0).0[lane] } else { 0 })
}

/// The number of the level that a lane asks about.
pub fn level(operands: &impl Operands, query: TextureQuery, lane: usize) -> u32 {
    if query.is_of_level() { operands.source(1, 0).0[lane] } else { 0 }
}

/// The handle of a lane: source 0.
pub fn handle(operands: &impl Operands, lane: usize) -> u64 {
    u64::from(operands.source(0, 1).0[lane]) << 32 | u64::from(operands.source(0, 0).0[lane])
}
