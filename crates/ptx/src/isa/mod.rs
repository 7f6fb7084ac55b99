//! The instruction set as the machine sees it.

mod instruction;
mod op;
mod texture;
mod types;
mod video;

pub use instruction::*;
pub use op::*;
pub use texture::*;
pub use types::*;
pub use video::*;
