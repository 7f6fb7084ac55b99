//! A memory-side cache between random requests and a DRAM that delays and refuses: every byte is right, hits and misses
//! take their cycles, and what DRAM ends up with is what was written.

use strata_engine::Cited;
use strata_engine::seed::Stream;

use super::*;
use crate::replacement;
use crate::tags::SetIndex;

const LINES: usize = 40;

fn cache(sets: usize, ways: usize) -> MemoryCache {
    let config = MemoryCacheConfig {
        sets: Cited::new(sets, "test"),
        ways: Cited::new(ways, "test"),
        set_index: Cited::new(SetIndex::Modulo, "test"),
        replacement: Cited::new(replacement::lru(), "test"),
        latency_cycles: Cited::new(3, "test"),
        queue: Cited::new(4, "test"),
        mshr_entries: Cited::new(2, "test"),
        mshr_merges: Cited::new(2, "test"),
    };
    MemoryCache::new(&config, 1).expect("the parameters are right")
}

/// A DRAM that takes up to three requests and answers each after its delay, in order.
struct Dram {
    lines: Vec<Line>,
    under_way: VecDeque<(Cycle, DramRequest)>,
    delay: u64,
}

impl Dram {
    fn new(delay: u64) -> Dram {
        let lines = (0..LINES).map(|n| Line([n as u8; 128])).collect();
        Dram { lines, under_way: VecDeque::new(), delay }
    }
}

impl DramPort for Dram {
    fn offer(&mut self, mut request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        if self.under_way.len() == 3 {
            return Err(request);
        }
        let line = &mut self.lines[request.line.0 as usize];
        if request.write {
            line.merge(request.bytes, &request.tray);
        } else {
            // What is not asked for is garbage.
            request.tray.0 = [0xee; 128];
            request.tray.merge(request.bytes, line);
        }
        self.under_way.push_back((now + self.delay, request));
        Ok(())
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        let (ready, _) = self.under_way.front()?;
        if *ready > now { None } else { self.under_way.pop_front().map(|(_, request)| request) }
    }
}

fn read(line: u64, tag: u32) -> DramRequest {
    let bytes = ByteMask::range(0, 32);
    DramRequest { line: LineAddress(line), bytes, write: false, tag, tray: Box::new(Line::ZERO) }
}

/// Ticks from `from` on until the next answer; returns its cycle and tag.
fn answer(cache: &mut MemoryCache, dram: &mut Dram, from: u64) -> (u64, u32) {
    (from..from + 1000)
        .find_map(|now| {
            cache.tick(dram, Cycle(now));
            cache.completed(Cycle(now)).map(|request| (now, request.tag))
        })
        .expect("an answer comes")
}

#[test]
fn a_hit_takes_the_latency_and_a_miss_drams_as_well() {
    let (mut cache, mut dram) = (cache(4, 2), Dram::new(10));
    cache.offer(read(5, 1), Cycle(0)).expect("an idle cache takes it");
    assert_eq!(answer(&mut cache, &mut dram, 0), (13, 1), "three cycles to the look-up, ten of DRAM");
    cache.offer(read(5, 2), Cycle(20)).expect("an idle cache takes it");
    assert_eq!(answer(&mut cache, &mut dram, 20), (23, 2));
    cache.offer(read(6, 3), Cycle(30)).expect("an idle cache takes it");
    cache.offer(read(6, 4), Cycle(30)).expect("there is room");
    assert_eq!(answer(&mut cache, &mut dram, 30), (43, 3));
    assert_eq!(cache.completed(Cycle(43)).map(|request| request.tag), Some(4), "one fetch serves both");
    assert_eq!(cache.statistics.fills, 2);
}

