//! Constant expressions: C's operators on 64-bit integers and doubles.

use super::Parser;
use crate::front::ast::{Place, Value};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::lexer::Token;

/// A value on the way: PTX computes with s64, u64 and f64 (PTX ISA, "Constant Expression Evaluation").
#[derive(Clone, Copy, Debug)]
enum Term {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// `0f...` may not take part in expressions.
    Single(u32),
}

/// How strongly an operator binds; 0 for what is none.
fn precedence(token: Token) -> u8 {
    match token {
        Token::Punct(b'*' | b'/' | b'%') => 10,
        Token::Punct(b'+' | b'-') => 9,
        Token::Pair([b'<', b'<'] | [b'>', b'>']) => 8,
        Token::Punct(b'<' | b'>') | Token::Pair([b'<' | b'>', b'=']) => 7,
        Token::Pair([b'=' | b'!', b'=']) => 6,
        Token::Punct(b'&') => 5,
        Token::Punct(b'^') => 4,
        Token::Punct(b'|') => 3,
        Token::Pair([b'&', b'&']) => 2,
        Token::Pair([b'|', b'|']) => 1,
        _ => 0,
    }
}

impl Parser<'_> {
    /// Whether a constant can begin here.
    pub(super) fn starts_constant(&self) -> bool {
        matches!(
            self.now.token,
            Token::Int { .. }
                | Token::F32(_)
                | Token::F64(_)
                | Token::Punct(b'-' | b'+' | b'~' | b'!' | b'(')
        )
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Result<Value, Fail> {
        // Nearly all are one literal.
        if let (Token::Int { value, .. }, Token::Punct(b',' | b';' | b'}' | b']')) =
            (self.now.token, self.ahead.token)
        {
            self.advance()?;
            return Ok(Value::Int(value));
        }
        Ok(match self.ternary()? {
            Term::Signed(value) => Value::Int(value as u64),
            Term::Unsigned(value) => Value::Int(value),
            Term::Float(value) => Value::F64(value.to_bits()),
            Term::Single(bits) => Value::F32(bits),
        })
    }

    /// A constant integer expression.
    pub(super) fn constant_integer(&mut self, message: &str) -> Result<i64, Fail> {
        let start = self.now;
        match self.constant()? {
            Value::Int(value) => Ok(value as i64),
            _ => Err(Diagnostic::invalid(start.place, message)
                .found(self.describe(&start))
                .expected("an integer")),
        }
    }

    fn ternary(&mut self) -> Result<Term, Fail> {
        self.enter()?;
        let condition = self.binary(1)?;
        let result = if self.take(b'?')? {
            let yes = self.ternary()?;
            self.expect(b':', "malformed conditional expression")?;
            let no = self.ternary()?;
            if truth(condition) { yes } else { no }
        } else {
            condition
        };
        self.leave();
        Ok(result)
    }

    fn binary(&mut self, least: u8) -> Result<Term, Fail> {
        let mut left = self.unary()?;
        loop {
            let operator = self.now;
            let strength = precedence(operator.token);
            if strength < least.max(1) {
                return Ok(left);
            }
            self.advance()?;
            let right = self.binary(strength + 1)?;
            left = apply(operator.token, left, right).ok_or_else(|| {
                Diagnostic::invalid(operator.place, "constant expression has no value")
                    .found(format!("operator {}", self.describe(&operator)))
            })?;
        }
    }

    fn unary(&mut self) -> Result<Term, Fail> {
        let spot = self.now;
        match spot.token {
            Token::Int { value, unsigned } => {
                self.advance()?;
                Ok(if unsigned || value > i64::MAX as u64 {
                    Term::Unsigned(value)
                } else {
                    Term::Signed(value as i64)
                })
            }
            Token::F64(bits) => {
                self.advance()?;
                Ok(Term::Float(f64::from_bits(bits)))
            }
            Token::F32(bits) => {
                self.advance()?;
                Ok(Term::Single(bits))
            }
            Token::Word(name) if self.names.text(name) == "WARP_SZ" => {
                self.advance()?;
                Ok(Term::Signed(32))
            }
            Token::Punct(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance()?;
                self.enter()?;
                let term = self.unary()?;
                self.leave();
                self.negate(operator, term, spot.place)
            }
            Token::Punct(b'(') => {
                self.advance()?;
                if let Some(word) = self.dotted() {
                    let signed = match word {
                        "s64" => true,
                        "u64" => false,
                        _ => return Err(self.wrong("unknown cast", "`.s64` or `.u64`")),
                    };
                    self.advance()?;
                    self.expect(b')', "malformed cast")?;
                    self.enter()?;
                    let term = self.unary()?;
                    self.leave();
                    let bits = match term {
                        Term::Signed(value) => value as u64,
                        Term::Unsigned(value) => value,
                        Term::Float(_) | Term::Single(_) => {
                            return Err(Diagnostic::invalid(spot.place, "cast of a floating-point number"));
                        }
                    };
                    return Ok(if signed { Term::Signed(bits as i64) } else { Term::Unsigned(bits) });
                }
                let inner = self.ternary()?;
                self.expect(b')', "unbalanced parenthesis")?;
                Ok(inner)
            }
            _ => Err(self.wrong("malformed constant", "a number")),
        }
    }

    fn negate(&self, operator: u8, term: Term, place: Place) -> Result<Term, Fail> {
        Ok(match (operator, term) {
            (b'+', term) => term,
            (b'-', Term::Signed(value)) => Term::Signed(value.wrapping_neg()),
            (b'-', Term::Unsigned(value)) => Term::Unsigned(value.wrapping_neg()),
            (b'-', Term::Float(value)) => Term::Float(-value),
            (b'-', Term::Single(bits)) => Term::Single(bits ^ (1 << 31)),
            (b'~', Term::Signed(value)) => Term::Signed(!value),
            (b'~', Term::Unsigned(value)) => Term::Unsigned(!value),
            (b'!', term) => Term::Signed(i64::from(!truth(term))),
            _ => return Err(Diagnostic::invalid(place, "operator on a floating-point number").found("`~`")),
        })
    }
}

