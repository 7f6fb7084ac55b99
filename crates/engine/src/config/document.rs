//! Reads a configuration section by section, for sections whose form depends on a name they contain.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

use super::{ConfigError, RANGE, RANGES, keys, line_and_column, refusal};

/// A parsed configuration from which sections can be taken.
pub struct Document<'a> {
    file: &'a Path,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

/// A section taken from a [`Document`]. Errors report its position in the whole text.
pub struct Section<'a> {
    file: &'a Path,
    text: &'a str,
    /// Position of the section's name, or of the section itself if it has no name.
    at: usize,
    value: Spanned<DeValue<'a>>,
}

/// Takes the ranges of cited values out: they decide no number, and no type has them.
fn drop_ranges(table: &mut DeTable<'_>) {
    let is_cited = table.contains_key("value") && table.contains_key("source");
    if is_cited {
        table.remove(RANGE);
        return;
    }
    for (_, value) in table.iter_mut() {
        if let DeValue::Table(inner) = value.get_mut() {
            drop_ranges(inner);
        }
    }
}

impl<'a> Document<'a> {
    /// Parses TOML text, without the ranges of cited values and rules for them; `file` appears in errors.
    ///
    /// # Errors
    /// If the text is not valid TOML.
    pub fn parse(file: &'a Path, text: &'a str) -> Result<Document<'a>, ConfigError> {
        let mut table = DeTable::parse(text).map_err(|error| refusal(file, text, &error))?;
        keys::refuse_large(file, text, table.get_ref())?;
        table.get_mut().remove(RANGES);
        drop_ranges(table.get_mut());
        Ok(Document { file, text, table })
    }

    /// Removes and returns the value at a dotted path.
    ///
    /// # Errors
    /// If nothing stands at that path.
    pub fn take(&mut self, path: &str) -> Result<Section<'a>, ConfigError> {
        let mut table = self.table.get_mut();
        let (parents, last) = path.rsplit_once('.').map_or(("", path), |(parents, last)| (parents, last));
        let missing = || ConfigError {
            file: self.file.to_owned(),
            place: None,
            message: format!("missing field `{path}`"),
        };
        for key in parents.split('.').filter(|key| !key.is_empty()) {
            table = match table.get_mut(key).map(Spanned::get_mut) {
                Some(DeValue::Table(inner)) => inner,
                _ => return Err(missing()),
            };
        }
        let value = table.remove(last).ok_or_else(missing)?;
        Ok(Section { file: self.file, text: self.text, at: value.span().start, value })
    }

    /// Like [`Document::take`], for a part that may be missing.
    pub fn take_if_there(&mut self, path: &str) -> Option<Section<'a>> {
        self.take(path).ok()
    }

    /// Reads everything that has not been taken.
    ///
    /// # Errors
    /// What is wrong with it, with line and column where known.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, ConfigError> {
        let rest = Deserializer::from(self.table);
        T::deserialize(rest).map_err(|error| refusal(self.file, self.text, &error))
    }
}

impl<'a> Section<'a> {
    /// The single entry of a table section: its name and its value.
    ///
    /// # Errors
    /// If the section is anything else; `expected` describes what it should be.
    pub fn only_entry(self, expected: &str) -> Result<(String, Section<'a>), ConfigError> {
        let Section { file, text, at, value } = self;
        let refuse = |found: String| ConfigError {
            file: file.to_owned(),
            place: Some(line_and_column(text, at)),
            message: format!("found {found}, expected {expected}"),
        };
        let DeValue::Table(table) = value.into_inner() else {
            return Err(refuse("a value".into()));
        };
        let count = table.len();
        let mut entries = table.into_iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else {
            return Err(refuse(format!("{count} keys")));
        };
        let at = name.span().start;
        Ok((name.into_inner().into_owned(), Section { file, text, at, value }))
    }

    /// Reads the whole section as a `T`.
    ///
    /// # Errors
    /// What is wrong with it, with line and column where known.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, ConfigError> {
        let value = ValueDeserializer::from(self.value);
        T::deserialize(value).map_err(|error| refusal(self.file, self.text, &error))
    }

    /// Makes an error that points at this section.
    pub fn error(&self, message: String) -> ConfigError {
        let place = Some(line_and_column(self.text, self.at));
        ConfigError { file: self.file.to_owned(), place, message }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Ways {
        ways: u32,
    }

    const TEXT: &str = "name = \"m\"\n[l1d.sram]\nways = 4\n[sm.file.banked]\nways = -2\n[sm]\nways = 1\n";

    #[test]
    fn sections_are_read_apart_and_errors_name_the_line() {
        let file = Path::new("m.toml");
        let mut document = Document::parse(file, TEXT).unwrap();
        let (name, section) = document.take("l1d").unwrap().only_entry("a design").unwrap();
        assert_eq!((name.as_str(), section.read::<Ways>().unwrap().ways), ("sram", 4));
        let (name, section) = document.take("sm.file").unwrap().only_entry("a design").unwrap();
        assert_eq!(name, "banked");
        let error = section.read::<Ways>().unwrap_err().to_string();
        assert!(error.starts_with("m.toml:5:8: "), "{error}");
        assert_eq!(document.take("llc").err().unwrap().to_string(), "m.toml: missing field `llc`");
        let rest = document.read::<toml::Table>().unwrap();
        assert_eq!(rest.keys().collect::<Vec<_>>(), ["name", "sm"]);
    }

    #[test]
    fn a_choice_is_one_table() {
        for (text, found) in
            [("l1d = 3", "a value"), ("[l1d]", "0 keys"), ("l1d = { a = 1, b = 2 }", "2 keys")]
        {
            let mut document = Document::parse(Path::new("m.toml"), text).unwrap();
            let error = document.take("l1d").unwrap().only_entry("a design").err().unwrap();
            assert!(error.message.starts_with(&format!("found {found}")), "{error}");
            assert!(error.place.is_some());
        }
    }
}
