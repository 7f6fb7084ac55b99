//! CTA barriers: 16 named ones a CTA, counted in warps' worth of threads.

/// Named barriers of a CTA (PTX ISA, "bar").
pub const BARRIERS_PER_CTA: usize = 16;

/// What one warp brings to a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Whether the warp waits (`bar.arrive` does not).
    pub waits: bool,
    /// Threads that the barrier takes to complete; 0: all of the CTA that have not exited.
    pub threads: u32,
    /// Lanes that execute it.
    pub lanes: u32,
    /// Of those, lanes whose predicate is true (`bar.red`).
    pub ayes: u32,
}

/// A completed barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Warp slots that waited.
    pub warps: u64,
    /// Threads whose predicate was true.
    pub ayes: u32,
    /// Whether it was true in every thread.
    pub all: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    waiting: u64,
    /// Threads that have arrived. The hardware counts warps: a warp brings 32 however few of its lanes live.
    arrived: u32,
    expected: u32,
    lanes: u32,
    ayes: u32,
}

/// The barriers of every CTA slot of an SM.
#[derive(Debug)]
pub struct Barriers {
    ctas: Vec<[Barrier; BARRIERS_PER_CTA]>,
}

impl Barriers {
    /// Barriers of `ctas` CTA slots, nobody there.
    pub fn new(ctas: usize) -> Self {
        Barriers { ctas: vec![[Barrier::default(); BARRIERS_PER_CTA]; ctas] }
    }

    /// A CTA starts in the slot.
    pub fn reset(&mut self, cta: usize) {
        self.ctas[cta] = [Barrier::default(); BARRIERS_PER_CTA];
    }

    /// Whether warps wait at the barrier for another number of threads.
    pub fn contradicts(&self, cta: usize, barrier: usize, threads: u32) -> bool {
        let state = &self.ctas[cta][barrier];
        state.arrived > 0 && state.expected != threads
    }

    /// A warp arrives; `live` warps of the CTA have not exited. The release, when this completes the barrier.
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

    /// A warp of the CTA has exited: barriers for all threads may complete with those that are left. Call
    /// until it returns nothing.
    pub fn exited(&mut self, cta: usize, live: u32) -> Option<Release> {
        self.ctas[cta]
            .iter_mut()
            .filter(|state| state.arrived > 0 && state.expected == 0)
            .find_map(|state| complete(state, live))
    }

    /// Threads that have arrived at each barrier of a CTA where somebody waits: for the deadlock report.
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
