//! Tokens to [`Module`]: a recursive-descent parser with two tokens of lookahead.

mod directives;
mod expression;
mod function;
mod operands;
mod variable;

pub(crate) use variable::type_of;

use super::ast::{Module, Name, Names, Place};
use super::diagnostic::{Diagnostic, Diagnostics, Fail};
use super::lexer::{Lexer, Spot, Token};

/// Deepest nesting of scopes, braces and parentheses.
const MAX_DEPTH: u32 = 64;

/// Longest text in bytes: places in it are 32-bit numbers.
const MAX_TEXT: usize = 1 << 31;

/// Parses a text; `name` stands before the places in its errors.
///
/// # Errors
/// The first place where the text is not PTX.
pub fn parse_module(name: &str, text: &str) -> Result<Module, Diagnostics> {
    if text.len() > MAX_TEXT {
        let place = Place { line: 1, column: 1 };
        let failure = Diagnostic::invalid(place, "text too long")
            .found(format!("{} bytes", text.len()))
            .expected(format!("at most {MAX_TEXT} bytes"));
        return Err(Diagnostics::new(name, [failure]));
    }
    Parser::new(text)
        .and_then(|parser| parser.module(name))
        .map_err(|failure| Diagnostics::new(name, [failure]))
}

/// The next two tokens and the rest.
struct Parser<'t> {
    lexer: Lexer<'t>,
    names: Names,
    now: Spot,
    ahead: Spot,
    depth: u32,
    /// The arrays that may be named here, the innermost last, with the bytes from one element to the next.
    arrays: Vec<(Name, u8)>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, Fail> {
        let mut lexer = Lexer::new(text);
        let mut names = Names::default();
        let now = lexer.next(&mut names)?;
        let ahead = lexer.next(&mut names)?;
        Ok(Parser { lexer, names, now, ahead, depth: 0, arrays: Vec::new() })
    }

    /// Moves on; returns the token that was left.
    #[inline]
    fn advance(&mut self) -> Result<Spot, Fail> {
        let left = self.now;
        self.now = self.ahead;
        self.ahead = self.lexer.next(&mut self.names)?;
        Ok(left)
    }

    /// Words for a token in a message.
    fn describe(&self, spot: &Spot) -> String {
        match spot.token {
            Token::End => "the end of the text".to_string(),
            _ => format!("`{}`", self.lexer.slice(spot)),
        }
    }

    /// The error at the current token.
    #[cold]
    fn wrong(&self, message: &str, expected: &str) -> Fail {
        Diagnostic::invalid(self.now.place, message).found(self.describe(&self.now)).expected(expected)
    }

    #[inline]
    fn at(&self, punct: u8) -> bool {
        self.now.token == Token::Punct(punct)
    }

    /// Takes a character if it stands there.
    #[inline]
    fn take(&mut self, punct: u8) -> Result<bool, Fail> {
        let there = self.at(punct);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Takes a character that must stand there.
    #[inline]
    fn expect(&mut self, punct: u8, message: &str) -> Result<Place, Fail> {
        if !self.at(punct) {
            return Err(self.wrong(message, &format!("`{}`", punct as char)));
        }
        Ok(self.advance()?.place)
    }

    /// Takes an identifier; `what` names it in the error.
    #[inline]
    fn word(&mut self, message: &str, what: &str) -> Result<(Name, Place), Fail> {
        let Token::Word(name) = self.now.token else { return Err(self.wrong(message, what)) };
        Ok((name, self.advance()?.place))
    }

    /// The dotted word that stands here, if one does.
    #[inline]
    fn dotted(&self) -> Option<&str> {
        match self.now.token {
            Token::Dot(name) => Some(self.names.text(name)),
            _ => None,
        }
    }

    /// Goes one level down; hostile nesting is an error and not a stack overflow.
    fn enter(&mut self) -> Result<(), Fail> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::invalid(self.now.place, "nested too deeply")
                .expected(format!("at most {MAX_DEPTH} levels of braces and parentheses")));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A plain unsigned integer within bounds.
    fn integer(&mut self, message: &str, most: u64) -> Result<u64, Fail> {
        let wanted = || format!("an integer from 0 to {most}");
        let Token::Int { value, .. } = self.now.token else { return Err(self.wrong(message, &wanted())) };
        if value > most {
            return Err(self.wrong(message, &wanted()));
        }
        self.advance()?;
        Ok(value)
    }
}
