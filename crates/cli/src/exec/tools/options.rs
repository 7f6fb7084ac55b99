//! Options as NVIDIA's tools take them: `--name=value`, `--name value`, `-n value` and `-nvalue`.

/// A word of a command line, with what it means.
#[derive(Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// An option with its value. `joined` says whether both are one word, and what is between them.
    Value { name: &'a str, value: &'a str, joined: Option<&'static str> },
    /// An option without a value, or one that is not known.
    Flag(&'a str),
    /// A file.
    Input(&'a str),
}

/// The words of a command line. `valued` are the options that have a value; those of one letter may have it right behind them.
pub fn words<'a>(line: &'a [String], valued: &[&str]) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    let mut rest = line.iter();
    while let Some(word) = rest.next() {
        let is_valued = |name: &str| valued.contains(&name);
        let letter = word.get(..2).filter(|letter| word.len() > 2 && is_valued(letter));
        found.push(match (word.split_once('='), letter) {
            _ if !word.starts_with('-') || word == "-" => Word::Input(word),
            (Some((name, value)), _) if is_valued(name) => Word::Value { name, value, joined: Some("=") },
            _ if is_valued(word) => match rest.next() {
                Some(value) => Word::Value { name: word, value, joined: None },
                None => Word::Flag(word),
            },
            (_, Some(name)) if !word.starts_with("--") => {
                Word::Value { name, value: &word[2..], joined: Some("") }
            }
            _ => Word::Flag(word),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_their_values_in_every_form() {
        let line: Vec<String> = [
            "-v",
            "--gpu-name=sm_80",
            "-o",
            "a b",
            "-Idir",
            "-arch",
            "sm_90",
            "-lineinfo",
            "x.cu",
            "-",
            "-o",
        ]
        .map(str::to_owned)
        .to_vec();
        let expected = [
            Word::Flag("-v"),
            Word::Value { name: "--gpu-name", value: "sm_80", joined: Some("=") },
            Word::Value { name: "-o", value: "a b", joined: None },
            Word::Value { name: "-I", value: "dir", joined: Some("") },
            Word::Value { name: "-arch", value: "sm_90", joined: None },
            Word::Flag("-lineinfo"),
            Word::Input("x.cu"),
            Word::Input("-"),
            Word::Flag("-o"),
        ];
        assert_eq!(words(&line, &["--gpu-name", "-o", "-I", "-arch"]), expected);
    }
}
