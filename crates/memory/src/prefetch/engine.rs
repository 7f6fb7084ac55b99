//! The account of a cache's prefetches.

use std::ops::Range;

use strata_engine::statistics;
use strata_engine::statistics::{Group, Statistics};

use super::{PrefetchPolicy, Prefetcher, Wishes};
use crate::address::LineAddress;
use crate::cache::FrameId;
use crate::touch::Touch;

statistics! {
    /// Counters of the prefetches of a cache: those of its policy, or those that the program wishes for.
    pub struct PrefetchStatistics: "prefetch" {
        /// Lines that were wished for.
        wishes: "lines",
        /// Wishes for lines that were here or on their way.
        redundant: "lines",
        /// Wishes dropped: no MSHR or way was free, too many waited, a flush began, or the cache has no place for them.
        dropped: "lines",
        /// Lines fetched before they were asked for.
        issued: "lines",
        /// Of these, lines that were asked for while they were here,
        useful: "lines",
        /// while they were on their way,
        late: "lines",
        /// and that left without having been asked for.
        unused: "lines",
        /// Misses to lines that had left for one that was prefetched.
        harmful: "accesses",
    }
    laws {
        "redundant + dropped + issued <= wishes": |s| s.redundant + s.dropped + s.issued <= s.wishes,
        "useful + late + unused <= issued": |s| s.useful + s.late + s.unused <= s.issued,
    }
}

/// The prefetches of a cache: a policy at work, its wishes, and what became of the lines that it and the program had fetched.
pub struct Prefetching {
    policy: Option<Box<dyn Prefetcher>>,
    wishes: Wishes,
    marks: Vec<Mark>,
    /// Of the policy,
    statistics: PrefetchStatistics,
    /// and of the program.
    hints: PrefetchStatistics,
}

/// Who had a line fetched.
#[derive(Clone, Copy, Debug, Default)]
enum Cause {
    #[default]
    Policy,
    Program,
}

/// What is known of the line in a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// It was prefetched, and nobody has asked for it.
    is_unused: bool,
    /// The line that left for it, if it was prefetched.
    displaced: Option<LineAddress>,
    /// Who had it prefetched.
    cause: Cause,
}

impl Prefetching {
    /// Sets a policy to work in a cache of some frames, if it wishes for anything.
    pub fn new(policy: &dyn PrefetchPolicy, frames: usize) -> Option<Box<Prefetching>> {
        let policy = policy.build()?;
        Some(Box::new(Prefetching { policy: Some(policy), ..Prefetching::of_program(frames) }))
    }

    /// The account of a cache of some frames without a policy, in which only the program prefetches.
    pub fn of_program(frames: usize) -> Prefetching {
        Prefetching {
            policy: None,
            wishes: Wishes::default(),
            marks: vec![Mark::default(); frames],
            statistics: PrefetchStatistics::default(),
            hints: PrefetchStatistics::default(),
        }
    }

    #[inline]
    fn of(&mut self, cause: Cause) -> &mut PrefetchStatistics {
        match cause {
            Cause::Policy => &mut self.statistics,
            Cause::Program => &mut self.hints,
        }
    }

    /// Notes that somebody asks for the line in a frame. If it was prefetched and nobody had before, says for whom.
    fn use_first(&mut self, frame: FrameId) -> Option<Cause> {
        let mark = &mut self.marks[frame.index()];
        std::mem::take(&mut mark.is_unused).then_some(mark.cause)
    }

    /// Notes a request that found its line in a frame.
    pub fn hit(&mut self, touch: &Touch, frame: FrameId) {
        let first = self.use_first(frame);
        if let Some(cause) = first {
            self.of(cause).useful += 1;
        }
        self.see(touch, first.is_none());
    }

    /// Notes a request whose line is on its way to a frame.
    pub fn merge(&mut self, touch: &Touch, frame: FrameId) {
        if let Some(cause) = self.use_first(frame) {
            self.of(cause).late += 1;
        }
        self.see(touch, false);
    }

