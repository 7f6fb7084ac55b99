//! A run over time: its counters by spans, of which neighbours are put together as the run gets long.

use strata_engine::statistics::Group;
use strata_gpu::Progress;
use strata_gpu::results::merge_groups;

/// Spans of which neighbours are put together; a run that reaches half of them has at least as many.
const MOST: usize = 320;

/// What was counted in a span of a run. Cycles count through all launches, without host phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// First cycle of the span.
    pub from: u64,
    /// First cycle after it.
    pub to: u64,
    /// The counters.
    pub counted: Vec<Group>,
    /// Energy in picojoules, if the machine has energies.
    pub pj: Option<f64>,
}

impl Span {
    /// The sum of some counters, by `GROUP.COUNTER`; `None` if one is missing.
    #[must_use]
    pub fn sum(&self, paths: &[&str]) -> Option<u64> {
        let of = |path: &&str| {
            let (group, counter) = path.rsplit_once('.')?;
            self.counted.iter().find(|found| found.name == group)?.get(counter)
        };
        paths.iter().map(of).sum()
    }

    /// Its length in cycles, at least 1.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        (self.to - self.from).max(1)
    }

    /// Puts the span behind this one to it.
    fn take_in(&mut self, next: Span) {
        self.to = next.to;
        merge_groups(&mut self.counted, next.counted);
        self.pj = self.pj.zip(next.pj).map(|(one, other)| one + other);
    }
}

/// Where a launch begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its number.
    pub launch: u64,
    /// Place of its kernel's name.
    kernel: usize,
    /// Its first cycle.
    pub cycle: u64,
}

/// The spans of a run, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    spans: Vec<Span>,
    /// Spans that were sampled since the last one here, and how many make one.
    open: Option<(Span, u32)>,
    together: u32,
    starts: Vec<Start>,
    kernels: Vec<String>,
    end: u64,
}

impl Timeline {
    /// One without spans.
    #[must_use]
    pub fn new() -> Timeline {
        Timeline { together: 1, ..Timeline::default() }
    }

    /// Adds the span that has just ended, if one has.
    pub fn add(&mut self, progress: &Progress) {
        let Some(sample) = &progress.sample else { return };
        if self.starts.last().is_none_or(|start| start.launch != progress.launch) {
            let known = self.kernels.iter().position(|kernel| *kernel == progress.kernel);
            let kernel = known.unwrap_or_else(|| {
                self.kernels.push(progress.kernel.clone());
                self.kernels.len() - 1
            });
            self.starts.push(Start { launch: progress.launch, kernel, cycle: self.end });
        }
        let begun = self.starts.last().map_or(0, |start| start.cycle);
        self.end = begun + sample.to;
        let span = Span {
            from: begun + sample.from,
            to: self.end,
            counted: sample.counted.clone(),
            pj: sample.energy.as_ref().map(|energy| energy.total_pj()),
        };
        let (open, count) = match self.open.take() {
            None => (span, 1),
            Some((mut open, count)) => {
                open.take_in(span);
                (open, count + 1)
            }
        };
        if count < self.together {
            self.open = Some((open, count));
            return;
        }
        self.spans.push(open);
        if self.spans.len() == MOST {
            self.halve();
        }
    }

    /// Makes one span of every two.
    fn halve(&mut self) {
        let mut spans = std::mem::take(&mut self.spans).into_iter();
        while let Some(mut span) = spans.next() {
            spans.next().into_iter().for_each(|next| span.take_in(next));
            self.spans.push(span);
        }
        self.together *= 2;
    }

    /// The spans.
    pub fn spans(&self) -> impl Iterator<Item = &Span> + Clone {
        self.spans.iter().chain(self.open.iter().map(|(span, _)| span))
    }

    /// The launches, and their kernels' names.
    pub fn starts(&self) -> impl Iterator<Item = (&Start, &str)> {
        self.starts.iter().map(|start| (start, self.kernels[start.kernel].as_str()))
    }

    /// The first cycle after the last span.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::statistics::{Definition, Mark};
    use strata_gpu::results::Sample;

    use super::*;

    const COUNTED: &[Definition] = &[
        Definition { name: "loads", unit: "l", meaning: "Loads.", mark: Mark::Plain },
        Definition { name: "peak", unit: "l", meaning: "Most.", mark: Mark::Maximum },
    ];

    fn progress(launch: u64, from: u64, to: u64, values: [u64; 2]) -> Progress {
        let group =
            Group { name: "a.b", definitions: COUNTED, laws: vec![], values: values.to_vec(), broken: None };
        let sample = Sample { from, to, counted: vec![group], energy: None };
        Progress { launch, kernel: "k".into(), sample: Some(sample), ..Progress::default() }
    }

    #[test]
    fn cycles_count_through_all_launches() {
        let mut timeline = Timeline::new();
        for (launch, from, to) in [(0, 0, 10), (0, 10, 15), (1, 0, 10), (4, 0, 3)] {
            timeline.add(&progress(launch, from, to, [to - from, launch]));
        }
        timeline.add(&Progress::default());
        let spans: Vec<(u64, u64)> = timeline.spans().map(|span| (span.from, span.to)).collect();
        assert_eq!((spans, timeline.end()), (vec![(0, 10), (10, 15), (15, 25), (25, 28)], 28));
        let starts: Vec<(u64, u64)> =
            timeline.starts().map(|(start, _)| (start.launch, start.cycle)).collect();
        assert_eq!(starts, [(0, 0), (1, 15), (4, 25)]);
    }

    #[test]
    fn a_long_run_has_few_spans_that_add_up() {
        let mut timeline = Timeline::new();
        let count = 5 * MOST as u64 + 3;
        for place in 0..count {
            timeline.add(&progress(0, 10 * place, 10 * place + 10, [place, place]));
        }
        let spans: Vec<&Span> = timeline.spans().collect();
        assert!((MOST / 2..MOST).contains(&spans.len()), "{}", spans.len());
        assert_eq!((spans[0].from, spans[spans.len() - 1].to), (0, 10 * count));
        assert!(spans.windows(2).all(|two| two[0].to == two[1].from));
        let sum: u64 = spans.iter().filter_map(|span| span.sum(&["a.b.loads"])).sum();
        assert_eq!(sum, count * (count - 1) / 2);
        assert_eq!(spans.last().and_then(|span| span.sum(&["a.b.peak"])), Some(count - 1));
        assert_eq!(spans[0].sum(&["a.b.none"]), None);
    }
}
