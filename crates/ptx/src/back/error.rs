//! What makes a kernel that cannot be compiled.

/// Why a kernel could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackError {
    /// An instruction's operands do not fit its operation.
    #[error("line {line}: kernel {kernel}: {what}")]
    #[allow(missing_docs)]
    Malformed { kernel: String, line: u32, what: String },
    /// More values must be in registers at once than a thread can have.
    #[error("more than {most} {what} are needed at once")]
    #[allow(missing_docs)]
    TooManyLive { what: &'static str, most: usize },
    /// An instruction reads more registers than an operand collector holds.
    #[error("line {line}: an instruction reads {rows} registers; at most 12 are supported")]
    #[allow(missing_docs)]
    TooManyRows { line: u32, rows: usize },
    /// A kernel is so long, branches so much or needs so many values at once that its analysis would take too much
    /// memory.
    #[error("a kernel with more than {most} {what} is too large to compile")]
    #[allow(missing_docs)]
    TooLarge { what: &'static str, most: usize },
    /// The machine lacks an instruction.
    #[error("line {line}: `{instruction}`: the machine does not have it; expected one with {key}")]
    #[allow(missing_docs)]
    NotOfMachine { line: u32, instruction: &'static str, key: &'static str },
    /// The constants of a kernel do not fit their table.
    #[error("a kernel uses more than 65,535 constant words")]
    TooManyConstants,
}
