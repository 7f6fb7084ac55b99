//! Golden cycles, worked cases and the causes of refusals.

use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle};
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::{Access, Action, Design, L1d, L1dDesign, Policy, Refusal};
use strata_memory::{Body, ByteMask, Line, LineAddress, NodeId, Packet, SliceMap};

use super::super::*;
use super::small;

pub(super) const WORD: ByteMask = ByteMask::range(4, 4);

/// An L1D whose neighbours are played by hand, one call a cycle.
pub(super) struct Bench {
    pub l1d: SramL1d,
    pub now: Cycle,
    /// Packets that left: cycle and packet.
    pub sent: Vec<(u64, Packet)>,
    /// Accesses that were completed: cycle, token, byte 4 of the tray.
    pub done: Vec<(u64, u32, u8)>,
}

impl Bench {
    pub fn new(config: &SramL1dConfig) -> Bench {
        let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
        let l1d = SramL1d::new(config, NodeId(0), slices, 1).unwrap();
        Bench { l1d, now: Cycle::ZERO, sent: Vec::new(), done: Vec::new() }
    }

    fn offer(
        &mut self,
        token: u32,
        line: u64,
        bytes: ByteMask,
        action: Action,
        policy: Policy,
    ) -> Result<(), Refusal> {
        let access =
            Access { line: LineAddress(line), bytes, action, policy, token, pc: 0, warp: 0, leads: true };
        self.l1d.offer(access, self.now).map_err(|(_, cause)| cause)
    }

    pub fn load(&mut self, token: u32, line: u64, bytes: ByteMask) -> Result<(), Refusal> {
        self.offer(token, line, bytes, Action::Load(Box::new(Line::ZERO)), Policy::Cached)
    }

    pub fn store(&mut self, token: u32, line: u64, bytes: ByteMask, value: u8) -> Result<(), Refusal> {
        self.offer(token, line, bytes, Action::Store(Box::new(Line([value; 128]))), Policy::Cached)
    }

    fn atomic(&mut self, token: u32, line: u64) -> Result<(), Refusal> {
        let mut batch = AtomicBatch::empty(AtomicOp::Add, AtomicType::U32);
        batch.count = 1;
        batch.offset[0] = 4;
        self.offer(token, line, WORD, Action::Atomic(Box::new(batch)), Policy::Cached)
    }

    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Ends a cycle in which the network takes nothing.
    pub fn tick_without_network(&mut self) {
        self.now = self.now.next();
        self.l1d.tick(self.now);
    }

    /// Ends the cycle: what is ready comes out, and the next cycle's tick is done.
    pub fn step(&mut self) {
        while let Some(packet) = self.l1d.outgoing(self.now) {
            self.sent.push((self.now.0, packet));
        }
        while let Some(completion) = self.l1d.completed(self.now) {
            let byte = match &completion.action {
                Action::Load(tray) | Action::Store(tray) => tray.0[4],
                Action::Atomic(batch) => batch.a[0] as u8,
            };
            self.done.push((self.now.0, completion.token, byte));
        }
        self.now = self.now.next();
        self.l1d.tick(self.now);
    }

    pub fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Answers the oldest packet that left, reads with lines full of `value`.
    pub fn answer(&mut self, value: u8) {
        let (_, mut packet) = self.sent.remove(0);
        if let Body::Read(tray) = &mut packet.body {
            tray.0.fill(value);
        }
        self.l1d.accept(packet.into_reply(), self.now);
    }

    fn statistics(&self) -> Group {
        self.l1d.statistics().remove(0)
    }

    fn count(&self, name: &str) -> u64 {
        self.statistics().get(name).unwrap()
    }

    /// Kind, bytes and line of what left, in order.
    pub fn kinds(&self) -> Vec<(char, u64, ByteMask)> {
        let kind = |packet: &Packet| match packet.body {
            Body::Read(_) => 'R',
            Body::Write(_) => 'W',
            _ => 'A',
        };
        self.sent.iter().map(|(_, packet)| (kind(packet), packet.line.0, packet.bytes)).collect()
    }
}

