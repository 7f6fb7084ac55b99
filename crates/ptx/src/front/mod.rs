//! From PTX text to the middle form.
//!
//! ```text
//! text --lexer--> tokens --parser--> ast::Module --lower (types checked on the way)--> ir::Function
//! ```
//!
//! The parser takes the whole syntax of PTX 6.0 to 9.x; what cannot be executed is refused by name and place
//! when a kernel that contains it is lowered, so other kernels of the same text stay usable.

pub mod ast;
mod check;
mod diagnostic;
mod grid;
mod heap;
mod layout;
mod lexer;
pub mod link;
mod lower;
mod mention;
mod names;
mod parser;
#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, Diagnostics, Kind, Place};
pub use lower::{LoweredModule, lower};
pub use mention::place_of_read;
pub use parser::parse_module;
