//! Operands of instructions.

use super::Parser;
use crate::front::ast::{Base, Operand, OperandKind, Value};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::lexer::Token;

/// What an operand may be, for messages.
const OPERAND: &str = "a register, a number, `[`, `{` or `_`";

impl Parser<'_> {
    /// One operand; `call` makes parentheses a list and not an expression.
    #[inline]
    pub(super) fn operand(&mut self, call: bool) -> Result<Operand, Fail> {
        let place = self.now.place;
        let kind = match self.now.token {
            Token::Word(_) => self.named()?,
            Token::Punct(b'[') => self.bracketed()?,
            Token::Punct(b'{') => OperandKind::Vector(self.list(b'{', b'}')?),
            Token::Punct(b'(') if call => OperandKind::List(self.list(b'(', b')')?),
            Token::Punct(b'!') if matches!(self.ahead.token, Token::Word(_)) => {
                self.advance()?;
                OperandKind::Not(self.word("malformed operand", "a predicate register")?.0)
            }
            Token::Punct(b'-') if self.register_ahead() => {
                self.advance()?;
                OperandKind::Negated(Box::new(self.named()?))
            }
            _ if self.starts_constant() => OperandKind::Value(self.constant()?),
            _ => return Err(self.wrong("malformed operand", OPERAND)),
        };
        let operand = Operand { place, kind };
        if !self.at(b'|') {
            return Ok(operand);
        }
        self.advance()?;
        let place = self.now.place;
        let Token::Word(_) = self.now.token else {
            return Err(self.wrong("malformed operand", "a register or `_` after `|`"));
        };
        let second = Operand { place, kind: self.named()? };
        Ok(Operand { place: operand.place, kind: OperandKind::Pair(Box::new((operand, second))) })
    }

    /// Whether a word follows that is not a number.
    fn register_ahead(&self) -> bool {
        matches!(self.ahead.token, Token::Word(name) if self.names.text(name) != "WARP_SZ")
    }

    /// An operand that begins with a word.
    #[inline]
    fn named(&mut self) -> Result<OperandKind, Fail> {
        let (name, _) = self.word("malformed operand", OPERAND)?;
        Ok(match self.now.token {
            Token::Dot(component) => {
                self.advance()?;
                OperandKind::Component(name, component)
            }
            Token::Punct(b'+' | b'-') => OperandKind::Offset(name, self.addend()?),
            Token::Punct(b'[') => {
                self.advance()?;
                if let Token::Word(index) = self.now.token
                    && matches!(self.ahead.token, Token::Punct(b']'))
                    && self.names.text(index) != "WARP_SZ"
                {
                    self.advance()?;
                    self.advance()?;
                    return Ok(OperandKind::Element(name, index));
                }
                let place = self.now.place;
                let index = self.constant_integer("malformed array operand")?;
                self.expect(b']', "malformed array operand")?;
                let Some((_, step)) = self.arrays.iter().rev().find(|(array, _)| *array == name) else {
                    return Err(Diagnostic::invalid(place, "index of what is no array")
                        .found(format!("`{}`", self.names.text(name)))
                        .expected("an array that was declared before"));
                };
                OperandKind::Indexed { array: name, index, step: *step }
            }
            _ => match self.names.text(name) {
                "_" => OperandKind::Sink,
                "WARP_SZ" => OperandKind::Value(Value::Int(32)),
                _ => OperandKind::Name(name),
            },
        })
    }

    fn list(&mut self, open: u8, close: u8) -> Result<Vec<Operand>, Fail> {
        self.expect(open, "malformed list")?;
        self.enter()?;
        let mut operands = Vec::new();
        if !self.at(close) {
            loop {
                operands.push(self.operand(false)?);
                if !self.take(b',')? {
                    break;
                }
            }
        }
        self.expect(close, "malformed list")?;
        self.leave();
        Ok(operands)
    }

    /// `[base+offset]` or a bracketed list.
    fn bracketed(&mut self) -> Result<OperandKind, Fail> {
        let place = self.expect(b'[', "malformed memory operand")?;
        let simple = match self.now.token {
            Token::Word(name) if self.names.text(name) != "WARP_SZ" => {
                self.advance()?;
                OperandKind::Memory { base: Base::Name(name), offset: self.addend()? }
            }
            _ if self.starts_constant() => OperandKind::Memory {
                base: Base::Absolute,
                offset: self.constant_integer("malformed address")?,
            },
            _ => return Err(self.wrong("malformed memory operand", "a register, a variable or a number")),
        };
        if self.take(b']')? {
            return Ok(simple);
        }
        self.enter()?;
        let mut operands = vec![Operand { place, kind: simple }];
        while self.take(b',')? {
            operands.push(self.operand(false)?);
        }
        self.expect(b']', "malformed memory operand")?;
        self.leave();
        Ok(OperandKind::Bracket(operands))
    }
}
