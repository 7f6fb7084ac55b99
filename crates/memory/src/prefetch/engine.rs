//! The account of a cache's prefetches.

use std::ops::Range;

use strata_engine::statistics;
use strata_engine::statistics::{Group, Statistics};

use super::{PrefetchPolicy, Prefetcher, Wishes};
use crate::address::LineAddress;
use crate::cache::FrameId;
use crate::touch::Touch;

statistics! {
    /// Counters of the prefetches of a cache.
    pub struct PrefetchStatistics: "prefetch" {
        /// Lines that the policy wished for.
        wishes: "lines",
        /// Wishes for lines that were here or on their way.
        redundant: "lines",
        /// Wishes dropped: no MSHR or way was free, too many waited, or a flush began.
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

/// A policy at work in a cache: its wishes, and what became of the lines that it had fetched.
pub struct Prefetching {
    policy: Box<dyn Prefetcher>,
    wishes: Wishes,
    marks: Vec<Mark>,
    statistics: PrefetchStatistics,
}

/// What is known of the line in a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// It was prefetched, and nobody has asked for it.
    is_unused: bool,
    /// The line that left for it, if it was prefetched.
    displaced: Option<LineAddress>,
}

impl Prefetching {
    /// Sets a policy to work in a cache of some frames, if it wishes for anything.
    pub fn new(policy: &dyn PrefetchPolicy, frames: usize) -> Option<Box<Prefetching>> {
        let policy = policy.build()?;
        let (wishes, statistics) = (Wishes::default(), PrefetchStatistics::default());
        Some(Box::new(Prefetching { policy, wishes, marks: vec![Mark::default(); frames], statistics }))
    }

    /// Notes a request that found its line in a frame.
    pub fn hit(&mut self, touch: &Touch, frame: FrameId) {
        let is_first = std::mem::take(&mut self.marks[frame.index()].is_unused);
        self.statistics.useful += u64::from(is_first);
        self.see(touch, !is_first);
    }

    /// Notes a request whose line is on its way to a frame.
    pub fn merge(&mut self, touch: &Touch, frame: FrameId) {
        let is_first = std::mem::take(&mut self.marks[frame.index()].is_unused);
        self.statistics.late += u64::from(is_first);
        self.see(touch, false);
    }

    /// Notes a request that did not find its line in the frames of its set.
    pub fn miss(&mut self, touch: &Touch, set: Range<usize>) {
        for mark in &mut self.marks[set] {
            if mark.displaced == Some(touch.line) {
                mark.displaced = None;
                self.statistics.harmful += 1;
            }
        }
        self.see(touch, false);
    }

    fn see(&mut self, touch: &Touch, hit: bool) {
        self.wishes.ask_for(touch.line);
        self.policy.seen(touch, hit, &mut self.wishes);
    }

    /// The line to fetch next.
    #[inline]
    pub fn wish(&self) -> Option<LineAddress> {
        self.wishes.lines.front().copied()
    }

    /// The next line is fetched now, into a frame from which another may have left.
    pub fn issue(&mut self, frame: FrameId, displaced: Option<LineAddress>) {
        self.wishes.lines.pop_front();
        self.statistics.issued += 1;
        self.leave(frame);
        self.marks[frame.index()] = Mark { is_unused: true, displaced };
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
        self.statistics.unused += u64::from(mark.is_unused);
    }

    /// A line moves to another frame, from which a line may have left.
    pub fn shift(&mut self, from: FrameId, to: FrameId, displaced: Option<LineAddress>) {
        self.leave(to);
        let Mark { is_unused, .. } = std::mem::take(&mut self.marks[from.index()]);
        // Whether somebody has asked for it meanwhile or not: it was prefetched if its mark says so.
        self.marks[to.index()] = Mark { is_unused, displaced: displaced.filter(|_| is_unused) };
    }

    /// Begins again in a cache of another size, which is empty.
    pub fn resize(&mut self, frames: usize) {
        self.clear();
        self.marks = vec![Mark::default(); frames];
    }

    /// The counters, as the group `name`.
    pub fn report(&self, name: &'static str) -> Group {
        let statistics =
            PrefetchStatistics { wishes: self.wishes.added, dropped: self.wishes.dropped, ..self.statistics };
        Group { name, ..statistics.report() }
    }
}
