//! Arithmetic that carries a bound on what f32 arithmetic makes of it.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{F32_ROUNDOFF, Near};

/// A value, and how far a device's f32 may be from it.
///
/// Write a kernel's formula with it and the bound follows: every operation passes on the errors of its operands and
/// adds its own rounding (running error analysis: Higham, "Accuracy and Stability of Numerical Algorithms", section
/// 3.3). A compiler that fuses a multiplication and an addition rounds once instead of twice and stays within the
/// bound; another order of additions does not.
///
/// ```
/// use strata_workloads::check::Bounded;
/// let (a, b) = (Bounded::from(0.1_f32), Bounded::from(3.0_f32));
/// let sum = (0..10).fold(Bounded::ZERO, |sum, _| sum + a * b);
/// assert!((sum.value() - 3.0).abs() < 1e-6 && sum.error() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounded {
    value: f64,
    error: f64,
}

/// Half of the smallest positive f32: what rounding near zero loses at most.
const UNDERFLOW: f64 = 7.006_492_321_624_085e-46;

impl Bounded {
    /// Zero, exactly.
    pub const ZERO: Self = Self::exact(0.0);

    /// A value without error: an input, an integer, a constant that f32 holds.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    /// A value and its error, for what has its own analysis.
    #[must_use]
    pub const fn new(value: f64, error: f64) -> Self {
        Self { value, error }
    }

    /// The value, as far as an f64 holds it.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.value
    }

    /// How far the device's value may be from it.
    #[must_use]
    pub const fn error(self) -> f64 {
        self.error
    }

    /// The interval for a comparison.
    #[must_use]
    pub const fn near(self) -> Near {
        Near { value: self.value, bound: self.error }
    }

    /// What a later stage starts from: the device's own value, whose rounding errors, once accepted, are an input like any
    /// other. Where the device's value is wrong, the bound is NaN from here on, so that nothing that follows
    /// passes.
    #[must_use]
    pub fn accepting(self, device: f32) -> Self {
        let near = (f64::from(device) - self.value).abs() <= self.error;
        if near { Self::from(device) } else { Self { error: f64::NAN, ..self } }
    }

    /// The same with an error of `roundoffs` halves of a unit in the last place more: 1 for an operation that rounds
    /// to the nearest, 2 n for a function that is right to n ulp.
    #[must_use]
    pub fn rounded(self, roundoffs: f64) -> Self {
        let size = self.value.abs() + self.error;
        Self { error: self.error + roundoffs * F32_ROUNDOFF * size + UNDERFLOW, ..self }
    }

    /// Multiplication by a power of two and the like, which rounds nothing.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor.abs() }
    }

    /// Square root, rounded to the nearest; of what may be below zero only by rounding, zero.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let value = self.value.max(0.0).sqrt();
        let low = (self.value - self.error).max(0.0).sqrt();
        let high = (self.value + self.error).max(0.0).sqrt();
        // A bound that is NaN stays NaN.
        let error = if self.error.is_nan() { self.error } else { (value - low).max(high - value) };
        Self { value, error }.rounded(1.0)
    }

    /// A function whose slope is at most `slope` wherever the device's argument may be, right to `ulps` units in the
    /// last place there.
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64, slope: f64, ulps: f64) -> Self {
        Self { value: function(self.value), error: slope * self.error }.rounded(2.0 * ulps)
    }

    /// e^x as CUDA's expf gives it: 2 ulp (CUDA C++ Programming Guide, mathematical functions).
    #[must_use]
    pub fn exp(self) -> Self {
        let slope = (self.value + self.error).exp();
        self.map(f64::exp, slope, 2.0)
    }

    /// ln x as CUDA's logf gives it: 1 ulp (same source). The argument is surely above zero.
    #[must_use]
    pub fn ln(self) -> Self {
        let low = self.value - self.error;
        assert!(low > 0.0 || low.is_nan(), "the logarithm of {self:?}, which may not be above zero");
        self.map(f64::ln, 1.0 / low, 1.0)
    }

    /// |x|.
    #[must_use]
    pub fn abs(self) -> Self {
        Self { value: self.value.abs(), ..self }
    }

    /// The greater of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { value: self.value.max(other.value), error: worse(self.error, other.error) }
    }

    /// The smaller of two.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { value: self.value.min(other.value), error: worse(self.error, other.error) }
    }

    /// Whether the device's value is below the other's, if that is sure.
    #[must_use]
    pub fn less(self, other: Self) -> Option<bool> {
        let apart = (self.value - other.value).abs() > self.error + other.error;
        apart.then_some(self.value < other.value)
    }
}

