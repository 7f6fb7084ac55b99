//! What a measured number says of a published one.
//!
//! Both are *effects*, distances from the number that says "nothing":
//!
//! | kind | the number is | its effect |
//! |---|---|---|
//! | change | percent more or less than a baseline: +217, -32 | the number |
//! | points | the difference of two percentages: -0.7 | the number |
//! | ratio | a multiple of a baseline: 6.0, 1.57 | the number less 1 |
//! | share | a part of a whole in percent: 75 | the number |
//! | level | a quantity of its own: 2 cycles | the number |
//!
//! The measured effect over the published one decides:
//!
//! | verdict | measured effect over published effect |
//! |---|---|
//! | reproduced | 0.75 to 1.25 |
//! | direction | 0.5 to 2 |
//! | far | above 0: the same direction, and not even half or twice the effect |
//! | contradicted | 0 or less: no effect, or the opposite one |
//!
//! A share says besides which part of its whole is the larger: on the other side of one half it is contradicted.
//! A published effect of 0 has no direction: reproduced within 1 (percentage point), for a ratio within 0.01, else
//! contradicted. Differences count as they are, without rounding; what lies on a boundary has the better verdict.
//!
//! A claim may bound its number:
//!
//! * `at-least` ("more than 39 %"): what is larger is on the right side, so up to twice the published effect is
//!   reproduced. Beyond, the sentence holds and the number behind it is another: far. Below, as without a bound.
//! * `at-most` ("within 2 %"): no effect, or the opposite one, keeps the bound and is reproduced; so is what passes it by
//!   at most a quarter. What passes it further contradicts it.
//!
//! A *choice* says which of several systems is best. It is reproduced when that system leads the next by at least a quarter
//! of the distance from the worst to the best, contradicted when another leads it by more than that, else a matter of
//! direction: the best are too close to call.

use std::fmt;

use crate::paper::{Bound, Kind};

/// What a measured number says of a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The effect is the published one, within a quarter.
    Reproduced,
    /// Same direction, within a factor of two.
    Direction,
    /// Same direction, and not even within a factor of two.
    Far,
    /// Not even the direction.
    Contradicted,
    /// There is no measured number.
    NotMeasured,
}

impl Verdict {
    /// All, the best first.
    pub const ALL: [Verdict; 5] =
        [Verdict::Reproduced, Verdict::Direction, Verdict::Far, Verdict::Contradicted, Verdict::NotMeasured];

    /// Its name.
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

/// The number at which there is no effect.
fn origin(kind: Kind) -> f64 {
    if kind == Kind::Ratio { 1.0 } else { 0.0 }
}

/// What may be missed where the published effect is 0.
fn least(kind: Kind) -> f64 {
    match kind {
        Kind::Change | Kind::Points => 1.0,
        Kind::Ratio => 0.01,
        Kind::Share | Kind::Level | Kind::Choice => 0.0,
    }
}

/// A published number less what says "nothing": what a measured one is compared with.
#[must_use]
pub fn effect(kind: Kind, published: f64) -> f64 {
    published - origin(kind)
}

/// Rounding of binary fractions is no difference: 1.57 + 0.1425 is on the boundary of 1.57.
const ROUNDING: f64 = 1e-9;

/// The verdict on a number.
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

/// The verdict on a choice: the published best one's mean, and those of the others.
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
