//! Errors about machine parameters.

use std::fmt;

/// Why a part of the memory system cannot be built from its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// Name of the parameter in the machine file.
    pub field: &'static str,
    /// What was found and what was expected.
    pub message: String,
}

impl ParameterError {
    /// Makes an error about a field.
    pub fn new(field: &'static str, message: impl Into<String>) -> Self {
        ParameterError { field, message: message.into() }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for ParameterError {}
