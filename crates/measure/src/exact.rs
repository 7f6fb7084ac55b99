//! Fractions without rounding, so that parts add up to their whole exactly.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};

/// A fraction in lowest terms, with a denominator above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    numerator: i128,
    denominator: i128,
}

impl Exact {
    /// Nothing.
    pub const ZERO: Exact = Exact { numerator: 0, denominator: 1 };

    /// `numerator / denominator`.
    ///
    /// # Panics
    /// If the denominator is 0.
    #[must_use]
    pub fn new(numerator: i128, denominator: i128) -> Exact {
        assert!(denominator != 0, "a fraction has a denominator");
        let divisor = gcd(numerator, denominator).max(1) * denominator.signum();
        Exact { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// `other - one` of two counts.
    #[must_use]
    pub fn change(one: u64, other: u64) -> Exact {
        Exact::from(i128::from(other) - i128::from(one))
    }

    /// The nearest floating-point number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Its distance from 0.
    #[must_use]
    pub fn abs(self) -> Exact {
        Exact { numerator: self.numerator.abs(), ..self }
    }
}

/// The greatest common divisor; 0 of two zeros.
fn gcd(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

impl From<i128> for Exact {
    fn from(whole: i128) -> Exact {
        Exact { numerator: whole, denominator: 1 }
    }
}

impl Add for Exact {
    type Output = Exact;

    fn add(self, other: Exact) -> Exact {
        let shared = gcd(self.denominator, other.denominator);
        let (mine, others) = (other.denominator / shared, self.denominator / shared);
        Exact::new(self.numerator * mine + other.numerator * others, self.denominator * mine)
    }
}

impl Neg for Exact {
    type Output = Exact;

    fn neg(self) -> Exact {
        Exact { numerator: -self.numerator, ..self }
    }
}

impl Sub for Exact {
    type Output = Exact;

    fn sub(self, other: Exact) -> Exact {
        self + -other
    }
}

impl Mul for Exact {
    type Output = Exact;

    fn mul(self, other: Exact) -> Exact {
        Exact::new(self.numerator * other.numerator, self.denominator * other.denominator)
    }
}

impl Sum for Exact {
    fn sum<I: Iterator<Item = Exact>>(all: I) -> Exact {
        all.fold(Exact::ZERO, Add::add)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Exact) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Exact) -> std::cmp::Ordering {
        (*self - *other).numerator.cmp(&0)
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_add_up_to_a_whole() {
        let third = Exact::new(-4, -12);
        assert_eq!(third.to_string(), "1/3");
        assert_eq!([third; 3].into_iter().sum::<Exact>(), Exact::from(1));
        assert_eq!(third * Exact::from(6) - Exact::new(1, 2), Exact::new(3, 2));
        assert!(Exact::new(-1, 2) < Exact::ZERO && Exact::new(-1, 2).abs() > third);
        assert_eq!(Exact::change(7, 5).to_string(), "-2");
        assert_eq!(Exact::new(0, -9), Exact::ZERO);
    }
}
