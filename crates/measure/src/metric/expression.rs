//! Arithmetic over counters, as in `run.thread_instructions / run.cycles`.
//!
//! A name is a group, a dot and a counter; the group's name may contain dots (`network.request.packets_out`).
//! `machine.gpu.sms` is a number of the run's machine.
//! Operators are `+ - * /`; parentheses and numbers are allowed. A missing counter or a division by zero is
//! an error, never a number, and so is a counter that is infinite, such as the lifetime of what is not written. A
//! question mark after a name (`tiny_cache.fills?`) makes the counter 0 in runs of machines that have none. In files of
//! metrics, a name without a dot is another metric of the file.

use std::fmt;

use crate::numbers::Numbers;

/// A parsed expression over counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Counter { group: String, counter: String, optional: bool },
    Binary(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What was found, where, and what was expected.
    pub fn parse(text: &str) -> Result<Expression, String> {
        Expression::parse_with(text, &mut |name| Err(format!("found `{name}`, expected group.counter")))
    }

    /// Parses an expression in which `metric` gives the meaning of names without a dot.
    ///
    /// # Errors
    /// As [`Expression::parse`], and those of `metric`.
    pub fn parse_with(text: &str, metric: &mut FindMetric<'_>) -> Result<Expression, String> {
        let mut reader = Reader { text, at: 0, depth: 0, metric };
        let root = reader.sum()?;
        match reader.peek() {
            None => Ok(Expression { text: text.trim().to_owned(), root }),
            Some(_) => Err(reader.expected("an operator or the end")),
        }
    }

    /// Evaluates the expression for a run.
    ///
    /// # Errors
    /// If the run lacks a counter, one is infinite, or a division by zero occurs.
    pub fn evaluate(&self, run: Numbers<'_>) -> Result<f64, String> {
        self.root.evaluate(run).map_err(|reason| match reason {
            Reason::Missing(reason) => reason,
            Reason::Zero => format!("`{self}` divides by zero"),
            Reason::Infinite(name) => format!("`{name}` is infinite"),
        })
    }

    /// Whether the value is undefined although the run has every counter: the expression divides by zero, or a
    /// counter is infinite.
    #[must_use]
    pub fn is_undefined(&self, run: Numbers<'_>) -> bool {
        matches!(self.root.evaluate(run), Err(Reason::Zero | Reason::Infinite(_)))
    }

    /// The counters that the expression names, each with its group.
    #[must_use]
    pub fn counters(&self) -> Vec<(&str, &str)> {
        let mut counters = Vec::new();
        self.root.counters(&mut counters);
        counters
    }
}

/// What a name without a dot stands for, or why for nothing.
pub type FindMetric<'a> = dyn FnMut(&str) -> Result<Expression, String> + 'a;

enum Reason {
    Missing(String),
    Zero,
    Infinite(String),
}

impl Node {
    fn evaluate(&self, run: Numbers<'_>) -> Result<f64, Reason> {
        match self {
            Node::Number(number) => Ok(*number),
            Node::Counter { group, counter, optional } => match run.get(group, counter) {
                Some(value) if value.as_f64().is_infinite() => {
                    Err(Reason::Infinite(format!("{group}.{counter}")))
                }
                Some(value) => Ok(value.as_f64()),
                None if *optional => Ok(0.0),
                None => Err(Reason::Missing(missing(run, group, counter))),
            },
            Node::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(run)?, right.evaluate(run)?);
                match operator {
                    Operator::Add => Ok(left + right),
                    Operator::Subtract => Ok(left - right),
                    Operator::Multiply => Ok(left * right),
                    Operator::Divide if right == 0.0 => Err(Reason::Zero),
                    Operator::Divide => Ok(left / right),
                }
            }
        }
    }

    fn counters<'a>(&'a self, counters: &mut Vec<(&'a str, &'a str)>) {
        match self {
            Node::Number(_) => (),
            Node::Counter { group, counter, .. } => counters.push((group, counter)),
            Node::Binary(_, left, right) => {
                left.counters(counters);
                right.counters(counters);
            }
        }
    }
}

fn missing(run: Numbers<'_>, group: &str, counter: &str) -> String {
    let known = run.counters(group);
    if known.is_empty() {
        format!("no counter `{group}.{counter}`: the run has the groups {}", run.groups().join(", "))
    } else {
        format!("no counter `{group}.{counter}`: `{group}` has {}", known.join(", "))
    }
}

/// Maximum nesting of parentheses.
const DEPTH: usize = 64;

struct Reader<'a, 'm> {
    text: &'a str,
    at: usize,
    depth: usize,
    metric: &'m mut FindMetric<'m>,
}

impl<'a> Reader<'a, '_> {
    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Node::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.value()?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Node::Binary(operator, Box::new(left), Box::new(self.value()?));
        }
    }

    fn value(&mut self) -> Result<Node, String> {
        match self.peek() {
            Some('(') if self.depth == DEPTH => Err(self.expected("fewer parentheses")),
            Some('(') => {
                self.at += 1;
                self.depth += 1;
                let inside = self.sum()?;
                self.depth -= 1;
                if self.peek() != Some(')') {
                    return Err(self.expected("`)`"));
                }
                self.at += 1;
                Ok(inside)
            }
            Some(c) if c.is_ascii_digit() => {
                let number = self.take(|c| c.is_ascii_digit() || c == '.');
                number.parse().map(Node::Number).map_err(|_| format!("`{number}` is not a number"))
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-');
                let Some((group, counter)) = name.rsplit_once('.') else {
                    return (self.metric)(name).map(|metric| metric.root);
                };
                let optional = self.text[self.at..].starts_with('?');
                self.at += usize::from(optional);
                Ok(Node::Counter { group: group.to_owned(), counter: counter.to_owned(), optional })
            }
            _ => Err(self.expected("a counter, a number or `(`")),
        }
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn expected(&self, what: &str) -> String {
        let rest = &self.text[self.at..];
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        format!("`{}`: found {found}, expected {what}", self.text)
    }
}
