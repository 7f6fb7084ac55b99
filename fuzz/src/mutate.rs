//! Mutations of text by words, which keep more of a program or a table whole than mutations of bytes.

/// A generator of small numbers: xorshift.
pub struct Dice(u64);

impl Dice {
    /// Its numbers follow from the seed.
    pub fn new(seed: u32) -> Dice {
        Dice(u64::from(seed) << 1 | 1)
    }

    /// A number below `choices`, at least 1.
    pub fn below(&mut self, choices: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % choices
    }
}

/// Changes some words or lines of a text, `words` among the replacements; `None` when there is no text.
pub fn text(input: &[u8], words: &[&str], dice: &mut Dice) -> Option<String> {
    let text = std::str::from_utf8(input).ok()?;
    let mut text = text.to_owned();
    for _ in 0..=dice.below(4) {
        text = if dice.below(3) == 0 { lines(&text, dice) } else { one_word(&text, words, dice) };
    }
    Some(text)
}

/// Repeats, moves, drops or swaps statements: what lies between `;` or line ends.
fn lines(text: &str, dice: &mut Dice) -> String {
    let mut all: Vec<&str> = text.split_inclusive(['\n', ';']).collect();
    if all.is_empty() {
        return text.to_owned();
    }
    let (from, to) = (dice.below(all.len()), dice.below(all.len()));
    match dice.below(4) {
        0 => drop(all.remove(from)),
        1 => all.insert(to, all[from]),
        2 => all.swap(from, to),
        _ => {
            let line = all.remove(from);
            all.insert(to.min(all.len()), line);
        }
    }
    all.concat()
}

/// Replaces one word by another of the text or of `words`, drops it, repeats it, or puts one after it.
fn one_word(text: &str, words: &[&str], dice: &mut Dice) -> String {
    let mut all = split(text);
    if all.is_empty() {
        return text.to_owned();
    }
    let at = dice.below(all.len());
    let other = all[dice.below(all.len())];
    let known = words.get(dice.below(words.len().max(1))).copied().unwrap_or(other);
    match dice.below(8) {
        0 => drop(all.remove(at)),
        1 => all.insert(at, other),
        2 => all.insert(at, known),
        3 | 4 => all[at] = other,
        _ => all[at] = known,
    }
    all.concat()
}

/// Words, the characters between them, and spaces.
fn split(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        _ if c.is_whitespace() => 0,
        _ if c.is_alphanumeric() || c == '_' || c == '%' => 1,
        // A modifier or directive begins with a dot.
        '.' => 2,
        _ => 3,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = 3;
    for (at, c) in text.char_indices() {
        let this = kind(c);
        let joined = this < 2 && this == last || this == 1 && last == 2;
        if !joined && at > start {
            words.push(&text[start..at]);
            start = at;
        }
        last = this;
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}
