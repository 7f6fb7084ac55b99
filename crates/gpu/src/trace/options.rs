//! What part of a run is traced.

use std::ops::Range;

use crate::machine::Machine;

/// Default length of the window, in core cycles.
pub const WINDOW_CYCLES: u64 = 4_000;

/// What part of a run is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// The first core cycle: of the run or, with a launch, after its beginning.
    pub from: u64,
    /// So many core cycles.
    pub cycles: u64,
    /// Only this launch, counted from 0.
    pub launch: Option<u64>,
    /// Only these SMs; all of them if it is empty.
    pub sms: Vec<u16>,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions { from: 0, cycles: WINDOW_CYCLES, launch: None, sms: Vec::new() }
    }
}

impl TraceOptions {
    /// The SMs that are traced, in order.
    ///
    /// # Errors
    /// The SM that the machine does not have, or that runs no programs.
    pub fn sms(&self, machine: &Machine) -> Result<Vec<u16>, String> {
        let all: Range<usize> = machine.file().gpu.compute_sms();
        if let Some(sm) = self.sms.iter().find(|sm| !all.contains(&usize::from(**sm))) {
            return Err(format!("found SM {sm}, expected 0 to {}, which run programs", all.end - 1));
        }
        let wanted = |sm: &u16| self.sms.is_empty() || self.sms.contains(sm);
        Ok((0..all.end as u16).filter(wanted).collect())
    }

    /// The window of a launch that begins in core cycle `start`.
    pub fn window(&self, launch: u64, start: u64) -> Range<u64> {
        let from = match self.launch {
            None => self.from,
            Some(wanted) if wanted == launch => start.saturating_add(self.from),
            Some(_) => return 0..0,
        };
        from..from.saturating_add(self.cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_runs_or_a_launchs() {
        let run = TraceOptions { from: 100, cycles: 50, ..TraceOptions::default() };
        assert_eq!([run.window(0, 0), run.window(3, 120)], [100..150, 100..150]);
        let launch = TraceOptions { launch: Some(3), ..run };
        assert_eq!([launch.window(0, 0), launch.window(3, 120)], [0..0, 220..270]);
        let all = TraceOptions { cycles: u64::MAX, from: 1, ..TraceOptions::default() };
        assert_eq!(all.window(0, 0), 1..u64::MAX);
    }
}
