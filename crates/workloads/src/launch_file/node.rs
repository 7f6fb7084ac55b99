//! One value of the file, its place, and reading it as this or that.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::LaunchFileError;
use super::number::Number;

type Result<T> = std::result::Result<T, LaunchFileError>;

/// The file that places refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'_>>> {
        DeTable::parse(self.text).map_err(|error| {
            let (line, column) = place(self.text, error.span().map_or(0, |span| span.start));
            // The parser's longer messages have several lines.
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            LaunchFileError::Syntax { file: self.file.into(), line, column, message }
        })
    }

    fn error(&self, at: &Range<usize>, field: &str, found: String, expected: String) -> LaunchFileError {
        let (line, column) = place(self.text, at.start);
        LaunchFileError::Field { file: self.file.into(), line, column, field: field.into(), found, expected }
    }
}

/// Line and column of an offset.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A value with its path and place.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    source: Source<'a>,
    path: String,
    span: Range<usize>,
    value: &'a DeValue<'a>,
}

/// A table all of whose keys are known.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    source: Source<'a>,
    path: String,
    span: Range<usize>,
    table: &'a DeTable<'a>,
}

impl<'a> Fields<'a> {
    /// The whole file.
    pub(super) fn root(source: Source<'a>, table: &'a Spanned<DeTable<'a>>, known: &[&str]) -> Result<Self> {
        let this = Self { source, path: String::new(), span: 0..0, table: table.get_ref() };
        this.refuse_unknown(known)?;
        Ok(this)
    }

    fn refuse_unknown(&self, known: &[&str]) -> Result<()> {
        // The table is ordered by key; the reader meets the first in the file.
        let unknown = self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => Err(self.source.error(
                &key.span(),
                &self.path_of(&shorten(key.get_ref())),
                "an unknown key".into(),
                format!("one of {}", known.join(", ")),
            )),
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn optional(&self, key: &str) -> Option<Node<'a>> {
        let value = self.table.get(key)?;
        let (path, span) = (self.path_of(key), value.span());
        Some(Node { source: self.source, path, span, value: value.get_ref() })
    }

    pub(super) fn required(&self, key: &str, expected: &str) -> Result<Node<'a>> {
        self.optional(key).ok_or_else(|| self.missing(key, expected))
    }

    /// A refusal because there is nothing under a key.
    pub(super) fn missing(&self, key: &str, expected: &str) -> LaunchFileError {
        self.source.error(&self.span, &self.path_of(key), "nothing".into(), expected.into())
    }

    /// The elements of an array of tables, at most `limit` of them; none when the key is absent.
    pub(super) fn tables(&self, key: &str, limit: usize) -> Result<Vec<Node<'a>>> {
        match self.optional(key) {
            None => Ok(vec![]),
            Some(node) => node.array(0..=limit, &format!("[[{key}]] tables")),
        }
    }
}

impl<'a> Node<'a> {
    /// A refusal of this value.
    pub(super) fn error(&self, found: impl Into<String>, expected: impl Into<String>) -> LaunchFileError {
        self.source.error(&self.span, &self.path, found.into(), expected.into())
    }

