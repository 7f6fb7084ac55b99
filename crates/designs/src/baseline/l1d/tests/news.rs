//! What the cache tells of its lines, to schedulers that want to hear it.

use strata_memory::LineAddress;
use strata_memory::doors::{L1d, LineNews};

use super::super::*;
use super::golden::{Bench, WORD};
use super::small;

fn missed(line: u64) -> LineNews {
    LineNews::Missed { line: LineAddress(line), warp: 0 }
}

fn evicted(line: u64) -> LineNews {
    LineNews::Evicted { line: LineAddress(line) }
}

impl Bench {
    fn news(&mut self) -> Vec<LineNews> {
        std::iter::from_fn(|| self.l1d.news()).collect()
    }

    /// A load whose line comes, if it is not here.
    fn fetch(&mut self, line: u64) {
        self.load(line as u32, line, WORD).unwrap();
        self.run(3);
        while !self.sent.is_empty() {
            self.answer(1);
        }
        self.run(8);
    }
}

#[test]
fn misses_evictions_and_drops_are_told_in_order() {
    for allocate in [Allocate::OnMiss, Allocate::OnFill] {
        let mut config = small();
        config.allocate.value = allocate;
        (config.sets.value, config.ways.value) = (1, 2);
        let mut bench = Bench::new(&config);
        bench.fetch(9);
        assert_eq!(bench.news(), [], "nobody has asked");
        bench.l1d.tell_news();
        // 9 is here; 1 takes the other way.
        [9, 1, 9].into_iter().for_each(|line| bench.fetch(line));
        assert_eq!(bench.news(), [missed(1)], "hits are no news");
        // 2 takes the way of 1, when it misses or when it comes. A second load of it finds it on its way.
        bench.load(1, 2, WORD).unwrap();
        bench.step();
        bench.load(2, 2, WORD).unwrap();
        bench.run(3);
        let at_miss: &[LineNews] = if allocate == Allocate::OnMiss { &[evicted(1)] } else { &[] };
        assert_eq!(bench.news(), [&[missed(2)], at_miss].concat(), "{allocate:?}");
        bench.answer(1);
        bench.run(8);
        let at_fill: &[LineNews] = if allocate == Allocate::OnFill { &[evicted(1)] } else { &[] };
        assert_eq!(bench.news(), at_fill, "{allocate:?}");
        // A store brings its line, too. A flush that keeps lines is no news, one that drops them is.
        bench.store(3, 3, WORD, 5).unwrap();
        bench.run(8);
        assert_eq!(bench.news(), [missed(3), evicted(9)], "{allocate:?}");
        for (invalidate, told) in [(false, &[][..]), (true, &[LineNews::Emptied])] {
            bench.l1d.begin_flush(invalidate, bench.now);
            bench.run(4);
            while !bench.sent.is_empty() {
                bench.answer(1);
            }
            bench.run(4);
            assert!(bench.l1d.is_flushed());
            assert_eq!(bench.news(), told, "{allocate:?}");
        }
    }
}
