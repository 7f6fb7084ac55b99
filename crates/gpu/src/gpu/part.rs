//! A part of a launch: from one of its CTAs to another.

use strata_engine::Cycle;
use strata_sm::launch::Launch;

use super::queue::Begin;
use super::{Gpu, LOOK_CYCLES};
use crate::region::Most;
use crate::results::{Before, By};

/// The CTAs of a launch that run, in the order in which they start, and those of them that count.
#[derive(Clone, Copy, Debug)]
pub struct LaunchPart<'a> {
    /// The first that runs.
    pub first: u64,
    /// The first that counts. It starts when all before it have ended.
    pub counted: u64,
    /// How much counts at the most; whole clusters run.
    pub most: Most,
    /// What the counters before those that count are broken down by.
    pub by: &'a [By],
}

impl LaunchPart<'_> {
    /// All CTAs, which count.
    pub const WHOLE: LaunchPart<'static> = LaunchPart {
        first: 0,
        counted: 0,
        most: Most { ctas: None, cycles: None, instructions: None },
        by: &[],
    };

    /// Whether some CTAs run that do not count.
    fn is_held(&self) -> bool {
        self.counted > self.first
    }

    /// When the part may end before its last CTA, counted from now; `None` if it never does, or if CTAs still run that do not
    /// count. Those of a cooperative launch wait for each other, so all run.
    pub(super) fn early_end(&self, launch: &Launch, gpu: &mut Gpu) -> Option<EarlyEnd> {
        let Most { cycles, instructions, .. } = self.most;
        let ends = (cycles, instructions) != (None, None) && !launch.kernel.cooperative;
        if !ends || (self.is_held() && gpu.dispatcher().is_waiting()) {
            return None;
        }
        let from = gpu.now();
        let goal = instructions.map(|most| gpu.thread_instructions().saturating_add(most));
        let cycle = cycles.map_or(Cycle::NEVER, |most| Cycle(from.0.saturating_add(most)));
        Some(EarlyEnd { from, cycle, instructions: goal })
    }
}

/// When a launch hands out no more CTAs.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyEnd {
    from: Cycle,
    cycle: Cycle,
    /// Thread instructions in all.
    instructions: Option<u64>,
}

impl EarlyEnd {
    /// The next cycle in which to look whether it is reached.
    pub(super) fn next(&self, now: Cycle) -> Cycle {
        let looks = now.since(self.from) / LOOK_CYCLES;
        let look = self.instructions.map_or(Cycle::NEVER, |_| self.from + (looks + 1) * LOOK_CYCLES);
        look.min(self.cycle)
    }

    /// Whether it is reached.
    pub(super) fn is_reached(&self, gpu: &mut Gpu) -> bool {
        self.cycle <= gpu.now() || self.instructions.is_some_and(|goal| gpu.thread_instructions() >= goal)
    }
}

impl Gpu {
    /// Hands a part of a launch to the dispatcher.
    pub(super) fn begin_part(
        &mut self,
        launch: &Launch,
        part: &LaunchPart<'_>,
        per_sm: u32,
        now: Cycle,
    ) -> Begin {
        let (cluster, ctas) = (launch.cluster_ctas(), launch.ctas());
        let begin = if part.first > 0 { self.queue.go_on(now) } else { self.queue.begin(now) };
        let last = part.most.ctas.map_or(ctas, |most| part.counted.saturating_add(most));
        let last = last.checked_next_multiple_of(cluster.into()).map_or(ctas, |last| last.min(ctas));
        let end = if launch.kernel.cooperative { ctas } else { last };
        self.dispatcher().begin_part(part.first..end, cluster, per_sm, begin.from);
        if part.is_held() {
            self.dispatcher().hold_at(part.counted);
        }
        begin
    }

    /// Goes on with the CTAs that count. Gives the counters before them.
    pub(super) fn go_on(&mut self, launch: &Launch, part: &LaunchPart<'_>) -> Box<Before> {
        let now = self.now();
        self.settle(now);
        self.dispatcher().go_on();
        drop((self.take_prints(), self.take_accounts()));
        for index in self.compute_sms.clone() {
            self.sm(index).begin_accounts(launch);
        }
        self.begin_queues(now);
        let parts = part.by.iter().map(|by| self.parts(*by)).collect();
        Box::new(Before { all: self.statistics(), parts })
    }

    /// Thread instructions that the SMs of programs have issued so far.
    fn thread_instructions(&mut self) -> u64 {
        let mut all = 0;
        for index in self.compute_sms.clone() {
            let groups = self.simulation.island_mut(index).statistics();
            let sm = groups.iter().find(|group| group.name == "sm");
            all += sm.and_then(|group| group.get("thread_instructions")).unwrap_or(0);
        }
        all
    }
}
