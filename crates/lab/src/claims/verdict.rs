//! How a measured number compares with a published one.
//!
//! Both numbers are turned into *effects*, distances from the number that means "no effect":
//!
//! | kind | the number is | its effect |
//! |---|---|---|
//! | change | percent more or less than a baseline: +217, -32 | the number |
//! | points | the difference of two percentages: -0.7 | the number |
//! | ratio | a multiple of a baseline: 6.0, 1.57 | the number less 1 |
//! | share | a part of a whole in percent: 75 | the number |
//! | level | a quantity of its own: 2 cycles | the number |
//!
//! The ratio of the measured effect to the published one decides:
//!
//! | verdict | measured effect over published effect |
//! |---|---|
//! | reproduced | 0.75 to 1.25 |
//! | direction | 0.5 to 2 |
//! | far | above 0: the same direction, and not even half or twice the effect |
//! | contradicted | 0 or less: no effect, or the opposite one |
//!
//! In addition, a share is contradicted if it lies on the other side of one half. A published effect of 0 has
//! no direction: it is reproduced within 1 percentage point, or within 0.01 for a ratio, and contradicted
//! otherwise. Numbers are compared without rounding; a number on a boundary gets the better verdict.
//!
//! A claim may bound its number:
//!
//! * `at-least` ("more than 39 %"): larger is better, so anything up to twice the published effect is
//!   reproduced. Beyond that the bound holds, but the number behind it is a different one: far. Smaller numbers
//!   are judged as without a bound.
//! * `at-most` ("within 2 %"): no effect or the opposite one keeps the bound and is reproduced, and so is
//!   exceeding the bound by at most a quarter. Exceeding it further is contradicted.
//!
//! A *choice* claims that one of several systems is best. It is reproduced if that system leads the next by
//! at least a quarter of the distance between the worst and the best, and contradicted if another system
//! leads it by more than that. In between, the systems are too close to call and the verdict is direction.

use std::fmt;

use crate::paper::{Bound, Kind};

/// How a measured number compares with a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The effect is within a quarter of the published one.
    Reproduced,
    /// The effect has the same direction and is within a factor of two.
    Direction,
    /// The effect has the same direction but is not within a factor of two.
    Far,
    /// There is no effect, or it has the opposite direction.
    Contradicted,
    /// There is no measured number.
    NotMeasured,
}

impl Verdict {
    /// All verdicts, best first.
    pub const ALL: [Verdict; 5] =
        [Verdict::Reproduced, Verdict::Direction, Verdict::Far, Verdict::Contradicted, Verdict::NotMeasured];

    /// Name of the verdict.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Direction => "direction",
            Verdict::Far => "far",
            Verdict::Contradicted => "contradicted",
            Verdict::NotMeasured => "not measured",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The number that means "no effect".
fn origin(kind: Kind) -> f64 {
    if kind == Kind::Ratio { 1.0 } else { 0.0 }
}

/// Tolerance where the published effect is 0.
fn least(kind: Kind) -> f64 {
    match kind {
        Kind::Change | Kind::Points => 1.0,
        Kind::Ratio => 0.01,
        Kind::Share | Kind::Level | Kind::Choice => 0.0,
    }
}

/// The effect of a number: its distance from the number that means "no effect".
#[must_use]
pub fn effect(kind: Kind, published: f64) -> f64 {
    published - origin(kind)
}

/// Tolerance for binary rounding: 1.57 + 0.1425 must count as on the boundary of 1.57.
const ROUNDING: f64 = 1e-9;

/// The verdict on a measured number.
#[must_use]
pub fn judge(kind: Kind, bound: Option<Bound>, published: f64, measured: f64) -> Verdict {
    let effect = effect(kind, published);
    if effect == 0.0 {
        let near = (measured - published).abs() <= least(kind) + ROUNDING;
        return if near { Verdict::Reproduced } else { Verdict::Contradicted };
    }
    let times = (measured - origin(kind)) / effect;
    let rounding = ROUNDING / effect.abs();
    let within = |least: f64, most: f64| (least - rounding..=most + rounding).contains(&times);
    let other_half = kind == Kind::Share && (published > 50.0) != (measured > 50.0);
    match bound {
        Some(Bound::AtMost) if within(f64::NEG_INFINITY, 1.25) => Verdict::Reproduced,
        Some(Bound::AtMost) => Verdict::Contradicted,
        _ if times <= 0.0 || other_half => Verdict::Contradicted,
        None if within(0.75, 1.25) => Verdict::Reproduced,
        Some(Bound::AtLeast) if within(0.75, 2.0) => Verdict::Reproduced,
        _ if within(0.5, 2.0) => Verdict::Direction,
        _ => Verdict::Far,
    }
}

/// The verdict on a choice, from the mean of the system that the paper calls best and the means of the
/// others.
#[must_use]
pub fn judge_choice(published_best: f64, others: &[f64]) -> Verdict {
    let best_other = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let worst = others.iter().copied().fold(published_best, f64::min);
    let quarter = (published_best.max(best_other) - worst) / 4.0;
    match published_best - best_other {
        lead if lead > 0.0 && lead >= quarter - ROUNDING => Verdict::Reproduced,
        lead if lead < -quarter - ROUNDING => Verdict::Contradicted,
        _ => Verdict::Direction,
    }
}
