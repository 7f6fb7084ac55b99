//! Random changes of a text of tables, keys, numbers and strings.

use std::ops::Range;

use strata_workloads::random::Random;

/// What was done to a text.
#[derive(Clone, Copy, Debug)]
pub enum Mutation {
    Number,
    Value,
    String,
    DeletedKey,
    RenamedKey,
    DuplicatedLine,
    Truncated,
    RandomBytes,
    SwappedTables,
    SwappedLines,
}

/// What may stand in place of a number: limits of types and of launch files, and what is beyond them.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "64",
    "255",
    "65536",
    "1e39",
    "0.5",
    "inf",
    "nan",
    "268_435_456",
    "536870912",
    "1073741824",
    "4294967295",
    "0xffff_ffff_ffff_ffff",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999",
];

/// What may stand in place of any value.
const VALUES: &[&str] = &[
    "7",
    "-0.0",
    "1e-41",
    "1e308",
    "-inf",
    "\"text\"",
    "\"\"",
    "\"zeros\"",
    "\"a\"",
    "\"b\"",
    "\"v\"",
    "\"k\"",
    "\"l\"",
    "\"u8\"",
    "\"i16\"",
    "\"f64\"",
    "\"u64\"",
    "\"k.ptx\"",
    "\"data.bin\"",
    "\"/dev/zero\"",
    "\"..\"",
    "\"\\u0000\"",
    "true",
    "[]",
    "[1]",
    "[[1]]",
    "{}",
    "{ values = [1, 2] }",
    "{ buffer = \"a\" }",
    "{ constant = 1 }",
    "1979-05-27",
];

impl Mutation {
    /// Numbers more often than the rest: there are many, and sizes are among them.
    const ALL: [Self; 12] = [
        Self::Number,
        Self::Number,
        Self::Number,
        Self::Value,
        Self::String,
        Self::DeletedKey,
        Self::RenamedKey,
        Self::DuplicatedLine,
        Self::Truncated,
        Self::RandomBytes,
        Self::SwappedTables,
        Self::SwappedLines,
    ];

    /// Changes the text in a random way.
    pub fn apply(text: &mut Vec<u8>, random: &mut Random) -> Self {
        let this = *choose(&Self::ALL, random);
        match this {
            Self::Number => replace(text, is_number, NUMBERS, random),
            Self::Value => replace(text, |word| is_number(word) || is_string(word), VALUES, random),
            Self::String => replace(text, is_string, VALUES, random),
            Self::DeletedKey => {
                let line = line(text, random);
                text.drain(line);
            }
            Self::RenamedKey => {
                let keys = words(text, |word| word[0].is_ascii_alphabetic());
                if let [_, ..] = keys[..] {
                    let (from, to) = (choose(&keys, random).clone(), choose(&keys, random).clone());
                    let name = if random.below(2) == 0 { text[to].to_vec() } else { b"other".to_vec() };
                    text.splice(from, name);
                }
            }
            Self::DuplicatedLine => {
                let line = line(text, random);
                let copy = text[line.clone()].to_vec();
                text.splice(line.end..line.end, copy);
            }
            Self::Truncated => text.truncate(random.below(text.len() as u64 + 1) as usize),
            Self::RandomBytes => {
                for _ in 0..1 + random.below(4) {
                    if let Some(byte) = index(text.len(), random) {
                        text[byte] = random.bits() as u8;
                    }
                }
            }
            Self::SwappedTables => swap(text, "\n\n", random),
            Self::SwappedLines => swap(text, "\n", random),
        }
        this
    }
}

fn index(length: usize, random: &mut Random) -> Option<usize> {
    (length > 0).then(|| random.below(length as u64) as usize)
}

fn choose<'a, T>(from: &'a [T], random: &mut Random) -> &'a T {
    &from[index(from.len(), random).expect("there is something to choose")]
}

/// Words of some kind: strings with their quotes, and what stands between spaces and brackets.
fn words(text: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Vec<Range<usize>> {
    let mut words = vec![];
    let mut at = 0;
    while at < text.len() {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"[]{},=\"".contains(byte);
        let length = match text[at] {
            b'"' => text[at + 1..].iter().position(|byte| *byte == b'"').map_or(1, |end| end + 2),
            _ => text[at..].iter().position(ends).unwrap_or(text.len() - at),
        };
        let word = at..at + length;
        if length > 0 && wanted(&text[word.clone()]) {
            words.push(word);
        }
        at += length.max(1);
    }
    words
}

fn is_number(word: &[u8]) -> bool {
    word[0].is_ascii_digit() || word[0] == b'-'
}

fn is_string(word: &[u8]) -> bool {
    word[0] == b'"'
}

/// Puts another value in place of a word.
fn replace(text: &mut Vec<u8>, wanted: impl Fn(&[u8]) -> bool, by: &[&str], random: &mut Random) {
    let words = words(text, wanted);
    if let [_, ..] = words[..] {
        let word = choose(&words, random).clone();
        text.splice(word, choose(by, random).bytes());
    }
}

/// A random line with its end.
fn line(text: &[u8], random: &mut Random) -> Range<usize> {
    let Some(at) = index(text.len(), random) else { return 0..0 };
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| at + end + 1);
    start..end
}

/// Swaps two of the parts that a separator makes.
fn swap(text: &mut Vec<u8>, separator: &str, random: &mut Random) {
    let Ok(whole) = std::str::from_utf8(text) else { return };
    let mut parts: Vec<&str> = whole.split(separator).collect();
    let pair = [(); 2].map(|()| index(parts.len(), random).expect("a text has a part"));
    parts.swap(pair[0], pair[1]);
    *text = parts.join(separator).into_bytes();
}
