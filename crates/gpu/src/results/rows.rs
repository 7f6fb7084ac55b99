//! The rows of a summary: a title and a text each.

use std::fmt::Write;

/// Text of titled rows.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    pub(super) fn section(&mut self, title: &str) {
        self.line(&format!(" {title}"));
    }

    /// Adds a row, unless its text is empty.
    pub(super) fn row(&mut self, title: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        writeln!(self.0, "  {title:<28}{text}").expect("a string grows");
    }

    /// Adds a row, unless a counter that it needs is missing.
    pub(super) fn row_of(&mut self, title: &str, text: impl FnOnce() -> Option<String>) {
        self.row(title, &text().unwrap_or_default());
    }
}

/// Formats a number with its digits in groups of three.
pub(super) fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