    /// What is there, for an error.
    pub(super) fn found(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("\"{}\"", shorten(text)),
            DeValue::Integer(integer) => shorten(&integer.to_string()),
            DeValue::Float(float) => shorten(&float.to_string()),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(value) => format!("the date {value}"),
            DeValue::Array(array) => format!("an array of {}", array.len()),
            DeValue::Table(_) => "a table".into(),
        }
    }

    fn expected<T>(&self, expected: impl Into<String>) -> Result<T> {
        Err(self.error(self.found(), expected))
    }

    pub(super) fn string(&self, expected: &str) -> Result<&'a str> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => self.expected(expected),
        }
    }

    /// A non-empty string without control characters.
    pub(super) fn name(&self, expected: &str) -> Result<&'a str> {
        let text = self.string(expected)?;
        if text.is_empty() || text.len() > 256 || text.contains(char::is_control) {
            return self.expected(format!("{expected} of 1 to 256 characters"));
        }
        Ok(text)
    }

    pub(super) fn number(&self, expected: &str) -> Result<Number> {
        let number = match self.value {
            DeValue::Integer(integer) => {
                i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(Number::Int)
            }
            DeValue::Float(float) => {
                // Digits beyond every f64 do not mean infinity.
                let fits =
                    |value: &f64| value.is_finite() || !float.as_str().contains(|c: char| c.is_ascii_digit());
                float.as_str().parse().ok().filter(fits).map(Number::Float)
            }
            _ => None,
        };
        number.map_or_else(|| self.expected(expected), Ok)
    }

    pub(super) fn boolean(&self) -> Result<bool> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => self.expected("true or false"),
        }
    }

    /// An integer in a range.
    pub(super) fn integer(&self, range: RangeInclusive<u64>) -> Result<u64> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        match self.number(&expected)? {
            Number::Int(value) => match u64::try_from(value) {
                Ok(value) if range.contains(&value) => Ok(value),
                _ => self.expected(expected),
            },
            Number::Float(_) => self.expected(expected),
        }
    }

    pub(super) fn array(&self, lengths: RangeInclusive<usize>, what: &str) -> Result<Vec<Node<'a>>> {
        Ok(self.elements(lengths, what)?.collect())
    }

    /// The elements of an array, one at a time: a node is much longer than a number.
    pub(super) fn elements(
        &self,
        lengths: RangeInclusive<usize>,
        what: &str,
    ) -> Result<impl ExactSizeIterator<Item = Node<'a>>> {
        let expected = || format!("an array of {} to {} {what}", lengths.start(), lengths.end());
        let DeValue::Array(array) = self.value else {
            return self.expected(expected());
        };
        if !lengths.contains(&array.len()) {
            return self.expected(expected());
        }
        let (source, path) = (self.source, self.path.clone());
        let element = move |(index, value): (usize, &'a Spanned<DeValue<'a>>)| Node {
            source,
            path: format!("{path}[{index}]"),
            span: value.span(),
            value: value.get_ref(),
        };
        Ok(array.iter().enumerate().map(element))
    }

    /// A table with no keys but `known`.
    pub(super) fn table(&self, known: &[&str]) -> Result<Fields<'a>> {
        let DeValue::Table(table) = self.value else {
            return self.expected(format!("a table with {}", known.join(", ")));
        };
        let (path, span) = (self.path.clone(), self.span.clone());
        let fields = Fields { source: self.source, path, span, table };
        fields.refuse_unknown(known)?;
        Ok(fields)
    }

    /// Whether it is a table with that key.
    pub(super) fn has(&self, key: &str) -> bool {
        matches!(self.value, DeValue::Table(table) if table.contains_key(key))
    }

    /// A choice: a string, or a table with one key that is the choice.
    pub(super) fn choice(&self, expected: &str) -> Result<(&'a str, Option<Node<'a>>)> {
        match self.value {
            DeValue::String(text) => Ok((text, None)),
            DeValue::Table(table) if table.len() == 1 => {
                let (key, value) = table.iter().next().expect("its length is 1");
                let path = format!("{}.{}", self.path, shorten(key.get_ref()));
                let node = Node { source: self.source, path, span: value.span(), value: value.get_ref() };
                Ok((key.get_ref(), Some(node)))
            }
            DeValue::Table(table) => {
                Err(self.error(format!("a table with {} keys", table.len()), expected.to_owned()))
            }
            _ => self.expected(expected),
        }
    }
}

/// The beginning of a text that a user wrote, for an error.
pub(super) fn shorten(text: &str) -> String {
    let mut shown: String = text.escape_debug().take(48).collect();
    if text.chars().nth(48).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Names to choose from, for an error: all of them if they are few.
pub(super) fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(32);
    let mut list = names.take(32).collect::<Vec<_>>().join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    list
}