#[test]
fn a_line_makes_room_when_the_other_misses_or_when_it_comes() {
    for (allocate, stays) in [(Allocate::OnMiss, false), (Allocate::OnFill, true)] {
        let mut config = small();
        config.allocate.value = allocate;
        (config.sets.value, config.ways.value) = (1, 1);
        let mut bench = Bench::new(&config);
        bench.store(1, 9, ByteMask::ALL, 5).unwrap();
        bench.run(10);
        bench.load(2, 10, WORD).unwrap();
        bench.run(5);
        let written = |bench: &Bench| bench.kinds().contains(&('W', 9, ByteMask::ALL));
        assert_eq!((written(&bench), bench.count("evictions")), (!stays, u64::from(!stays)), "{allocate:?}");
        if stays {
            // A load that misses no way: the line is still here, and is read.
            bench.load(3, 9, WORD).unwrap();
            bench.run(10);
            assert_eq!(bench.done.last().map(|done| (done.1, done.2)), Some((3, 5)), "the old line hits");
            bench.answer(7);
            bench.run(10);
            assert_eq!(
                (written(&bench), bench.count("evictions")),
                (true, 1),
                "it leaves when the other has come"
            );
        }
        assert_eq!(bench.count("refused_ways"), 0);
        // On a miss the way is taken: a second miss has none. On a fill every MSHR may wait for the same one.
        let second = bench.load(4, 11, WORD);
        assert_eq!(second, if stays { Ok(()) } else { Err(Refusal::Ways) }, "{allocate:?}");
        if stays {
            bench.step();
            assert_eq!(bench.load(5, 12, WORD), Ok(()));
        }
    }
}

#[test]
fn a_hit_takes_the_hit_latency_and_a_miss_leaves_after_the_tags() {
    let mut bench = Bench::new(&small());
    bench.load(1, 9, WORD).unwrap();
    bench.run(5);
    assert_eq!(bench.sent[0].0, 1, "offered in cycle 0, on its way in cycle 1");
    bench.answer(7);
    bench.run(5);
    // The reply of cycle 5 goes into the array in cycle 6; the load is served in 7 and completed in 8.
    assert_eq!(bench.done, [(8, 1, 7)]);
    bench.load(2, 9, WORD).unwrap();
    bench.run(4);
    assert_eq!(bench.done.len(), 1, "not before the latency has passed");
    bench.run(1);
    assert_eq!(bench.done[1], (14, 2, 7), "offered in cycle 10, latency 4");
}

#[test]
fn a_load_never_sees_a_younger_store_that_waits_behind_it() {
    let mut bench = Bench::new(&small());
    bench.load(1, 9, WORD).unwrap();
    bench.step();
    bench.store(2, 9, WORD, 0x55).unwrap();
    bench.step();
    bench.load(3, 9, WORD).unwrap();
    bench.step();
    assert_eq!(bench.load(4, 9, WORD), Err(Refusal::Merge), "three accesses fill the MSHR");
    bench.answer(7);
    bench.run(6);
    assert_eq!(bench.done, [(6, 1, 7), (7, 2, 0x55), (8, 3, 0x55)], "one a cycle, in order");
    let counts =
        ["load_misses", "load_merges", "store_merges", "refused_merge"].map(|name| bench.count(name));
    assert_eq!(counts, [1, 1, 1, 1]);
    assert_eq!(bench.statistics().broken, None);
}

#[test]
fn sectors_are_fetched_apart_and_served_in_order() {
    let mut config = small();
    config.sector_bytes.value = 32;
    let mut bench = Bench::new(&config);
    let other = ByteMask::range(100, 4);
    bench.load(1, 9, WORD).unwrap();
    bench.step();
    bench.load(2, 9, other).unwrap();
    bench.run(2);
    let (first, last) = (ByteMask::range(0, 32), ByteMask::range(96, 32));
    assert_eq!(
        bench.kinds(),
        [('R', 9, first), ('R', 9, last)],
        "the second fetch does not wait for the first"
    );
    bench.sent.swap(0, 1);
    bench.answer(8);
    bench.run(5);
    assert_eq!(bench.done, [], "the older load goes first");
    bench.answer(7);
    bench.run(5);
    assert_eq!(bench.done.iter().map(|done| done.1).collect::<Vec<_>>(), [1, 2]);
    bench.load(3, 9, ByteMask::range(64, 4)).unwrap();
    assert_eq!((bench.count("load_partial_hits"), bench.count("load_merges")), (1, 1));
}

