//! Worked cases.

use super::*;
use crate::replacement::ReplacementPolicy;
use crate::tags::SetIndex;
use strata_engine::Cited;

fn cache(sets: usize, ways: usize, mshrs: usize) -> ReadOnlyCache {
    fn number<T>(value: T) -> Cited<T> {
        Cited::new(value, "ASSUMED: a test")
    }
    let config = ReadOnlyConfig {
        sets: number(sets),
        ways: number(ways),
        set_index: number(SetIndex::Bits),
        replacement: number(ReplacementPolicy::Lru),
        accesses_per_cycle: number(1),
        hit_latency_cycles: number(3),
        mshr_entries: number(mshrs),
        miss_queue: number(2),
    };
    let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
    ReadOnlyCache::new(&config, Client::Instruction, NodeId(0), slices, 1).unwrap()
}

/// Answers the next request with a line full of `byte`.
fn answer(cache: &mut ReadOnlyCache, byte: u8, now: Cycle) -> (LineAddress, u64) {
    let mut request = cache.outgoing(now).expect("a request");
    let Body::Read(tray) = &mut request.body else { panic!("a read") };
    tray.0.fill(byte);
    let fill = cache.accept(request.into_reply(), now);
    assert_eq!(fill.data.0, [byte; 128]);
    (fill.line, fill.waiters)
}

#[test]
fn a_miss_wakes_all_its_waiters_and_then_hits() {
    let mut cache = cache(2, 1, 2);
    let line = LineAddress(6);
    assert!(matches!(cache.lookup(line, 3, Cycle(0)), Lookup::Pending));
    assert!(matches!(cache.lookup(line, 4, Cycle(0)), Lookup::Refused(Refusal::Port)));
    assert!(matches!(cache.lookup(line, 63, Cycle(1)), Lookup::Pending));
    assert!(matches!(cache.lookup(line, 63, Cycle(2)), Lookup::Pending), "asking again changes nothing");
    assert_eq!((cache.outgoing_bytes(Cycle(0)), cache.outgoing_bytes(Cycle(1))), (None, Some(8)));
    assert_eq!(answer(&mut cache, 9, Cycle(9)), (line, 1 << 63 | 1 << 3));
    let Lookup::Hit { ready, line } = cache.lookup(line, 0, Cycle(10)) else { panic!("a hit") };
    assert_eq!((ready, line.0[127]), (Cycle(13), 9));
    let statistics = cache.statistics();
    assert_eq!(statistics.name, "instruction_cache");
    let counts = ["accesses", "hits", "misses", "merges"].map(|name| statistics.get(name).unwrap());
    assert_eq!((counts, statistics.broken), ([3, 1, 1, 1], None));
}

#[test]
fn refusals_have_their_cause() {
    let mut small = cache(2, 1, 2);
    assert!(matches!(small.lookup(LineAddress(0), 0, Cycle(0)), Lookup::Pending));
    assert!(matches!(small.lookup(LineAddress(2), 0, Cycle(1)), Lookup::Refused(Refusal::Ways)));
    assert!(matches!(small.lookup(LineAddress(1), 0, Cycle(2)), Lookup::Pending));
    assert!(matches!(small.lookup(LineAddress(3), 0, Cycle(3)), Lookup::Refused(Refusal::Mshr)));
    let mut narrow = cache(4, 1, 4);
    assert!(matches!(narrow.lookup(LineAddress(0), 0, Cycle(0)), Lookup::Pending));
    assert!(matches!(narrow.lookup(LineAddress(1), 0, Cycle(1)), Lookup::Pending));
    assert!(matches!(narrow.lookup(LineAddress(2), 0, Cycle(2)), Lookup::Refused(Refusal::Network)));
}

#[test]
fn nothing_from_before_an_invalidation_is_kept() {
    let mut cache = cache(2, 1, 2);
    let (old, new) = (LineAddress(0), LineAddress(1));
    assert!(matches!(cache.lookup(old, 0, Cycle(0)), Lookup::Pending));
    answer(&mut cache, 1, Cycle(5));
    assert!(matches!(cache.lookup(new, 0, Cycle(6)), Lookup::Pending));
    cache.invalidate();
    assert!(matches!(cache.lookup(new, 1, Cycle(7)), Lookup::Refused(Refusal::Mshr)));
    assert_eq!(answer(&mut cache, 1, Cycle(8)), (new, 1), "who waited before is served");
    for line in [old, new] {
        assert!(matches!(cache.lookup(line, 0, Cycle(9 + line.0)), Lookup::Pending), "{line} is not kept");
    }
}
