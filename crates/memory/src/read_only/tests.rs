//! Worked examples, checked to the cycle.

use super::*;
use crate::client::Client;
use crate::node::NodeId;
use crate::packet::Body;
use crate::replacement;
use crate::slice_map::SliceMap;
use crate::tags::SetIndex;
use strata_engine::Cited;

fn config(sets: usize, ways: usize, mshrs: usize) -> ReadOnlyConfig {
    fn number<T>(value: T) -> Cited<T> {
        Cited::new(value, "ASSUMED: a test")
    }
    ReadOnlyConfig {
        sets: number(sets),
        ways: number(ways),
        set_index: number(SetIndex::Bits),
        replacement: number(replacement::lru()),
        accesses_per_cycle: number(1),
        hit_latency_cycles: number(3),
        mshr_entries: number(mshrs),
        miss_queue: number(2),
        prefetch_lines: None,
        perfect: None,
    }
}

fn cache(sets: usize, ways: usize, mshrs: usize) -> ReadOnlyCache {
    build(&config(sets, ways, mshrs))
}

fn build(config: &ReadOnlyConfig) -> ReadOnlyCache {
    let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
    ReadOnlyCache::new(config, Client::Instruction, NodeId(0), slices, 1).unwrap()
}

/// Answers the next request with a line full of `byte`.
fn answer(cache: &mut ReadOnlyCache, byte: u8, now: Cycle) -> LineAddress {
    let mut request = cache.outgoing(now).expect("a request");
    let line = request.line;
    let Body::Read(tray) = &mut request.body else { panic!("a read") };
    tray.0.fill(byte);
    cache.accept(request.into_reply(), now);
    line
}

/// The tokens that have arrived by now, each with the first byte of its line.
fn arrived(cache: &mut ReadOnlyCache, now: Cycle) -> Vec<(u32, u8)> {
    std::iter::from_fn(|| cache.arrived(now).map(|(token, line)| (token, line.0[0]))).collect()
}

/// Counters by name; every law holds.
fn counts<const N: usize>(cache: &ReadOnlyCache, names: [&str; N]) -> [u64; N] {
    let [statistics] = &cache.statistics()[..] else { panic!("one group") };
    assert_eq!((statistics.name, statistics.broken), ("instruction_cache", None));
    names.map(|name| statistics.get(name).expect("a counter"))
}

const WAYS_TO_COUNT: [&str; 4] = ["accesses", "hits", "misses", "merges"];

#[test]
fn three_requests_for_a_line_are_a_miss_a_merge_and_a_hit() {
    let mut cache = cache(2, 1, 2);
    let line = LineAddress(6);
    assert!(cache.request(line, 1000, Cycle(0)));
    assert!(!cache.request(line, 7, Cycle(0)), "one look-up a cycle");
    assert!(cache.request(line, 7, Cycle(1)));
    assert_eq!((cache.outgoing_bytes(Cycle(0)), cache.outgoing_bytes(Cycle(1))), (None, Some(8)));
    assert!(cache.arrived(Cycle(5)).is_none());
    assert_eq!(answer(&mut cache, 9, Cycle(8)), line);
    assert!(cache.outgoing(Cycle(8)).is_none(), "one request for both");
    assert_eq!(cache.next_event(Cycle(8)), Cycle(8));
    assert_eq!(arrived(&mut cache, Cycle(8)), [(1000, 9), (7, 9)], "in the order in which they asked");
    // A hit comes after its latency and not before.
    assert!(cache.request(line, 5, Cycle(10)));
    assert_eq!(cache.next_event(Cycle(11)), Cycle(13));
    assert!(cache.arrived(Cycle(12)).is_none());
    assert_eq!(arrived(&mut cache, Cycle(13)), [(5, 9)]);
    assert_eq!(cache.next_event(Cycle(14)), Cycle::NEVER);
    assert_eq!(counts(&cache, WAYS_TO_COUNT), [3, 1, 1, 1]);
    assert_eq!(counts(&cache, ["refused_port", "fills"]), [1, 1], "a refusal is no access");
}

#[test]
fn one_who_asks_again_for_a_line_on_its_way_gets_it_twice() {
    let mut cache = cache(2, 1, 2);
    let (line, other) = (LineAddress(6), LineAddress(7));
    for (cycle, wanted) in [line, other, line, line].into_iter().enumerate() {
        assert!(cache.request(wanted, 3, Cycle(cycle as u64)));
    }
    assert_eq!(answer(&mut cache, 1, Cycle(9)), line);
    assert_eq!(arrived(&mut cache, Cycle(9)), [(3, 1); 3]);
    assert_eq!(answer(&mut cache, 2, Cycle(9)), other);
    assert_eq!(arrived(&mut cache, Cycle(9)), [(3, 2)]);
    assert_eq!(counts(&cache, WAYS_TO_COUNT), [4, 0, 2, 2]);
}

