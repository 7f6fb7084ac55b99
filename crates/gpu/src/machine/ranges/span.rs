//! The values of a range, and the one at a place in it.

use std::fmt;

use serde::Deserialize;
use toml::Value;

/// The values that an assumed one may have, all equally likely: of whole and real numbers on a line, or on that of their logarithms.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Whole numbers between two, these included.
    Whole {
        /// The least.
        from: i64,
        /// The greatest.
        to: i64,
        /// What is even about them.
        scale: Scale,
    },
    /// Numbers between two.
    Real {
        /// The least.
        from: f64,
        /// The greatest.
        to: f64,
        /// What is even about them.
        scale: Scale,
    },
    /// One of several.
    Any(Vec<Value>),
}

/// On which line the numbers of a range are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// On their own.
    Linear,
    /// On that of their logarithms: half is as likely as twice.
    Log,
}

/// The ways to say what a range's values are, of which it has one.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub from: Option<Value>,
    pub to: Option<Value>,
    /// Multiples of the value.
    pub times: Option<[f64; 2]>,
    pub any: Option<Vec<Value>>,
}

impl Span {
    /// The range of a value. `is_number` says whether its key takes numbers that are not whole.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(super) fn new(
        value: &Value,
        bounds: &Bounds,
        scale: Option<Scale>,
        is_number: bool,
    ) -> Result<Span, String> {
        let span = match bounds {
            Bounds { from: Some(from), to: Some(to), times: None, any: None } => {
                Span::between(value, (from, to), scale.unwrap_or(Scale::Linear), is_number)?
            }
            Bounds { from: None, to: None, times: Some(times), any: None } => {
                Span::multiples(value, *times, scale.unwrap_or(Scale::Log), is_number)?
            }
            Bounds { from: None, to: None, times: None, any: Some(any) } if scale.is_none() => {
                if any.len() < 2 {
                    return Err(format!("any: found {} values, expected two or more", any.len()));
                }
                Span::Any(any.clone())
            }
            _ => {
                return Err(
                    "expected `from` and `to`, or `times`, either with a `scale` if need be, or `any`".into(),
                );
            }
        };
        if !span.has(value) {
            return Err(format!("found {span}, expected values of which {value} is one"));
        }
        Ok(span)
    }

    fn between(
        value: &Value,
        (from, to): (&Value, &Value),
        scale: Scale,
        is_number: bool,
    ) -> Result<Span, String> {
        let span = match (value, from, to) {
            (Value::Integer(_), Value::Integer(from), Value::Integer(to)) if !is_number => {
                Span::Whole { from: *from, to: *to, scale }
            }
            (Value::Integer(_), ..) if !is_number => {
                return Err(format!("found {from} to {to}, expected whole numbers, as the value is one"));
            }
            _ => match (number(value), number(from), number(to)) {
                (Some(_), Some(from), Some(to)) => Span::Real { from, to, scale },
                _ => return Err(format!("found {from} to {to} for {value}, expected numbers, or `any`")),
            },
        };
        let (least, most) = span.ends().expect("it has ends");
        if least >= most {
            return Err(format!("from: found {from}, expected less than `to`, which is {to}"));
        }
        if scale == Scale::Log && least <= 0.0 {
            return Err(format!("from: found {from}, expected more than 0 on a scale of logarithms"));
        }
        Ok(span)
    }

    fn multiples(
        value: &Value,
        [low, high]: [f64; 2],
        scale: Scale,
        is_number: bool,
    ) -> Result<Span, String> {
        if !(low > 0.0 && low < high && high.is_finite()) {
            return Err(format!("times: found {low} and {high}, expected the smaller factor first, above 0"));
        }
        match value {
            Value::Integer(whole) if *whole > 0 && !is_number => {
                let (from, to) = ((*whole as f64 * low).round(), (*whole as f64 * high).round());
                let (from, to) = ((from as i64).max(1), to as i64);
                if from >= to {
                    return Err(format!("times: found factors that make {from} of {value} both times"));
                }
                Ok(Span::Whole { from, to, scale })
            }
            _ => match number(value) {
                Some(value) if value > 0.0 => Ok(Span::Real { from: value * low, to: value * high, scale }),
                _ => Err(format!("times: found the value {value}, expected a number above 0")),
            },
        }
    }

    /// The least and the greatest number.
    fn ends(&self) -> Option<(f64, f64)> {
        match self {
            Span::Whole { from, to, .. } => Some((*from as f64, *to as f64)),
            Span::Real { from, to, .. } => Some((*from, *to)),
            Span::Any(_) => None,
        }
    }

    fn has(&self, value: &Value) -> bool {
        match (self, self.ends()) {
            (Span::Any(values), _) => values.contains(value),
            (_, Some((from, to))) => number(value).is_some_and(|value| (from..=to).contains(&value)),
            (_, None) => false,
        }
    }

    /// The value at a place from 0, the first, to 1, the last. Equal parts of the way belong to equally likely values.
    #[must_use]
    pub fn at(&self, place: f64) -> Value {
        let place = place.clamp(0.0, 1.0);
        let between = |from: f64, to: f64, scale: Scale| match scale {
            Scale::Linear => from + place * (to - from),
            Scale::Log => from * (to / from).powf(place),
        };
        match self {
            Span::Whole { from, to, scale } => {
                let drawn = between(*from as f64, (to + 1) as f64, *scale).floor() as i64;
                Value::Integer(drawn.clamp(*from, *to))
            }
            Span::Real { from, to, scale } => Value::Float(between(*from, *to, *scale).clamp(*from, *to)),
            Span::Any(values) => {
                let number = (place * values.len() as f64) as usize;
                values[number.min(values.len() - 1)].clone()
            }
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Whole { from, to, .. } => write!(f, "{from} to {to}"),
            Span::Real { from, to, .. } => write!(f, "{from} to {to}"),
            Span::Any(values) => {
                let values: Vec<String> = values.iter().map(plain).collect();
                write!(f, "{}", values.join(" | "))
            }
        }
    }
}

/// A value as `--set` spells it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
