//! Microbenchmarks on a machine, beside what GPUs were measured to do.
//!
//! | module | subject |
//! |---|---|
//! | `reading` | figures from clock readings and the times of launches |
//! | `measure` | microbenchmarks run on a machine |
//! | `facts` | figures of hardware, and which of them is a figure's counterpart |
//! | `comparison` | figures beside their counterparts, and how far they are apart |

mod comparison;
mod facts;
mod measure;
mod reading;
#[cfg(test)]
mod tests;

pub use comparison::{Apart, Beside, Line, Validation, validation};
pub use facts::{Card, Fact, Hardware, cards, own_card};
pub use measure::{Measured, benchmarks, families, measure};
pub use reading::{Unreadable, read};
