//! The file of one result: why it may not be what its name promises, and how it is read.

use std::io::{self, ErrorKind};
use std::path::Path;

use strata_gpu::machine::identity::digest;

use super::{columns, file};
use crate::job::Key;
use crate::record::Record;

/// Most bytes of a result. A run with a million launches stays far below.
pub const RESULT_BYTES: u64 = 256 << 20;

/// What the file of a result ends with, as every Parquet file.
const END: &[u8] = b"PAR1";

/// Why a file is not the result that its name promises.
#[derive(Debug)]
pub enum Flaw {
    /// It is not there any more.
    Gone,
    /// It is a regular file with bytes other than those that were written.
    Damaged,
    /// Anything else.
    Other(String),
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Flaw {
        match error.kind() {
            ErrorKind::NotFound => Flaw::Gone,
            _ => Flaw::Other(error.to_string()),
        }
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Flaw::Gone => f.write_str("is gone"),
            Flaw::Damaged => f.write_str("is damaged: its bytes are not those of its checksum"),
            Flaw::Other(reason) => f.write_str(reason),
        }
    }
}

/// Reads the result of a job.
///
/// # Errors
/// What lies there instead.
pub fn read(path: &Path, key: &Key, checksum: &str) -> Result<Record, Flaw> {
    if !file::may_end_with(path, RESULT_BYTES, END)? {
        return Err(Flaw::Damaged);
    }
    decode(file::read(path, RESULT_BYTES)?, key, checksum)
}

/// Whether a regular file has bytes other than those of its checksum, so that a new result may replace it. Reads all of
/// it, so that nobody's file is taken for a damaged one.
pub fn is_damaged(path: &Path, checksum: &str) -> bool {
    file::read(path, RESULT_BYTES).is_ok_and(|bytes| digest(&bytes) != checksum)
}

/// Decodes the result of a job.
///
/// # Errors
/// What the bytes are instead.
pub fn decode(bytes: Vec<u8>, key: &Key, checksum: &str) -> Result<Record, Flaw> {
    if digest(&bytes) != checksum {
        return Err(Flaw::Damaged);
    }
    let record = columns::decode(bytes)
        .map_err(|error| Flaw::Other(format!("has the right checksum, but is no result: {error}")))?;
    match record.job.key() {
        found if found == *key => Ok(record),
        found => Err(Flaw::Other(format!("holds the result of job {found}, expected {key}"))),
    }
}
