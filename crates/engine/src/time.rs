//! Time: cycles of the reference clock, and other clocks as integer ratios of it.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A cycle of the reference (core) clock, counted from the start of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle(pub u64);

impl Cycle {
    /// The first cycle of a simulation.
    pub const ZERO: Cycle = Cycle(0);
    /// Later than any real cycle; the next event of an idle component. No cycle comes after it.
    pub const NEVER: Cycle = Cycle(u64::MAX);

    /// Cycles from `earlier` to this one; 0 when `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Cycle) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The cycle after this one, which is a real one.
    #[inline]
    pub const fn next(self) -> Cycle {
        Cycle(self.0 + 1)
    }
}

impl Add<u64> for Cycle {
    type Output = Cycle;
    #[inline]
    fn add(self, cycles: u64) -> Cycle {
        Cycle(self.0 + cycles)
    }
}

impl AddAssign<u64> for Cycle {
    #[inline]
    fn add_assign(&mut self, cycles: u64) {
        *self = *self + cycles;
    }
}

impl Sub for Cycle {
    type Output = u64;
    #[inline]
    fn sub(self, earlier: Cycle) -> u64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Cycle::NEVER { f.write_str("never") } else { self.0.fmt(f) }
    }
}

/// A clock domain: `numerator` local cycles pass in `denominator` reference cycles.
///
/// Exact integer arithmetic: local cycle k begins in the first reference cycle c with
/// `c * numerator / denominator >= k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRatio {
    numerator: u64,
    denominator: u64,
}

impl ClockRatio {
    /// The reference clock, with a ratio of 1.
    pub const ONE: ClockRatio = ClockRatio { numerator: 1, denominator: 1 };

    /// The ratio of two frequencies in the same unit, reduced; `None` if either is zero.
    pub fn of(local: u64, reference: u64) -> Option<ClockRatio> {
        let divisor = gcd(local, reference);
        (local != 0 && reference != 0)
            .then(|| ClockRatio { numerator: local / divisor, denominator: reference / divisor })
    }

    /// How many cycles of this clock pass in one of `other`, both given by their ratio to the same reference.
    ///
    /// # Panics
    /// If the reduced ratio does not fit 64 bits: frequencies below 2^32 always do.
    pub fn over(self, other: ClockRatio) -> ClockRatio {
        let product = |a: u64, b: u64| a.checked_mul(b).expect("frequencies are below 2^32");
        let (local, reference) =
            (product(self.numerator, other.denominator), product(self.denominator, other.numerator));
        ClockRatio::of(local, reference).expect("ratios are positive")
    }

    /// Number of local cycles that have begun by the start of reference cycle `now`.
    #[inline]
    pub fn local(self, now: Cycle) -> u64 {
        match now.0.checked_mul(self.numerator) {
            Some(product) => product / self.denominator,
            None => (u128::from(now.0) * u128::from(self.numerator) / u128::from(self.denominator)) as u64,
        }
    }

    /// The first local cycle that begins at the start of reference cycle `now` or later.
    #[inline]
    pub fn first_from(self, now: Cycle) -> u64 {
        match now.0.checked_mul(self.numerator) {
            Some(product) => product.div_ceil(self.denominator),
            None => {
                (u128::from(now.0) * u128::from(self.numerator)).div_ceil(u128::from(self.denominator)) as u64
            }
        }
    }

    /// Number of whole reference cycles that fit into `local` local cycles.
    pub fn whole_reference_cycles(self, local: u64) -> u64 {
        let cycles = u128::from(local) * u128::from(self.denominator) / u128::from(self.numerator);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// The first local cycle that is simulated in reference cycle `now` or later: a reference cycle simulates those that have begun by its
    /// start and were not simulated before.
    pub fn first_in(self, now: Cycle) -> u64 {
        now.0.checked_sub(1).map_or(0, |before| self.local(Cycle(before)).saturating_add(1))
    }

    /// The first reference cycle in which local cycle `local` has begun.
    #[inline]
    pub fn reference(self, local: u64) -> Cycle {
        if local == u64::MAX {
            return Cycle::NEVER;
        }
        if let Some(product) = local.checked_mul(self.denominator) {
            return Cycle(product.div_ceil(self.numerator));
        }
        let cycles = (u128::from(local) * u128::from(self.denominator)).div_ceil(u128::from(self.numerator));
        Cycle(u64::try_from(cycles).unwrap_or(u64::MAX))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_cycle_begins_at_its_reference_cycle_and_not_before() {
        for (local_mhz, reference_mhz) in [(924, 700), (700, 700), (350, 700), (3, 7)] {
            let ratio = ClockRatio::of(local_mhz, reference_mhz).unwrap();
            for local in 1..2000 {
                let begins = ratio.reference(local);
                assert!(ratio.local(begins) >= local, "{local} has begun at {begins}");
                assert!(ratio.local(Cycle(begins.0 - 1)) < local, "{local} has not begun before {begins}");
            }
        }
    }

    #[test]
    fn far_cycles_are_exact_too() {
        let ratio = ClockRatio::of(924, 700).unwrap();
        // 33 local cycles in 25 reference cycles, on both sides of the 64-bit product limit.
        for rounds in [1 << 40, u64::MAX / 33 / 25, u64::MAX / 33 / 2, u64::MAX / 33 - 1] {
            let reference = rounds.saturating_mul(25);
            assert_eq!(ratio.local(Cycle(reference)), (u128::from(reference) * 33 / 25) as u64);
            assert_eq!(ratio.reference(rounds * 33), Cycle(rounds * 25));
        }
    }

    #[test]
    fn a_clock_is_seen_from_another() {
        let ratio = |mhz| ClockRatio::of(mhz, 1440).unwrap();
        assert_eq!(ratio(1710).over(ratio(1380)), ClockRatio::of(57, 46).unwrap());
        assert_eq!(ratio(1710).over(ratio(1710)), ClockRatio::ONE);
        assert_eq!(ratio(1710).over(ClockRatio::ONE), ratio(1710));
    }

    #[test]
    fn the_first_cycle_from_a_moment_on() {
        // 3 local cycles in 2 reference cycles: they begin at 0, 2/3, 4/3 and 2.
        let ratio = ClockRatio::of(3, 2).unwrap();
        assert_eq!([0, 1, 2, 3].map(|now| ratio.first_from(Cycle(now))), [0, 2, 3, 5]);
        assert_eq!([0, 1, 2, 3, 4].map(|local| ratio.whole_reference_cycles(local)), [0, 0, 1, 2, 2]);
        let slow = ClockRatio::of(1, 2).unwrap();
        assert_eq!([0, 1, 2, 3].map(|now| slow.first_from(Cycle(now))), [0, 1, 1, 2]);
        let far = Cycle(u64::MAX / 2);
        assert_eq!(ratio.first_from(far), (u128::from(far.0) * 3).div_ceil(2) as u64);
    }

    #[test]
    fn no_frequency_is_no_clock() {
        assert_eq!(ClockRatio::of(0, 700), None);
        assert_eq!(ClockRatio::of(700, 0), None);
    }
}
