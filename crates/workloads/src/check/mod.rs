//! Comparing what a device computed with what it should have.

mod bounded;

use std::fmt;

pub use bounded::Bounded;

use crate::Element;

/// Half the distance from 1 to the next f32: the largest relative error of one rounding.
pub const F32_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// The bound on the relative error of `n` roundings in sequence (Higham, "Accuracy and Stability of Numerical
/// Algorithms", lemma 3.1): `n u / (1 - n u)`.
///
/// A sum of products `sum(a b)`, in any order and with or without fused multiply-adds, is off by at most
/// `gamma(terms + 1) * sum(|a b|)`, as long as no product underflows.
#[must_use]
pub fn gamma(n: usize) -> f64 {
    let nu = n as f64 * F32_ROUNDOFF;
    assert!(nu < 0.5, "{n} roundings leave no digit of an f32");
    nu / (1.0 - nu)
}

/// A value and how far from it a result may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The exact result, as far as an f64 holds it.
    pub value: f64,
    /// The largest difference allowed, inclusive.
    pub bound: f64,
}

/// The first element that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its index in the buffer, in elements.
    pub index: usize,
    /// What the device gave.
    pub found: String,
    /// What is allowed.
    pub expected: String,
}

/// A sum of products in a known order, with a bound on what f32 arithmetic in that order makes of it.
///
/// This is running error analysis (Higham, section 3.3): every addition is off by at most a roundoff of the partial
/// sum it gives. For sums of thousands of terms of both signs the bound is some hundred times tighter than
/// [`gamma`]'s, tight enough to notice a single missing term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningSum {
    value: f64,
    error: f64,
    additions: usize,
}

impl RunningSum {
    /// Adds a product that was itself rounded `roundings` times at most. A fused multiply-add rounds it fewer
    /// times and stays within the bound.
    pub fn add(&mut self, product: f64, roundings: u32) {
        self.value += product;
        self.error += F32_ROUNDOFF * (f64::from(roundings) * product.abs() + self.value.abs());
        self.additions += 1;
    }

    /// The sum and its bound.
    #[must_use]
    pub fn near(&self) -> Near {
        // The partial sums of the device are themselves off by the error so far.
        let second_order = 1.0 - f64::from(u32::try_from(self.additions).expect("few terms")) * F32_ROUNDOFF;
        Near { value: self.value, bound: self.error / second_order }
    }
}

/// One buffer compared element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The buffer's name.
    pub buffer: String,
    /// How many elements were compared.
    pub elements: usize,
    /// How many were wrong.
    pub mismatches: usize,
    /// The largest difference seen, wrong or not; 0 for an exact comparison of equal buffers, and infinite when
    /// an element is not a number or when unequal elements have no distance.
    pub largest_error: f64,
    /// The lowest wrong index.
    pub first_mismatch: Option<Mismatch>,
}

impl Comparison {
    /// Every element must be equal, bit for bit.
    ///
    /// # Panics
    /// When the lengths differ: a program compares buffers of its own sizes.
    #[must_use]
    pub fn exact<T: Element>(buffer: &str, found: &[T], expected: &[T]) -> Self {
        assert_eq!(found.len(), expected.len(), "`{buffer}` is compared with an array of another length");
        let mut this = Self::empty(buffer, found.len());
        for (index, (f, e)) in found.iter().zip(expected).enumerate() {
            if !f.same(*e) {
                this.reject(index, f64::INFINITY, || (format!("{f:?}"), format!("{e:?}")));
            }
        }
        this
    }

    /// Every element must lie in its own interval; a NaN lies in none.
    ///
    /// # Panics
    /// When the lengths differ.
    #[must_use]
    pub fn near<T: Element>(buffer: &str, found: &[T], expected: &[Near]) -> Self {
        assert_eq!(found.len(), expected.len(), "`{buffer}` is compared with an array of another length");
        let mut this = Self::empty(buffer, found.len());
        for (index, (f, near)) in found.iter().zip(expected).enumerate() {
            let value = f.to_f64();
            let error = if value == near.value { 0.0 } else { (value - near.value).abs() };
            if error <= near.bound {
                this.largest_error = this.largest_error.max(error);
            } else {
                let error = if error.is_nan() { f64::INFINITY } else { error };
                this.reject(index, error, || {
                    (format!("{f:?}"), format!("{:?} +- {:e}", near.value, near.bound))
                });
            }
        }
        this
    }

    /// Whether no element was wrong.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.mismatches == 0
    }

    fn empty(buffer: &str, elements: usize) -> Self {
        Self { buffer: buffer.into(), elements, mismatches: 0, largest_error: 0.0, first_mismatch: None }
    }

    fn reject(&mut self, index: usize, error: f64, texts: impl FnOnce() -> (String, String)) {
        self.mismatches += 1;
        self.largest_error = self.largest_error.max(error);
        if self.first_mismatch.is_none() {
            let (found, expected) = texts();
            self.first_mismatch = Some(Mismatch { index, found, expected });
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer, elements, mismatches, largest_error, first_mismatch } = self;
        match first_mismatch {
            None => write!(f, "{buffer}: {elements} elements right, largest error {largest_error:e}"),
            Some(Mismatch { index, found, expected }) => write!(
                f,
                "{buffer}: {mismatches} of {elements} elements wrong; [{index}] is {found}, expected {expected}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_integer_is_found() {
        let comparison = Comparison::exact("bins", &[1_u32, 2, 3], &[1, 5, 3]);
        assert!(!comparison.passed());
        assert_eq!(comparison.to_string(), "bins: 1 of 3 elements wrong; [1] is 2, expected 5");
    }

    #[test]
    fn the_bound_is_inclusive_and_per_element() {
        let expected = [Near { value: 1.0, bound: 0.5 }, Near { value: 1.0, bound: 0.25 }];
        let comparison = Comparison::near("y", &[1.5_f32, 1.25], &expected);
        assert!(comparison.passed());
        assert_eq!(comparison.to_string(), "y: 2 elements right, largest error 5e-1");
        let comparison = Comparison::near("y", &[1.5_f32, 1.5], &expected);
        assert_eq!(comparison.first_mismatch.unwrap().index, 1);
    }

    /// Sums of f32 in order, with and without fused multiply-adds, stay in the bound, which is far below a term.
    #[test]
    fn a_running_sum_bounds_f32_arithmetic() {
        let mut random = crate::random::Random::new(7);
        let pairs: Vec<(f32, f32)> = (0..5000).map(|_| (random.signed(), random.signed())).collect();
        let mut sum = RunningSum::default();
        pairs.iter().for_each(|&(a, b)| sum.add(f64::from(a) * f64::from(b), 1));
        let near = sum.near();
        let fused = pairs.iter().fold(0.0_f32, |sum, &(a, b)| a.mul_add(b, sum));
        let separate = pairs.iter().fold(0.0_f32, |sum, &(a, b)| sum + a * b);
        assert!(Comparison::near("sum", &[fused, separate], &[near, near]).passed());
        assert!(near.bound < 0.02, "{near:?}");
    }

    #[test]
    fn not_a_number_is_never_near() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let comparison = Comparison::near("y", &[value], &[Near { value: 1.0, bound: 1e30 }]);
            assert_eq!((comparison.mismatches, comparison.largest_error), (1, f64::INFINITY));
        }
    }
}
