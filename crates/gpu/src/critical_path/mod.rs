//! The critical path of a launch: the chain of what came last, from the end of its last CTA back to its beginning.
//!
//! SMs remember of each instruction what released it ([`strata_sm::SmPath`]); slices of the last-level cache record their requests, as for a
//! [trace](crate::trace). After a launch the chain is walked back, and each segment of it has a cause and an instruction. A step begins where
//! the one behind it ends, so the segments are as long as the launch, whatever is known of them.

mod cause;
mod packets;
mod report;
mod segments;
mod walk;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use strata_engine::{Cycle, Log};
use strata_memory::NodeId;
use strata_ptx::isa::Pc;
use strata_sm::{Key, Launch, SmLog, SmPath};

pub use cause::{Cause, PathLevel};
pub use report::{CriticalPath, LeftOut, PathPart, Paths, Place};

use crate::machine::Machine;
use crate::makers::Makers;
use crate::trace::l1d::recording_l1ds;
use crate::trace::slices::Slices;
use segments::{Cut, Segment, Spent};

/// Steps that all SMs together keep at a time, at most: about a gigabyte.
pub const MOST_STEPS: usize = 1 << 24;

/// Events of requests that all slices together keep of a launch, at most: about a gigabyte.
pub const MOST_EVENTS: usize = 1 << 24;

/// Which launches a critical path is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathOptions {
    /// Only this one, counted from 0; `None`: all of them.
    pub launch: Option<u64>,
    /// Steps that all SMs together keep at a time, at most; each has an equal share.
    pub steps: usize,
}

impl Default for PathOptions {
    fn default() -> PathOptions {
        PathOptions { launch: None, steps: MOST_STEPS }
    }
}

/// Finds the critical paths of launches.
pub struct PathFinder {
    options: PathOptions,
    /// Steps that an SM keeps at a time, at most.
    steps: usize,
    /// By SM, where its L1D records its packets.
    sms: Vec<Arc<SmLog>>,
    slices: Slices,
    paths: Paths,
}

impl PathFinder {
    /// Of launches on a machine.
    ///
    /// # Errors
    /// What is wrong with the machine.
    pub fn new(machine: &Machine, options: PathOptions) -> Result<PathFinder, String> {
        let sms: Vec<Arc<SmLog>> = machine.file().gpu.compute_sms().map(|_| Log::closed()).collect();
        Ok(PathFinder {
            options,
            steps: options.steps / sms.len().max(1),
            sms,
            slices: Slices::new(machine, MOST_EVENTS)?,
            paths: Paths::default(),
        })
    }

    /// The makers of a machine whose SMs remember steps, with accounts of these kinds.
    pub fn makers(&self, accounts: Vec<Key>) -> Makers<'static> {
        let logs: HashMap<u16, Arc<SmLog>> = (0..).zip(self.sms.iter().cloned()).collect();
        let steps = self.steps;
        Makers {
            l1d: recording_l1ds(logs.clone()),
            accounts,
            paths: logs.into_iter().map(|(sm, log)| (sm, (log, steps))).collect(),
            ..self.slices.makers()
        }
    }

    /// Whether the path of a launch is asked for; then its requests are recorded from a core cycle on.
    pub(crate) fn begin(&mut self, launch: u64, start: Cycle) -> bool {
        let is_asked_for = self.options.launch.is_none_or(|wanted| wanted == launch);
        if is_asked_for {
            self.slices.open(start, Cycle::NEVER);
        }
        is_asked_for
    }

    /// A launch has taken so many cycles, of which so many passed before its first CTA could begin: finds its path.
    pub(crate) fn end(&mut self, launch: &Launch, cycles: u64, latency: u64, of_sms: &[SmPath]) {
        match self.find(launch, (cycles, latency), of_sms) {
            Ok(path) => self.paths.launches.push(path),
            Err(reason) => self.leave_out(launch, reason),
        }
        self.slices.close();
    }

    /// The path of a launch is not known.
    pub(crate) fn leave_out(&mut self, launch: &Launch, reason: String) {
        let (number, kernel) = (launch.number, launch.kernel.name.clone());
        self.paths.left_out.push(LeftOut { launch: number, kernel, reason });
    }

    /// The paths so far.
    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    fn find(
        &self,
        launch: &Launch,
        (cycles, latency): (u64, u64),
        of_sms: &[SmPath],
    ) -> Result<CriticalPath, String> {
        if of_sms.iter().any(|path| !path.is_whole) {
            let most = self.steps;
            return Err(format!("it is too long: an SM would have to keep more than its {most} steps"));
        }
        if self.slices.are_full() {
            return Err(format!(
                "it is too long: slices of the last-level cache have more than {MOST_EVENTS} events"
            ));
        }
        let ended = |path: &&(usize, &SmPath)| path.1.steps.get(path.1.last_end as usize).is_some();
        let at = |path: &SmPath| path.steps[path.last_end as usize].at;
        let all = of_sms.iter().enumerate();
        // Of several in one cycle, the last.
        let last = all.filter(|path| ended(&path)).max_by_key(|(_, path)| at(path));
        let (sm, path) = last.ok_or("no CTA of it ended")?;
        let mut segments = tail(of_sms, at(path).into(), cycles);
        segments.extend(walk::walk(path, path.last_end, &launch.kernel.code, latency));
        let segments = packets::split(segments, path, NodeId(sm as u16), &self.slices);
        Ok(summed(launch, cycles, &segments))
    }
}

/// From the end of the last CTA to that of the launch, last to first.
fn tail(of_sms: &[SmPath], ended: u64, cycles: u64) -> Vec<Segment> {
    let mut cut = Cut::new(ended, cycles);
    let (begun, flushed) =
        of_sms.iter().map(|path| path.flush).max_by_key(|(_, end)| *end).unwrap_or_default();
    cut.on(begun.into(), Cause::LaunchEnd, None);
    cut.on(flushed.into(), Cause::FinalFlush, None);
    let mut tail = cut.end(Cause::LaunchEnd, None);
    tail.reverse();
    tail
}

fn summed(launch: &Launch, cycles: u64, segments: &[Segment]) -> CriticalPath {
    let mut sums: BTreeMap<(Option<Pc>, Cause), u64> = BTreeMap::new();
    for Segment { from, to, spent, pc } in segments {
        let cause = match spent {
            Spent::On(cause) => *cause,
            Spent::Packet(_) => Cause::Unknown,
        };
        *sums.entry((*pc, cause)).or_default() += to - from;
    }
    let part = |((pc, cause), cycles): ((Option<Pc>, Cause), u64)| PathPart {
        instruction: pc.map(|pc| report::Place::of(&launch.kernel, pc)),
        cause,
        cycles,
    };
    CriticalPath {
        launch: launch.number,
        kernel: launch.kernel.name.clone(),
        cycles,
        parts: sums.into_iter().map(part).collect(),
    }
}
