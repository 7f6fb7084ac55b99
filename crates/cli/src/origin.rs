//! When and by which command a page is made.

use strata_lab::page::Origin;

/// Today's date and this process' command line.
pub fn origin() -> Origin {
    let arguments = std::env::args().skip(1).map(|word| quoted(&word));
    let words: Vec<String> = std::iter::once("strata".to_owned()).chain(arguments).collect();
    Origin { date: chrono::Utc::now().format("%Y-%m-%d").to_string(), command: words.join(" ") }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_given_to_a_shell_again() {
        assert_eq!(quoted("l1d.ways=2,4"), "l1d.ways=2,4");
        assert_eq!(quoted("l1d.fills / l1d.loads"), "'l1d.fills / l1d.loads'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
