//! The instruction set as the machine sees it.

mod instruction;
mod op;
mod types;
mod video;

pub use instruction::*;
pub use op::*;
pub use types::*;
pub use video::*;
