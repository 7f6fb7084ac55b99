//! Vector clocks, compressed by what threads have in common.
//!
//! Each CTA has a time that goes on whenever one of its threads hands knowledge on. Every access carries the time of its CTA.
//! A clock says, for threads of some CTAs, up to which time their accesses happen before what its owner does next. Threads
//! that passed the same barrier have the same clock, so a barrier of the whole CTA leaves one number behind.

use std::sync::Arc;

/// A time of a CTA.
pub(super) type Time = u32;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub cta: u32,
    /// Number of the warp in its CTA.
    pub warp: u32,
    pub lane: u32,
}

/// Up to which times the accesses of a CTA's threads are known. A thread's is the latest of the three that name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The time known of every thread.
    pub all: Time,
    /// Of whole warps, ascending by warp.
    warps: Vec<(u32, Time)>,
    /// Of threads, ascending by warp and lane.
    threads: Vec<((u32, u32), Time)>,
}

impl Known {
    fn of_warp(&self, warp: u32) -> Time {
        self.all.max(find(&self.warps, warp))
    }

    fn of(&self, warp: u32, lane: u32) -> Time {
        self.of_warp(warp).max(find(&self.threads, (warp, lane)))
    }

    /// Forgets what wider knowledge says too.
    fn tidy(&mut self) {
        let Known { all, warps, threads } = self;
        warps.retain(|(_, time)| time > all);
        threads.retain(|((warp, _), time)| time > all && *time > find(warps, *warp));
    }

    fn join(&mut self, other: &Known) {
        self.all = self.all.max(other.all);
        other.warps.iter().for_each(|(warp, time)| raise(&mut self.warps, *warp, *time));
        other.threads.iter().for_each(|(thread, time)| raise(&mut self.threads, *thread, *time));
        self.tidy();
    }
}

fn find<K: Ord + Copy>(list: &[(K, Time)], key: K) -> Time {
    list.binary_search_by_key(&key, |(known, _)| *known).map_or(0, |place| list[place].1)
}

fn raise<K: Ord + Copy>(list: &mut Vec<(K, Time)>, key: K, time: Time) {
    match list.binary_search_by_key(&key, |(known, _)| *known) {
        Ok(place) => list[place].1 = list[place].1.max(time),
        Err(place) => list.insert(place, (key, time)),
    }
}

/// Whose accesses a piece of knowledge is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    All,
    Warp(u32),
    /// Warp and lane.
    Thread(u32, u32),
}

/// What a thread knows of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Ascending by CTA.
    ctas: Vec<(u32, Arc<Known>)>,
}

impl Clock {
    fn cta(&self, cta: u32) -> Option<&Known> {
        let place = self.ctas.binary_search_by_key(&cta, |(known, _)| *known).ok()?;
        Some(&self.ctas[place].1)
    }

    /// Up to which time it knows a thread.
    pub fn of(&self, thread: Thread) -> Time {
        self.cta(thread.cta).map_or(0, |known| known.of(thread.warp, thread.lane))
    }

    /// Up to which time it knows every thread of a warp.
    pub fn of_warp(&self, cta: u32, warp: u32) -> Time {
        self.cta(cta).map_or(0, |known| known.of_warp(warp))
    }

    /// Up to which time it knows every thread of a CTA.
    pub fn of_all(&self, cta: u32) -> Time {
        self.cta(cta).map_or(0, |known| known.all)
    }

    /// Learns of threads of a CTA.
    pub fn learn(&mut self, cta: u32, groups: impl IntoIterator<Item = (Group, Time)>) {
        let place = self.ctas.binary_search_by_key(&cta, |(known, _)| *known).unwrap_or_else(|place| {
            self.ctas.insert(place, (cta, Arc::default()));
            place
        });
        let known = Arc::make_mut(&mut self.ctas[place].1);
        for (group, time) in groups {
            match group {
                Group::All => known.all = known.all.max(time),
                Group::Warp(warp) => raise(&mut known.warps, warp, time),
                Group::Thread(warp, lane) => raise(&mut known.threads, (warp, lane), time),
            }
        }
        known.tidy();
    }

    /// Learns all that another knows.
    pub fn join(&mut self, other: &Clock) {
        for (cta, theirs) in &other.ctas {
            match self.ctas.binary_search_by_key(cta, |(known, _)| *known) {
                Err(place) => self.ctas.insert(place, (*cta, theirs.clone())),
                Ok(place) if Arc::ptr_eq(&self.ctas[place].1, theirs) => {}
                Ok(place) => Arc::make_mut(&mut self.ctas[place].1).join(theirs),
            }
        }
    }
}

/// The join of two clocks.
pub(super) fn join(one: &Arc<Clock>, other: &Arc<Clock>) -> Arc<Clock> {
    if Arc::ptr_eq(one, other) || other.ctas.is_empty() {
        return one.clone();
    }
    let mut both = Clock::clone(one);
    both.join(other);
    Arc::new(both)
}

/// A clock with what a thread did until now.
pub(super) fn with_own(clock: &Arc<Clock>, thread: Thread, now: Time) -> Arc<Clock> {
    let mut with = Clock::clone(clock);
    with.learn(thread.cta, [(Group::Thread(thread.warp, thread.lane), now)]);
    Arc::new(with)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Thread = Thread { cta: 3, warp: 1, lane: 7 };
    const B: Thread = Thread { cta: 3, warp: 1, lane: 8 };

    #[test]
    fn a_thread_is_known_by_the_widest_knowledge() {
        let mut clock = Clock::default();
        clock.learn(3, [(Group::Thread(1, 7), 9), (Group::Warp(1), 5), (Group::All, 2)]);
        assert_eq!((clock.of(A), clock.of(B), clock.of(Thread { warp: 0, ..A })), (9, 5, 2));
        assert_eq!((clock.of_warp(3, 1), clock.of_all(3), clock.of_all(2)), (5, 2, 0));
        clock.learn(3, [(Group::All, 9)]);
        assert_eq!(clock.cta(3), Some(&Known { all: 9, ..Known::default() }), "nothing is said twice");
    }

    #[test]
    fn a_join_knows_what_either_knows() {
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.learn(3, [(Group::Thread(1, 7), 9)]);
        one.learn(5, [(Group::All, 4)]);
        other.learn(3, [(Group::Thread(1, 8), 6), (Group::Thread(1, 7), 1)]);
        other.learn(4, [(Group::Warp(2), 3)]);
        let both = join(&Arc::new(one), &Arc::new(other));
        assert_eq!((both.of(A), both.of(B)), (9, 6));
        assert_eq!((both.of_all(5), both.of_warp(4, 2), both.of_warp(4, 1)), (4, 3, 0));
    }
}
