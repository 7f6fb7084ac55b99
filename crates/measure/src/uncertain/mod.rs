//! How much numbers depend on what is assumed: points to draw, and what the numbers at these points say.
//!
//! A point gives every assumption a place from 0 to 1 in its range. [`morris`] looks at many assumptions with few points, and says
//! which of them count; [`sobol`] says how much of a number's variance comes from each that does; [`quantile`] says between what the
//! number lies.

pub mod morris;
pub mod quantile;
pub mod sobol;

use strata_engine::seed::Stream;

/// A place of each assumption in its range, from 0 to 1.
pub type Point = Vec<f64>;

/// A random place from 0 to 1, which itself never comes.
pub(crate) fn place(stream: &mut Stream) -> f64 {
    // The 53 bits that a number of this type holds.
    (stream.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The numbers up to a count, each once, in random order.
pub(crate) fn shuffled(count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, stream.below(last as u64 + 1) as usize);
    }
    order
}