#[test]
fn refusals_have_their_cause_and_are_no_accesses() {
    let mut small = cache(2, 1, 2);
    assert!(small.request(LineAddress(0), 0, Cycle(0)));
    assert!(!small.request(LineAddress(2), 0, Cycle(1)), "the only way of the set waits for its line");
    assert!(small.request(LineAddress(1), 0, Cycle(2)));
    assert!(!small.request(LineAddress(3), 0, Cycle(3)), "both MSHRs are in use");
    assert_eq!(counts(&small, ["refused_ways", "refused_mshr"]), [1, 1]);
    assert_eq!(counts(&small, WAYS_TO_COUNT), [2, 0, 2, 0]);
    let mut narrow = cache(4, 1, 4);
    assert!(narrow.request(LineAddress(0), 0, Cycle(0)));
    assert!(narrow.request(LineAddress(1), 0, Cycle(1)));
    assert!(!narrow.request(LineAddress(2), 0, Cycle(2)), "two requests wait for the network");
    assert_eq!(counts(&narrow, ["refused_network"]), [1]);
}

#[test]
fn nothing_from_before_an_invalidation_is_kept() {
    let mut cache = cache(2, 1, 2);
    let (old, new) = (LineAddress(0), LineAddress(1));
    assert!(cache.request(old, 0, Cycle(0)));
    answer(&mut cache, 1, Cycle(5));
    assert_eq!(arrived(&mut cache, Cycle(5)), [(0, 1)]);
    assert!(cache.request(new, 0, Cycle(6)));
    cache.invalidate();
    assert!(!cache.request(new, 1, Cycle(7)), "what comes is from before");
    assert_eq!(answer(&mut cache, 1, Cycle(8)), new);
    assert_eq!(arrived(&mut cache, Cycle(8)), [(0, 1)], "who waited before is served");
    for line in [old, new] {
        assert!(cache.request(line, 0, Cycle(9 + line.0)));
    }
    assert_eq!(counts(&cache, WAYS_TO_COUNT), [4, 0, 4, 0], "neither was kept");
}

#[test]
fn bytes_are_left_out_where_nobody_reads_them() {
    let mut cache = cache(2, 1, 2).without_bytes();
    assert!(cache.request(LineAddress(6), 1, Cycle(0)));
    answer(&mut cache, 9, Cycle(3));
    assert_eq!(arrived(&mut cache, Cycle(3)), [(1, 0)]);
}

#[test]
fn a_perfect_cache_has_every_line_and_sends_for_none() {
    let perfect = Some(Cited::new(true, "ASSUMED: a test"));
    let mut cache = build(&ReadOnlyConfig { perfect, ..config(1, 1, 1) }).without_bytes();
    for number in 0..4 {
        assert!(cache.request(LineAddress(100 * number), number as u32, Cycle(number)));
        assert!(!cache.request(LineAddress(7), 7, Cycle(number)), "one look-up a cycle");
    }
    for number in 0..4 {
        assert!(cache.arrived(Cycle(2 + number)).is_none());
        assert_eq!(cache.arrived(Cycle(3 + number)).map(|(token, _)| token), Some(number as u32));
    }
    assert!(cache.outgoing(Cycle(100)).is_none());
    assert_eq!(counts(&cache, WAYS_TO_COUNT), [4, 4, 0, 0]);
}

#[test]
fn a_line_of_which_no_bytes_are_needed_is_a_hit_if_it_is_here() {
    let mut cache = cache(2, 1, 2);
    let line = LineAddress(6);
    assert_eq!(cache.touch(line, Cycle(0)), None);
    assert!(cache.request(line, 1, Cycle(0)), "nothing was looked up");
    assert_eq!(cache.touch(line, Cycle(1)), None, "the line is on its way");
    answer(&mut cache, 9, Cycle(3));
    assert_eq!(arrived(&mut cache, Cycle(3)), [(1, 9)]);
    assert_eq!(cache.touch(line, Cycle(4)), Some(Cycle(7)));
    assert_eq!(cache.touch(line, Cycle(4)), None, "one look-up a cycle");
    assert!(!cache.request(line, 1, Cycle(4)));
    assert_eq!(cache.next_event(Cycle(5)), Cycle::NEVER, "its cycle has been told");
    assert_eq!(counts(&cache, WAYS_TO_COUNT), [2, 1, 1, 0]);
}

