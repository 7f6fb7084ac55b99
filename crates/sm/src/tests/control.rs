//! Control flow: divergence, barriers with results, sleep, prints, faults.

use strata_ptx::isa::{Axis, Barrier, Class, Compare, Dst, Guard, Op, PredReg, Reg, Special, Src};

use crate::dispatch::Command;
use crate::fixtures::*;
use crate::multiprocessor::Multiprocessor;

const IF: Guard = Guard::If(PredReg(0));
const IF_NOT: Guard = Guard::IfNot(PredReg(0));

/// Runs one CTA of `threads` threads.
fn run(code: Vec<strata_ptx::isa::Instruction>, constants: &[u32], threads: u32) -> Bench {
    let mut bench = Bench::new(&config(), launch(code, constants, 1, threads), 10);
    bench.run(1);
    bench
}

/// Runs one CTA until it faults. Returns the fault's text.
fn fault(code: Vec<strata_ptx::isa::Instruction>, constants: &[u32], threads: u32) -> String {
    let mut bench = Bench::new(&config(), launch(code, constants, 1, threads), 10);
    bench.send(Command::StartCta(0));
    for _ in 0..200 {
        bench.cycle();
    }
    bench.sm.fault().expect("the program is wrong").1.to_string()
}

#[test]
fn the_sides_of_a_branch_meet() {
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Lt, 1, 0),
        guarded(IF, branch(5, 6)),
        set(2, 1),
        branch(6, 6),
        set(2, 2),
        add_constant(3, 2, 3),
        control(Op::Exit),
    ];
    let bench = run(code, &[10, 100, 200, 1], 32);
    let expected: Vec<u32> = (0..32).map(|lane| if lane < 10 { 201 } else { 101 }).collect();
    assert_eq!(bench.register(0, 3)[..], expected);
    assert_eq!(bench.count("sm", "divergent_branches"), 1);
    // 32 + 32 + 32, then 22 lanes do two instructions and 10 one, then 32 + 32.
    assert_eq!(bench.count("sm", "active_lanes"), 5 * 32 + 2 * 22 + 10);
}

#[test]
fn a_loop_runs_as_often_as_each_lane_wants() {
    // r2 = 0; do { r2 += 1; p0 = r2 <= tid } while p0: lane l runs it l + 1 times.
    let below_tid = strata_ptx::isa::Instruction {
        ..instruction(
            Op::Setp { cmp: Compare::Le, ty: strata_ptx::isa::Ty::U32, combine: None, ftz: false },
            Class::IntAdd,
            &[Dst::Pred(PredReg(0))],
            &[Src::Reg(Reg(2)), Src::Reg(Reg(1))],
        )
    };
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        set(2, 0),
        add_constant(2, 2, 1),
        below_tid,
        guarded(IF, branch(2, 5)),
        control(Op::Exit),
    ];
    let bench = run(code, &[0, 1], 40);
    assert_eq!(bench.register(0, 2), std::array::from_fn(|lane| lane as u32 + 1));
    assert_eq!(bench.register(1, 2)[..8], [33, 34, 35, 36, 37, 38, 39, 40], "8 lanes of a second warp");
}

#[test]
fn a_guard_that_is_false_everywhere_leaves_everything() {
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Ge, 1, 0),
        set(2, 0),
        guarded(IF_NOT, set(2, 1)),
        guarded(IF, set(2, 2)),
        control(Op::Exit),
    ];
    let bench = run(code, &[0, 7, 8], 32);
    assert_eq!(bench.register(0, 2), [8; 32]);
    // Four instructions with all lanes, one with none, and the exit.
    assert_eq!(bench.count("sm", "thread_instructions"), 5 * 32);
    assert_eq!(bench.count("sm", "active_lanes"), 6 * 32);
}

#[test]
fn barrier_reductions() {
    let table = [
        (Barrier::RedPopc, 70, [40; 2]),
        (Barrier::RedAnd, 70, [0; 2]),
        (Barrier::RedAnd, 40, [0; 2]),
        (Barrier::RedOr, 70, [1; 2]),
    ];
    for (form, threads, expected) in table {
        let dst = if form == Barrier::RedPopc { Dst::Reg(Reg(5)) } else { Dst::Pred(PredReg(3)) };
        let code = vec![
            special(1, Special::Tid(Axis::X)),
            // p0 = tid >= 30: 40 of 70 threads.
            compare(0, Compare::Ge, 1, 0),
            barrier(form, &[dst], 2, Src::None, Src::Pred(PredReg(0), false)),
            set(4, 2),
            guarded(Guard::If(PredReg(3)), set(4, 3)),
            control(Op::Exit),
        ];
        let bench = run(code, &[30, 0, 0, 1], threads);
        let register = if form == Barrier::RedPopc { 5 } else { 4 };
        let found = [0, 1].map(|warp| bench.register(warp, register)[3]);
        assert_eq!(found, expected, "{form:?} of {threads}");
    }
}

#[test]
fn a_producer_does_not_wait() {
    // Warp 1 (tid >= 32) arrives and ends; warp 0 waits for it at barrier 1 of 64 threads.
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Ge, 1, 0),
        guarded(IF, barrier(Barrier::Arrive, &[], 1, Src::Const(2), Src::None)),
        guarded(IF_NOT, barrier(Barrier::Sync, &[], 1, Src::Const(2), Src::None)),
        control(Op::Exit),
    ];
    run(code, &[32, 1, 64], 64);
}

#[test]
fn a_warp_that_ends_does_not_hold_a_barrier_up() {
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Ge, 1, 0),
        guarded(IF, control(Op::Exit)),
        barrier(Barrier::Sync, &[], 1, Src::None, Src::None),
        control(Op::Exit),
    ];
    run(code, &[32, 0], 96);
}

