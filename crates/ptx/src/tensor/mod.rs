//! Tensors in global memory as bulk copies see them: what a tensor map says, and which bytes of a box go where.

mod map;
mod tile;

#[cfg(test)]
mod tests;

pub use map::{Element, Fill, MAP_BYTES, MapError, Swizzle, TensorMap};
pub use tile::{PIECE_BYTES, Piece, cut, linear, tile, uniform};
