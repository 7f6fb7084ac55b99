//! Where keys stand in a text, and the numbers that no key may have.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeArray, DeTable, DeValue};
use toml::{Spanned, Table};

use super::{ConfigError, line_and_column, refusal};

/// Reads TOML text as a table; `file` appears in errors.
///
/// # Errors
/// If the text is not valid TOML, or has a number that no key may have.
pub fn read_table(file: &Path, text: &str) -> Result<Table, ConfigError> {
    let table = DeTable::parse(text).map_err(|error| refusal(file, text, &error))?;
    refuse_large(file, text, table.get_ref())?;
    toml::from_str(text).map_err(|error| refusal(file, text, &error))
}

/// The innermost key at a line and column of a text, as a dotted path.
pub fn key_at(text: &str, place: (usize, usize)) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let mut found = None;
    visit(table.get_ref(), &mut |path, key, value| {
        let within = |span: &Range<usize>| {
            line_and_column(text, span.start) <= place && place < line_and_column(text, span.end)
        };
        if within(&key) || within(&value.span()) {
            found = Some(path.to_owned());
        }
    });
    found.map(|path| of_cited(&path).to_owned())
}

/// Line and column of the innermost part of a dotted path that a text has.
pub fn place_of(text: &str, path: &str) -> Option<(usize, usize)> {
    let table = DeTable::parse(text).ok()?;
    let mut found = None;
    visit(table.get_ref(), &mut |known, key, _| {
        let is_part =
            path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if is_part {
            found = Some(key.start);
        }
    });
    found.map(|start| line_and_column(text, start))
}

/// Line and column of the key with which a message begins, as in `l1d.sram: ways: must be ...` or `sm.schedulers = 0`.
pub fn place_named(text: &str, message: &str) -> Option<(usize, usize)> {
    let mut words = message.split([':', ' ', '=']).filter(|word| !word.is_empty());
    let mut path = words.next()?.to_owned();
    let mut place = place_of(text, &path)?;
    for word in words {
        path = format!("{path}.{word}");
        match place_of(text, &path) {
            Some(inner) if inner != place => place = inner,
            _ => break,
        }
    }
    Some(place)
}

/// Refuses numbers beyond those of TOML. The reader takes some of them, but they cannot be written again.
pub(super) fn refuse_large(file: &Path, text: &str, table: &DeTable<'_>) -> Result<(), ConfigError> {
    let mut wrong = None;
    visit(table, &mut |path, _, value| {
        let DeValue::Integer(number) = value.get_ref() else { return };
        if wrong.is_none() && i64::from_str_radix(number.as_str(), number.radix()).is_err() {
            wrong = Some((path.to_owned(), value.span()));
        }
    });
    let Some((path, span)) = wrong else { return Ok(()) };
    let place = Some(line_and_column(text, span.start));
    let message = format!(
        "`{}`: found {}, expected a whole number from {} to {}",
        of_cited(&path),
        &text[span],
        i64::MIN,
        i64::MAX
    );
    Err(ConfigError { file: file.to_owned(), place, message })
}

/// The key of a cited value, whose parts have names too.
fn of_cited(path: &str) -> &str {
    path.strip_suffix(".value").or_else(|| path.strip_suffix(".source")).unwrap_or(path)
}

/// Takes a path, where its key stands, and its value.
type See<'a> = dyn FnMut(&str, Range<usize>, &Spanned<DeValue<'_>>) + 'a;

/// Calls `see` with every path, where its key stands, and its value; outer ones before inner ones.
fn visit(table: &DeTable<'_>, see: &mut See<'_>) {
    visit_table("", table, see);
}

fn visit_table(parent: &str, table: &DeTable<'_>, see: &mut See<'_>) {
    for (key, value) in table {
        let name = key.get_ref();
        let path = if parent.is_empty() { name.to_string() } else { format!("{parent}.{name}") };
        see(&path, key.span(), value);
        visit_inside(&path, value.get_ref(), see);
    }
}

fn visit_inside(path: &str, value: &DeValue<'_>, see: &mut See<'_>) {
    match value {
        DeValue::Table(inner) => visit_table(path, inner, see),
        DeValue::Array(items) => visit_items(path, items, see),
        _ => {}
    }
}

fn visit_items(parent: &str, items: &DeArray<'_>, see: &mut See<'_>) {
    for (place, item) in items.iter().enumerate() {
        let path = format!("{parent}[{place}]");
        see(&path, item.span(), item);
        visit_inside(&path, item.get_ref(), see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "name = \"m\"\n[l1d.sram]\nways = { value = 4, source = \"s\" }\n[[pools]]\ncount = 7\n";

    #[test]
    fn keys_are_found_by_place_and_places_by_key() {
        for (place, key) in [
            ((1, 8), "name"),
            ((3, 1), "l1d.sram.ways"),
            ((3, 18), "l1d.sram.ways"),
            ((5, 9), "pools[0].count"),
        ] {
            assert_eq!(key_at(TEXT, place).as_deref(), Some(key));
        }
        assert_eq!(key_at(TEXT, (9, 9)), None);
        assert_eq!(place_of(TEXT, "l1d.sram.ways"), Some((3, 1)));
        assert_eq!(place_of(TEXT, "l1d.sram.sets"), Some((2, 6)));
        assert_eq!(place_of(TEXT, "pools[0].count"), Some((5, 1)));
        assert_eq!(place_of(TEXT, "l2"), None);
    }

    #[test]
    fn the_key_that_a_message_names_is_found() {
        for (message, place) in [
            ("l1d.sram: ways: must be 1 to 64, found 0", Some((3, 1))),
            ("l1d: sram: ways is 0", Some((3, 1))),
            ("l1d.sram.ways = 0: expected more", Some((3, 1))),
            ("l1d.sram: an L1D of no bytes", Some((2, 6))),
            ("the machine takes 7 MiB", None),
            ("", None),
        ] {
            assert_eq!(place_named(TEXT, message), place, "{message}");
        }
    }

    #[test]
    fn numbers_beyond_those_of_toml_are_named() {
        let read = |number: &str| {
            read_table(Path::new("m.toml"), &TEXT.replace('7', number)).map_err(|error| error.to_string())
        };
        assert!(read("9223372036854775807").is_ok());
        assert!(read("-9223372036854775808").is_ok());
        for number in ["9_223_372_036_854_775_808", "0xffff_ffff_ffff_ffff", "99999999999999999999999999"] {
            let expected = format!(
                "m.toml:5:9: `pools[0].count`: found {number}, expected a whole number from \
                 -9223372036854775808 to 9223372036854775807"
            );
            assert_eq!(read(number), Err(expected));
        }
    }
}
