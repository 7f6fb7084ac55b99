//! Independent threads: which branches give way, which instructions wait for lanes, and only where a machine has them.

use strata_ptx::back::{self, Options};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::program::Kernel;

fn compiled(body: &str, independent_threads: bool) -> Kernel {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>;\n.shared .align 8 .b8 s[64];\n\
         ld.param.u64 %rd0, [out];\nld.param.u32 %r9, [n];\n{body}\nret;\n}}\n"
    );
    let module = parse_module("test.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{body}"));
    let lowered = lower(&module, None).unwrap_or_else(|error| panic!("{error}\n{body}"));
    let options = Options { independent_threads, ..Options::default() };
    back::compile(&lowered.functions[0], &options).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// Lines of the body, from 1, whose instructions give way or wait for lanes.
fn marked(body: &str) -> (Vec<u32>, Vec<u32>) {
    let kernel = compiled(body, true);
    let lines = |is: &dyn Fn(&strata_ptx::isa::Instruction) -> bool| {
        kernel.code.iter().filter(|inst| is(inst)).map(|inst| inst.line - 8).collect::<Vec<_>>()
    };
    (lines(&|inst| inst.yields), lines(&|inst| inst.gathers))
}

fn yields(body: &str) -> Vec<u32> {
    marked(body).0
}

#[test]
fn loops_that_another_thread_may_end_give_way_where_they_turn_back() {
    let lock = "L: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;";
    assert_eq!(yields(lock), [3]);
    for poll in [
        "ld.volatile.global.u32 %r1, [%rd0]",
        "ld.relaxed.gpu.global.u32 %r1, [%rd0]",
        "ld.acquire.gpu.global.u32 %r1, [%rd0]",
        "ld.global.cg.u32 %r1, [%rd0]",
        "ld.global.cv.u32 %r1, [%rd0]",
        "ld.volatile.shared.u32 %r1, [s]",
        "atom.global.exch.b32 %r1, [%rd0], 1",
        "atom.global.or.b32 %r1, [%rd0], 1",
        "atom.global.add.u32 %r1, [%rd0], 0",
    ] {
        let body = format!("L: {poll};\nshl.b32 %r2, %r1, 3;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra L;");
        assert_eq!(yields(&body), [4], "{poll}");
    }
    let test = "L: mbarrier.test_wait.parity.shared.b64 %p0, [s], 0;\n@!%p0 bra L;";
    assert_eq!(yields(test), [2]);
    // The end is in the middle.
    let middle = "L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra E;\nnanosleep.u32 100;\nbra L;\nE:";
    assert_eq!(yields(middle), [5]);
    // Lanes end in the loop.
    let exits = "L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 exit;\nbra L;";
    assert_eq!(yields(exits), [4]);
}

#[test]
fn what_is_done_because_of_a_value_counts_as_what_is_computed_from_it() {
    // `done` is set where the lock was free.
    let flag = "mov.u32 %r2, 0;\nL: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra N;\n\
                st.global.u32 [%rd0+4], %r9;\natom.global.exch.b32 %r3, [%rd0], 0;\nadd.u32 %r2, %r9, 1;\n\
                N: setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;";
    assert_eq!(yields(flag), [9]);
    // The same flag in local memory.
    let local = ".local .align 4 .b8 d[4];\nst.local.u32 [d], 0;\nL: ld.volatile.global.u32 %r1, [%rd0];\n\
                 st.local.u32 [d], %r1;\nld.local.u32 %r2, [d];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;";
    assert_eq!(yields(local), [7]);
}

#[test]
fn locks_of_other_kinds_give_way() {
    // Who finds more than 0 takes back what it has added.
    let added = "L: atom.global.add.u32 %r1, [%rd0], 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra E;\n\
                 red.global.add.u32 [%rd0], -1;\nbra L;\nE:";
    assert_eq!(yields(added), [5]);
    // Each takes the lock when it shows the number that the lane has read elsewhere.
    let ticket = "L: ld.global.u32 %r2, [%rd0+8];\natom.global.cas.b32 %r1, [%rd0], %r2, -1;\n\
                  setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra L;";
    assert_eq!(yields(ticket), [4]);
    // Looks before it tries.
    let looks = "L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\n\
                 atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;";
    assert_eq!(yields(looks), [3, 6]);
}

#[test]
fn loops_that_end_by_themselves_do_not_give_way() {
    for body in [
        // A list, by weak loads.
        "L: ld.global.u64 %rd0, [%rd0];\nsetp.ne.u64 %p0, %rd0, 0;\n@%p0 bra L;",
        // A count beside atomics whose results do not decide.
        "L: atom.global.add.u32 %r1, [%rd0], 1;\nst.global.u32 [%rd0+8], %r1;\nsub.u32 %r9, %r9, 1;\n\
         setp.ne.u32 %p0, %r9, 0;\n@%p0 bra L;",
        // Work is handed out by a counter.
        "L: atom.global.add.u32 %r1, [%rd0], 1;\nsetp.lt.u32 %p0, %r1, %r9;\n@%p0 bra L;",
        // An addition of f32 by `cas`, which fails only where another succeeds.
        "ld.global.u32 %r1, [%rd0];\nL: mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, %r9;\n\
         atom.global.cas.b32 %r1, [%rd0], %r2, %r3;\nsetp.ne.u32 %p0, %r1, %r2;\n@%p0 bra L;",
        // The same with a load in each trip.
        "L: ld.global.u32 %r2, [%rd0];\nadd.u32 %r3, %r2, %r9;\natom.global.cas.b32 %r1, [%rd0], %r2, %r3;\n\
         setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra L;",
        // Work is handed out by a counter, and what is done adds to another.
        "L: atom.global.add.u32 %r1, [%rd0], 1;\nred.global.add.u32 [%rd0+4], %r1;\nsetp.lt.u32 %p0, %r1, %r9;\n\
         @%p0 bra L;",
        // Time passes by itself.
        "mov.u32 %r0, %clock;\nL: mov.u32 %r1, %clock;\nsub.u32 %r1, %r1, %r0;\nsetp.lt.u32 %p0, %r1, 600;\n@%p0 bra L;",
    ] {
        assert_eq!(yields(body), [], "{body}");
    }
    // Of two loops, the one inside that takes a lock; the one around it counts.
    let nested = "M: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra M;\n\
                  atom.global.exch.b32 %r1, [%rd0], 0;\nsub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p0, %r9, 0;\n@%p0 bra M;";
    assert!(yields(nested).contains(&3));
}

#[test]
fn instructions_with_a_membermask_wait_for_its_lanes() {
    let body = "bar.warp.sync -1;\nshfl.sync.idx.b32 %r1, %r9, 0, 31, -1;\nvote.sync.ballot.b32 %r2, 1, -1;\n\
                activemask.b32 %r3;\nredux.sync.add.u32 %r4, %r9, -1;\nmatch.any.sync.b32 %r5, %r9, -1;\n\
                add.u32 %r6, %r1, %r2;\nadd.u32 %r6, %r6, %r3;\nadd.u32 %r6, %r6, %r4;\nadd.u32 %r6, %r6, %r5;\n\
                st.global.u32 [%rd0], %r6;";
    assert_eq!(marked(body).1, [1, 2, 3, 5, 6]);
    let lock =
        "L: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\nbar.warp.sync -1;";
    let without = compiled(lock, false);
    assert!(without.code.iter().all(|inst| !inst.yields && !inst.gathers), "only where a machine has them");
}