/// A cache of 32 lines that fetches two lines ahead, with so many MSHRs.
fn ahead(mshrs: usize) -> ReadOnlyCache {
    let prefetch_lines = Some(Cited::new(2, "ASSUMED: a test"));
    let miss_queue = Cited::new(4, "ASSUMED: a test");
    build(&ReadOnlyConfig { prefetch_lines, miss_queue, ..config(8, 4, mshrs) })
}

const AHEAD: [&str; 4] = ["misses", "merges", "prefetches", "prefetches_used"];

#[test]
fn lines_behind_one_that_is_used_first_are_fetched_ahead() {
    let mut cache = ahead(4);
    assert!(cache.request(LineAddress(6), 1, Cycle(0)));
    for line in 6..9 {
        assert_eq!(
            answer(&mut cache, line as u8, Cycle(1)),
            LineAddress(line),
            "the one that is asked for first"
        );
    }
    assert_eq!(arrived(&mut cache, Cycle(1)), [(1, 6)], "nobody waits for the others");
    assert!(cache.outgoing(Cycle(2)).is_none());
    assert_eq!(cache.touch(LineAddress(6), Cycle(2)), Some(Cycle(5)), "used before");
    assert!(cache.outgoing(Cycle(3)).is_none());
    // The first use of 7 is a look-up, and finds 8 here and 9 not.
    assert_eq!(cache.touch(LineAddress(7), Cycle(3)), None);
    assert!(cache.request(LineAddress(7), 2, Cycle(3)));
    assert_eq!(arrived(&mut cache, Cycle(6)), [(2, 7)], "a hit");
    assert_eq!(cache.touch(LineAddress(7), Cycle(6)), Some(Cycle(9)));
    // 9 is late: its first user waits for it, and 10 and 11 follow.
    assert!(cache.request(LineAddress(9), 3, Cycle(7)));
    for line in 9..12 {
        assert_eq!(answer(&mut cache, line as u8, Cycle(8)), LineAddress(line));
    }
    assert_eq!(arrived(&mut cache, Cycle(8)), [(3, 9)]);
    assert_eq!(counts(&cache, AHEAD), [1, 1, 5, 2]);
}

#[test]
fn fetching_ahead_ends_at_a_block_and_leaves_an_mshr() {
    let mut cache = ahead(4);
    assert!(cache.request(LineAddress(30), 1, Cycle(0)));
    assert_eq!([30, 31].map(|_| answer(&mut cache, 0, Cycle(1)).0), [30, 31], "32 is in the next 4 KiB");
    assert!(cache.outgoing(Cycle(1)).is_none());
    let mut cache = ahead(2);
    assert!(cache.request(LineAddress(0), 1, Cycle(0)));
    assert!(cache.request(LineAddress(5), 2, Cycle(1)), "one was left for it");
    assert_eq!([0, 5].map(|_| answer(&mut cache, 0, Cycle(2)).0), [0, 5]);
    assert_eq!(counts(&cache, AHEAD), [2, 0, 0, 0]);
}

#[test]
fn what_was_fetched_ahead_before_an_invalidation_is_not_kept() {
    let mut cache = ahead(4);
    assert!(cache.request(LineAddress(0), 1, Cycle(0)));
    cache.invalidate();
    for line in 0..3 {
        assert_eq!(answer(&mut cache, 1, Cycle(1)), LineAddress(line));
    }
    assert_eq!(arrived(&mut cache, Cycle(1)), [(1, 1)]);
    assert!(cache.request(LineAddress(1), 1, Cycle(2)));
    assert_eq!(counts(&cache, AHEAD), [2, 0, 4, 0], "1 is fetched again, and two behind it");
}

/// A second level of 4 MSHRs, whose hits take 3 cycles, and a packet that a first level sends.
fn second() -> SecondLevel {
    let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
    let cache = ReadOnlyCache::new(&config(8, 1, 4), Client::ReadOnly, NodeId(0), slices, 1).unwrap();
    SecondLevel::new(cache, 8)
}

/// The request that a first level makes for a line.
fn asks(client: Client, line: LineAddress) -> Packet {
    let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
    let mut first = ReadOnlyCache::new(&config(8, 1, 4), client, NodeId(0), slices, 1).unwrap();
    assert!(first.request(line, 0, Cycle(0)));
    first.outgoing(Cycle(1)).expect("a request")
}

