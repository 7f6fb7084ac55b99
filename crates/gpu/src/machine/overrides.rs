//! `--set door.key=value`: replaces a value of the machine file for one run.

use strata_engine::config::{ConfigError, likeness};
use toml::{Table, Value};

use super::doors;
use super::values::{is_cited, values};

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
    if is_large(text) {
        let (least, most) = (i64::MIN, i64::MAX);
        return Err(error(format!("`{path}`: found {text}, expected a whole number from {least} to {most}")));
    }
    let value = parse_value(text);
    let all: Vec<String> = values(table).into_iter().map(|value| value.path).collect();
    let parts: Vec<&str> = path.split('.').collect();
    let (mut table, mut rest, mut section) = (table, parts.as_slice(), Vec::new());
    loop {
        table = behind_door(table, rest, &mut section);
        let Some((key, left)) = first_key(table, rest) else {
            return Err(error(unknown(path, &section, table, &all)));
        };
        if left.is_empty() {
            return assign(&mut table[&key], value)
                .map_err(|known| error(format!("`{path}` is a section, expected one of its keys: {known}")));
        }
        section.push(key.clone());
        let Value::Table(inner) = &mut table[&key] else {
            let section = section.join(".");
            return Err(error(format!("`{section}` is a value, it has no `{}`", left.join("."))));
        };
        (table, rest) = (inner, left);
    }
}

/// Replaces a value.
///
/// # Errors
/// If a section stands there; its keys.
fn assign(place: &mut Value, value: Value) -> Result<(), String> {
    match place {
        Value::Table(cited) if is_cited(cited) => {
            cited.insert("value".into(), value);
            cited.insert("source".into(), SOURCE.into());
        }
        Value::Table(inner) => return Err(keys_of(inner)),
        plain => *plain = value,
    }
    Ok(())
}

/// The key of a table that a path begins with, and the rest of the path. A key may itself contain dots.
fn first_key<'a>(table: &Table, path: &'a [&'a str]) -> Option<(String, &'a [&'a str])> {
    let lengths = (1..=path.len()).rev();
    lengths.map(|length| (path[..length].join("."), &path[length..])).find(|(key, _)| table.contains_key(key))
}

/// Says that a path is unknown, which path may be meant, and the keys of the section where the search ended.
fn unknown(path: &str, section: &[String], table: &Table, all: &[String]) -> String {
    let alike = closest(path, all).map(|alike| format!(" (did you mean `{alike}`?)")).unwrap_or_default();
    // Where only a design stands, the keys are the design's.
    let (mut of, mut table) = (section.to_vec(), table);
    while let (Some((name, Value::Table(inner))), 1) = (table.iter().next(), table.len()) {
        if is_cited(inner) {
            break;
        }
        of.push(name.clone());
        table = inner;
    }
    let of = if of.is_empty() { String::new() } else { format!(" of `{}`", of.join(".")) };
    format!("unknown key `{path}`{alike}, expected one of the keys{of}: {}", keys_of(table))
}

/// Least likeness of a path that is suggested.
const ALIKE: f64 = 0.8;

/// The known path most like a misspelt one, which may leave out the designs behind doors. Their last words must be
/// alike, too: paths of one section always are.
fn closest<'a>(path: &'a str, all: &'a [String]) -> Option<&'a String> {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let likeness = |known: &'a String| {
        let whole = likeness(path, known).max(likeness(path, &without_designs(known)));
        whole.min(likeness(last(path), last(known)))
    };
    let scored = all.iter().map(|known| (likeness(known), known));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, known)| known)
}

/// A path as a user may write it: `l1d.ways` for `l1d.sram.ways`.
fn without_designs(path: &str) -> String {
    let is_design = |parent: &str| doors().iter().any(|door| door.name == parent);
    let mut parts: Vec<&str> = Vec::new();
    let mut parent = String::new();
    for part in path.split('.') {
        if !is_design(&parent) {
            parts.push(part);
        }
        parent = if parent.is_empty() { part.to_owned() } else { format!("{parent}.{part}") };
    }
    parts.join(".")
}

/// The table that contains the first key of a path: this one or, if this one holds nothing but a design, that
/// design's.
fn behind_door<'a>(table: &'a mut Table, path: &[&str], section: &mut Vec<String>) -> &'a mut Table {
    let only = table.keys().next().filter(|_| table.len() == 1 && first_key(table, path).is_none()).cloned();
    let is_design =
        |name: &String| table[name].as_table().is_some_and(|design| first_key(design, path).is_some());
    match only.filter(is_design) {
        Some(design) => {
            section.push(design.clone());
            table[&design].as_table_mut().expect("it was looked at as a table")
        }
        None => table,
    }
}

/// Whether a text is a whole number that TOML cannot write.
fn is_large(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()) && text.parse::<i64>().is_err()
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
        assert_eq!(
            error,
            "--set l1d.sets=2: unknown key `l1d.sets`, expected one of the keys of `l1d.sram`: `ways`"
        );
    }

    #[test]
    fn a_key_may_contain_dots() {
        let mut table: Table = "[pj.\"network.reply\"]\nhops = 1\n".parse().unwrap();
        apply(&mut table, "pj.network.reply.hops=2").unwrap();
        assert_eq!(table["pj"]["network.reply"]["hops"].as_integer(), Some(2));
    }

    #[test]
    fn mistakes_are_named() {
        for (assignment, expected) in [
            ("l1d.ways", "--set l1d.ways: found no `=`, expected door.key=value"),
            (
                "l1d.way=1",
                "--set l1d.way=1: unknown key `l1d.way` (did you mean `l1d.ways`?), expected one of the keys of `l1d`: `kind`, `ways`",
            ),
            (
                "l2.ways=1",
                "--set l2.ways=1: unknown key `l2.ways` (did you mean `l1d.ways`?), expected one of the keys: `l1d`, `name`",
            ),
            ("l1d=1", "--set l1d=1: `l1d` is a section, expected one of its keys: `kind`, `ways`"),
            ("name.x=1", "--set name.x=1: `name` is a value, it has no `x`"),
            ("=1", "--set =1: found nothing on one side of `=`, expected door.key=value"),
        ] {
            assert_eq!(apply(&mut table(), assignment).unwrap_err().to_string(), expected);
        }
    }
}
