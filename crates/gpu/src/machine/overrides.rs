//! `--set door.key=value`: replaces a value of the machine file for one run.

use strata_engine::config::ConfigError;
use toml::{Table, Value};

/// Source recorded for an overridden value.
const SOURCE: &str = "set for this run";

/// Applies `path=value` to a machine's table. The path must name an existing value. The value is TOML, or a
/// bare word, which is taken as a string. The path may omit the design behind a door: `l1d.ways` means
/// `l1d.sram.ways`.
///
/// # Errors
/// What is wrong with the assignment, or that the file has no such value.
pub fn apply(table: &mut Table, assignment: &str) -> Result<(), ConfigError> {
    let error =
        |message: String| ConfigError { file: format!("--set {assignment}").into(), place: None, message };
    let Some((path, text)) = assignment.split_once('=') else {
        return Err(error("found no `=`, expected door.key=value".into()));
    };
    let (path, text) = (path.trim(), text.trim());
    if path.is_empty() || text.is_empty() {
        return Err(error("found nothing on one side of `=`, expected door.key=value".into()));
    }
    let value = parse_value(text);
    let mut table = table;
    let keys: Vec<&str> = path.split('.').collect();
    let (last, doors) = keys.split_last().expect("a split has at least one part");
    for (depth, key) in doors.iter().enumerate() {
        table = behind_door(table, key);
        let known = keys_of(table);
        table = match table.get_mut(*key) {
            Some(Value::Table(inner)) => inner,
            Some(_) => {
                return Err(error(format!("`{}` is a value, it has no `{last}`", keys[..=depth].join("."))));
            }
            None => return Err(error(format!("unknown key `{key}`, expected one of {known}"))),
        };
    }
    let table = behind_door(table, last);
    let known = keys_of(table);
    match table.get_mut(*last) {
        Some(Value::Table(cited)) if cited.contains_key("value") => {
            cited.insert("value".into(), value);
            cited.insert("source".into(), SOURCE.into());
        }
        Some(Value::Table(inner)) => {
            let known = keys_of(inner);
            return Err(error(format!("`{path}` is a section, expected one of its keys: {known}")));
        }
        Some(plain) => *plain = value,
        None => return Err(error(format!("unknown key `{last}`, expected one of {known}"))),
    }
    Ok(())
}

/// The table that contains the key: this one or, if this one holds nothing but a design, that design's.
fn behind_door<'a>(table: &'a mut Table, key: &str) -> &'a mut Table {
    let is_design = |value: &Value| value.as_table().is_some_and(|design| design.contains_key(key));
    let only = table.keys().next().filter(|_| table.len() == 1).cloned();
    match only {
        Some(design) if design != key && is_design(&table[&design]) => {
            table[&design].as_table_mut().expect("it was looked at as a table")
        }
        _ => table,
    }
}

fn parse_value(text: &str) -> Value {
    match format!("value = {text}").parse::<Table>() {
        Ok(mut table) => table.remove("value").expect("the text was an assignment to `value`"),
        Err(_) => Value::String(text.to_owned()),
    }
}

fn keys_of(table: &Table) -> String {
    table.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        "name = \"m\"\n[l1d]\nkind = \"sram\"\nways = { value = 4, source = \"Table I\" }\n".parse().unwrap()
    }

    #[test]
    fn a_cited_value_and_its_source_are_replaced() {
        let mut table = table();
        apply(&mut table, "l1d.ways=8").unwrap();
        apply(&mut table, "l1d.kind = fa").unwrap();
        assert_eq!(table["l1d"]["ways"]["value"].as_integer(), Some(8));
        assert_eq!(table["l1d"]["ways"]["source"].as_str(), Some(SOURCE));
        assert_eq!(table["l1d"]["kind"].as_str(), Some("fa"));
    }

    #[test]
    fn the_design_behind_a_door_need_not_be_named() {
        let mut table: Table = "[l1d.sram]\nways = { value = 4, source = \"Table I\" }\n".parse().unwrap();
        apply(&mut table, "l1d.ways=8").unwrap();
        assert_eq!(table["l1d"]["sram"]["ways"]["value"].as_integer(), Some(8));
        apply(&mut table, "l1d.sram.ways=2").unwrap();
        assert_eq!(table["l1d"]["sram"]["ways"]["value"].as_integer(), Some(2));
        let error = apply(&mut table, "l1d.sets=2").unwrap_err().to_string();
        assert_eq!(error, "--set l1d.sets=2: unknown key `sets`, expected one of `sram`");
    }

    #[test]
    fn mistakes_are_named() {
        for (assignment, expected) in [
            ("l1d.ways", "--set l1d.ways: found no `=`, expected door.key=value"),
            ("l1d.way=1", "--set l1d.way=1: unknown key `way`, expected one of `kind`, `ways`"),
            ("l2.ways=1", "--set l2.ways=1: unknown key `l2`, expected one of `l1d`, `name`"),
            ("l1d=1", "--set l1d=1: `l1d` is a section, expected one of its keys: `kind`, `ways`"),
            ("name.x=1", "--set name.x=1: `name` is a value, it has no `x`"),
            ("=1", "--set =1: found nothing on one side of `=`, expected door.key=value"),
        ] {
            assert_eq!(apply(&mut table(), assignment).unwrap_err().to_string(), expected);
        }
    }
}
