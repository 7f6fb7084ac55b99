//! Cycles computed by hand: address generation 3, L1D 20, shared memory 5, constant cache 4, write-back 2.

use strata_ptx::ir::window;

use super::*;

/// Issues instructions of warps 0, 1, ... in cycles 0, 1, ...; what the L1D saw and when they finished.
fn run(config: &LsuConfig, instructions: &[(Op, Sources)]) -> (Vec<String>, Vec<String>, Bench) {
    let mut bench = Bench::new(config);
    for (warp, (op, sources)) in instructions.iter().enumerate() {
        bench.issue(warp as u8, *op, sources);
        bench.cycle();
    }
    bench.drain();
    (bench.l1d.log.clone(), bench.finished.clone(), bench)
}

fn load(space: Space, ty: Ty, vector: u8) -> Op {
    Op::Load(mode(space, ty, vector))
}

#[test]
fn a_coalesced_load_takes_the_sum_of_the_latencies() {
    let sources = Sources::at(|lane| BASE + 4 * lane);
    let (log, finished, _) = run(&config(), &[(load(Space::Global, Ty::U32, 1), sources)]);
    assert_eq!(log, ["3: load 0x0 128 bytes"]);
    assert_eq!(finished, ["25: warp 0 pc 40"]);
}

#[test]
fn each_further_access_takes_a_cycle() {
    let sources = Sources::at(|lane| BASE + 16 * lane);
    let (log, finished, bench) = run(&config(), &[(load(Space::Global, Ty::U32, 4), sources)]);
    assert_eq!(
        log,
        [
            "3: load 0x0 128 bytes",
            "4: load 0x80 128 bytes",
            "5: load 0x100 128 bytes",
            "6: load 0x180 128 bytes"
        ]
    );
    assert_eq!(finished, ["28: warp 0 pc 40"]);
    assert_eq!(bench.rows.len(), 4);
}

#[test]
fn instructions_share_the_port_in_order() {
    let two_lines = Sources::at(|lane| BASE + 8 * lane);
    let one_line = Sources::at(|_| BASE + 0x400);
    let op = load(Space::Global, Ty::U32, 1);
    let (log, finished, _) = run(&config(), &[(op, two_lines), (op, one_line)]);
    assert_eq!(log, ["3: load 0x0 64 bytes", "4: load 0x80 64 bytes", "5: load 0x400 4 bytes"]);
    assert_eq!(finished, ["26: warp 0 pc 40", "27: warp 1 pc 41"]);
}

#[test]
fn an_l1d_counts_the_refusals_of_an_access_that_is_not_offered() {
    for tells in [true, false] {
        let mut bench = Bench::new(&config());
        (bench.l1d.tells, bench.l1d.refuse) = (tells, (3..50).collect());
        bench.issue(0, load(Space::Global, Ty::U32, 1), &Sources::at(|lane| BASE + 4 * lane));
        while bench.now.0 < 20 {
            bench.cycle();
        }
        // As often as the counters are read.
        bench.lsu.settle(&mut bench.l1d, bench.now);
        bench.lsu.settle(&mut bench.l1d, bench.now);
        assert_eq!(bench.l1d.refused, 17, "in cycles 3 to 19");
        // The unit counts a cycle when the next one has come.
        assert_eq!(bench.lsu.statistics().refused_mshr, 16);
        bench.drain();
        assert_eq!((bench.l1d.refused, bench.lsu.statistics().refused_mshr), (47, 47));
        assert_eq!(bench.l1d.offers, if tells { 2 } else { 48 });
    }
}

#[test]
fn a_refused_access_is_held_and_shared_memory_does_not_wait() {
    let mut bench = Bench::new(&config());
    bench.l1d.refuse = vec![3, 4, 5];
    bench.issue(0, load(Space::Global, Ty::U32, 1), &Sources::at(|lane| BASE + 4 * lane));
    bench.cycle();
    bench.issue(1, load(Space::Shared, Ty::U32, 1), &Sources::at(|lane| 4 * lane));
    bench.drain();
    assert_eq!(bench.l1d.log, ["6: load 0x0 128 bytes"]);
    // Shared: issued at 1, pass at 4, complete at 9, written back at 11.
    assert_eq!(bench.finished, ["11: warp 1 pc 41", "28: warp 0 pc 40"]);
    assert_eq!(bench.lsu.statistics().refused_mshr, 3);
}