    /// Notes a request that did not find its line in the frames of its set.
    pub fn miss(&mut self, touch: &Touch, set: Range<usize>) {
        for frame in set {
            let mark = &mut self.marks[frame];
            if mark.displaced == Some(touch.line) {
                mark.displaced = None;
                let cause = mark.cause;
                self.of(cause).harmful += 1;
            }
        }
        self.see(touch, false);
    }

    fn see(&mut self, touch: &Touch, hit: bool) {
        let Some(policy) = &mut self.policy else { return };
        self.wishes.ask_for(touch.line);
        policy.seen(touch, hit, &mut self.wishes);
    }

    /// The line to fetch next.
    #[inline]
    pub fn wish(&self) -> Option<LineAddress> {
        self.wishes.lines.front().copied()
    }

    /// The next line is fetched now, into a frame from which another may have left.
    pub fn issue(&mut self, frame: FrameId, displaced: Option<LineAddress>) {
        self.wishes.lines.pop_front();
        self.fetch(frame, displaced, Cause::Policy);
    }

    /// A line that the program wishes for is fetched now, as in [`Prefetching::issue`].
    pub fn take_hint(&mut self, frame: FrameId, displaced: Option<LineAddress>) {
        self.hints.wishes += 1;
        self.fetch(frame, displaced, Cause::Program);
    }

    /// A line that the program wishes for is here or on its way.
    pub fn skip_hint(&mut self) {
        self.hints.wishes += 1;
        self.hints.redundant += 1;
    }

    /// Nothing is free for a line that the program wishes for.
    pub fn drop_hint(&mut self) {
        self.hints.wishes += 1;
        self.hints.dropped += 1;
    }

    fn fetch(&mut self, frame: FrameId, displaced: Option<LineAddress>, cause: Cause) {
        self.leave(frame);
        self.of(cause).issued += 1;
        self.marks[frame.index()] = Mark { is_unused: true, displaced, cause };
    }

    /// The next line is here or on its way.
    pub fn skip(&mut self) {
        self.wishes.lines.pop_front();
        self.statistics.redundant += 1;
    }

    /// Nothing is free for the next line.
    pub fn drop_wish(&mut self) {
        self.wishes.dropped += u64::from(self.wishes.lines.pop_front().is_some());
    }

    /// Drops all wishes, and forgets the lines: a flush begins.
    pub fn clear(&mut self) {
        while self.wish().is_some() {
            self.drop_wish();
        }
        (0..self.marks.len()).for_each(|frame| self.leave(FrameId::from(frame)));
    }

    /// The line in a frame leaves, or another comes that was asked for.
    pub fn leave(&mut self, frame: FrameId) {
        let mark = std::mem::take(&mut self.marks[frame.index()]);
        if mark.is_unused {
            self.of(mark.cause).unused += 1;
        }
    }

    /// A line moves to another frame, from which a line may have left.
    pub fn shift(&mut self, from: FrameId, to: FrameId, displaced: Option<LineAddress>) {
        self.leave(to);
        let Mark { is_unused, cause, .. } = std::mem::take(&mut self.marks[from.index()]);
        // Whether somebody has asked for it meanwhile or not: it was prefetched if its mark says so.
        self.marks[to.index()] = Mark { is_unused, displaced: displaced.filter(|_| is_unused), cause };
    }

    /// Begins again in a cache of another size, which is empty.
    pub fn resize(&mut self, frames: usize) {
        self.clear();
        self.marks = vec![Mark::default(); frames];
    }

    /// The counters of the policy, as the group `name`, if there is one.
    pub fn report(&self, name: &'static str) -> Option<Group> {
        self.policy.as_ref()?;
        let statistics =
            PrefetchStatistics { wishes: self.wishes.added, dropped: self.wishes.dropped, ..self.statistics };
        Some(Group { name, ..statistics.report() })
    }

    /// The counters of what the program wished for, as the group `name`; all are zero in a cache without an account.
    pub fn report_hints(account: Option<&Prefetching>, name: &'static str) -> Group {
        let statistics = account.map(|account| account.hints).unwrap_or_default();
        Group { name, ..statistics.report() }
    }
}
