//! Cycles of a hit, a miss, a merge, a wait, a replacement and a barrier, computed by hand.

use strata_engine::Cycle;
use strata_memory::doors::{
    LaneAccess, LaneAction, LaneDone, LaneEvent, LaneItem, LanePath, LaneRequest, LaneSpace,
};
use strata_memory::{ByteMask, LineAddress, Tray};
use strata_warp::WARP_LANES;

use super::{cache, of_lane_0};
use crate::tiny_cache::TinyCache;

const LOAD: LaneRequest = LaneRequest { action: LaneAction::Load, ..LaneRequest::EMPTY };
const STORE: LaneRequest = LaneRequest { action: LaneAction::Store, ..LaneRequest::EMPTY };

/// Takes the item that leaves for global memory at `now`: its token, whether it writes, its line, bytes and tray.
fn item(cache: &mut TinyCache, now: u64) -> Option<(u32, bool, LineAddress, ByteMask, Tray)> {
    match cache.outgoing(LaneSpace::Global, Cycle(now))? {
        LaneItem::Access(LaneAccess { token, line, bytes, writes, tray, .. }) => {
            Some((token, writes, line, bytes, tray))
        }
        LaneItem::Pass(request) => panic!("request {} went past", request.token),
    }
}

fn done(cache: &mut TinyCache, now: u64) -> Option<Result<Box<LaneRequest>, u32>> {
    Some(match cache.completed(Cycle(now))? {
        LaneDone::Request(request) => Ok(request),
        LaneDone::Event(token) => Err(token),
    })
}

/// Loads the block at 0x1000 into lane 0, with byte n of its line being n; over at cycle 11.
fn fetched(cache: &mut TinyCache) {
    cache.offer(of_lane_0(LOAD, 1, 0x1004), Cycle(0)).expect("an empty cache takes it");
    assert!(item(cache, 0).is_none());
    let (token, writes, line, bytes, mut tray) = item(cache, 1).expect("the fetch leaves a cycle later");
    assert_eq!((writes, line, bytes), (false, LineAddress(0x20), ByteMask::range(0, 64)));
    tray.0 = std::array::from_fn(|byte| byte as u8);
    cache.accept(token, tray, Cycle(10));
    assert!(done(cache, 10).is_none());
    let load = done(cache, 11).expect("the load is done a cycle after its bytes came").expect("a load");
    assert_eq!((load.token, load.words[0].0[0]), (1, 0x0706_0504));
}

#[test]
fn a_miss_and_a_hit() {
    let mut cache = cache();
    fetched(&mut cache);
    cache.offer(of_lane_0(LOAD, 2, 0x103c), Cycle(20)).expect("there is room");
    assert_eq!(cache.next_event(Cycle(20)), Cycle(21));
    let load = done(&mut cache, 21).expect("a hit takes a cycle").expect("a load");
    assert_eq!((load.token, load.words[0].0[0]), (2, 0x3f3e_3d3c));
    assert!(item(&mut cache, 30).is_none(), "a hit sends nothing");
}

#[test]
fn a_write_miss_fetches_nothing_and_a_read_of_the_rest_merges() {
    let mut cache = cache();
    let mut store = of_lane_0(STORE, 1, 0x1004);
    store.words[0].0[0] = 0xaabb_ccdd;
    cache.offer(store, Cycle(0)).expect("an empty cache takes it");
    assert_eq!(done(&mut cache, 1).expect("a store takes a cycle").expect("a store").token, 1);
    assert!(item(&mut cache, 5).is_none(), "write-validate fetches nothing");
    // Half of these eight bytes are there.
    let load = LaneRequest { width: 8, ..LOAD };
    cache.offer(of_lane_0(load, 2, 0x1000), Cycle(5)).expect("there is room");
    let (token, writes, _, bytes, mut tray) = item(&mut cache, 6).expect("the block is fetched");
    assert_eq!((writes, bytes), (false, ByteMask::range(0, 64)));
    tray.0 = [0x11; 128];
    cache.accept(token, tray, Cycle(9));
    let load = done(&mut cache, 10).expect("done a cycle after its bytes came").expect("a load");
    assert_eq!((load.words[0].0[0], load.words[1].0[0]), (0x1111_1111, 0xaabb_ccdd));
}

#[test]
fn another_lane_waits_for_the_same_fetch() {
    let mut cache = cache();
    cache.offer(of_lane_0(LOAD, 1, 0x1004), Cycle(0)).expect("there is room");
    let mut second = Box::new(LaneRequest { token: 2, lanes: 1 << 7, ..LOAD });
    second.addresses[7] = 0x1010;
    cache.offer(second, Cycle(1)).expect("there is room");
    let (token, _, _, _, mut tray) = item(&mut cache, 1).expect("the first lane's fetch");
    assert!(item(&mut cache, 9).is_none(), "the second makes none");
    tray.0 = std::array::from_fn(|byte| byte as u8);
    cache.accept(token, tray, Cycle(10));
    let both = [done(&mut cache, 11), done(&mut cache, 11)];
    let words: Vec<u32> = both
        .into_iter()
        .map(|load| load.expect("both are done").expect("a load"))
        .map(|load| load.words[0].0[load.lanes.trailing_zeros() as usize])
        .collect();
    assert_eq!(words, [0x0706_0504, 0x1312_1110]);
}