#[test]
fn shared_memory_makes_a_pass_a_cycle() {
    let op = load(Space::Shared, Ty::U32, 1);
    let two_way = Sources::at(|lane| 8 * lane);
    let free = Sources::at(|lane| 4 * lane);
    let (_, finished, bench) = run(&config(), &[(op, two_way), (op, free.clone()), (op, free)]);
    // Passes: 3 and 4, then 5, then 6; complete 5 cycles after the last pass.
    assert_eq!(finished, ["11: warp 0 pc 40", "12: warp 1 pc 41", "13: warp 2 pc 42"]);
    assert_eq!(bench.lsu.statistics().shared_conflict_cycles, 1);
}

#[test]
fn parameters_come_through_the_constant_cache_a_line_for_the_warp() {
    let (log, finished, bench) = run(&config(), &[(load(Space::Param, Ty::U32, 1), Sources::at(|_| 8))]);
    assert!(log.is_empty());
    assert_eq!(bench.constants.asked, [(Cycle(3), Address(PARAMS_AT).line(), 0)]);
    assert_eq!(finished, ["9: warp 0 pc 40"]);
    assert_eq!(bench.rows, [Row::splat(word_at(PARAMS_AT + 8))]);
}

/// The unit of a machine whose read-only memory is loaded as global memory is.
fn as_global() -> LsuConfig {
    LsuConfig { read_only: Some(Cited::new(ReadOnlyWay::AsGlobal, "test")), ..config() }
}

#[test]
fn parameters_may_be_loads_of_global_memory() {
    let (log, finished, bench) = run(&as_global(), &[(load(Space::Param, Ty::U32, 1), Sources::at(|_| 8))]);
    assert_eq!(log, [format!("3: load {:#x} 4 bytes", PARAMS_AT - BASE)]);
    assert_eq!(finished, ["25: warp 0 pc 40"]);
    assert_eq!(bench.rows, [Row::splat(word_at(PARAMS_AT + 8))]);
    assert!(bench.constants.asked.is_empty());
    let counted = bench.lsu.statistics();
    assert_eq!((counted.global_instructions, counted.constant_instructions), (1, 0));
    assert_eq!((counted.accesses, counted.lane_addresses, counted.bytes_requested), (1, 32, 128));
}

#[test]
fn constants_may_be_loads_of_global_memory() {
    let of_const = load(Space::Const, Ty::U32, 1);
    let (log, _, bench) = run(&as_global(), &[(of_const, Sources::at(|lane| BASE + 128 * (lane / 16)))]);
    assert_eq!(log, ["3: load 0x0 4 bytes", "4: load 0x80 4 bytes"]);
    assert_eq!(bench.rows[0].0[31], word_at(BASE + 128));
    assert_eq!(bench.lsu.statistics().global_instructions, 1);
    let mut bench = Bench::new(&as_global());
    let fault =
        bench.try_issue(0, LaneMask::MAX, Op::Store(mode(Space::Const, Ty::U32, 1)), &Sources::at(|_| BASE));
    assert!(fault.unwrap_err().to_string().contains("a store to constant or parameter memory"));
}

#[test]
fn lanes_in_parameters_and_global_memory_are_in_one_memory_then() {
    // A generic address of each; the last half of the lanes has its bytes in global memory.
    let mixed = |lane| if lane < 16 { window::PARAM + 8 } else { BASE + 0x100 };
    let generic = load(Space::Generic, Ty::U32, 1);
    let (_, _, own) = run(&config(), &[(generic, Sources::at(mixed))]);
    let (_, _, one) = run(&as_global(), &[(generic, Sources::at(mixed))]);
    assert_eq!(own.rows, one.rows);
    let counted = |bench: &Bench| {
        let counted = bench.lsu.statistics();
        (counted.global_instructions, counted.constant_instructions, counted.split_instructions)
    };
    assert_eq!((counted(&own), counted(&one)), ((1, 1, 1), (1, 0, 0)));
}

