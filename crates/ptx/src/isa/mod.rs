//! The instruction set as the machine sees it.

mod instruction;
mod matrix;
mod op;
mod types;
mod video;

pub use instruction::*;
pub use matrix::*;
pub use op::*;
pub use types::*;
pub use video::*;
