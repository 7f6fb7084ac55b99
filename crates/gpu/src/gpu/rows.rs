//! Row commands of DRAM over time, for traces.

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use super::Gpu;
use crate::trace::{RowActivity, RowWindow};

/// Counts row commands during a launch.
#[derive(Debug)]
pub(super) struct RowCount {
    window: RowWindow,
    /// Until when they have been counted, and by channel how many there were then.
    counted: Option<(Cycle, Vec<[u64; 2]>)>,
    activity: Vec<RowActivity>,
}

impl RowCount {
    /// The next cycle in which to count; [`Cycle::NEVER`] behind the window.
    pub fn next(&self) -> Cycle {
        match &self.counted {
            None if self.window.from < self.window.until => self.window.from,
            Some((at, _)) if *at < self.window.until => (*at + self.window.every).min(self.window.until),
            _ => Cycle::NEVER,
        }
    }
}

impl Gpu {
    /// Counts row commands of the next launch in a window, beginning now.
    pub(crate) fn count_rows(&mut self, window: RowWindow) {
        let from = window.from.max(self.simulation.now());
        let window = RowWindow { from, ..window };
        self.rows = Some(RowCount { window, counted: None, activity: Vec::new() });
    }

    /// The row commands of the last launch.
    pub(crate) fn take_rows(&mut self) -> Vec<RowActivity> {
        self.rows.take().map_or_else(Vec::new, |rows| rows.activity)
    }

    /// The next cycle in which row commands are to be counted.
    pub(super) fn next_rows(&self) -> Cycle {
        self.rows.as_ref().map_or(Cycle::NEVER, RowCount::next)
    }

    /// Counts the row commands up to a cycle.
    pub(super) fn count_rows_until(&mut self, now: Cycle) {
        let Some(mut rows) = self.rows.take() else { return };
        let counts: Vec<[u64; 2]> = (0..self.channels()).map(|channel| self.row_commands(channel)).collect();
        let counted = rows.counted.replace((now, counts));
        if let (Some((from, before)), Some((_, after))) = (counted, &rows.counted) {
            for (channel, (before, after)) in before.iter().zip(after).enumerate() {
                let [activates, row_hits] = [0, 1].map(|which| after[which] - before[which]);
                rows.activity.push(RowActivity { channel: channel as u16, from, activates, row_hits });
            }
        }
        self.rows = Some(rows);
    }

    /// Counts the row commands of the rest of a launch that has ended at `now`.
    pub(super) fn end_rows(&mut self, now: Cycle) {
        if self.rows.as_ref().is_some_and(|rows| rows.counted.is_some() && rows.next() != Cycle::NEVER) {
            self.count_rows_until(now);
        }
    }

    fn row_commands(&mut self, channel: usize) -> [u64; 2] {
        let groups = self.partition(channel).statistics();
        let dram: Option<&Group> = groups.iter().find(|group| group.name == "dram");
        ["activates", "row_hits"].map(|name| dram.and_then(|dram| dram.get(name)).unwrap_or(0))
    }
}
