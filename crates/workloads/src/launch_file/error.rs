//! What a refusal says.

/// Why a launch file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchFileError {
    /// The launch file itself cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// Its path as given.
        file: String,
        /// Why.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// The launch file's path.
        file: String,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// What the TOML parser says.
        message: String,
    },
    /// A value does not mean what it should.
    #[error("{file}:{line}:{column}: `{field}`: found {found}, expected {expected}")]
    Field {
        /// The launch file's path.
        file: String,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// The value's path, such as `buffer[1].contents.ramp.step`.
        field: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}