fn truth(term: Term) -> bool {
    match term {
        Term::Signed(value) => value != 0,
        Term::Unsigned(value) => value != 0,
        Term::Float(value) => value != 0.0,
        Term::Single(bits) => f32::from_bits(bits) != 0.0,
    }
}

/// The value of a binary operation; nothing when it has none (division by zero, `0f` operands).
fn apply(operator: Token, left: Term, right: Term) -> Option<Term> {
    use Term::*;
    let double = |term| match term {
        Signed(value) => Some(value as f64),
        Unsigned(value) => Some(value as f64),
        Float(value) => Some(value),
        Single(_) => None,
    };
    // With one double, both are.
    if matches!((left, right), (Float(_), _) | (_, Float(_))) {
        return float(operator, double(left)?, double(right)?);
    }
    if matches!((left, right), (Single(_), _) | (_, Single(_))) {
        return None;
    }
    let bits = |term| match term {
        Signed(value) => value as u64,
        Unsigned(value) => value,
        Float(_) | Single(_) => 0,
    };
    let (a, b) = (bits(left), bits(right));
    let unsigned = matches!(left, Unsigned(_)) || matches!(right, Unsigned(_));
    let wrap = |value: u64| if unsigned { Unsigned(value) } else { Signed(value as i64) };
    let flag = |value: bool| Signed(i64::from(value));
    let less = |a: u64, b: u64| if unsigned { a < b } else { (a as i64) < b as i64 };
    Some(match operator {
        Token::Punct(b'*') => wrap(a.wrapping_mul(b)),
        Token::Punct(b'+') => wrap(a.wrapping_add(b)),
        Token::Punct(b'-') => wrap(a.wrapping_sub(b)),
        Token::Punct(b'/') if unsigned => Unsigned(a.checked_div(b)?),
        Token::Punct(b'/') => Signed((a as i64).checked_div(b as i64)?),
        Token::Punct(b'%') if unsigned => Unsigned(a.checked_rem(b)?),
        Token::Punct(b'%') => Signed((a as i64).checked_rem(b as i64)?),
        Token::Punct(b'&') => wrap(a & b),
        Token::Punct(b'|') => wrap(a | b),
        Token::Punct(b'^') => wrap(a ^ b),
        Token::Punct(b'<') => flag(less(a, b)),
        Token::Punct(b'>') => flag(less(b, a)),
        Token::Pair([b'<', b'=']) => flag(!less(b, a)),
        Token::Pair([b'>', b'=']) => flag(!less(a, b)),
        Token::Pair([b'=', b'=']) => flag(a == b),
        Token::Pair([b'!', b'=']) => flag(a != b),
        Token::Pair([b'&', b'&']) => flag(a != 0 && b != 0),
        Token::Pair([b'|', b'|']) => flag(a != 0 || b != 0),
        // The type of a shift is the type of its left operand.
        Token::Pair([b'<', b'<']) => match left {
            Unsigned(value) => Unsigned(value.checked_shl(b as u32).unwrap_or(0)),
            _ => Signed((a as i64).checked_shl(b as u32).unwrap_or(0)),
        },
        Token::Pair([b'>', b'>']) => match left {
            Unsigned(value) => Unsigned(value.checked_shr(b as u32).unwrap_or(0)),
            _ => Signed((a as i64) >> b.min(63)),
        },
        _ => return None,
    })
}

fn float(operator: Token, a: f64, b: f64) -> Option<Term> {
    let flag = |value: bool| Term::Signed(i64::from(value));
    Some(match operator {
        Token::Punct(b'*') => Term::Float(a * b),
        Token::Punct(b'/') => Term::Float(a / b),
        Token::Punct(b'+') => Term::Float(a + b),
        Token::Punct(b'-') => Term::Float(a - b),
        Token::Punct(b'<') => flag(a < b),
        Token::Punct(b'>') => flag(a > b),
        Token::Pair([b'<', b'=']) => flag(a <= b),
        Token::Pair([b'>', b'=']) => flag(a >= b),
        Token::Pair([b'=', b'=']) => flag(a == b),
        Token::Pair([b'!', b'=']) => flag(a != b),
        _ => return None,
    })
}
