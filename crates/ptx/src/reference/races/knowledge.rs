//! What the threads of a warp know of others, and what their fences would hand on or take.

use std::sync::Arc;

use super::clock::{Clock, Group, Thread, Time, join, with_own};
use crate::isa::Scope;
use crate::lanes::{LaneMask, WARP_LANES, lanes_of};

/// Whether a scope holds threads of other CTAs.
pub(super) fn is_wide(scope: Scope) -> bool {
    scope != Scope::Cta
}

/// The lanes' clocks.
#[derive(Clone, Debug)]
enum Clocks {
    /// All lanes know the same.
    Together(Arc<Clock>),
    Apart(Box<[Arc<Clock>; WARP_LANES]>),
}

/// What a thread knew, itself included, at a fence.
#[derive(Clone, Debug)]
struct Moment {
    clock: Arc<Clock>,
    time: Time,
}

/// What follows the fences of one thread, and what waits for one.
#[derive(Clone, Debug, Default)]
struct Fences {
    /// At the last fence of gpu scope or wider.
    wide: Option<Moment>,
    /// At the last fence of any scope.
    any: Option<Moment>,
    /// Read from threads of the same CTA: a fence of any scope takes it.
    near: Option<Arc<Clock>>,
    /// Read at gpu scope: a fence of gpu scope takes it.
    far: Option<Arc<Clock>>,
}

/// Knowledge that a strong write leaves at its place, for whoever reads it there.
#[derive(Clone, Debug, Default)]
pub(super) struct Note {
    /// For every thread.
    pub wide: Option<Arc<Clock>>,
    /// For threads of this CTA.
    pub near: Option<(u32, Arc<Clock>)>,
}

impl Note {
    /// As it stands after a read-modify-write that leaves `other`: what was here stays.
    pub fn join(&mut self, other: Note) {
        take(&mut self.wide, other.wide.as_ref());
        match (&mut self.near, other.near) {
            (Some((cta, clock)), Some((same, new))) if *cta == same => *clock = join(clock, &new),
            (_, None) => {}
            (near, new) => *near = new,
        }
    }

    /// What of it reaches a CTA's threads.
    #[must_use]
    pub fn for_cta(&self, cta: u32) -> Note {
        Note { wide: self.wide.clone(), near: self.near.clone().filter(|(of, _)| *of == cta) }
    }

    pub fn is_empty(&self) -> bool {
        self.wide.is_none() && self.near.is_none()
    }
}

fn take(into: &mut Option<Arc<Clock>>, what: Option<&Arc<Clock>>) {
    if let Some(what) = what {
        *into = Some(into.as_ref().map_or_else(|| what.clone(), |had| join(had, what)));
    }
}

/// The knowledge of one warp.
#[derive(Clone, Debug)]
pub(super) struct Knowledge {
    /// Threads that the warp has.
    pub exist: LaneMask,
    /// Up to which time all its threads know all of their CTA.
    pub all: Time,
    clocks: Clocks,
    fences: Option<Box<[Fences; WARP_LANES]>>,
}

impl Knowledge {
    /// That of a warp at its start.
    pub fn new(exist: LaneMask, clock: Arc<Clock>) -> Self {
        Knowledge { exist, all: 0, clocks: Clocks::Together(clock), fences: None }
    }

    pub fn clock(&self, lane: usize) -> &Arc<Clock> {
        match &self.clocks {
            Clocks::Together(clock) => clock,
            Clocks::Apart(clocks) => &clocks[lane],
        }
    }

    /// What any of some lanes knows.
    pub fn joined(&self, lanes: LaneMask) -> Arc<Clock> {
        match &self.clocks {
            Clocks::Together(clock) => clock.clone(),
            Clocks::Apart(clocks) => {
                let first = clocks[lanes.trailing_zeros() as usize].clone();
                lanes_of(lanes).fold(first, |joined, lane| join(&joined, &clocks[lane]))
            }
        }
    }

    /// Some lanes know this from now on.
    pub fn set(&mut self, lanes: LaneMask, clock: Arc<Clock>) {
        if lanes & self.exist == self.exist {
            self.clocks = Clocks::Together(clock);
            return;
        }
        if let Clocks::Together(had) = &self.clocks {
            self.clocks = Clocks::Apart(Box::new(std::array::from_fn(|_| had.clone())));
        }
        let Clocks::Apart(clocks) = &mut self.clocks else { unreachable!("it was just made so") };
        lanes_of(lanes).for_each(|lane| clocks[lane] = clock.clone());
    }

    fn learn(&mut self, lane: usize, what: &Arc<Clock>) {
        let clock = join(self.clock(lane), what);
        self.set(1 << lane, clock);
    }

    fn fences(&mut self, lane: usize) -> &mut Fences {
        &mut self.fences.get_or_insert_with(Box::default)[lane]
    }

    /// Lanes meet and from now on know what any of them knew and did.
    pub fn meet(&mut self, lanes: LaneMask, cta: u32, warp: u32, now: Time) {
        let mut clock = Clock::clone(&self.joined(lanes));
        if lanes == self.exist {
            clock.learn(cta, [(Group::Warp(warp), now)]);
        } else {
            clock.learn(cta, lanes_of(lanes).map(|lane| (Group::Thread(warp, lane as u32), now)));
        }
        self.set(lanes, Arc::new(clock));
    }

    /// A thread reads a note with a strong read: a fence will learn it.
    pub fn read(&mut self, thread: Thread, note: &Note) {
        let fences = self.fences(thread.lane as usize);
        take(&mut fences.near, note.near.as_ref().map(|(_, clock)| clock));
        take(&mut fences.far, note.wide.as_ref());
    }

    /// A thread learns a note at once, by an acquire of a scope.
    pub fn acquire(&mut self, thread: Thread, scope: Scope, note: &Note) {
        let far = note.wide.as_ref().filter(|_| is_wide(scope));
        let near = note.near.as_ref().map(|(_, clock)| clock);
        near.into_iter().chain(far).for_each(|clock| self.learn(thread.lane as usize, clock));
    }

    /// What a strong write of a thread leaves behind: what its fences hand on, and what it knows now if it releases, for the
    /// threads of that scope.
    pub fn write(&self, thread: Thread, releases: Option<Scope>, now: Time) -> Note {
        let of = |moment: &Moment| with_own(&moment.clock, thread, moment.time);
        let lane = thread.lane as usize;
        let fences = self.fences.as_ref().map(|fences| &fences[lane]);
        let released = releases.map(|_| of(&Moment { clock: self.clock(lane).clone(), time: now }));
        let fenced = |moment: fn(&Fences) -> Option<&Moment>| fences.and_then(moment).map(of);
        let wide = released.clone().filter(|_| releases.is_some_and(is_wide));
        let wide = wide.or_else(|| fenced(|fences| fences.wide.as_ref()));
        let any = released.or_else(|| fenced(|fences| fences.any.as_ref()));
        Note { wide, near: any.map(|clock| (thread.cta, clock)) }
    }

    /// A thread executes a fence.
    pub fn fence(&mut self, lane: usize, scope: Scope, (acquires, releases): (bool, bool), now: Time) {
        let wide = is_wide(scope);
        if acquires {
            let fences = self.fences(lane);
            let near = fences.near.take();
            let far = if wide { fences.far.take() } else { None };
            near.iter().chain(&far).for_each(|clock| self.learn(lane, clock));
        }
        if releases {
            let moment = Some(Moment { clock: self.clock(lane).clone(), time: now });
            let fences = self.fences(lane);
            if wide {
                fences.wide.clone_from(&moment);
            }
            fences.any = moment;
        }
    }
}
