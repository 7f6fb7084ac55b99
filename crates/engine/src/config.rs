//! Cited configuration: every number has a source, and unknown keys are refused.

mod alike;
mod document;
mod facts;
mod keys;

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub use alike::{did_you_mean, likeness};
pub use document::{Document, Section};
pub use facts::{Entry, KeyFacts, Kind, SectionFacts, facts};
pub use keys::{key_at, place_named, place_of, read_table};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The key beside `value` and `source` that says between what an assumed value may lie. Whoever draws values reads it; what is
/// built from a configuration does not know it.
pub const RANGE: &str = "range";

/// The section with rules that give many assumed values their ranges.
pub const RANGES: &str = "ranges";

/// A value and its source, written `{ value = 32, source = "Table I" }` or with `source = "ASSUMED: why"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a value with its source: { value = ..., source = \"...\" }")]
pub struct Cited<T> {
    /// The value itself.
    pub value: T,
    /// Where the value comes from: paper and section, manual, measurement, or `ASSUMED: why`.
    pub source: String,
}

impl<T> Cited<T> {
    /// Pairs a value with its source.
    pub fn new(value: T, source: impl Into<String>) -> Self {
        Cited { value, source: source.into() }
    }
}

impl<T> Deref for Cited<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, or a description of how the text was given.
    pub file: PathBuf,
    /// Line and column, both from 1, if the position is known.
    pub place: Option<(usize, usize)>,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// Reads a configuration from TOML text; `file` appears in errors.
///
/// # Errors
/// What is wrong with the text, with line and column where known.
pub fn parse<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| refusal(file, text, &error))
}

/// Turns an error of the TOML reader into terms that a user of machine files knows.
fn refusal(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    ConfigError {
        file: file.to_owned(),
        place: error.span().map(|span| line_and_column(text, span.start)),
        message: readable(error.message()),
    }
}

/// Rust type names and the terms that users know them by.
const TYPES: &[(&str, &str)] = &[
    ("expected u16", "expected a whole number from 0 to 65535"),
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("expected u64", "expected a whole number from 0 on"),
    ("expected usize", "expected a whole number from 0 on"),
];

/// What the TOML reader says without what it expects, and what it means.
const PHRASES: &[(&str, &str)] = &[
    ("wanted string or table", "found another value, expected a name or a table"),
    ("wanted exactly 1 element, found 0 elements", "found an empty table, expected one key"),
    ("wanted exactly 1 element, more than 1 element", "found several keys, expected one"),
    ("floating-point number overflowed", "found a number that is too large, expected at most 1.7e308"),
];

/// A message of the TOML reader, in terms that a user knows.
fn readable(message: &str) -> String {
    let message = alike::hint(message.trim());
    let message = message.as_str();
    if let Some((_, words)) = PHRASES.iter().find(|(phrase, _)| message == *phrase) {
        return (*words).to_owned();
    }
    for (ty, words) in TYPES {
        if let Some(before) = message.strip_suffix(ty) {
            return format!("{before}{words}");
        }
    }
    unknown_field(message).unwrap_or_else(|| message.to_owned())
}

/// Rewords the TOML reader's message about an unknown variant key to match serde's for an unknown field.
fn unknown_field(message: &str) -> Option<String> {
    let keys = message.strip_prefix("unexpected keys in table: ")?;
    let (found, known) = keys.split_once(", available keys: ")?;
    let found = found.split(", ").next()?;
    let known: Vec<String> = known.split(", ").map(|key| format!("`{key}`")).collect();
    let expected = match known.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        _ => format!("one of {}", known.join(", ")),
    };
    Some(alike::hint(&format!("unknown field `{found}`, expected {expected}")))
}

/// Line and column, both from 1, of a byte offset. The column counts characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Toy {
        ways: Cited<u32>,
    }

    #[test]
    fn a_cited_value_reads_as_its_value() {
        let toy: Toy = parse(Path::new("toy.toml"), "ways = { value = 4, source = \"Table I\" }").unwrap();
        assert_eq!(*toy.ways, 4);
        assert_eq!(toy.ways.source, "Table I");
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    enum Choice {
        Few { one: u32 },
        More { one: u32, two: u32 },
        Many { one: u32, two: u32, three: u32 },
    }

    #[test]
    fn unknown_keys_of_a_variant_are_refused_in_the_same_words() {
        for (variant, expected) in
            [("few", "`one`"), ("more", "`one` or `two`"), ("many", "one of `one`, `two`, `three`")]
        {
            let text = format!("choice = {{ {variant} = {{ four = 4, six = 6 }} }}");
            let error = parse::<std::collections::BTreeMap<String, Choice>>(Path::new("t.toml"), &text);
            assert_eq!(error.unwrap_err().message, format!("unknown field `four`, expected {expected}"));
        }
    }

    #[test]
    fn every_refusal_says_what_is_expected() {
        for (value, message) in [
            ("3", "found another value, expected a name or a table"),
            ("{}", "found an empty table, expected one key"),
            ("{ few = { one = 1 }, more = {} }", "found several keys, expected one"),
        ] {
            let text = format!("choice = {value}");
            let error = parse::<std::collections::BTreeMap<String, Choice>>(Path::new("t.toml"), &text);
            assert_eq!(error.unwrap_err().message, message, "{value}");
        }
        let error = parse::<std::collections::BTreeMap<String, f64>>(Path::new("t.toml"), "number = 1e999");
        let message = "found a number that is too large, expected at most 1.7e308";
        assert_eq!(error.unwrap_err().message, message);
    }

    #[test]
    fn unknown_keys_are_refused_with_their_place() {
        let text = "ways = { value = 4, source = \"Table I\" }\nsets = 3\n";
        let error = parse::<Toy>(Path::new("toy.toml"), text).unwrap_err();
        assert_eq!(error.to_string(), "toy.toml:2:1: unknown field `sets`, expected `ways`");
    }

    #[test]
    fn a_number_without_a_source_is_refused() {
        let error = parse::<Toy>(Path::new("toy.toml"), "ways = { value = 4 }").unwrap_err();
        assert_eq!(error.to_string(), "toy.toml:1:8: missing field `source`");
    }
}
