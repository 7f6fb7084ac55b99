//! The progress of a program: of the launch that runs now.

use std::time::{Duration, Instant};

use super::processes::Process;
use crate::progress::Display;

/// A launch that takes less is not shown: what a program writes between launches is not disturbed.
const SHORT: Duration = Duration::from_secs(1);

/// The launch that is shown.
struct Launch {
    /// Process and launch.
    number: (u64, u64),
    /// When it was first seen, and at which cycle.
    since: Instant,
    from_cycle: u64,
}

/// A bar, or lines, for the longest of the launches that run.
pub struct Shown {
    display: Display,
    launch: Option<Launch>,
}

impl Shown {
    /// The progress of a program.
    pub fn new(program: &str) -> Shown {
        Shown { display: Display::new(program, false), launch: None }
    }

    /// Shows what runs now.
    pub fn show(&mut self, processes: &[Process]) {
        let running = || processes.iter().filter_map(|process| Some((process, process.now.as_ref()?)));
        let number = |process: &Process, now: &serde_json::Value| (process.number, now["launch"].as_u64());
        let known = self.launch.as_ref().map(|launch| (launch.number.0, Some(launch.number.1)));
        let same = running().find(|(process, now)| Some(number(process, now)) == known);
        let Some((process, now)) = same.or_else(|| running().next()) else {
            return self.clear();
        };
        let cycle = now["cycle"].as_u64();
        if same.is_none() {
            self.clear();
            let number = (process.number, now["launch"].as_u64().unwrap_or(0));
            self.launch = Some(Launch { number, since: Instant::now(), from_cycle: cycle.unwrap_or(0) });
        }
        let Some(launch) = self.launch.as_ref().filter(|launch| launch.since.elapsed() >= SHORT) else {
            return;
        };
        let (_, number) = launch.number;
        let mut message = format!("launch {number} `{}`", now["kernel"].as_str().unwrap_or_default());
        if processes.len() > 1 {
            message = format!("process {}, {message}", process.number);
        }
        if let Some(cycle) = cycle {
            let rate =
                (cycle.saturating_sub(launch.from_cycle)) as f64 / launch.since.elapsed().as_secs_f64();
            message += &format!(": {cycle} cycles, {:.0} k/s", rate / 1e3);
        }
        let count = |key: &str| now[key].as_u64().unwrap_or(0);
        self.display.show(count("ctas_done"), count("ctas").max(1), message);
    }

    /// Takes the bar from the terminal, until something else is shown.
    pub fn clear(&mut self) {
        if self.launch.take().is_some() {
            self.display.clear();
        }
    }
}
