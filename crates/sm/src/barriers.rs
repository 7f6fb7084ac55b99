//! CTA barriers: 16 named barriers per CTA, which count threads in units of whole warps.

/// Number of named barriers per CTA (PTX ISA, "bar").
pub const BARRIERS_PER_CTA: usize = 16;

/// A warp's arrival at a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Whether the warp waits for the barrier to complete; false for `bar.arrive`.
    pub waits: bool,
    /// Number of threads that complete the barrier; 0 stands for every thread of the CTA that has not exited.
    pub threads: u32,
    /// Number of lanes that execute the instruction.
    pub lanes: u32,
    /// Number of those lanes whose predicate is true (`bar.red`).
    pub ayes: u32,
}

/// The effect of a completed barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Mask of the warp slots that waited.
    pub warps: u64,
    /// Number of threads whose predicate was true.
    pub ayes: u32,
    /// Whether the predicate was true in every thread.
    pub all: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    waiting: u64,
    /// Number of threads that have arrived. The hardware counts whole warps: each counts 32, however few of its lanes
    /// are active.
    arrived: u32,
    expected: u32,
    lanes: u32,
    ayes: u32,
}

/// The named barriers of every CTA slot of an SM.
#[derive(Debug)]
pub struct Barriers {
    ctas: Vec<[Barrier; BARRIERS_PER_CTA]>,
}

impl Barriers {
    /// Barriers for `ctas` CTA slots, with no arrivals.
    pub fn new(ctas: usize) -> Self {
        Barriers { ctas: vec![[Barrier::default(); BARRIERS_PER_CTA]; ctas] }
    }

    /// Clears a slot's barriers for the CTA that starts in it.
    pub fn reset(&mut self, cta: usize) {
        self.ctas[cta] = [Barrier::default(); BARRIERS_PER_CTA];
    }

    /// Whether warps have arrived at the barrier with a different thread count.
    pub fn contradicts(&self, cta: usize, barrier: usize, threads: u32) -> bool {
        let state = &self.ctas[cta][barrier];
        state.arrived > 0 && state.expected != threads
    }

    /// Records a warp's arrival. `live` is the number of the CTA's warps that have not exited. Returns the release
    /// when the arrival completes the barrier.
    pub fn arrive(
        &mut self,
        cta: usize,
        barrier: usize,
        warp: usize,
        arrival: Arrival,
        live: u32,
    ) -> Option<Release> {
        let state = &mut self.ctas[cta][barrier];
        state.waiting |= u64::from(arrival.waits) << warp;
        state.arrived += 32;
        state.expected = arrival.threads;
        state.lanes += arrival.lanes;
        state.ayes += arrival.ayes;
        complete(state, live)
    }

    /// Checks barriers for all threads after a warp of the CTA has exited, leaving `live` warps. Returns one
    /// completed barrier per call; call until it returns `None`.
    pub fn exited(&mut self, cta: usize, live: u32) -> Option<Release> {
        self.ctas[cta]
            .iter_mut()
            .filter(|state| state.arrived > 0 && state.expected == 0)
            .find_map(|state| complete(state, live))
    }

    /// The barrier that a warp waits at, as (barrier, threads arrived, threads expected), for the deadlock report.
    /// Expecting 0 threads stands for the whole CTA.
    pub fn waiting(&self, cta: usize, warp: usize) -> Option<(usize, u32, u32)> {
        let barrier = self.ctas[cta].iter().position(|state| state.waiting >> warp & 1 == 1)?;
        let state = &self.ctas[cta][barrier];
        Some((barrier, state.arrived, state.expected))
    }
}

fn complete(state: &mut Barrier, live: u32) -> Option<Release> {
    let expected = if state.expected == 0 { 32 * live } else { state.expected };
    if state.arrived < expected {
        return None;
    }
    let Barrier { waiting: warps, ayes, lanes, .. } = std::mem::take(state);
    Some(Release { warps, ayes, all: ayes == lanes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Arrival = Arrival { waits: true, threads: 0, lanes: 32, ayes: 0 };

    #[test]
    fn the_last_warp_releases_all() {
        let mut barriers = Barriers::new(2);
        assert_eq!(barriers.arrive(1, 0, 5, WAIT, 3), None);
        assert_eq!(barriers.arrive(1, 0, 6, WAIT, 3), None);
        assert_eq!(barriers.arrive(0, 0, 1, WAIT, 3), None, "another CTA");
        assert_eq!(barriers.arrive(1, 3, 7, WAIT, 3), None, "another barrier");
        let release = barriers.arrive(1, 0, 7, WAIT, 3).unwrap();
        assert_eq!(release.warps, 0b1110_0000);
        assert_eq!(barriers.arrive(1, 0, 7, WAIT, 3), None, "it can be used again");
    }

    #[test]
    fn producers_arrive_and_consumers_wait() {
        let mut barriers = Barriers::new(1);
        let produce = Arrival { waits: false, threads: 64, ..WAIT };
        assert_eq!(barriers.arrive(0, 1, 0, produce, 4), None);
        let release = barriers.arrive(0, 1, 1, Arrival { threads: 64, ..WAIT }, 4).unwrap();
        assert_eq!(release.warps, 0b10);
    }

    #[test]
    fn reductions() {
        let mut barriers = Barriers::new(1);
        assert_eq!(barriers.arrive(0, 0, 0, Arrival { ayes: 32, ..WAIT }, 2), None);
        let release = barriers.arrive(0, 0, 1, Arrival { lanes: 4, ayes: 3, ..WAIT }, 2).unwrap();
        assert_eq!(release, Release { warps: 0b11, ayes: 35, all: false });
        barriers.arrive(0, 0, 0, Arrival { ayes: 32, ..WAIT }, 2);
        assert!(barriers.arrive(0, 0, 1, Arrival { lanes: 4, ayes: 4, ..WAIT }, 2).unwrap().all);
    }

    #[test]
    fn an_exit_completes_what_waited_for_the_warp() {
        let mut barriers = Barriers::new(1);
        barriers.arrive(0, 2, 0, WAIT, 2);
        assert!(barriers.contradicts(0, 2, 64) && !barriers.contradicts(0, 3, 64));
        barriers.arrive(0, 4, 0, Arrival { waits: false, threads: 64, ..WAIT }, 2);
        assert_eq!(barriers.exited(0, 1).map(|release| release.warps), Some(1));
        assert_eq!(barriers.exited(0, 1), None, "a barrier with a count of its own still waits");
    }
}
