//! Accesses and bank passes of common address patterns.

use strata_ptx::isa::AtomicOp;

use super::*;

/// Accesses and bytes at the L1D of a load, by segment size.
#[track_caller]
fn coalesced(op: Op, lanes: LaneMask, address: impl Fn(u64) -> u64, expected: [(u64, u64); 2]) {
    let sources = Sources::at(address);
    for (segment, expected) in [128, 32].into_iter().zip(expected) {
        let mut bench = Bench::new(&LsuConfig { segment_bytes: Cited::new(segment, "test"), ..config() });
        bench.try_issue(0, lanes, op, &sources).unwrap();
        bench.drain();
        let statistics = bench.lsu.statistics();
        assert_eq!((statistics.accesses, statistics.bytes_accessed), expected, "segments of {segment} bytes");
        assert_eq!(bench.l1d.led, 1, "one is the instruction's first");
    }
}

#[test]
fn accesses_of_common_patterns() {
    let load = |ty, vector| Op::Load(mode(Space::Global, ty, vector));
    let all = LaneMask::MAX;
    // Unit stride, by element size.
    coalesced(load(Ty::U8, 1), all, |lane| BASE + lane, [(1, 32), (1, 32)]);
    coalesced(load(Ty::U16, 1), all, |lane| BASE + 2 * lane, [(1, 64), (2, 64)]);
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 4 * lane, [(1, 128), (4, 128)]);
    coalesced(load(Ty::U64, 1), all, |lane| BASE + 8 * lane, [(2, 256), (8, 256)]);
    coalesced(load(Ty::U32, 4), all, |lane| BASE + 16 * lane, [(4, 512), (16, 512)]);
    coalesced(load(Ty::F64, 4), all, |lane| BASE + 32 * lane, [(8, 1024), (32, 1024)]);
    // A warp that starts in the middle of a line or a sector.
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 64 + 4 * lane, [(2, 128), (4, 128)]);
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 4 + 4 * lane, [(2, 128), (5, 128)]);
    // Strides of 2 and 32 words.
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 8 * lane, [(2, 128), (8, 128)]);
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 128 * lane, [(32, 128), (32, 128)]);
    // The same backwards, for some lanes only, and from the middle of a segment.
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 128 * (31 - lane), [(32, 128), (32, 128)]);
    coalesced(load(Ty::U32, 1), 0x0001_1001, |lane| BASE + 128 * lane, [(3, 12), (3, 12)]);
    coalesced(load(Ty::U64, 1), all, |lane| BASE + 72 + 64 * lane, [(17, 256), (32, 256)]);
    // The same word for all, descending lanes, a part of the warp.
    coalesced(load(Ty::U32, 1), all, |_| BASE + 512, [(1, 4), (1, 4)]);
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 4 * (31 - lane), [(1, 128), (4, 128)]);
    coalesced(load(Ty::U32, 1), 0x8000_0101, |lane| BASE + 4 * lane, [(1, 12), (3, 12)]);
    // Lanes that alternate between two lines.
    coalesced(load(Ty::U32, 1), all, |lane| BASE + 1024 * (lane % 2) + 4 * lane, [(2, 128), (8, 128)]);
}

#[track_caller]
fn passes(op: Op, lanes: LaneMask, address: impl Fn(u64) -> u64, expected: u64) {
    let mut bench = Bench::new(&config());
    bench.try_issue(0, lanes, op, &Sources::at(address)).unwrap();
    bench.drain();
    assert_eq!(bench.lsu.statistics().shared_passes, expected);
}

