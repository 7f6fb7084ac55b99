//! What is wrong with the ranges of a file.

use std::path::Path;

use serde::Deserialize;
use strata_engine::config::{ConfigError, RANGE, RANGES, place_of};
use toml::{Table, Value};

use super::{RuleText, is_assumed, is_number, own};

/// Checks the ranges and rules of a file by themselves.
///
/// # Errors
/// The first that is wrong, with line and column.
pub(in super::super) fn check(file: &Path, text: &str, table: &Table) -> Result<(), ConfigError> {
    let refuse = |path: &str, message: String| ConfigError {
        file: file.to_owned(),
        place: place_of(text, path),
        message: format!("`{path}`: {message}"),
    };
    visit("", table, &mut |path, cited| {
        if cited.contains_key(RANGE) && !is_assumed(cited) {
            let found = "found the range of a value whose source does not say ASSUMED, expected none";
            return Err(refuse(&format!("{path}.{RANGE}"), found.into()));
        }
        // A value that is no number is refused where the machine is checked.
        if cited["value"].as_float().is_some_and(|value| !value.is_finite()) {
            return Ok(());
        }
        // What the types say of all keys is put together only where it counts.
        let found = own(cited, false).or_else(|_| own(cited, is_number(path)));
        found.map(drop).map_err(|message| refuse(&format!("{path}.{RANGE}"), message))
    })?;
    let Some(rules) = table.get(RANGES) else { return Ok(()) };
    let Some(rules) = rules.as_table() else {
        return Err(refuse(RANGES, format!("found {rules}, expected a table for each rule")));
    };
    for (name, rule) in rules {
        let path = format!("{RANGES}.{name}");
        let rule =
            RuleText::deserialize(rule.clone()).map_err(|error| refuse(&path, error.message().to_owned()))?;
        let [low, high] = rule.times;
        if !(low > 0.0 && low <= 1.0 && high >= 1.0 && low < high && high.is_finite()) {
            let found =
                format!("found {low} and {high}, expected one factor up to 1 and one from 1 on, above 0");
            return Err(refuse(&format!("{path}.times"), found));
        }
        if rule.of.is_empty() {
            return Err(refuse(&format!("{path}.of"), "found no pattern, expected one or more".into()));
        }
    }
    Ok(())
}

/// Calls `see` with every cited value and its path.
fn visit(
    parent: &str,
    table: &Table,
    see: &mut dyn FnMut(&str, &Table) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    for (key, value) in table {
        let Value::Table(inner) = value else { continue };
        let path = if parent.is_empty() { key.clone() } else { format!("{parent}.{key}") };
        if inner.contains_key("value") && inner.contains_key("source") {
            see(&path, inner)?;
        } else {
            visit(&path, inner, see)?;
        }
    }
    Ok(())
}
