//! Text to tokens, on demand.

use super::diagnostic::{Diagnostic, Fail, Place};
use super::names::{Name, Names};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    /// Identifier, register, label, opcode: `%r1`, `$L_1`, `add`, `_`.
    Word(Name),
    /// `.global`, `.f32`, `.L2::128B`; without the dot.
    Dot(Name),
    /// Integer literal; `unsigned` when it ends in `U`.
    Int { value: u64, unsigned: bool },
    /// `0f` and eight digits.
    F32(u32),
    /// `0d` and sixteen digits, or a decimal.
    F64(u64),
    /// Text between double quotes, as it stands.
    Text(Name),
    /// One character.
    Punct(u8),
    /// Two characters: `<< >> && || == != <= >=`.
    Pair([u8; 2]),
    /// After the last token.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub token: Token,
    pub place: Place,
    /// Bytes of the text that it takes.
    pub start: u32,
    pub end: u32,
}

/// Cuts a text into tokens.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
}

/// What a byte may be part of.
const WORD: u8 = 1;
const SPACE: u8 = 2;
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => WORD,
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

impl<'t> Lexer<'t> {
    /// Starts at the beginning. The text must be shorter than 4 GiB.
    pub(crate) fn new(text: &'t str) -> Self {
        // A terminating NUL is what drivers are handed; nothing follows it.
        let text = text.trim_end_matches('\0');
        Lexer { text, at: 0, line: 1, line_start: 0 }
    }

    /// The text of a token.
    pub(crate) fn slice(&self, spot: &Spot) -> &'t str {
        &self.text[spot.start as usize..spot.end as usize]
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn here(&self) -> Place {
        Place { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    /// The next token.
    #[inline]
    pub(crate) fn next(&mut self, names: &mut Names) -> Result<Spot, Fail> {
        self.skip_blank()?;
        let place = self.here();
        let start = self.at;
        let token = self.token(names, place)?;
        Ok(Spot { token, place, start: start as u32, end: self.at as u32 })
    }

    fn skip_blank(&mut self) -> Result<(), Fail> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if CLASS[byte as usize] & SPACE != 0 {
                self.at += 1;
                if byte == b'\n' {
                    self.line += 1;
                    self.line_start = self.at;
                }
            } else if byte == b'/' && self.byte(self.at + 1) == b'/' {
                while self.at < bytes.len() && bytes[self.at] != b'\n' {
                    self.at += 1;
                }
            } else if byte == b'/' && self.byte(self.at + 1) == b'*' {
                self.skip_comment()?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), Fail> {
        let opened = self.here();
        let bytes = self.text.as_bytes();
        self.at += 2;
        while self.at < bytes.len() {
            if bytes[self.at] == b'*' && self.byte(self.at + 1) == b'/' {
                self.at += 2;
                return Ok(());
            }
            self.at += 1;
            if bytes[self.at - 1] == b'\n' {
                self.line += 1;
                self.line_start = self.at;
            }
        }
        Err(Diagnostic::invalid(opened, "unterminated comment").found("the end of the text").expected("`*/`"))
    }

    fn token(&mut self, names: &mut Names, place: Place) -> Result<Token, Fail> {
        let first = self.byte(self.at);
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                let start = self.at;
                self.at += 1;
                self.skip_word();
                if first == b'%' && self.at == start + 1 {
                    return Ok(Token::Punct(b'%'));
                }
                Ok(Token::Word(names.intern(&self.text[start..self.at])))
            }
            b'.' if CLASS[self.byte(self.at + 1) as usize] & WORD != 0 => {
                self.at += 1;
                let start = self.at;
                self.skip_word();
                // `.mbarrier::complete_tx::bytes` is one modifier.
                while self.byte(self.at) == b':'
                    && self.byte(self.at + 1) == b':'
                    && CLASS[self.byte(self.at + 2) as usize] & WORD != 0
                {
                    self.at += 2;
                    self.skip_word();
                }
                Ok(Token::Dot(names.intern(&self.text[start..self.at])))
            }
            b'0'..=b'9' => self.number(place),
            b'"' => self.quoted(names, place),
            0 if self.at >= self.text.len() => Ok(Token::End),
            b'!'..=b'~' => {
                let second = self.byte(self.at + 1);
                self.at += 1;
                let pair = matches!(
                    (first, second),
                    (b'<', b'<' | b'=')
                        | (b'>', b'>' | b'=')
                        | (b'&', b'&')
                        | (b'|', b'|')
                        | (b'=' | b'!', b'=')
                );
                if pair {
                    self.at += 1;
                    return Ok(Token::Pair([first, second]));
                }
                Ok(Token::Punct(first))
            }
            _ => {
                let character = self.text[self.at..].chars().next().unwrap_or('\0');
                Err(Diagnostic::invalid(place, "stray character").found(format!("{character:?}")))
            }
        }
    }

