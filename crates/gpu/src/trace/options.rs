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
    /// Of an SM's memory requests the first and every so many-th behind it; 1: all of them.
    pub sample: u64,
    /// Of an SM's warp slots the first and every so many-th behind it; 1: all of them.
    pub sample_warps: u64,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            from: 0,
            cycles: WINDOW_CYCLES,
            launch: None,
            sms: Vec::new(),
            sample: 1,
            sample_warps: 1,
        }
    }
}

impl TraceOptions {
    /// Checks that something is traced.
    ///
    /// # Errors
    /// The number that is 0.
    pub fn check(&self) -> Result<(), String> {
        for (value, what) in [
            (self.cycles, "a trace of 0 cycles"),
            (self.sample, "a trace of every 0th request"),
            (self.sample_warps, "a trace of every 0th warp"),
        ] {
            if value == 0 {
                return Err(format!("{what}: expected at least 1"));
            }
        }
        Ok(())
    }

    /// The warp slots that are traced, a bit each.
    pub fn warps(&self) -> u64 {
        let every = usize::try_from(self.sample_warps).unwrap_or(usize::MAX);
        (0..u64::BITS).step_by(every).fold(0, |warps, warp| warps | 1 << warp)
    }

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

    #[test]
    fn a_sample_of_warps_begins_with_the_first() {
        let every = |sample_warps| TraceOptions { sample_warps, ..TraceOptions::default() }.warps();
        assert_eq!(
            [every(1), every(3), every(63), every(64), every(u64::MAX)],
            [u64::MAX, 0x9249_2492_4924_9249, 1 << 63 | 1, 1, 1]
        );
    }

    #[test]
    fn nothing_is_traced_of_every_0th() {
        for (options, what) in [
            (TraceOptions { sample: 0, ..TraceOptions::default() }, "request"),
            (TraceOptions { sample_warps: 0, ..TraceOptions::default() }, "warp"),
        ] {
            assert_eq!(options.check(), Err(format!("a trace of every 0th {what}: expected at least 1")));
        }
        assert_eq!(TraceOptions::default().check(), Ok(()));
    }
}
