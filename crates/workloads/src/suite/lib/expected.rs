//! Value and derivative of each path, with bounds.

use super::{Lib, PERIOD, SIGMA, SWAP_RATES};
use crate::suite::prelude::*;

/// What one path gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathResult {
    pub(super) value: Bounded,
    /// By the last rate.
    pub(super) derivative: Bounded,
}

/// The portfolio's value at the last step and its derivatives by bonds and annuities.
struct Portfolio {
    value: Bounded,
    by_bond: Vec<Bounded>,
    by_annuity: Vec<Bounded>,
}

impl Lib {
    pub(super) fn expected(&self, shocks: &[f32]) -> Vec<PathResult> {
        shocks.iter().map(|&shock| self.path(Bounded::from(shock), &vec![INITIAL; self.rates])).collect()
    }

    fn path(&self, shock: Bounded, initial: &[Bounded]) -> PathResult {
        let history = self.follow(shock, initial);
        let last = &history[self.steps];

        // Bonds and annuities at the last step.
        let (mut bonds, mut annuities) = (vec![], vec![]);
        let (mut bond, mut annuity) = (ONE, Bounded::ZERO);
        for &rate in &last[self.steps..] {
            bond = quotient(bond, growth(rate));
            annuity += period() * bond;
            bonds.push(bond);
            annuities.push(annuity);
        }
        let discount = last[..self.steps].iter().fold(ONE, |discount, &rate| discount / growth(rate));
        let Portfolio { value, mut by_bond, mut by_annuity } = self.portfolio(&bonds, &annuities);

        // By the rates at the last step. The rates that matured earlier only discount; the derivative by the last
        // rate, which is all that is asked for, does not depend on theirs.
        let mut derivative = Bounded::ZERO;
        for m in (0..bonds.len()).rev() {
            let growth = growth(last[self.steps + m]);
            by_bond[m] += period() * by_annuity[m];
            if m + 1 == bonds.len() {
                derivative = discount * (-by_bond[m] * bonds[m] * quotient(period(), growth));
            }
            if m > 0 {
                let (annuity, bond) = (by_annuity[m], by_bond[m]);
                by_annuity[m - 1] += annuity;
                by_bond[m - 1] += quotient(bond, growth);
            }
        }
        // Back to the first step. No other rate's drift contains the last rate.
        let i = self.rates - 1;
        for n in (0..self.steps).rev() {
            let (before, after) = (history[n][i], history[n + 1][i]);
            let by_drift = sigma() * after * derivative;
            let factor = quotient(period(), growth(before));
            derivative = derivative * quotient(after, before) + by_drift * sigma() * factor * factor;
        }
        PathResult { value: discount * value, derivative }
    }

    /// The rates before the first step and after each.
    fn follow(&self, shock: Bounded, initial: &[Bounded]) -> Vec<Vec<Bounded>> {
        let half = Bounded::exact(0.5);
        let scaled_sigma = period() * sigma();
        let noise = sigma() * (period().sqrt() * shock - half * scaled_sigma);
        let mut history = vec![initial.to_vec()];
        for n in 0..self.steps {
            let mut now = history[n].clone();
            let mut drift = Bounded::ZERO;
            for rate in &mut now[n + 1..] {
                drift += quotient(scaled_sigma * *rate, growth(*rate));
                *rate = *rate * fast_exp(scaled_sigma * drift + noise);
            }
            history.push(now);
        }
        history
    }

