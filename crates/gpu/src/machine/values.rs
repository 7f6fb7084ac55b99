//! The values of a machine, one by one, each under the path by which `--set` knows it.

use strata_engine::config::RANGES;
use toml::{Table, Value};

use super::ranges::{Range, Rules};

/// A value of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineValue {
    /// Its path, as in `l1d.sram.ways`.
    pub path: String,
    /// The value itself.
    pub value: Value,
    /// Where it comes from; `None` for a name or a list.
    pub source: Option<String>,
    /// Between what it may lie, if it is assumed and its file, or a rule of the machine, says so.
    pub range: Option<Range>,
}

/// Whether a table is a value with its source.
pub(super) fn is_cited(table: &Table) -> bool {
    table.contains_key("value")
}

/// Where a cited value comes from.
pub(super) fn source_of(cited: &Table) -> Option<String> {
    cited.get("source").and_then(Value::as_str).map(str::to_owned)
}

/// The values of a machine's table, by path.
pub(super) fn values(table: &Table) -> Vec<MachineValue> {
    let mut values = Vec::new();
    collect("", table, &Rules::of(table), &mut values);
    values
}

fn collect(parent: &str, table: &Table, rules: &Rules, values: &mut Vec<MachineValue>) {
    let is_value = |key: &str| !parent.is_empty() || key != RANGES;
    for (key, value) in table.iter().filter(|(key, _)| is_value(key)) {
        let path = if parent.is_empty() { key.clone() } else { format!("{parent}.{key}") };
        match value {
            Value::Table(cited) if is_cited(cited) => {
                let (value, source) = (cited["value"].clone(), source_of(cited));
                let range = rules.range(&path, cited).unwrap_or_default();
                values.push(MachineValue { path, value, source, range });
            }
            Value::Table(inner) => collect(&path, inner, rules, values),
            value => values.push(MachineValue { path, value: value.clone(), source: None, range: None }),
        }
    }
}
