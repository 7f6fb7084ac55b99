//! Between what assumed values may lie: `range` beside a value, and the rules of `[ranges]` for many of them.
//!
//! A range decides no number of a run. Whoever wants to know how sure a result is draws values from it.

mod check;
mod span;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use strata_engine::config::{Entry, Kind, RANGE, RANGES};
use toml::{Table, Value};

use super::schema;
pub(super) use check::check;
use span::Bounds;
pub use span::Span;

/// The word in the source of a value that nobody has published or measured.
const ASSUMED: &str = "ASSUMED";

/// Between what an assumed value may lie, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The values.
    pub span: Span,
    /// Why these.
    pub because: String,
    /// The name under which it moves together with others; `None` if it moves alone.
    pub together: Option<String>,
}

/// A range as a file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeText {
    from: Option<Value>,
    to: Option<Value>,
    times: Option<[f64; 2]>,
    any: Option<Vec<Value>>,
    scale: Option<span::Scale>,
    /// Of a value, the name under which it moves with others.
    together: Option<String>,
    because: String,
}

/// A rule as a file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    /// Paths of values, in which `*` stands for any text.
    of: Vec<String>,
    times: [f64; 2],
    /// Whether the values move together, by one factor.
    #[serde(default)]
    together: bool,
    because: String,
}

/// The rules of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Vec<(String, RuleText)>);

impl Rules {
    /// Those of a machine's table, which has been checked.
    pub fn of(table: &Table) -> Rules {
        let section = table.get(RANGES).and_then(Value::as_table);
        let read =
            |(name, rule): (&String, &Value)| Some((name.clone(), RuleText::deserialize(rule.clone()).ok()?));
        Rules(section.into_iter().flatten().filter_map(read).collect())
    }

    /// The range of a cited value: its own, or that of the rule that names it with the longest pattern, of several the first. No rule is for a value that is not assumed, or
    /// that has no multiples.
    ///
    /// # Errors
    /// What is wrong with its own range.
    pub fn range(&self, path: &str, cited: &Table) -> Result<Option<Range>, String> {
        if cited.contains_key(RANGE) {
            return own(cited, is_number(path));
        }
        let named = self.0.iter().flat_map(|(name, rule)| {
            let patterns = rule.of.iter().filter(|pattern| matches(pattern, path));
            patterns.map(move |pattern| (pattern.len(), name, rule))
        });
        // The last of several is the greatest, so the first is taken from the back.
        let rule = named.rev().max_by_key(|(length, ..)| *length).filter(|_| is_assumed(cited));
        Ok(rule.and_then(|(_, name, rule)| {
            let bounds = Bounds { times: Some(rule.times), ..Bounds::default() };
            let span = Span::new(&cited["value"], &bounds, None, is_number(path)).ok()?;
            let together = rule.together.then(|| name.clone());
            Some(Range { span, because: rule.because.clone(), together })
        }))
    }
}

/// The range that stands beside a cited value. `is_number` says whether its key takes numbers that are not whole.
///
/// # Errors
/// What is wrong with it.
fn own(cited: &Table, is_number: bool) -> Result<Option<Range>, String> {
    let Some(own) = cited.get(RANGE) else { return Ok(None) };
    let text = RangeText::deserialize(own.clone()).map_err(|error| error.message().to_owned())?;
    let bounds = Bounds { from: text.from, to: text.to, times: text.times, any: text.any };
    let span = Span::new(&cited["value"], &bounds, text.scale, is_number)?;
    Ok(Some(Range { span, because: text.because, together: text.together }))
}

/// Whether the source of a cited value says that it is assumed.
fn is_assumed(cited: &Table) -> bool {
    cited.get("source").and_then(Value::as_str).is_some_and(|source| source.contains(ASSUMED))
}

/// Whether the type of a key takes any number, and not only whole ones.
fn is_number(path: &str) -> bool {
    matches!(schema::find(schema::root(), path), Some(Entry::Key(facts)) if facts.kind == Kind::Number)
}

/// Whether a pattern, in which `*` stands for any text, is of a path.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == path };
    let Some(after) = path.strip_prefix(first) else { return false };
    (0..=after.len()).filter(|at| after.is_char_boundary(*at)).any(|at| matches(rest, &after[at..]))
}