#[test]
fn what_a_store_sends_under_each_policy() {
    use WriteMissPolicy::*;
    use WritePolicy::*;
    let (sector, word) = (ByteMask::range(0, 32), WORD);
    let nothing: &[(char, u64, ByteMask)] = &[];
    for (write, miss, on_miss, on_hit) in [
        (WriteBack, Validate, nothing, nothing),
        (WriteBack, Fetch, &[('R', 9, sector)], nothing),
        (WriteBack, NoAllocate, &[('W', 9, word)], nothing),
        (WriteThrough, Validate, &[('W', 9, word)], &[('W', 9, word)]),
        (WriteThrough, Fetch, &[('R', 9, sector), ('W', 9, word)], &[('W', 9, word)]),
        (WriteThrough, NoAllocate, &[('W', 9, word)], &[('W', 9, word)]),
    ] {
        let mut config = small();
        config.sector_bytes.value = 32;
        config.write_policy.value = write;
        config.write_miss_policy.value = miss;
        let mut bench = Bench::new(&config);
        bench.store(1, 9, WORD, 0x55).unwrap();
        bench.run(2);
        let mut sent = bench.kinds();
        (0..sent.len()).for_each(|_| bench.answer(7));
        bench.run(6);
        sent.extend(bench.kinds());
        assert_eq!(sent, on_miss, "a miss under {write:?} and {miss:?}");
        assert_eq!(bench.done.len(), 1);
        (0..bench.sent.len()).for_each(|_| bench.answer(7));
        bench.load(2, 9, WORD).unwrap();
        bench.run(3);
        (0..bench.sent.len()).for_each(|_| bench.answer(7));
        bench.run(8);
        bench.store(3, 9, WORD, 0x66).unwrap();
        bench.run(4);
        assert_eq!(bench.kinds(), on_hit, "a hit under {write:?} and {miss:?}");
    }
}

#[test]
fn a_store_of_whole_sectors_fetches_nothing() {
    let mut config = small();
    config.sector_bytes.value = 32;
    config.write_miss_policy.value = WriteMissPolicy::Fetch;
    let mut bench = Bench::new(&config);
    bench.store(1, 9, ByteMask::range(32, 64), 1).unwrap();
    bench.run(6);
    assert_eq!((bench.kinds().len(), bench.done.len()), (0, 1));
}

#[test]
fn an_atomic_sends_dirty_bytes_first_and_the_next_load_fetches_again() {
    let mut bench = Bench::new(&small());
    bench.store(1, 9, WORD, 0x55).unwrap();
    bench.step();
    bench.atomic(2, 9).unwrap();
    bench.step();
    bench.load(3, 9, WORD).unwrap();
    bench.run(3);
    assert_eq!(bench.kinds(), [('W', 9, WORD), ('A', 9, WORD), ('R', 9, ByteMask::ALL)]);
    assert_eq!(bench.l1d.outstanding(), 3);
    (0..3).for_each(|_| bench.answer(6));
    bench.run(8);
    assert_eq!(bench.l1d.outstanding(), 0);
    assert_eq!(bench.count("write_backs"), 1);
}

#[test]
fn an_atomic_waits_behind_the_fetch_of_its_line() {
    let mut bench = Bench::new(&small());
    bench.load(1, 9, WORD).unwrap();
    bench.step();
    bench.atomic(2, 9).unwrap();
    bench.step();
    bench.load(3, 9, WORD).unwrap();
    bench.run(3);
    assert_eq!(bench.kinds(), [('R', 9, ByteMask::ALL)], "nothing overtakes the fetch");
    bench.answer(7);
    bench.run(6);
    assert_eq!(
        bench.kinds(),
        [('A', 9, WORD), ('R', 9, ByteMask::ALL)],
        "the load fetches what the atomic leaves"
    );
    assert_eq!(bench.count("bypass_merges"), 1);
}

#[test]
fn a_load_past_the_cache_asks_for_whole_sectors_where_they_are_given() {
    let word = ByteMask::range(36, 4);
    let given = [(None, word), (Some(32), ByteMask::range(32, 32)), (Some(64), ByteMask::range(0, 64))];
    for (sector_bytes, asked) in given {
        let mut config = small();
        config.bypass_sector_bytes = sector_bytes.map(|bytes| Cited::new(bytes, "test"));
        let mut bench = Bench::new(&config);
        bench.offer(1, 9, word, Action::Load(Box::new(Line::ZERO)), Policy::Bypass).unwrap();
        bench.run(3);
        assert_eq!(bench.kinds(), [('R', 9, asked)], "sectors of {sector_bytes:?} bytes");
    }
}

