//! How sure numbers are: values drawn from the ranges of what is assumed, and what becomes of the numbers.
//!
//! A study has two parts. The first walks through the ranges and finds the assumptions that move a number at all (elementary effects).
//! The second draws the others together, as one, and these each by itself, and says how much of the number's variance comes from
//! each (Sobol indices), and between what the number lies. Every draw is a machine like any other, so its runs are jobs like any other.

mod asked;
mod assumptions;
mod drawn;
mod report;
mod study;
mod sureness;
#[cfg(test)]
mod tests;

pub use asked::{Asked, Claims, Number};
pub use assumptions::{Assumption, Assumptions};
pub use drawn::{Drawn, Refused, Row, Walk};
pub use report::{OTHERS, csv, json};
pub use strata_measure::uncertain::sobol::Index;
pub use study::{Options, Screened, Study};
pub use sureness::{Moved, Sureness, sureness};