/// The greater of two bounds; none if one of them is none.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

impl From<f32> for Bounded {
    fn from(value: f32) -> Self {
        Self::exact(f64::from(value))
    }
}

impl From<i32> for Bounded {
    fn from(value: i32) -> Self {
        Self::exact(f64::from(value)).rounded(if value.unsigned_abs() <= 1 << 24 { 0.0 } else { 1.0 })
    }
}

impl Add for Bounded {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, error: self.error + other.error }.rounded(1.0)
    }
}

impl Sub for Bounded {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Bounded {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

impl Mul for Bounded {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let error =
            self.value.abs() * other.error + other.value.abs() * self.error + self.error * other.error;
        Self { value: self.value * other.value, error }.rounded(1.0)
    }
}

/// Division rounded to the nearest. A divisor that may be zero gives an infinite error.
impl Div for Bounded {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let least = other.value.abs() - other.error;
        if least <= 0.0 {
            return Self { value, error: f64::INFINITY };
        }
        Self { value, error: (self.error + value.abs() * other.error) / least }.rounded(1.0)
    }
}

impl std::ops::AddAssign for Bounded {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Bounded {
    /// From the first to the last, beginning with zero.
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A device's f32 and the bounded value that follows it.
    #[derive(Clone, Copy)]
    struct Pair(f32, Bounded);

    impl Pair {
        fn check(self, what: &str) -> Self {
            let Self(device, bounded) = self;
            let off = (f64::from(device) - bounded.value()).abs();
            assert!(off <= bounded.error(), "{what}: {device} is {off} off {bounded:?}");
            self
        }
    }

    /// Long random formulas stay in their bounds, with and without fused multiply-adds, and the bounds stay useful.
    #[test]
    fn f32_arithmetic_stays_within_the_bound() {
        let mut random = Random::new(3);
        for fused in [false, true] {
            let mut x = Pair(1.0, Bounded::exact(1.0));
            for step in 0..1000 {
                let (a, b) = (random.signed() + 2.0, random.signed());
                let (ba, bb) = (Bounded::from(a), Bounded::from(b));
                x = match step % 5 {
                    0 => Pair(x.0 / a, x.1 / ba),
                    1 if fused => Pair(x.0.mul_add(a, b), x.1 * ba + bb),
                    1 => Pair(x.0 * a + b, x.1 * ba + bb),
                    2 => Pair((x.0 * x.0 + 0.5).sqrt(), (x.1 * x.1 + Bounded::exact(0.5)).sqrt()),
                    3 => Pair(x.0.max(b) - a, x.1.max(bb) - ba),
                    _ => Pair((x.0 * 0.125).exp(), (x.1.scaled(0.125)).exp()),
                }
                .check("formula");
                assert!(x.1.error() < 1e-3, "{:?}", x.1);
            }
        }
    }

    #[test]
    fn what_was_wrong_once_stays_wrong() {
        let right = Bounded::new(1.0, 0.1).accepting(1.0625);
        assert_eq!(right, Bounded::exact(1.0625));
        let wrong = Bounded::new(2.0, 0.1).accepting(2.25);
        let results = [
            wrong + right,
            right - wrong,
            wrong * right,
            right / wrong,
            wrong.sqrt(),
            wrong.ln(),
            wrong.exp(),
        ];
        let extremes = [wrong.max(right), right.max(wrong), wrong.min(right), right.min(wrong)];
        assert!(
            results.iter().chain(&extremes).all(|result| result.error().is_nan()),
            "{results:?} {extremes:?}"
        );
        assert_eq!(wrong.less(right), None);
    }

    #[test]
    fn a_divisor_that_may_be_zero_bounds_nothing() {
        let around_zero = Bounded::new(1e-9, 1e-8);
        assert_eq!((Bounded::exact(1.0) / around_zero).error(), f64::INFINITY);
        assert_eq!(around_zero.less(Bounded::ZERO), None);
        assert_eq!(Bounded::new(1.0, 0.1).less(Bounded::exact(1.2)), Some(true));
    }
}
