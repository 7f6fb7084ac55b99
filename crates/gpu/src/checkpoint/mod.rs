//! Checkpoints: the functional state of a program at a place in its run, from which any machine can go on.
//!
//! The host side of a program is code, so a checkpoint does not hold it. It is run again: what it read from the device before
//! the place is answered from the checkpoint, and its launches before the place are passed over.

mod file;
mod image;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use crate::position::{Executed, Position};

pub use image::Image;

/// The program that a checkpoint is of, at a size and with its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Name of the workload or launch file.
    pub program: String,
    /// Size of the workload, if it has several.
    pub size: Option<String>,
    /// Hash of its PTX.
    pub ptx: String,
    /// Hash of its inputs.
    pub inputs: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { program, size, ptx, inputs } = self;
        write!(f, "{program}")?;
        if let Some(size) = size {
            write!(f, " ({size})")?;
        }
        write!(f, " with PTX {ptx} and inputs {inputs}")
    }
}

/// What the host read from the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The device address that it read from.
    pub at: u64,
    /// The bytes that it got.
    pub bytes: Vec<u8>,
}

/// The functional state of a program at a place in its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The program.
    pub of: Identity,
    /// The place.
    pub at: Position,
    /// What had been executed.
    pub executed: Executed,
    /// What the host had read, in order.
    pub answers: Vec<Answer>,
    /// Device memory.
    pub image: Image,
}

impl Checkpoint {
    /// Reads a checkpoint from a file.
    ///
    /// # Errors
    /// The file, and what is wrong with it.
    pub fn read(path: &Path) -> Result<Checkpoint, String> {
        let named = |reason: String| format!("{}: {reason}", path.display());
        let bytes = std::fs::read(path).map_err(|error| named(error.to_string()))?;
        Checkpoint::from_bytes(&bytes).map_err(named)
    }

    /// Writes a checkpoint to a file, which is replaced as a whole. Gives its size in bytes.
    ///
    /// # Errors
    /// The file, and why it cannot be written.
    pub fn write(&self, path: &Path) -> Result<u64, String> {
        let bytes = self.to_bytes();
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let written = std::fs::write(&beside, &bytes).and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|error| {
            // What is left of it serves nobody; why it could not be written is what matters.
            let _ = std::fs::remove_file(&beside);
            format!("{}: {error}", path.display())
        })?;
        Ok(bytes.len() as u64)
    }

    /// Checks that this is a checkpoint of a program.
    ///
    /// # Errors
    /// The program that it is of, and the one that runs.
    pub fn check(&self, runs: &Identity) -> Result<(), String> {
        if self.of == *runs {
            return Ok(());
        }
        Err(format!("the checkpoint is of {}, expected {runs}", self.of))
    }
}