#[test]
fn each_refusal_has_its_cause() {
    let mut config = small();
    config.accesses_per_cycle.value = 2;
    config.banks.value = 2;
    let mut bench = Bench::new(&config);
    assert_eq!(bench.l1d.accesses_per_cycle(), 2, "what the load/store unit offers");
    // Sets are line modulo 4, banks line modulo 2.
    bench.load(0, 0, WORD).unwrap();
    assert_eq!(bench.load(1, 4, WORD), Err(Refusal::Bank));
    bench.load(1, 1, WORD).unwrap();
    assert_eq!(bench.load(2, 2, WORD), Err(Refusal::Port));
    bench.run(2);
    bench.load(2, 4, WORD).unwrap();
    bench.run(2);
    assert_eq!(bench.load(3, 8, WORD), Err(Refusal::Ways), "both ways of set 0 wait");
    bench.load(3, 2, WORD).unwrap();
    bench.run(2);
    assert_eq!(bench.load(4, 3, WORD), Err(Refusal::Mshr));
    bench.run(2);
    (0..4).for_each(|_| bench.answer(1));
    bench.run(20);
    // Nobody takes packets now: four fill the queue.
    for line in [5, 6, 7] {
        bench.store(9, line, ByteMask::range(0, 1), 1).unwrap();
        bench.now = bench.now.next();
        bench.l1d.tick(bench.now);
    }
    for token in 0..2 {
        bench.atomic(token, 20 + u64::from(token)).unwrap();
        bench.now = bench.now.next();
    }
    bench.atomic(2, 22).unwrap();
    bench.now = bench.now.next();
    assert_eq!(bench.load(5, 11, WORD), Err(Refusal::Network), "a victim and a fetch need two places");
    bench.l1d.begin_flush(false, bench.now);
    assert_eq!(bench.load(5, 0, WORD), Err(Refusal::Flush));
    for cause in ["port", "mshr", "ways", "network", "bank", "flush"] {
        assert_eq!(bench.count(&format!("refused_{cause}")), 1, "{cause}");
    }
}

#[test]
fn a_flush_writes_a_line_a_cycle_and_waits_for_acknowledgements() {
    let mut bench = Bench::new(&small());
    for line in [1, 2, 3] {
        bench.store(line as u32, line, ByteMask::range(line as usize, 1), 9).unwrap();
        bench.step();
    }
    bench.run(10);
    let start = bench.now.0;
    assert!(bench.l1d.is_flushed(), "nothing was sent yet");
    bench.l1d.begin_flush(true, bench.now);
    assert!(!bench.l1d.is_flushed());
    bench.run(6);
    let cycles: Vec<_> = bench.sent.iter().map(|(cycle, _)| cycle - start).collect();
    assert_eq!(cycles, [2, 3, 4], "ticked from the next cycle on, and a cycle for the tags");
    let bytes: Vec<_> = bench.sent.iter().map(|(_, packet)| packet.bytes).collect();
    assert_eq!(bytes, [1, 2, 3].map(|byte| ByteMask::range(byte, 1)), "dirty bytes only");
    (0..3).for_each(|_| bench.answer(0));
    assert!(!bench.l1d.is_flushed());
    bench.step();
    assert!(bench.l1d.is_flushed());
    bench.load(9, 1, ByteMask::range(1, 1)).unwrap();
    assert_eq!(bench.count("load_misses"), 1, "copies were dropped");
}

#[test]
fn a_fill_after_a_flush_began_serves_its_load_and_leaves_no_copy() {
    let mut bench = Bench::new(&small());
    bench.load(1, 9, WORD).unwrap();
    bench.run(3);
    bench.l1d.begin_flush(true, bench.now);
    bench.run(3);
    assert!(!bench.l1d.is_flushed());
    bench.answer(7);
    bench.run(6);
    assert_eq!(bench.done.iter().map(|done| (done.1, done.2)).collect::<Vec<_>>(), [(1, 7)]);
    assert!(bench.l1d.is_flushed());
    bench.load(2, 9, WORD).unwrap();
    assert_eq!(bench.count("load_misses"), 2, "the line was not kept");
}

#[test]
fn faults_of_a_configuration_name_their_field() {
    let field = |change: fn(&mut SramL1dConfig)| {
        let mut config = SramL1dConfig::example();
        change(&mut config);
        config.check().map_err(|fault| fault.field)
    };
    assert_eq!(field(|_| {}), Ok(()));
    assert_eq!(field(|config| config.ways.value = 0), Err("ways"));
    assert_eq!(field(|config| config.sector_bytes.value = 48), Err("sector_bytes"));
    assert_eq!(field(|config| config.miss_queue.value = 1), Err("miss_queue"));
    assert_eq!(field(|config| config.hit_latency_cycles.value = 0), Err("hit_latency_cycles"));
    assert_eq!(SramL1dConfig::example().capacity_bytes(), 16 << 10);
}

#[test]
fn a_configuration_survives_its_text() {
    let config = SramL1dConfig::example();
    let text = toml::to_string(&config).unwrap();
    assert_eq!(strata_engine::config::parse::<SramL1dConfig>("l1d.toml".as_ref(), &text), Ok(config));
    assert!(text.contains("write-back"), "{text}");
}
