//! A run that has just ended: its record, and what no record keeps of it.

use std::path::Path;

use strata_gpu::machine::Machine;
use strata_gpu::results::{Breakdown, By, RunResult};
use strata_measure::numbers::rows;
use strata_workloads::Size;

use crate::job::{FORMAT, Job, Key, Kind};
use crate::record::Record;
use crate::timeline::Timeline;

/// A run that has just ended.
#[derive(Clone, Debug)]
pub struct Fresh<'a> {
    /// What a store would keep of it.
    pub record: Record,
    /// All that was measured.
    pub result: &'a RunResult,
    /// The counters over time.
    pub timeline: &'a Timeline,
    /// Text of the program's module.
    pub ptx: &'a str,
}

/// What a run's page breaks counters down by.
pub const BY: [By; 8] =
    [By::Sm, By::Slice, By::Channel, By::Line, By::Instruction, By::Buffer, By::Level, By::Queue];

impl<'a> Fresh<'a> {
    /// A run on a machine, with the launch file that it was of, if it was of one, and the command that asked for it.
    #[must_use]
    pub fn new(
        (result, machine): (&'a RunResult, &Machine),
        (launch_file, command): (Option<&Path>, Vec<String>),
        timeline: &'a Timeline,
        ptx: &'a str,
    ) -> Fresh<'a> {
        let provenance = &result.provenance;
        let with = result.system.as_deref().map(|system| format!(" with {system}")).unwrap_or_default();
        let job = Job {
            format: FORMAT.into(),
            simulator: provenance.simulator.clone(),
            kind: Kind::Timing,
            workload: result.workload.clone(),
            launch_file: launch_file.map(Path::to_owned),
            executed: false,
            size: result.size.as_deref().and_then(|size| size.parse().ok()).unwrap_or(Size::Test),
            variant: format!("{}{with}", result.machine),
            system: result.system.clone(),
            overrides: result.overrides.clone(),
            command,
            ptx: provenance.ptx.clone(),
            inputs: provenance.inputs.clone(),
            machine: Some(machine.table().clone().into()),
            package: None,
        };
        Fresh { record: Record { job, rows: rows(result, machine) }, result, timeline, ptx }
    }

    /// The key of a job with the same numbers; `None` if a part of a run was measured, which no job is.
    #[must_use]
    pub fn key(&self) -> Option<Key> {
        let is_whole = self.result.region.is_everything() && self.result.verdict.stopped().is_none();
        is_whole.then(|| self.record.job.key())
    }

    /// The counters by a kind of part, if they were broken down by it.
    #[must_use]
    pub fn by(&self, by: By) -> Option<&'a Breakdown> {
        self.result.breakdowns.iter().find(|breakdown| breakdown.by == by)
    }
}
