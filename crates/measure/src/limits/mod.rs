//! What limits a program on a machine, and what a perfect part would give.
//!
//! A [`Part`] is made ideal by a layer over the machine: an ideal design behind a door, or values. [`variants()`] are the machine as it is,
//! with each part ideal alone, and with them ideal one after the other; [`run()`] runs all of them. A [`Roofline`] says how near the
//! machine as it is came to what its parts can do.

mod parts;
mod roofline;
mod run;
mod variants;

pub use parts::Part;
pub use roofline::{Roof, Roofline};
pub use run::{Limits, Outcome, Ran, Request, run};
pub use variants::{Variant, variants};
