//! The instruction set as the machine sees it.

mod asynchronous;
mod bulk;
mod class;
mod instruction;
mod matrix;
mod memory;
mod op;
mod operands;
mod prefetch;
#[cfg(test)]
mod samples;
mod table;
mod texture;
mod tile;
mod traits;
mod types;
mod video;
mod warpgroup;

pub use asynchronous::*;
pub use bulk::*;
pub use class::*;
pub use instruction::*;
pub use matrix::*;
pub use memory::*;
pub use op::*;
pub use operands::*;
pub use prefetch::*;
#[cfg(test)]
pub use samples::samples;
pub use strata_warp::Reg;
pub use table::Members;
pub use texture::*;
pub use tile::*;
pub use traits::*;
pub use types::*;
pub use video::*;
pub use warpgroup::*;
