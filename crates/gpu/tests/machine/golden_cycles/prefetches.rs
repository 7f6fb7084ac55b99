//! Lines that a program prefetches: loads of them cost what loads cost that hit where they were brought.

use super::walk::{Row, Step, walk};
use super::{PLAIN, check, clock_places, gtx480, on_device, text, words};
use strata_workloads::{Arg, Device, Shape};

/// A prefetch of the line 6 slices on, a load from DRAM that waits meanwhile, and one of the prefetched line, between clocks.
fn behind(prefetch: &str) -> String {
    format!(
        "{prefetch}\nld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %c0, %clock;\n\
         ld.global.u64 %rd4, [%rd3+1536];\nadd.s64 %rd5, %rd3, %rd4;\nmov.u32 %c1, %clock;\n\
         st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u64 [%rd0+64], %rd5;"
    )
}

/// The steps behind a load of one kind.
fn steps(load: Step) -> [Step; 5] {
    [Step::Add, Step::Clock, load, Step::Add, Step::Clock]
}

#[test]
fn a_prefetched_line_costs_a_hit() {
    let machines: &[&[&str]] = &[
        &[],
        &["l1d.sram.hit_latency_cycles=20"],
        &["llc.conventional.rop_latency_cycles=10", "dram.timing.rcd=20"],
        &["l1d.sram.allocate=on-fill"],
    ];
    check(&behind(""), 32, &steps(Step::Dram(Row::Miss)), machines);
    check(&behind("prefetch.global.L1 [%rd1+1536];"), 32, &steps(Step::L1Hit(1)), machines);
    check(&behind("prefetchu.L1 [%rd1+1540];"), 32, &steps(Step::L1Hit(1)), machines);
    // In the L2, the load still misses the L1D: what it saves is DRAM.
    check(&behind("prefetch.global.L2 [%rd1+1600];"), 32, &steps(Step::L2Hit), machines);
    check(
        &behind("applypriority.global.L2::evict_normal [%rd1+1536], 128;"),
        32,
        &steps(Step::L2Hit),
        machines,
    );
    check(&behind("cp.async.bulk.prefetch.L2.global [%rd1+1536], 128;"), 32, &steps(Step::L2Hit), machines);
}

#[test]
fn a_prefetch_to_the_l2_saves_what_a_row_of_dram_costs() {
    // The same two loads, with and without a prefetch to the L2: the walk's difference is that of the measurement.
    let machine = gtx480(&[]);
    let took = |prefetch: &str, load| {
        let body = behind(prefetch);
        let clocks = super::clocks(&machine, &body, 32, 1);
        let by_hand = walk(machine.file(), &steps(load), &clock_places(&machine, &text(&body)), clocks[0]);
        (clocks[1] - clocks[0], by_hand[1] - by_hand[0])
    };
    let (without, dram) = took("", Step::Dram(Row::Miss));
    let (with, hit) = took("prefetch.global.L2 [%rd1+1536];", Step::L2Hit);
    assert_eq!(without - with, dram - hit);
    assert!(dram - hit > 100, "{dram} {hit}");
}

/// Runs a body on 32 lanes once; the counters `hints` of the unit, and those of a group of hints.
fn counted(sets: &[&str], body: &str, lanes: u32, group: &str) -> ([u64; 5], [u64; 8]) {
    on_device(&gtx480(sets), PLAIN, &text(body), |device| {
        let out = device.alloc("out", 256).unwrap();
        let input = device.alloc("in", 1 << 16).unwrap();
        device.launch("k", Shape::new([1; 3], [lanes, 1, 1]), &[Arg::Ptr(out), Arg::Ptr(input)]).unwrap();
        let _ = words(device, out);
        let groups = device.statistics();
        assert!(groups.iter().all(|group| group.broken.is_none()));
        let of = |group: &str, name: &str| {
            let group = groups.iter().find(|known| known.name == group).expect("it is reported");
            group.get(name).expect("it is counted")
        };
        let unit = ["hints", "hints_taken", "hints_ignored", "hints_dropped", "hints_nowhere"];
        let account = ["wishes", "redundant", "dropped", "issued", "useful", "late", "unused", "harmful"];
        (unit.map(|name| of("lsu", name)), account.map(|name| of(group, name)))
    })
}