fn word_at(address: u64) -> u32 {
    let at = (address - BASE) as usize;
    u32::from_le_bytes(Memory::numbered().0[at..at + 4].try_into().unwrap())
}

#[test]
fn local_words_of_the_lanes_share_a_line() {
    let (log, finished, bench) = run(&config(), &[(load(Space::Local, Ty::U64, 1), Sources::at(|_| 8))]);
    // Offset 8 is word 2: the third line of the warp's local memory, and the fourth for its high half.
    let first = LOCAL_AT - BASE + 2 * 128;
    assert_eq!(
        log,
        [format!("3: load {first:#x} 128 bytes"), format!("4: load {:#x} 128 bytes", first + 128)]
    );
    assert_eq!(finished, ["26: warp 0 pc 40"]);
    assert_eq!(bench.rows[0].0[5], word_at(BASE + first + 20));
    assert_eq!(bench.rows[1].0[5], word_at(BASE + first + 128 + 20));
}

#[test]
fn nothing_active_finishes_at_once() {
    let mut bench = Bench::new(&config());
    bench.try_issue(2, 0, load(Space::Global, Ty::U32, 1), &Sources::default()).unwrap();
    bench.drain();
    assert_eq!(bench.finished, ["2: warp 2 pc 42"]);
    assert!(bench.rows.is_empty());
}

#[test]
fn a_full_front_accepts_nothing_until_every_access_of_an_instruction_is_taken() {
    let mut bench = Bench::new(&LsuConfig { queue: Cited::new(1, "test"), ..config() });
    bench.issue(0, load(Space::Global, Ty::U32, 4), &Sources::at(|lane| BASE + 16 * lane));
    // The L1D accepts its accesses in cycles 3 to 6.
    for _ in 0..6 {
        bench.cycle();
        assert!(!bench.lsu.can_accept(), "cycle {}", bench.now);
    }
    bench.cycle();
    assert!(bench.lsu.can_accept());
}

/// A pipeline takes an access a cycle however long a hit lasts: nothing counts the instructions that wait.
#[test]
fn hits_of_any_latency_are_taken_one_a_cycle() {
    for latency in [1, 20, 100, 400] {
        let mut bench = Bench::new(&LsuConfig { accesses: Cited::new(1024, "test"), ..config() });
        bench.l1d.latency = latency;
        let (op, sources) = (load(Space::Global, Ty::U32, 1), Sources::at(|lane| BASE + 4 * lane));
        let loads: u64 = 600;
        for n in 0..loads {
            assert!(bench.lsu.can_accept(), "load {n} of latency {latency}");
            bench.issue((n % 8) as u8, op, &sources);
            bench.cycle();
        }
        bench.drain();
        let expected = |n: u64| format!("{}: warp {} pc {}", n + 3 + latency + 2, n % 8, 40 + n % 8);
        assert_eq!(bench.finished, (0..loads).map(expected).collect::<Vec<_>>(), "latency {latency}");
    }
}

/// 32 lanes 64 bytes apart make 16 accesses: with three a cycle, from cycle 3 to cycle 8.
#[test]
fn an_l1d_of_several_accesses_a_cycle_is_offered_as_many() {
    for (width, refuse, done) in [(1, vec![], 18), (3, vec![], 8), (16, vec![], 3), (3, vec![4, 5], 10)] {
        let mut bench = Bench::new(&config());
        (bench.l1d.width, bench.l1d.refuse) = (width, refuse);
        bench.lsu = bench.lsu.with_accesses_per_cycle(width);
        bench.issue(0, load(Space::Global, Ty::U32, 1), &Sources::at(|lane| BASE + 64 * lane));
        bench.drain();
        assert_eq!(bench.l1d.log.len(), 16);
        let last = bench.l1d.log.last().unwrap();
        assert_eq!(last, &format!("{done}: load 0x780 8 bytes"), "{width} a cycle");
        assert_eq!(bench.finished, [format!("{}: warp 0 pc 40", done + 20 + 2)]);
        assert_eq!(bench.lsu.statistics().refused_port, 0, "it is not offered more");
    }
}

