//! Looks at every part of a machine while it runs, for whoever compares two runs cycle by cycle.

use std::fmt;
use std::ops::ControlFlow;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_sm::launch::Launch;

use super::Gpu;
use crate::part::Part;
use crate::results::{Counted, modes};

/// When to look at a machine's parts, and what to do with what is seen.
pub struct Watch {
    from: u64,
    pace: u64,
    /// When to look next.
    next: u64,
    see: Box<dyn FnMut(Seen) -> ControlFlow<()> + Send>,
}

/// The parts of a machine before some cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Number of the launch; of a host phase, that of the launches before it.
    pub launch: u64,
    /// Name of its kernel.
    pub kernel: String,
    /// The cycle, counted from the beginning of the run: all cycles before it are simulated.
    pub cycle: u64,
    /// The cycle in which the launch began.
    pub began: u64,
    /// Whether the launch has ended.
    pub ended: bool,
    /// The counters of each part, since the machine was built.
    pub parts: Vec<Counted>,
}

impl Watch {
    /// Looks from a cycle on, and ever more rarely: after `n` more cycles, every `n / pace` cycles, and at least after each; and at
    /// the end of each launch. `see` may end the run.
    pub fn new(from: u64, pace: u64, see: Box<dyn FnMut(Seen) -> ControlFlow<()> + Send>) -> Watch {
        Watch { from, pace, next: from.max(1), see }
    }

    /// The next cycle to look at.
    fn after(&mut self, now: Cycle) -> Cycle {
        if self.next <= now.0 {
            let since = now.0.saturating_sub(self.from);
            self.next = now.0.saturating_add((since / self.pace.max(1)).max(1));
        }
        Cycle(self.next)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("from", &self.from).field("pace", &self.pace).finish_non_exhaustive()
    }
}

impl Gpu {
    /// Looks at the parts of later launches and host phases. Results do not change.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// The next cycle to look at; never, where nobody watches.
    pub(super) fn next_watched(&mut self) -> Cycle {
        let now = self.simulation.now();
        self.watch.as_mut().map_or(Cycle::NEVER, |watch| watch.after(now))
    }

    /// Shows whoever watches the parts as they are.
    pub(super) fn show_parts(&mut self, launch: &Launch, began: Cycle, ended: bool) -> ControlFlow<()> {
        let Some(mut watch) = self.watch.take() else { return ControlFlow::Continue(()) };
        let seen = Seen {
            launch: launch.number,
            kernel: launch.kernel.name.clone(),
            cycle: self.simulation.now().0,
            began: began.0,
            ended,
            parts: self.every_part(),
        };
        let flow = (watch.see)(seen);
        self.watch = Some(watch);
        flow
    }

    /// The counters of every part of the machine: SMs, CPU cores, GMMUs, LLC slices, memory channels without their slices, and
    /// networks.
    pub fn every_part(&mut self) -> Vec<Counted> {
        let mut parts = Vec::new();
        let (sms, cores) = (self.islands.sms.end, self.islands.cores.clone());
        let helpers = self.helper_sms.clone();
        for (index, part) in self.simulation.islands_mut().enumerate() {
            let mut groups = part.statistics();
            let name = match part {
                Part::Sm(_) if helpers.contains(&index) => format!("sm {index} (cache mode)"),
                Part::Sm(_) => format!("sm {index}"),
                Part::Cpu(_) => format!("cpu {}", index - sms),
                Part::Gmmu(_) => format!("gmmu {}", index - cores.end),
                Part::Network(_) => groups.first().map_or("network", |group| group.name).to_owned(),
                Part::Partition(_) | Part::PartitionDomain(_) | Part::Dispatcher(_) => continue,
            };
            if helpers.contains(&index) {
                groups = modes::in_cache_mode(groups);
            }
            parts.push(Counted::new(name, groups));
        }
        for slice in 0..self.map.slice_map().slices() {
            let (channel, place) = self.map.channel_of(slice);
            let groups = self.partition(channel.into()).slice_statistics(place);
            parts.push(Counted::new(format!("slice {slice}"), groups));
        }
        for channel in 0..self.channels() {
            let of_slices: Vec<&str> =
                self.partition(channel).slice_statistics(0).iter().map(|group| group.name).collect();
            let is_own = |group: &Group| !of_slices.contains(&group.name);
            let groups = self.partition(channel).statistics().into_iter().filter(is_own).collect();
            parts.push(Counted::new(format!("channel {channel}"), groups));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_at_each_cycle_and_then_ever_more_rarely() {
        let looks = |from, pace, until| {
            let mut watch = Watch::new(from, pace, Box::new(|_| ControlFlow::Continue(())));
            let mut looks = Vec::new();
            let mut now = Cycle(0);
            while now.0 < until {
                now = watch.after(now);
                looks.push(now.0);
            }
            looks
        };
        assert_eq!(looks(0, u64::MAX, 4), [1, 2, 3, 4]);
        assert_eq!(looks(7, u64::MAX, 9), [7, 8, 9]);
        assert_eq!(looks(0, 4, 20), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22]);
        assert_eq!(looks(10, 2, 20), [10, 11, 12, 13, 14, 16, 19, 23]);
    }
}
