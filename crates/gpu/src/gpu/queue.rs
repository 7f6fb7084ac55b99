//! Launches on their way to the GPU: what each takes before its first CTA, and how much of that passes beside the launch before it.

use strata_engine::Cycle;

/// The launches that the host has handed over, one after another.
#[derive(Clone, Debug)]
pub(super) struct LaunchQueue {
    /// Cycles from a launch that waits for nothing to its first CTA.
    latency: u64,
    /// The least cycles between the first CTAs of launches that are handed over together. `None`: they do not overlap.
    interval: Option<u64>,
    /// When the last launch could begin its first CTA, unless the host has waited for it since.
    before: Option<Cycle>,
}

/// When a launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    /// When its first CTA may begin.
    pub from: Cycle,
    /// Cycles of its latency that had passed before.
    pub overlapped: u64,
}

impl LaunchQueue {
    pub(super) fn new(latency: u64, interval: Option<u64>) -> LaunchQueue {
        LaunchQueue { latency, interval, before: None }
    }

    /// A launch is at the head of the queue: what came before it has ended.
    pub(super) fn begin(&mut self, now: Cycle) -> Begin {
        let alone = now + self.latency;
        let from = match self.interval.zip(self.before) {
            Some((interval, before)) => (before + interval).max(now).min(alone),
            None => alone,
        };
        self.before = Some(from);
        Begin { from, overlapped: alone.since(from) }
    }

    /// A launch whose first CTAs have run elsewhere goes on: its latency has passed.
    pub(super) fn go_on(&mut self, now: Cycle) -> Begin {
        self.before = Some(now);
        Begin { from: now, overlapped: 0 }
    }

    /// The host waits for all launches before it hands over another one.
    pub(super) fn drain(&mut self) {
        self.before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(from: u64, overlapped: u64) -> Begin {
        Begin { from: Cycle(from), overlapped }
    }

    #[test]
    fn without_an_interval_each_launch_takes_its_latency() {
        let mut queue = LaunchQueue::new(5000, None);
        assert_eq!(queue.begin(Cycle(0)), begin(5000, 0));
        assert_eq!(queue.begin(Cycle(6000)), begin(11_000, 0));
    }

    #[test]
    fn a_launch_behind_a_short_one_waits_for_the_rest_of_the_interval() {
        let mut queue = LaunchQueue::new(5000, Some(3000));
        assert_eq!(queue.begin(Cycle(0)), begin(5000, 0));
        // The kernel takes 600 cycles. The next one may begin 3,000 after its beginning, at 8,000, instead of 5,600 + 5,000.
        assert_eq!(queue.begin(Cycle(5600)), begin(8000, 2600));
        // This one takes 4,000, so nothing is left of the interval, and all of the latency has passed.
        assert_eq!(queue.begin(Cycle(12_000)), begin(12_000, 5000));
    }

    #[test]
    fn a_launch_that_goes_on_takes_no_latency() {
        let mut queue = LaunchQueue::new(5000, Some(3000));
        assert_eq!(queue.go_on(Cycle(100)), begin(100, 0));
        assert_eq!(queue.begin(Cycle(600)), begin(3100, 2500), "3,000 after the one before");
    }

    #[test]
    fn a_launch_after_the_host_has_waited_overlaps_with_nothing() {
        let mut queue = LaunchQueue::new(5000, Some(3000));
        queue.begin(Cycle(0));
        queue.drain();
        assert_eq!(queue.begin(Cycle(5600)), begin(10_600, 0));
    }

    #[test]
    fn no_launch_takes_longer_for_the_one_before_it() {
        let mut queue = LaunchQueue::new(1000, Some(3000));
        queue.begin(Cycle(0));
        assert_eq!(queue.begin(Cycle(1100)), begin(2100, 0));
    }
}
