//! What a measured number says of a published one.
//!
//! A published *effect* is what a claim is about:
//!
//! | kind | the number is | its effect | same direction |
//! |---|---|---|---|
//! | change | percent more or less than a baseline: +217, -32 | the number | the sign |
//! | ratio | a multiple of a baseline: 6.0, 1.57 | the number less 1 | the side of 1 |
//! | share | a part of a whole in percent: 75 | the number | the side of one half, 50 % |
//! | level | a quantity of its own: 2 cycles, 0.5 | the number | none: it is near or it is not |
//!
//! *Reproduced* means: same direction, and the measured number differs from the published one by at most a quarter of
//! the published effect. A published effect of 0 has no direction and no quarter: then at most 1 (percentage point) for
//! a change, 0.01 for a ratio. Differences count as they are, without rounding; what lies on the boundary is reproduced.
//!
//! *Direction* means: same direction, but further away. Anything else is *contradicted*.
//!
//! A claim that bounds ("at least", "within") is reproduced by every number on the right side of the bound, or past it
//! by at most the quarter. `at-least` asks for an effect at least as large in its direction; past the quarter it is a
//! matter of direction as above. `at-most` asks for an effect at most as large in its direction (none, or the other
//! direction, is less); past the quarter it is contradicted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of number a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Percent more or less than a baseline.
    Change,
    /// A multiple of a baseline.
    Ratio,
    /// A part of a whole in percent.
    Share,
    /// A quantity of its own.
    Level,
}

/// A claim that bounds the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The effect is at least the published one.
    AtLeast,
    /// The effect is at most the published one.
    AtMost,
}

/// What a measured number says of a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Same direction, within a quarter of the published effect.
    Reproduced,
    /// Same direction, further away.
    Direction,
    /// Not even the direction.
    Contradicted,
    /// There is no measured number.
    NotMeasured,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Direction => "direction",
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

impl Kind {
    /// The number at which there is no effect.
    fn origin(self) -> f64 {
        match self {
            Kind::Change | Kind::Share | Kind::Level => 0.0,
            Kind::Ratio => 1.0,
        }
    }

    /// What may be missed where the published effect is 0.
    fn least(self) -> f64 {
        match self {
            Kind::Change => 1.0,
            Kind::Ratio => 0.01,
            Kind::Share | Kind::Level => 0.0,
        }
    }

    /// Whether two numbers point the same way.
    fn agree(self, published: f64, measured: f64) -> bool {
        match self {
            Kind::Change => published * measured > 0.0,
            Kind::Ratio => (published - 1.0) * (measured - 1.0) > 0.0,
            Kind::Share => (published > 50.0) == (measured > 50.0),
            Kind::Level => false,
        }
    }
}

/// Rounding of binary fractions is no difference: 1.57 + 0.1425 is on the boundary of 1.57.
const ROUNDING: f64 = 1e-9;

/// The verdict.
#[must_use]
pub fn judge(kind: Kind, bound: Option<Bound>, published: f64, measured: f64) -> Verdict {
    let effect = published - kind.origin();
    let slack = if effect == 0.0 { kind.least() } else { effect.abs() / 4.0 } + ROUNDING;
    // How far the measured effect goes beyond the published one, in the published one's direction.
    let beyond = (measured - published) * if effect < 0.0 { -1.0 } else { 1.0 };
    let agree = kind.agree(published, measured);
    match bound {
        Some(Bound::AtLeast) if beyond >= -slack && (agree || kind == Kind::Level) => Verdict::Reproduced,
        Some(Bound::AtMost) if beyond <= slack => Verdict::Reproduced,
        Some(Bound::AtMost) => Verdict::Contradicted,
        None if beyond.abs() <= slack && (agree || effect == 0.0 || kind == Kind::Level) => {
            Verdict::Reproduced
        }
        _ if agree => Verdict::Direction,
        _ => Verdict::Contradicted,
    }
}