/// Loads of 16 bytes take 4 passes, a quarter warp each; 2 where lanes read alike in pairs (NVIDIA, compute capability 7.0 to
/// 7.5), and 8 bytes 1 for 2.
#[test]
fn lanes_that_read_alike_in_pairs_are_served_together() {
    type Address = fn(u64) -> u64;
    let mut config = config();
    let mut passes = |pairs: bool, op: Op, lanes: LaneMask, address: Address| {
        config.shared.pairs_together = Some(Cited::new(pairs, "test"));
        let mut bench = Bench::new(&config);
        bench.try_issue(0, lanes, op, &Sources::at(address)).unwrap();
        bench.drain();
        let statistics = bench.lsu.statistics();
        (statistics.shared_passes, statistics.shared_conflict_cycles)
    };
    let all = LaneMask::MAX;
    let load = |vector| Op::Load(mode(Space::Shared, Ty::U32, vector));
    let store = Op::Store(mode(Space::Shared, Ty::U32, 4));
    let patterns: [(Address, u64); 5] = [
        (|_| 64, 2),
        (|lane| lane / 2 * 16, 2),
        // Lanes 0 and 2, 1 and 3, and so on.
        (|lane| (lane / 4 * 2 + lane % 2) * 16, 2),
        (|lane| lane * 16, 4),
        (|lane| lane / 4 * 16 + lane % 2 * 128, 2 + 2),
    ];
    for (address, expected) in patterns {
        assert_eq!(passes(true, load(4), all, address).0, expected);
        assert_eq!(passes(false, load(4), all, address).0.max(4), passes(false, load(4), all, address).0);
    }
    assert_eq!(passes(true, load(2), all, |_| 64), (1, 0));
    assert_eq!(passes(false, load(2), all, |_| 64), (2, 0));
    assert_eq!(passes(true, load(1), all, |_| 64), (1, 0));
    assert_eq!(passes(true, store, all, |_| 64).0, 4, "what is stored differs");
    // A lane whose neighbour is idle is alone in its pair.
    assert_eq!(passes(true, load(4), 0x5555_5555, |lane| lane / 2 * 16).0, 2);
}

#[test]
fn passes_of_common_patterns() {
    let load = |ty, vector| Op::Load(mode(Space::Shared, ty, vector));
    let all = LaneMask::MAX;
    passes(load(Ty::U32, 1), all, |lane| 4 * lane, 1);
    passes(load(Ty::U32, 1), all, |_| 64, 1);
    for (stride, expected) in [(2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (17, 1), (6, 2)] {
        passes(load(Ty::U32, 1), all, |lane| 4 * stride * lane, expected);
    }
    // Half of the warp reads one word, the other half another of the same bank.
    passes(load(Ty::U32, 1), all, |lane| 128 * (lane / 16), 2);
    // Bytes and halves of the same words.
    passes(load(Ty::U8, 1), all, |lane| lane, 1);
    passes(load(Ty::S16, 1), all, |lane| 2 * lane, 1);
    // Wide accesses: half and quarter warps.
    passes(load(Ty::U64, 1), all, |lane| 8 * lane, 2);
    passes(load(Ty::U32, 4), all, |lane| 16 * lane, 4);
    passes(load(Ty::U64, 1), 0x0000_00ff, |lane| 8 * lane, 1);
    passes(load(Ty::U64, 1), all, |lane| 16 * lane, 4);
    // Only active lanes count.
    passes(load(Ty::U32, 1), 0x0000_ffff, |lane| 8 * lane, 1);
    // Within as many words as there are banks, in any order; one word further, lanes 0 and 31 share a bank.
    passes(load(Ty::U32, 1), all, |lane| 400 + 4 * (lane * 7 % 32), 1);
    passes(load(Ty::U32, 1), 0xff0f_fff1, |lane| 400 + 4 * (31 - lane), 1);
    passes(load(Ty::U32, 1), all, |lane| 400 + 4 * (lane + lane / 31), 2);
    passes(load(Ty::U16, 1), all, |lane| 402 + 2 * (lane * 5 % 32), 1);
    // Atomics on one word are serialized, and so are those on one bank.
    let add = Op::Reduce { op: AtomicOp::Add, mode: mode(Space::Shared, Ty::U32, 1) };
    passes(add, all, |_| 0, 32);
    passes(add, all, |lane| 4 * lane, 1);
    passes(add, all, |lane| 4 * (lane % 8), 4);
}
