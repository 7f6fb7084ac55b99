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
//! A number that takes most of something away says as much by what it leaves: writes that fall by 96 % leave 4, and
//! those that fall by 75 % leave six times as many. So what is *left* by a fall, and by a share above one half, is
//! judged in the same way, and the worse of both verdicts counts.
//!
//! In addition, a share is contradicted if it lies on the other side of one half. A published effect of 0 has
//! no direction: it is reproduced within 1 percentage point, or within 0.01 for a ratio, and contradicted
//! otherwise. Numbers are compared without rounding; a number on a boundary gets the better verdict.
//!
//! A claim may bound its number, and is then judged by the bound:
//!
//! * `at-least` ("more than 39 %"): anything from the bound up to twice the published effect is reproduced. Beyond that
//!   the bound holds, but the number behind it is a different one: far. Below the bound the sentence is false:
//!   direction from half of the effect on, otherwise far.
//! * `at-most` ("within 2 %"): no effect or the opposite one keeps the bound and is reproduced. Exceeding it by at most a
//!   quarter is direction, and further contradicted.
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
    /// The number follows from others of the paper's, or was given to the model: it is none of its own.
    Implied,
    /// There is no measured number.
    NotMeasured,
}

impl Verdict {
    /// All verdicts, best first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Reproduced,
        Verdict::Direction,
        Verdict::Far,
        Verdict::Contradicted,
        Verdict::Implied,
        Verdict::NotMeasured,
    ];

    /// Name of the verdict.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Direction => "direction",
            Verdict::Far => "far",
            Verdict::Contradicted => "contradicted",
            Verdict::Implied => "implied",
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

/// What a number leaves of the whole, where it takes some of it away: a fall, or a share above one half.
#[must_use]
pub fn left(kind: Kind, number: f64) -> Option<f64> {
    match kind {
        Kind::Change if number < 0.0 => Some(100.0 + number),
        Kind::Ratio if number < 1.0 => Some(number),
        Kind::Share if number > 50.0 => Some(100.0 - number),
        _ => None,
    }
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
    let within = |least: f64, most: f64| is_within(times, effect, least, most);
    let other_half = kind == Kind::Share && (published > 50.0) != (measured > 50.0);
    match bound {
        Some(Bound::AtMost) if within(f64::NEG_INFINITY, 1.0) => Verdict::Reproduced,
        Some(Bound::AtMost) if within(1.0, 1.25) => Verdict::Direction,
        Some(Bound::AtMost) => Verdict::Contradicted,
        _ if times <= 0.0 || other_half => Verdict::Contradicted,
        Some(Bound::AtLeast) if within(1.0, 2.0) => Verdict::Reproduced,
        Some(Bound::AtLeast) if within(0.5, 1.0) => Verdict::Direction,
        Some(Bound::AtLeast) => Verdict::Far,
        None => {
            let of_effect = by_multiple(times, effect);
            let of_rest = left(kind, published).zip(left(kind, measured)).filter(|(rest, _)| *rest > 0.0);
            of_rest.map_or(of_effect, |(rest, ours)| of_effect.max(by_multiple(ours / rest, rest)))
        }
    }
}

/// The verdict on a number that is `times` an effect.
fn by_multiple(times: f64, effect: f64) -> Verdict {
    if is_within(times, effect, 0.75, 1.25) {
        Verdict::Reproduced
    } else if is_within(times, effect, 0.5, 2.0) {
        Verdict::Direction
    } else {
        Verdict::Far
    }
}

/// Whether a number that is `times` an effect lies from `least` to `most` times the effect.
fn is_within(times: f64, effect: f64, least: f64, most: f64) -> bool {
    let rounding = ROUNDING / effect.abs();
    (least - rounding..=most + rounding).contains(&times)
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