/// With four accesses a cycle and 32 banks: (lanes' distance in bytes, cycles of the first load, so that the second begins
/// behind). A line apart, all words are in one bank: 32 passes. A line and a word apart, none share one: 32 lines by four.
/// Two lines of neighbouring words take one pass.
#[test]
fn words_of_global_memory_pass_the_banks_of_shared_memory() {
    for (base, stride, cycles) in
        [(0, 128, 32), (0, 132, 8), (0, 256, 32), (0, 8, 2), (0, 4, 1), (64, 4, 1), (0, 0, 1)]
    {
        for skips in [false, true] {
            let config = LsuConfig { global_in_banks: skips.then(|| Cited::new(true, "test")), ..config() };
            let mut bench = Bench::new(&config);
            bench.l1d.width = 4;
            bench.lsu = bench.lsu.with_accesses_per_cycle(4);
            bench.issue(0, load(Space::Global, Ty::U32, 1), &Sources::at(|lane| BASE + base + stride * lane));
            bench.issue(1, load(Space::Global, Ty::U32, 1), &Sources::at(|lane| BASE + 12288 + 4 * lane));
            bench.drain();
            let lines = (base + stride * 31 + 3) / 128 + 1;
            let lines = lines.min(32);
            let begun = if skips { cycles } else { lines / 4 };
            let last = bench.l1d.log.last().unwrap();
            assert_eq!(last.split(':').next().unwrap(), (3 + begun).to_string(), "{base} {stride} {skips}");
        }
    }
}

#[test]
fn accesses_are_bounded() {
    let config = LsuConfig { accesses: Cited::new(2, "test"), ..config() };
    let sources = Sources::at(|lane| BASE + 16 * lane);
    let (log, _, bench) = run(&config, &[(load(Space::Global, Ty::U32, 4), sources)]);
    let cycles: Vec<&str> = log.iter().map(|entry| entry.split(':').next().unwrap()).collect();
    assert_eq!(cycles, ["3", "4", "23", "24"]);
    assert_eq!(bench.lsu.statistics().full_cycles, 18);
}

#[test]
fn skipping_to_the_next_event_changes_nothing() {
    let issue = |bench: &mut Bench| {
        let store = Op::Store(mode(Space::Global, Ty::U16, 2));
        bench.issue(
            0,
            store,
            &Sources::at(|lane| BASE + 12 * lane).with(1, |lane| lane).with(2, |lane| 7 * lane),
        );
        bench.issue(1, load(Space::Shared, Ty::U32, 1), &Sources::at(|lane| 12 * lane));
        bench.issue(2, load(Space::Local, Ty::U64, 2), &Sources::at(|lane| 16 * (lane % 2)));
        bench.lsu.fence(0, Scope::Gpu, bench.now);
    };
    let mut ticked = Bench::new(&config());
    issue(&mut ticked);
    ticked.drain();
    let mut skipped = Bench::new(&config());
    issue(&mut skipped);
    while !skipped.lsu.is_idle() {
        skipped.cycle();
        let next = skipped.lsu.next_event(&skipped.l1d, skipped.now).min(skipped.l1d.next_event(skipped.now));
        skipped.now = next.max(skipped.now);
        assert!(next < Cycle::NEVER || skipped.lsu.is_idle(), "nothing announced");
    }
    assert_eq!(ticked.finished, skipped.finished);
    assert_eq!(ticked.l1d.log, skipped.l1d.log);
    assert_eq!(ticked.lsu.statistics(), skipped.lsu.statistics());
}
