//! Why a launch or host phase did not end.

use std::sync::atomic::Ordering;

use strata_engine::{Cycle, Stop};
use strata_sm::launch::FaultKind;
use strata_workloads::Failure;

use super::{Gpu, Stopped};
use crate::part::Part;

/// Maximum number of sentences in a deadlock report.
pub(super) const REPORT_LINES: usize = 64;

impl Gpu {
    /// Why a launch or host phase did not end.
    pub(super) fn stopped_by(&mut self, stop: Stop) -> Stopped {
        match stop {
            Stop::Quiet { last } => self.explain("can never finish", last),
            Stop::Stuck { at } => self.explain("is stuck", at),
            Stop::CycleLimit => self.unfinished("reached the cycle limit", self.options.limit),
            Stop::Failed { at } => {
                self.first_fault().unwrap_or_else(|| self.unfinished("was interrupted", at))
            }
            Stop::Paused => unreachable!("a launch goes on after a pause"),
        }
    }

    /// The first fault; of several in one cycle, that of the lowest SM or CPU core, so that the choice does not depend on
    /// the window length.
    fn first_fault(&mut self) -> Option<Stopped> {
        let of_part = |part: &Part| match part {
            Part::Sm(sm) => sm.fault().map(|(cycle, fault)| (cycle, fault.clone())),
            Part::Cpu(core) => {
                let (cycle, fault) = core.island().fault()?;
                Some((core.clock().reference(cycle.0), fault.clone()))
            }
            _ => None,
        };
        let faults = self.simulation.islands_mut().filter_map(|part| of_part(part));
        let (_, fault) = faults.enumerate().min_by_key(|(index, (cycle, _))| (*cycle, *index))?.1;
        let failure = match fault.kind {
            FaultKind::OutOfBounds { .. } => Failure::Address,
            FaultKind::Misaligned { .. } => Failure::Misaligned,
            FaultKind::Trap => Failure::Trap,
            FaultKind::Assertion { .. } => Failure::Assertion,
            FaultKind::Unsupported { .. }
            | FaultKind::DivergentBarrier
            | FaultKind::MissingLanes
            | FaultKind::Mapping { .. }
            | FaultKind::BadCall { .. }
            | FaultKind::Texture { .. }
            | FaultKind::StackOverflow { .. } => Failure::Other,
        };
        let outside = match fault.kind {
            FaultKind::OutOfBounds { address, bytes, space: "global" | "constant" | "texture" } => {
                Some((address, bytes.into()))
            }
            _ => None,
        };
        Some(Stopped { failure, reason: fault.to_string(), so_far: None, outside })
    }

    fn explain(&mut self, what: &str, at: Cycle) -> Stopped {
        let mut lines = self.simulation.waits();
        let more = lines.len().saturating_sub(REPORT_LINES);
        lines.truncate(REPORT_LINES);
        if more > 0 {
            lines.push(format!("... and {more} more"));
        }
        let reason = format!("the kernel {what} (cycle {at}):\n  {}", lines.join("\n  "));
        Stopped { failure: Failure::Unfinished, reason, so_far: None, outside: None }
    }

    /// A launch that was stopped from outside.
    fn unfinished(&mut self, what: &str, at: Cycle) -> Stopped {
        let ended = self.ctas_done.load(Ordering::Relaxed);
        let reason = format!("the kernel {what} (cycle {at}); {ended} CTAs have ended");
        Stopped { failure: Failure::Unfinished, reason, so_far: None, outside: None }
    }
}
