//! The host side of a program, and what a run of it gives.

use std::fmt;

use crate::check::Near;
use crate::{Comparison, Device, DeviceError, DevicePtr};

/// PTX and the name that messages about it use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// A path or something like it.
    pub name: &'a str,
    /// PTX.
    pub text: &'a str,
}

/// The launches that a program is going to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many.
    pub launches: u64,
    /// Names of the kernels, each once, sorted.
    pub kernels: Vec<String>,
}

/// A program with its inputs chosen: allocates, uploads, launches, downloads, compares.
pub trait HostProgram: fmt::Debug + Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &str;

    /// The module whose kernels it launches; the device it runs on has loaded it.
    fn module(&self) -> Module<'_>;

    /// What is known of its launches before it runs; `None` if only a run can tell.
    fn plan(&self) -> Option<Plan> {
        None
    }

    /// Runs it. Running twice on fresh devices makes the same calls with the same bytes, as long as the
    /// devices compute the same.
    ///
    /// # Errors
    /// The device's first error. Wrong results are not an error: see [`Outcome::passed`].
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError>;

    /// Runs it. When a launch fails, leaves in `left` what its outputs hold then, if it knows.
    ///
    /// # Errors
    /// As [`HostProgram::run`].
    fn run_and_leave(&self, device: &mut dyn Device, left: &mut Vec<Output>) -> Result<Outcome, DeviceError> {
        let _ = left;
        self.run(device)
    }
}

/// A buffer that holds results, as it was after the last launch: a program compares nothing on its way.
///
/// Every program here leaves the same bytes whatever the order in which its threads ran, so two devices can be
/// compared bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The buffer's name.
    pub name: String,
    /// Where it lies.
    pub ptr: DevicePtr,
    /// The type of its elements, as a launch file calls it.
    pub element: &'static str,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// What they should be.
    pub expected: Expected,
}

/// What an output should hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// Nothing says.
    Anything,
    /// These bytes.
    Exact(Vec<u8>),
    /// An interval for each element.
    Near(Vec<Near>),
}

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The buffers with results.
    pub outputs: Vec<Output>,
    /// How they compare with what was expected.
    pub comparisons: Vec<Comparison>,
}

impl Outcome {
    /// Whether every comparison passed (and so true when there was none).
    #[must_use]
    pub fn passed(&self) -> bool {
        self.comparisons.iter().all(Comparison::passed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, comparison) in self.comparisons.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{comparison}")?;
        }
        Ok(())
    }
}