#[test]
fn sleep_lasts() {
    let sleep = instruction(Op::Nanosleep, Class::IntAdd, &[], &[Src::Const(0)]);
    let code = vec![special(1, Special::Clock), sleep, special(2, Special::Clock), control(Op::Exit)];
    let bench = run(code, &[200], 32);
    // Clock read in 4. Asleep from 4 on for 200 ns at 500 MHz: 100 cycles; issues in 104, dispatched in 105.
    assert_eq!((bench.register(0, 1)[0], bench.register(0, 2)[0]), (4, 105));
    assert!(bench.ticks < 60, "{} ticks", bench.ticks);
}

/// A print whose arguments come in two instructions.
#[test]
fn long_prints_are_joined() {
    let print =
        |from: u8, sources: &[Src]| instruction(Op::Print { format: 0, from }, Class::IntAdd, &[], sources);
    let thread = Src::Reg(Reg(1));
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        print(0, &[thread; 6]),
        print(6, &[thread; 2]),
        control(Op::Exit),
    ];
    let mut launch = launch(code, &[], 1, 34);
    let format = strata_ptx::ir::PrintFormat {
        text: "%d %d %d %d %d %d %d %d\n".into(),
        arguments: vec![strata_ptx::isa::Ty::B32; 8],
    };
    std::sync::Arc::make_mut(&mut launch.kernel).formats = vec![format];
    let kernel = launch.kernel.clone();
    let mut bench = Bench::new(&config(), launch, 10);
    bench.run(1);
    let text: String =
        bench.sm.take_prints().iter().map(|print| print.text(&kernel, |_| String::new())).collect();
    let expected: String =
        (0..34).map(|thread| [thread; 8].map(|number| number.to_string()).join(" ") + "\n").collect();
    assert_eq!(text, expected);
}

#[test]
fn prints_come_in_order() {
    let print = instruction(Op::Print { format: 0, from: 0 }, Class::IntAdd, &[], &[Src::Reg(Reg(1))]);
    let code = vec![special(1, Special::Tid(Axis::X)), print, control(Op::Exit)];
    let launch = launch(code, &[], 1, 34);
    let kernel = launch.kernel.clone();
    let mut bench = Bench::new(&config(), launch, 10);
    bench.run(1);
    let prints = bench.sm.take_prints();
    let text: String = prints.iter().map(|print| print.text(&kernel, |_| String::new())).collect();
    let expected: String = (0..34).map(|thread| format!("thread {thread}\n")).collect();
    assert_eq!(text, expected);
    assert!(bench.sm.take_prints().is_empty());
}

#[test]
fn an_indexed_branch() {
    let jump = instruction(Op::BranchIndexed { table: 0 }, Class::Control, &[], &[Src::Reg(Reg(1))]);
    let jump = strata_ptx::isa::Instruction { reconverge: 5, ..jump };
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        jump,
        set(2, 0),
        branch(5, 5),
        set(2, 1),
        add_constant(2, 2, 2),
        control(Op::Exit),
    ];
    let mut launch = launch(code, &[10, 20, 1], 1, 2);
    std::sync::Arc::get_mut(&mut launch.kernel).unwrap().branch_tables = vec![vec![4, 2]];
    let mut bench = Bench::new(&config(), launch, 10);
    bench.run(1);
    assert_eq!(bench.register(0, 2)[..2], [21, 11]);
}

#[test]
fn faults_name_their_place() {
    let diverged = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Ge, 1, 0),
        guarded(IF, barrier(Barrier::Sync, &[], 1, Src::None, Src::None)),
        control(Op::Exit),
    ];
    assert_eq!(
        fault(diverged, &[20, 0], 64),
        "kernel k, line 3, CTA [0, 0, 0], thread [20, 0, 0]: \
         barrier reached while other lanes of the warp are on another path"
    );
    assert_eq!(
        fault(vec![control(Op::Trap), control(Op::Exit)], &[], 1),
        "kernel k, line 1, CTA [0, 0, 0], thread [0, 0, 0]: trap"
    );
    assert_eq!(
        fault(vec![set(0, 0), set(1, 0), load(2, 0), control(Op::Exit)], &[4], 1),
        "kernel k, line 3, CTA [0, 0, 0], thread [0, 0, 0]: 4-byte access to global address 0x400000004, \
         which lies in no allocation"
    );
}

#[test]
fn a_deadlock_is_explained() {
    // Each warp waits at a barrier of its own.
    let code = vec![
        special(1, Special::Tid(Axis::X)),
        compare(0, Compare::Ge, 1, 0),
        guarded(IF, barrier(Barrier::Sync, &[], 1, Src::None, Src::None)),
        guarded(IF_NOT, barrier(Barrier::Sync, &[], 2, Src::Const(3), Src::None)),
        control(Op::Exit),
    ];
    let mut bench = Bench::new(&config(), launch(code, &[32, 1, 2, 64], 1, 64), 10);
    bench.send(Command::StartCta(0));
    for _ in 0..200 {
        bench.cycle();
    }
    let mut report = Vec::new();
    strata_engine::Island::waits(&bench.sm, &mut report);
    assert_eq!(
        report,
        [
            "SM 0: warp 0 (CTA [0, 0, 0], its warp 0): next is line 5 (pc 4); at barrier 2: 32 of 64 threads \
             have arrived",
            "SM 0: warp 1 (CTA [0, 0, 0], its warp 1): next is line 4 (pc 3); at barrier 1: 32 threads of 2 \
             warps have arrived",
        ]
    );
}
