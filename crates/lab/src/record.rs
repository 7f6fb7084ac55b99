//! The measurements of a finished job, and how a job is run.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use strata_gpu::machine::Machine;
use strata_measure::numbers::{self, Numbers};
pub use strata_measure::numbers::{COUNTERS_OF_RUN, LIFETIME, Row, Value, rows};
use strata_workloads::HostProgram;

use crate::job::{Job, Kind};
use crate::profile;

/// A finished job and its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The job that was run.
    pub job: Job,
    /// The numbers: those of the whole run, then those of each launch.
    pub rows: Vec<Row>,
}

impl Record {
    /// The numbers of the whole run and of its machine, by name.
    #[must_use]
    pub fn numbers(&self) -> Numbers<'_> {
        Numbers { rows: &self.rows, machine: self.job.machine.as_deref() }
    }

    /// The value of a counter for the whole run, or in a group `machine.SECTION` a number of the machine.
    #[must_use]
    pub fn get(&self, group: &str, counter: &str) -> Option<Value> {
        self.numbers().get(group, counter)
    }

    /// Names of the groups, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<&str> {
        self.numbers().groups()
    }
}

/// Runs a job on one thread. `interrupt` stops it from outside.
///
/// # Errors
/// If the run is refused, does not finish or has wrong results. Such a run yields no numbers.
pub fn measure(job: &Job, interrupt: Option<&'static AtomicBool>) -> Result<Record, String> {
    let program = job.program()?.at(job.size)?;
    let rows = match job.kind {
        Kind::Timing => timed(job, program.as_ref(), interrupt)?,
        Kind::Profile => profile::rows(program.as_ref())?,
    };
    Ok(Record { job: job.unpacked(), rows })
}

fn timed(
    job: &Job,
    program: &dyn HostProgram,
    interrupt: Option<&'static AtomicBool>,
) -> Result<Vec<Row>, String> {
    let table = job.machine.as_ref().ok_or("a timing job has a machine")?;
    let text = toml::to_string(&**table).expect("a table is TOML");
    let machine =
        Machine::parse(Path::new("the job's machine"), &text, &[]).map_err(|error| error.to_string())?;
    let size = job.launch_file.is_none().then_some(job.size);
    numbers::measure(program, size, &machine, false, interrupt)
}