/// Answers the second level's next request with a line full of `byte`.
fn feed(second: &mut SecondLevel, byte: u8, now: Cycle) {
    let mut request = second.outgoing(now).expect("a request");
    assert_eq!(request.client, Client::ReadOnly);
    let Body::Read(tray) = &mut request.body else { panic!("a read") };
    tray.0.fill(byte);
    second.accept(request.into_reply(), now);
}

/// Its replies by now: client, line and first byte.
fn replies(second: &mut SecondLevel, now: Cycle) -> Vec<(Client, u64, u8)> {
    let reply = |packet: Packet| {
        let Body::ReadReply(tray) = &packet.body else { panic!("a reply") };
        (packet.client, packet.line.0, tray.0[0])
    };
    std::iter::from_fn(|| second.reply(now)).map(reply).collect()
}

#[test]
fn a_second_level_answers_the_first_as_memory_would() {
    let mut second = second();
    second.request(asks(Client::Instruction, LineAddress(6)));
    second.request(asks(Client::Constant, LineAddress(6)));
    assert_eq!(second.next_event(Cycle(2)), Cycle(2));
    second.tick(Cycle(2));
    assert_eq!(second.next_event(Cycle(3)), Cycle(3), "one look-up a cycle: the other is due");
    second.tick(Cycle(3));
    feed(&mut second, 9, Cycle(7));
    assert_eq!(replies(&mut second, Cycle(7)), [(Client::Instruction, 6, 9), (Client::Constant, 6, 9)]);
    // A hit comes after its latency.
    second.request(asks(Client::Constant, LineAddress(6)));
    second.tick(Cycle(10));
    assert_eq!(second.next_event(Cycle(11)), Cycle(13));
    assert_eq!(replies(&mut second, Cycle(12)), []);
    assert_eq!(replies(&mut second, Cycle(13)), [(Client::Constant, 6, 9)]);
    assert_eq!(second.next_event(Cycle(14)), Cycle::NEVER);
}

#[test]
fn a_refused_request_sleeps_until_something_changes() {
    let mut second = second();
    // Lines 0 and 8 share the only way of a set.
    for line in [0, 8] {
        second.request(asks(Client::Instruction, LineAddress(line)));
    }
    second.tick(Cycle(1));
    second.tick(Cycle(2));
    assert!(second.outgoing_bytes(Cycle(2)).is_some());
    let request = second.outgoing(Cycle(2)).expect("a request");
    second.tick(Cycle(3));
    assert_eq!(second.next_event(Cycle(4)), Cycle::NEVER, "the way waits for its line");
    let refused = |second: &SecondLevel| second.statistics()[0].get("refused_ways");
    let before = refused(&second);
    second.tick(Cycle(4));
    assert_eq!(refused(&second), before, "it is not looked up again");
    second.accept(request.into_reply(), Cycle(9));
    assert_eq!(replies(&mut second, Cycle(9)).len(), 1);
    second.tick(Cycle(10));
    feed(&mut second, 3, Cycle(11));
    assert_eq!(replies(&mut second, Cycle(11)), [(Client::Instruction, 8, 3)]);
}

#[test]
fn code_outlives_a_launch_and_constants_do_not() {
    let mut second = second();
    let ask = |second: &mut SecondLevel, client, line, now: u64| {
        second.request(asks(client, LineAddress(line)));
        second.tick(Cycle(now));
        let is_miss = second.outgoing_bytes(Cycle(now + 1)).is_some();
        if is_miss {
            feed(second, 1, Cycle(now + 1));
        }
        assert_eq!(replies(second, Cycle(now + 3)).len(), 1);
        is_miss
    };
    assert!(ask(&mut second, Client::Instruction, 1, 10));
    assert!(ask(&mut second, Client::Constant, 2, 20));
    second.invalidate(false);
    assert!(!ask(&mut second, Client::Instruction, 1, 30), "code stays");
    assert!(ask(&mut second, Client::Constant, 2, 40), "the host may have written it");
    // A line that has been read as a constant is no longer code alone.
    assert!(!ask(&mut second, Client::Constant, 1, 50));
    second.invalidate(false);
    assert!(ask(&mut second, Client::Instruction, 1, 60));
    second.invalidate(true);
    assert!(ask(&mut second, Client::Instruction, 1, 70), "the code is new");
}
