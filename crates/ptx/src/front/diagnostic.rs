//! What is wrong with a PTX text, and where.

use std::fmt;

use super::ast::Module;

/// A place in the text: line and column, both from 1; the column counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// Why a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text breaks a rule of the PTX ISA.
    Invalid,
    /// The text is PTX, but Strata does not execute it.
    Unsupported,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the text, usually its file.
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// Broken rule or missing feature.
    pub kind: Kind,
    /// What is wrong, in a few words.
    pub message: String,
    /// What stands there; empty when the message says it.
    pub found: String,
    /// What could stand there; empty when nothing could.
    pub expected: String,
}

/// The error of one step: boxed, since the good case must stay small.
pub(crate) type Fail = Box<Diagnostic>;

impl Diagnostic {
    /// A broken rule.
    pub(crate) fn invalid(place: Place, message: impl Into<String>) -> Fail {
        Self::new(Kind::Invalid, place, message.into())
    }

    /// A feature that is not executed.
    pub(crate) fn unsupported(place: Place, message: impl Into<String>) -> Fail {
        Self::new(Kind::Unsupported, place, message.into())
    }

    fn new(kind: Kind, place: Place, message: String) -> Fail {
        Box::new(Diagnostic {
            name: String::new(),
            line: place.line,
            column: place.column,
            kind,
            message,
            found: String::new(),
            expected: String::new(),
        })
    }

    /// Says what stands there.
    pub(crate) fn found(mut self: Box<Self>, found: impl Into<String>) -> Fail {
        self.found = found.into();
        self
    }

    /// Says what should stand there.
    pub(crate) fn expected(mut self: Box<Self>, expected: impl Into<String>) -> Fail {
        self.expected = expected.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: ", self.name, self.line, self.column)?;
        if self.kind == Kind::Unsupported {
            write!(out, "unsupported: ")?;
        }
        write!(out, "{}", self.message)?;
        match (self.found.is_empty(), self.expected.is_empty()) {
            (true, true) => Ok(()),
            (false, true) => write!(out, ": found {}", self.found),
            (true, false) => write!(out, ": expected {}", self.expected),
            (false, false) => write!(out, ": found {}, expected {}", self.found, self.expected),
        }
    }
}

/// Everything that was found wrong with a text, in the order of the text; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Gathers failures and gives them the name of the text.
    pub(crate) fn new(name: &str, failures: impl IntoIterator<Item = Fail>) -> Self {
        Diagnostics(
            failures.into_iter().map(|failure| Diagnostic { name: name.to_string(), ..*failure }).collect(),
        )
    }

    /// As [`Diagnostics::new`], for a module that may be of several texts.
    pub(crate) fn of_module(module: &Module, failures: impl IntoIterator<Item = Fail>) -> Self {
        let place = |failure: Fail| {
            let (name, line) = module.source(failure.line);
            Diagnostic { name: name.to_string(), line, ..*failure }
        };
        Diagnostics(failures.into_iter().map(place).collect())
    }

    /// Whether the text is good PTX as far as looked at, and only asks for what is not executed.
    pub fn only_unsupported(&self) -> bool {
        self.0.iter().all(|diagnostic| diagnostic.kind == Kind::Unsupported)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, diagnostic) in self.0.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            write!(out, "{diagnostic}")?;
        }
        Ok(())
    }
}
