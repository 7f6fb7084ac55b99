//! The instruction set as the machine sees it.

mod asynchronous;
mod instruction;
mod matrix;
mod op;
mod texture;
mod types;
mod video;

pub use asynchronous::*;
pub use instruction::*;
pub use matrix::*;
pub use op::*;
pub use strata_warp::Reg;
pub use texture::*;
pub use types::*;
pub use video::*;