    #[inline]
    fn skip_word(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && CLASS[bytes[self.at] as usize] & WORD != 0 {
            self.at += 1;
        }
    }

    fn quoted(&mut self, names: &mut Names, place: Place) -> Result<Token, Fail> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        let start = self.at;
        while self.at < bytes.len() && bytes[self.at] != b'"' && bytes[self.at] != b'\n' {
            self.at += if bytes[self.at] == b'\\' && self.byte(self.at + 1) != b'\n' { 2 } else { 1 };
        }
        if self.byte(self.at) != b'"' {
            return Err(Diagnostic::invalid(place, "unterminated string").expected("`\"` on the same line"));
        }
        self.at += 1;
        // An escape of a multi-byte character could split it: then the slice is not text.
        let Some(content) = self.text.get(start..self.at - 1) else {
            return Err(Diagnostic::invalid(place, "malformed string"));
        };
        Ok(Token::Text(names.intern(content)))
    }

    fn number(&mut self, place: Place) -> Result<Token, Fail> {
        let start = self.at;
        let radix_mark = if self.byte(start) == b'0' { self.byte(start + 1) | 0x20 } else { 0 };
        self.skip_word();
        let mut word = &self.text[start..self.at];
        match radix_mark {
            b'f' => return exact(word, 8, place).map(|bits| Token::F32(bits as u32)),
            b'd' => return exact(word, 16, place).map(Token::F64),
            b'x' | b'b' => {}
            _ => {
                let fraction = self.byte(self.at) == b'.' && self.byte(self.at + 1).is_ascii_digit();
                let exponent = word.bytes().any(|byte| byte | 0x20 == b'e');
                if fraction || exponent {
                    return self.decimal(start, place);
                }
            }
        }
        let unsigned = word.ends_with('U');
        word = word.strip_suffix('U').unwrap_or(word);
        let (digits, radix) = match radix_mark {
            b'x' => (&word[2..], 16),
            b'b' => (&word[2..], 2),
            _ if word.len() > 1 && word.starts_with('0') => (&word[1..], 8),
            _ => (word, 10),
        };
        match u64::from_str_radix(digits, radix) {
            Ok(value) => Ok(Token::Int { value, unsigned }),
            Err(_) => Err(Diagnostic::invalid(place, "malformed integer")
                .found(format!("`{word}`"))
                .expected("an integer of at most 64 bits")),
        }
    }

    fn decimal(&mut self, start: usize, place: Place) -> Result<Token, Fail> {
        if self.byte(self.at) == b'.' {
            self.at += 1;
            self.skip_word();
        }
        if self.byte(self.at - 1) | 0x20 == b'e' && matches!(self.byte(self.at), b'+' | b'-') {
            self.at += 1;
            self.skip_word();
        }
        let word = &self.text[start..self.at];
        match word.parse::<f64>() {
            Ok(value) => Ok(Token::F64(value.to_bits())),
            Err(_) => Err(Diagnostic::invalid(place, "malformed number")
                .found(format!("`{word}`"))
                .expected("a decimal floating-point number")),
        }
    }
}

/// The digits after `0f` or `0d`.
fn exact(word: &str, digits: usize, place: Place) -> Result<u64, Fail> {
    let bits = (word.len() == digits + 2).then(|| u64::from_str_radix(&word[2..], 16).ok()).flatten();
    bits.ok_or_else(|| {
        Diagnostic::invalid(place, "malformed floating-point bits")
            .found(format!("`{word}`"))
            .expected(format!("`{}` and {digits} hexadecimal digits", &word[..2]))
    })
}
