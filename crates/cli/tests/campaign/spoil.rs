//! Spoils a file of settings in the ways that people and broken disks do.

/// A generator of small numbers: xorshift.
pub struct Dice(u64);

impl Dice {
    /// Its numbers follow from the seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `choices`, at least 1.
    pub fn below(&mut self, choices: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % choices
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// What a value is replaced by.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "64",
    "4096",
    "65536",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "-9223372036854775809",
    "0.5",
    "1e308",
    "1e309",
    "-0.0",
    "inf",
    "nan",
    "0xffff_ffff",
    "true",
    "\"\"",
    "\"ways\"",
    "\"é\"",
    "[]",
    "[1]",
    "{}",
    "{ value = 1 }",
    "{ value = 1, source = \"s\" }",
    "{ value = {}, source = 3 }",
    "1979-05-27",
];

/// Spoils a text once to three times.
pub fn spoil(text: &str, dice: &mut Dice) -> String {
    let mut text = text.to_owned();
    for _ in 0..=dice.below(3) {
        text = match dice.below(12) {
            0..=4 => value(&text, dice),
            5 => lines(&text, dice, |lines, at, _| drop(lines.remove(at))),
            6 => lines(&text, dice, |lines, at, _| lines.insert(at, lines[at].clone())),
            7 => lines(&text, dice, |lines, at, _| lines[at] = format!("x{}", lines[at])),
            8 => lines(&text, dice, |lines, at, dice| {
                let length = lines[at].chars().count().max(1);
                let gone = dice.below(length);
                lines[at] =
                    lines[at].chars().enumerate().filter(|(n, _)| *n != gone).map(|(_, c)| c).collect();
            }),
            9 => headers(&text, dice),
            10 => cut(&text, dice),
            _ => noise(&text, dice),
        };
    }
    text
}

/// Changes one line.
fn lines(text: &str, dice: &mut Dice, change: impl Fn(&mut Vec<String>, usize, &mut Dice)) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = dice.below(lines.len());
    change(&mut lines, at, dice);
    lines.join("\n") + "\n"
}

/// Replaces a number; where a line has none, the value of its key.
fn value(text: &str, dice: &mut Dice) -> String {
    lines(text, dice, |lines, at, dice| {
        let line = &lines[at];
        let start =
            line.find("value = ").map(|start| start + 8).or_else(|| line.find("= ").map(|start| start + 2));
        let Some(start) = start else { return };
        let rest = &line[start..];
        let end = rest.find([',', ' ', '}', ']']).unwrap_or(rest.len());
        lines[at] = format!("{}{}{}", &line[..start], dice.of(VALUES), &rest[end..]);
    })
}

/// Swaps the names of two tables.
fn headers(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let headers: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with('[')).collect();
    if !headers.is_empty() {
        lines.swap(headers[dice.below(headers.len())], headers[dice.below(headers.len())]);
    }
    lines.join("\n") + "\n"
}

/// Ends the text early.
fn cut(text: &str, dice: &mut Dice) -> String {
    let keep = dice.below(text.chars().count().max(1));
    text.chars().take(keep).collect()
}

/// Puts a few characters somewhere.
fn noise(text: &str, dice: &mut Dice) -> String {
    let at = dice.below(text.chars().count().max(1));
    let mut spoilt: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(4) {
        let any = char::from_u32(dice.below(0x300) as u32).unwrap_or('?');
        spoilt.insert(at.min(spoilt.len()), any);
    }
    spoilt.into_iter().collect()
}