#[test]
fn lanes_that_miss_together_make_one_access() {
    let mut cache = cache();
    let mut load = Box::new(LaneRequest { token: 1, lanes: u32::MAX, ..LOAD });
    load.addresses = std::array::from_fn(|lane| 0x1000 + 4 * lane as u64);
    cache.offer(load, Cycle(0)).expect("there is room");
    let (token, _, line, bytes, mut tray) = item(&mut cache, 1).expect("one fetch");
    assert_eq!((line, bytes), (LineAddress(0x20), ByteMask::ALL), "two blocks of one line");
    assert!(item(&mut cache, 5).is_none());
    tray.0 = std::array::from_fn(|byte| byte as u8);
    cache.accept(token, tray, Cycle(7));
    let load = done(&mut cache, 8).expect("done").expect("a load");
    for lane in 0..WARP_LANES {
        assert_eq!(load.words[0].0[lane] as usize & 0xff, 4 * lane, "lane {lane}");
    }
}

#[test]
fn the_line_used_longest_ago_makes_room() {
    let mut cache = cache();
    // Nine blocks of one set: with two sets, every other block.
    for n in 0..9 {
        let mut store = of_lane_0(LaneRequest { width: 2, ..STORE }, n, 0x1000 + 0x80 * u64::from(n));
        store.words[0].0[0] = 0x1111 * n;
        cache.offer(store, Cycle(u64::from(n))).expect("there is room");
    }
    let (_, writes, line, bytes, tray) = item(&mut cache, 9).expect("the first is written back");
    assert_eq!((writes, line, bytes), (true, LineAddress(0x20), ByteMask::range(0, 2)));
    assert_eq!(tray.0[..2], [0, 0]);
    assert!(item(&mut cache, 20).is_none());
}

#[test]
fn a_barrier_makes_an_access_a_cycle_and_ends_when_they_are_performed() {
    let mut cache = cache();
    fetched(&mut cache);
    // Two lines of memory are written: the first by two lanes, which leave together.
    for (token, lane, address) in [(2, 0, 0x1000), (3, 9, 0x1040), (4, 5, 0x2002)] {
        let mut store = Box::new(LaneRequest { token, width: 2, lanes: 1 << lane, ..STORE });
        store.addresses[lane] = address;
        store.words[0].0[lane] = 0x0101 * token;
        cache.offer(store, Cycle(20)).expect("there is room");
        assert_eq!(done(&mut cache, 21).expect("done").expect("a store").token, token);
    }
    assert!(cache.order(LaneEvent::Barrier { cta: 0 }, 77, Cycle(30)));
    assert!(cache.offer(of_lane_0(LOAD, 5, 0x1000), Cycle(30)).is_err(), "one line is left to write back");
    assert_eq!(cache.next_event(Cycle(31)), Cycle(31));
    cache.tick(Cycle(31));
    let (first, writes, line, bytes, tray) = item(&mut cache, 31).expect("the first access");
    assert_eq!((writes, line, bytes), (true, LineAddress(0x20), ByteMask(0b11 | 0b11 << 64)));
    assert_eq!((tray.0[0], tray.0[64]), (2, 3));
    cache.accept(first, tray, Cycle(35));
    assert!(item(&mut cache, 31).is_none());
    let (second, _, line, bytes, tray) = item(&mut cache, 32).expect("the second, a cycle later");
    assert_eq!((line, bytes), (LineAddress(0x40), ByteMask(0b1100)));
    cache.tick(Cycle(32));
    assert!(done(&mut cache, 36).is_none());
    cache.accept(second, tray, Cycle(40));
    assert_eq!(done(&mut cache, 41), Some(Err(77)));
    assert!(cache.is_idle(), "nothing is left in any lane");
}

#[test]
fn dead_shared_memory_is_not_written_back() {
    let mut cache = cache();
    for (token, cta) in [(1, 0), (2, 1)] {
        let store = LaneRequest { space: LaneSpace::Shared, cta, ..STORE };
        cache.offer(of_lane_0(store, token, 0x400 * u64::from(cta)), Cycle(0)).expect("there is room");
        done(&mut cache, 1).expect("done").expect("a store");
    }
    assert!(cache.order(LaneEvent::CtaEnd { cta: 0 }, 9, Cycle(5)));
    let left = cache.outgoing(LaneSpace::Shared, Cycle(6));
    assert!(
        matches!(left, Some(LaneItem::Access(LaneAccess { writes: true, line: LineAddress(8), .. }))),
        "{left:?}"
    );
    assert!(
        cache.outgoing(LaneSpace::Shared, Cycle(9)).is_none(),
        "the other CTA's line is all that is left"
    );
}
