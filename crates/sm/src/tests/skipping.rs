//! Skipping cycles in which nothing can happen must not change any result.

use strata_engine::{Cited, Cycle};
use strata_ptx::isa::{Axis, Barrier, Class, Compare, Guard, Instruction, Op, PredReg, Scope, Special, Src};

use crate::fixtures::*;
use crate::multiprocessor::Multiprocessor;

/// Loads, stores, divergence, a barrier, a fence and sleep, in each of `grid` CTAs.
fn kernel() -> Vec<Instruction> {
    let sleep = instruction(Op::Nanosleep, Class::IntAdd, &[], &[Src::Reg(strata_ptx::isa::Reg(4))]);
    let fence = Op::Fence { ordering: strata_ptx::isa::Ordering::AcqRel, scope: Scope::Gpu };
    vec![
        set(0, 0),
        set(1, 1),
        special(4, Special::Tid(Axis::X)),
        load(2, 0),
        compare(0, Compare::Lt, 4, 2),
        guarded(Guard::If(PredReg(0)), branch(8, 9)),
        add_constant(3, 2, 2),
        branch(9, 9),
        load(3, 0),
        store(0, 3),
        barrier(Barrier::Sync, &[], 1, Src::None, Src::None),
        guarded(Guard::If(PredReg(0)), sleep),
        control(fence),
        alu(5, &[3, 4]),
        control(Op::Exit),
    ]
}

#[test]
fn skipping_equals_ticking() {
    let schedulings = [named("loose-round-robin"), named("greedy-then-oldest"), two_level(3), named("ccws")];
    for (scheduling, sub_cores) in schedulings.iter().flat_map(|of| [(of, false), (of, true)]) {
        for latency in [3, 40, 400] {
            let config = crate::SmConfig {
                scheduling: Cited::new(scheduling.clone(), "test"),
                sub_cores: Some(Cited::new(sub_cores, "test")),
                ..config()
            };
            let run = |skip| {
                let mut bench = Bench::new(&config, launch(kernel(), &[HEAP as u32, 0, 40], 3, 200), latency);
                bench.skip = skip;
                let end = bench.run(3);
                (end, bench.told.clone(), bench.sm.statistics(), bench.ticks)
            };
            let (ticked, skipped) = (run(false), run(true));
            assert_eq!((ticked.0, ticked.1), (skipped.0, skipped.1), "{scheduling:?} {sub_cores} {latency}");
            // Compare groups one by one, so that a failure shows the first that differs.
            for (ticked, skipped) in ticked.2.iter().zip(&skipped.2) {
                assert_eq!(ticked, skipped, "{scheduling:?} {sub_cores} {latency}");
            }
            assert!(skipped.3 < ticked.3, "{} of {} cycles ticked", skipped.3, ticked.3);
            assert!(latency < 400 || 2 * skipped.3 < ticked.3, "{} of {}", skipped.3, ticked.3);
        }
    }
}

#[test]
fn slots_are_used_again() {
    // Two launches on one SM, and more CTAs than fit at once.
    let mut bench = Bench::new(&config(), launch(kernel(), &[HEAP as u32, 0, 40], 20, 200), 40);
    let mut next = u64::from(bench.sm.occupancy(&launch(kernel(), &[], 20, 200)).ctas);
    assert_eq!(next, 6, "7 warps of 48");
    for cta in 0..next {
        bench.send(crate::Command::StartCta(cta));
    }
    let mut done = 0;
    while done < 20 {
        bench.cycle();
        while done < bench.told.len() {
            done += 1;
            if next < 20 {
                bench.send(crate::Command::StartCta(next));
                next += 1;
            }
        }
        assert!(bench.now < Cycle(100_000));
    }
    assert!(bench.sm.is_idle());
    let again = launch(vec![set(1, 0), control(Op::Exit)], &[5], 1, 32);
    bench.sm.prepare(std::sync::Arc::new(again), bench.now);
    bench.told.clear();
    bench.run(1);
    assert_eq!(bench.count("sm", "ctas"), 21);
    assert_eq!(bench.register(0, 1), [5; 32]);
}