#[test]
fn a_load_right_behind_its_prefetch_is_late() {
    let body = "prefetch.global.L1 [%rd1];\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd0], %r1;";
    assert_eq!(counted(&[], body, 32, "l1d_hints"), ([1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0]));
    let body = "prefetch.global.L2 [%rd1+4096];\nld.global.u32 %r1, [%rd1+4096];\nst.global.u32 [%rd0], %r1;";
    assert_eq!(counted(&[], body, 32, "l2_hints"), ([1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0]));
}

#[test]
fn lanes_name_a_line_each_and_those_without_an_mshr_are_dropped() {
    // 32 lines, one a cycle; each MSHR is busy for far longer.
    let body = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd2, %r0, 128;\nadd.s64 %rd2, %rd2, %rd1;\nprefetch.global.L1 [%rd2];";
    let (unit, account) = counted(&["l1d.sram.mshr_entries=5"], body, 32, "l1d_hints");
    assert_eq!((unit, account[..4].to_vec()), ([32, 5, 0, 27, 0], vec![32, 0, 27, 5]));
    // Lanes of one line are one wish, and lines that nobody asks for are unused when the kernel ends.
    let body = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd2, %r0, 8;\nadd.s64 %rd2, %rd2, %rd1;\nprefetch.global.L1 [%rd2];";
    assert_eq!(counted(&[], body, 32, "l1d_hints"), ([2, 2, 0, 0, 0], [2, 0, 0, 2, 0, 0, 2, 0]));
}

#[test]
fn lines_that_nobody_asks_for_push_out_what_is_used() {
    // One set of two ways: the line of the first load leaves for a prefetched one, and is missed.
    let body = "ld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u64 %rd4, [%rd3+128];\n\
                add.s64 %rd5, %rd3, %rd4;\nprefetch.global.L1 [%rd5+1024];\nld.global.u64 %rd6, [%rd5+128];\n\
                add.s64 %rd7, %rd5, %rd6;\nld.global.u64 %rd8, [%rd7];\nst.global.u64 [%rd0], %rd8;";
    let one_set: &[&str] = &["l1d.sram.sets=1", "l1d.sram.ways=2", "l1d.sram.set_index=modulo"];
    let (_, account) = counted(one_set, body, 32, "l1d_hints");
    // The line came to the place of the first, whose load takes that of the second.
    assert_eq!(account, [1, 0, 0, 1, 0, 0, 1, 1]);
}

#[test]
fn addresses_that_name_no_line_are_passed_over() {
    // Beyond every allocation, in shared memory, and in a window of local memory that the kernel does not have.
    let body = "mov.u64 %rd2, 0x7fff000000000;\nprefetch.global.L1 [%rd2];\nprefetch.global.L2 [%rd2];\nprefetch.L1 [%rd2];\n\
                cvta.shared.u64 %rd3, words;\nprefetch.L1 [%rd3];\nprefetchu.L1 [%rd3];\n\
                cp.async.bulk.prefetch.L2.global [%rd2], 4294967280;";
    assert_eq!(counted(&[], body, 32, "l1d_hints"), ([0, 0, 0, 0, 32 * 6], [0; 8]));
}

#[test]
fn blocks_are_wished_for_as_far_as_they_are_allocated() {
    // 64 KiB less 512 bytes behind the start: 4 lines are left of the buffer, whatever the size says. One lane asks.
    let body = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n\
                @%p0 cp.async.bulk.prefetch.L2.global [%rd1+65024], 4096;";
    assert_eq!(counted(&[], body, 32, "l2_hints").1[..4], [4, 0, 0, 4]);
    // 16 bytes of one line and 32 of the next, in sectors of the L2: 32 bytes each.
    let body = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n\
                @%p0 cp.async.bulk.prefetch.L2.global [%rd1+112], 48;";
    let (unit, account) = counted(&[], body, 32, "l2_hints");
    assert_eq!((unit, account[..4].to_vec()), ([2, 2, 0, 0, 0], vec![2, 0, 0, 2]));
}