#[test]
fn random_requests_find_their_bytes() {
    for seed in 0..40 {
        let mut stream = Stream::new(seed, "memory-side cache");
        let (mut cache, mut dram) = (cache(1 + stream.below(4) as usize, 2), Dram::new(1 + stream.below(30)));
        let mut truth = dram.lines.clone();
        let mut expected: Vec<Option<(DramRequest, Line)>> = Vec::new();
        let (mut now, mut left, mut open) = (Cycle::ZERO, 600, 0);
        let mut refused: Option<DramRequest> = None;
        while left > 0 || open > 0 {
            assert!(now.0 < 200_000, "seed {seed}: nothing moves any more");
            cache.tick(&mut dram, now);
            while let Some(done) = cache.completed(now) {
                open -= 1;
                let (asked, right) = expected[done.tag as usize].take().expect("a request is answered once");
                if !asked.write {
                    let mut found = right.clone();
                    found.merge(asked.bytes, &done.tray);
                    assert_eq!(found, right, "seed {seed}, line {}", asked.line);
                }
            }
            if left > 0 && stream.below(3) > 0 {
                let request = refused.take().unwrap_or_else(|| {
                    let line = stream.below(LINES as u64);
                    let bytes = ByteMask::range(32 * stream.below(4) as usize, 32);
                    let mut tray = Box::new(Line::ZERO);
                    tray.0.fill_with(|| stream.next() as u8);
                    let write = stream.below(3) == 0;
                    DramRequest { line: LineAddress(line), bytes, write, tag: expected.len() as u32, tray }
                });
                let copy = request.clone();
                match cache.offer(request, now) {
                    Ok(()) => {
                        let line = &mut truth[copy.line.0 as usize];
                        if copy.write {
                            line.merge(copy.bytes, &copy.tray);
                        }
                        let right = line.clone();
                        expected.push(Some((copy, right)));
                        (left, open) = (left - 1, open + 1);
                    }
                    Err(request) => refused = Some(request),
                }
            }
            now = now.next();
        }
        for (number, right) in truth.iter().enumerate() {
            let mut found = dram.lines[number].clone();
            cache.peek(LineAddress(number as u64), &mut found);
            assert_eq!(found, *right, "seed {seed}: line {number} at the end");
        }
        assert_eq!(cache.statistics().broken, None, "seed {seed}");
    }
}

/// A DRAM in front of which a cache waits for room, or offers what was refused in every cycle.
struct Told {
    dram: Dram,
    tells: bool,
    is_awaited: bool,
}

impl DramPort for Told {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let offered = self.dram.offer(request, now);
        self.is_awaited = offered.is_err();
        offered
    }

    fn has_room(&self) -> bool {
        !self.tells || self.dram.under_way.len() < 3
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.dram.completed(now)
    }
}

/// Offers random requests for 2,000 cycles, of which the first half brings more than DRAM can take. Either everything that is
/// refused is offered in every cycle, and everything that waits looked at, or both wait until there is room. Returns when
/// requests were answered, the counters, and how often the cache was ticked.
fn answers(seed: u64, sleeps: bool) -> (Vec<(Cycle, u32)>, Group, u64) {
    let mut stream = Stream::new(seed, "memory-side cache that sleeps");
    let mut cache = cache(2, 2);
    let mut dram = Told { dram: Dram::new(20), tells: sleeps, is_awaited: false };
    let mut room = RoomWait::default();
    let (mut held, mut answers, mut ticks) = (None, Vec::new(), 0);
    for now in (0..2000).map(Cycle) {
        let answer = dram.dram.under_way.front().map_or(Cycle::NEVER, |(ready, _)| *ready);
        let has_room = dram.is_awaited && dram.has_room();
        if !sleeps || has_room || cache.next_event(now).min(answer) <= now {
            cache.has_changed |= !sleeps;
            cache.tick(&mut dram, now);
            ticks += 1;
        }
        while let Some(done) = cache.completed(now) {
            answers.push((now, done.tag));
        }
        let line = stream.below(LINES as u64);
        if now.0 < 1000 && held.is_none() && stream.below(4) == 0 {
            let request = read(line, now.0 as u32);
            held = Some(DramRequest { write: stream.below(3) == 0, ..request });
        }
        if !(sleeps && room.goes_on(&cache)) {
            held = held.take().and_then(|request| room.offer(request, &mut cache, now).err());
        }
        if now.0 == 500 {
            room.settle(&mut cache, now.next());
        }
    }
    room.settle(&mut cache, Cycle(2000));
    (answers, cache.statistics(), ticks)
}

#[test]
fn what_is_refused_and_sleeps_is_counted_like_what_is_tried_in_every_cycle() {
    for seed in 0..8 {
        let (slept, retried) = (answers(seed, true), answers(seed, false));
        assert_eq!((&slept.0, &slept.1), (&retried.0, &retried.1), "seed {seed}");
        let count = |name: &str| slept.1.get(name).expect("the cache has the counter");
        assert!(count("refused") > 300 && count("stall_cycles") > 300, "seed {seed}: {:?}", slept.1);
        assert!(2 * slept.2 < retried.2, "seed {seed}: {} of {} cycles", slept.2, retried.2);
    }
}