    fn portfolio(&self, bonds: &[Bounded], annuities: &[Bounded]) -> Portfolio {
        let hundred = Bounded::exact(100.0);
        let mut portfolio = Portfolio {
            value: Bounded::ZERO,
            by_bond: vec![Bounded::ZERO; bonds.len()],
            by_annuity: vec![Bounded::ZERO; bonds.len()],
        };
        for (maturity, swap_rate) in self.maturities().into_iter().zip(SWAP_RATES.map(Bounded::from)) {
            let m = maturity as usize - 1;
            let swap = bonds[m] + swap_rate * annuities[m] - ONE;
            let [loss, by_annuity] = [hundred * swap, hundred * swap_rate];
            let Portfolio { value, by_bond: bond, by_annuity: annuity } = &mut portfolio;
            match swap.less(Bounded::ZERO) {
                Some(false) => {}
                Some(true) => {
                    *value = *value - loss;
                    annuity[m] = annuity[m] - by_annuity;
                    bond[m] = bond[m] - hundred;
                }
                // Too close to tell: it may be exercised or not.
                None => {
                    *value = *value - either(loss);
                    annuity[m] = annuity[m] - either(by_annuity);
                    bond[m] = bond[m] - either(hundred);
                }
            }
        }
        portfolio
    }
}

const ONE: Bounded = Bounded::exact(1.0);
/// Every rate at the start, an f32.
const INITIAL: Bounded = Bounded::exact(0.05_f32 as f64);

fn period() -> Bounded {
    Bounded::from(PERIOD)
}

fn sigma() -> Bounded {
    Bounded::from(SIGMA)
}

/// By what money grows in a period.
fn growth(rate: Bounded) -> Bounded {
    ONE + period() * rate
}

/// `__fdividef`: 2 ulp (CUDA C++ Programming Guide, intrinsic functions).
fn quotient(a: Bounded, b: Bounded) -> Bounded {
    (a / b).rounded(4.0)
}

/// `__expf`: 2 + floor(|1.173 x|) ulp (same source).
fn fast_exp(x: Bounded) -> Bounded {
    let largest = x.value().abs() + x.error();
    x.map(f64::exp, largest.exp(), 2.0 + (1.173 * largest).floor())
}

/// The value or nothing.
fn either(x: Bounded) -> Bounded {
    let half = x.scaled(0.5);
    Bounded::new(half.value(), half.value().abs() + 2.0 * half.error())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Lib = Lib { rates: 16, steps: 8, paths: 1, ctas: 1 };

    /// One rate that never moves: a bond for one period.
    #[test]
    fn a_swaption_without_volatility_by_hand() {
        let lib = Lib { rates: 2, steps: 1, ..SMALL };
        let rate = 0.05_f32;
        let bond = Bounded::exact(1.0 / (1.0 + 0.25 * f64::from(rate)));
        let Portfolio { value, .. } = lib.portfolio(&[bond], &[bond.scaled(0.25)]);
        // A swap at 0.045 loses, five times; one at 0.05 is worth nothing, one at 0.055 gains.
        let swap = (1.0 + 0.25 * 0.045) / (1.0 + 0.25 * f64::from(rate)) - 1.0;
        assert!((value.value() + 5.0 * 100.0 * swap).abs() < 1e-5, "{value:?}");
    }

    #[test]
    fn the_adjoint_is_the_derivative() {
        for shock in [-0.1, 0.05, 0.2] {
            let at = |last: f64| {
                let mut initial = vec![INITIAL; SMALL.rates];
                initial[SMALL.rates - 1] = Bounded::exact(last);
                SMALL.path(Bounded::exact(shock), &initial)
            };
            let (step, middle) = (1e-6, INITIAL.value());
            let slope = (at(middle + step).value.value() - at(middle - step).value.value()) / (2.0 * step);
            let adjoint = at(middle).derivative;
            assert!((adjoint.value() - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{adjoint:?} {slope}");
            assert!(shock < 0.1 || slope > 1.0, "the swaption of the last rate is exercised: {slope}");
        }
    }

    #[test]
    fn bounds_stay_close() {
        let lib = Lib { rates: 80, steps: 40, ..SMALL };
        let PathResult { value, derivative } = lib.path(Bounded::exact(0.25), &[INITIAL; 80]);
        assert!(value.error() < 2e-3 * value.value(), "{value:?}");
        assert!(derivative.error() < 2e-3 * derivative.value(), "{derivative:?}");
    }
}
