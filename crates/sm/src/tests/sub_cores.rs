//! SMs whose schedulers have units, collectors and banks of their own. Cycles are computed by hand, as in `golden`.

use strata_engine::{Cited, Cycle};
use strata_ptx::isa::{
    Class, Compare, Dst, FloatMode, FloatUnary, Guard, Instruction, Op, PredReg, Reg, Special, Src, Ty,
};

use crate::SmConfig;
use crate::fixtures::*;

/// Four schedulers, a fetch and an SP unit for each, which takes two cycles for an addition; eight collectors for SP units, and
/// four for the rest; and a fetch that delivers all of a kernel. With sub-cores each has two collectors for its SP unit, one for
/// the rest, and 4 of the 16 banks.
fn sm(sub_cores: bool) -> SmConfig {
    let cited = |value| Cited::new(value, "test");
    let mut config = SmConfig {
        schedulers: cited(4),
        sub_cores: Some(Cited::new(sub_cores, "test")),
        fetches_per_cycle: Some(cited(4)),
        instruction_buffer: cited(16),
        ..config()
    };
    config.units.sp = cited(4);
    config.units.sfu = cited(4);
    config.timing.int_add.interval_cycles = cited(2);
    (config.collectors[0].count, config.collectors[1].count) = (cited(8), cited(4));
    config
}

/// The approximate root of a constant: 8 cycles of an SFU, and its result after 20.
fn root(dst: u8) -> Instruction {
    let op = Op::FloatUnary(FloatUnary::RsqrtApprox, Ty::F32, FloatMode::DEFAULT);
    instruction(op, Class::Sfu, &[Dst::Reg(Reg(dst))], &[Src::Const(0)])
}

fn run(config: &SmConfig, code: Vec<Instruction>, warps: u32) -> Bench {
    let mut bench = Bench::new(config, launch(code, &[1], 1, 32 * warps), 10);
    bench.run(1);
    bench
}

#[test]
fn a_warp_has_the_units_of_its_sub_core() {
    let end = |sub_cores, warps| {
        let code = (1..9).map(|register| set(register, 0)).chain([control(Op::Exit)]).collect();
        run(&sm(sub_cores), code, warps).told[0].0
    };
    // All units for one warp: its eight moves issue in 3 to 10, are dispatched a cycle later, and the last is written in 15.
    assert_eq!(end(false, 1), Cycle(16));
    // One unit for it: they are dispatched in 4, 6, ..., 18, and the last is written in 22.
    assert_eq!(end(true, 1), Cycle(23));
    // Four warps have four units, and eight share them two by two: the last of 16 is dispatched in 34.
    assert_eq!(end(true, 4), Cycle(23));
    assert_eq!(end(true, 8), Cycle(39));
}

#[test]
fn a_busy_sub_core_keeps_no_other_waiting() {
    // A clock is read at dispatch. Warp 0's second read waits for the SP unit of its sub-core when warp 1's first, which is younger
    // or as old, may go; warp 1's sub-core does as warp 0's does alone.
    let clocks = |sub_cores, warps| {
        let code = (1..4).map(|register| special(register, Special::Clock)).chain([control(Op::Exit)]);
        let bench = run(&sm(sub_cores), code.collect(), warps);
        (0..warps as u8).map(|warp| [1, 2, 3].map(|read| bench.register(warp, read)[0])).collect::<Vec<_>>()
    };
    assert_eq!(clocks(true, 1), [[4, 6, 8]]);
    assert_eq!(clocks(true, 3), [[4, 6, 8]; 3]);
    // Four units for all: in 4 and 5 three and one, in 6 and 7 again, in 8 the last.
    let mut shared = clocks(false, 3).concat();
    shared.sort_unstable();
    assert_eq!(shared, [4, 4, 4, 5, 6, 6, 6, 7, 8]);
}

#[test]
fn units_fewer_than_sub_cores_serve_them_all() {
    let end = |sfu| {
        let mut config = sm(true);
        config.units.sfu = Cited::new(sfu, "test");
        run(&config, vec![root(1), control(Op::Exit)], 3).told[0].0
    };
    // Issued in 3 by three warps: each has a unit in 4, and its result is written in 24.
    assert_eq!(end(4), Cycle(25));
    // One unit serves them in 4, 12 and 20; two, in 4, 4 and 12.
    assert_eq!(end(1), Cycle(41));
    assert_eq!(end(2), Cycle(33));
}

#[test]
fn full_collectors_stop_their_sub_core_alone() {
    // Warp 0 takes three roots, and warp 1 passes them.
    let first = Guard::If(PredReg(0));
    let code = vec![
        special(1, Special::WarpId),
        compare(0, Compare::Lt, 1, 0),
        guarded(first, root(3)),
        guarded(first, root(4)),
        guarded(first, root(5)),
        special(2, Special::Clock),
        control(Op::Exit),
    ];
    let clocks = |config: &SmConfig| {
        let bench = run(config, code.clone(), 2);
        ([0, 1].map(|warp| bench.register(warp, 2)[0]), bench.count("sm", "stall_collector_full"))
    };
    // The number issues in 3 and is written in 8; the comparison issues in 8 and its predicate is there in 14. Warp 0's first
    // root issues in 14 and is dispatched in 15, when the second takes the collector until the SFU is free in 23. So the third
    // issues in 23, and the clock in 24. Warp 1 issues its own in 14, 15, 16 and 17.
    assert_eq!(clocks(&sm(true)), ([25, 18], 7));
    // Four collectors for all are enough.
    assert_eq!(clocks(&sm(false)), ([18, 18], 0));
    // Two are fewer than the sub-cores, which share them. Warp 0's second and third root have both from 16 to 23, in which warp
    // 1's third needs one.
    let mut config = sm(true);
    config.collectors[1].count = Cited::new(2, "test");
    assert_eq!(clocks(&config), ([18, 25], 7));
}

#[test]
fn banks_conflict_within_a_sub_core() {
    let conflicts = |sub_cores, sources: [u8; 2], warps| {
        let bench = run(&sm(sub_cores), vec![alu(8, &sources), control(Op::Exit)], warps);
        (bench.told[0].0, bench.count("register_file", "read_conflicts"))
    };
    // Issued in 3, granted in 4, dispatched in 5, written in 9, told of in 10. Warps 0 and 1 both read bank 1 of 16, in 4 and 5.
    assert_eq!(conflicts(false, [0, 1], 2), (Cycle(11), 1));
    // Warps 0 to 3 have banks of their own.
    assert_eq!(conflicts(true, [0, 1], 4), (Cycle(10), 0));
    // Registers 0 and 4 lie in the first of a warp's four banks.
    assert_eq!(conflicts(false, [0, 4], 1), (Cycle(10), 0));
    assert_eq!(conflicts(true, [0, 4], 1), (Cycle(11), 1));
}

#[test]
fn control_instructions_wait_for_collectors_of_their_sub_core() {
    // The sleep reads a register, so it takes one of the two collectors that its sub-core has for SP units.
    let sleep = instruction(Op::Nanosleep, Class::IntAdd, &[], &[Src::Reg(Reg(1))]);
    let code = vec![set(1, 0), sleep, special(2, Special::Clock), control(Op::Exit)];
    let clocks = |sub_cores| {
        let bench = run(&sm(sub_cores), code.clone(), 4);
        [0, 1, 2, 3].map(|warp| bench.register(warp, 2)[0])
    };
    assert_eq!(clocks(true), clocks(false));
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let refused = |change: &dyn Fn(&mut SmConfig)| {
        let mut config = sm(true);
        change(&mut config);
        config.check().unwrap_err()
    };
    let expected = "expected fewer than sm.schedulers (4) or a multiple of it, since sm.sub_cores is set";
    assert_eq!(sm(true).check(), Ok(()));
    assert_eq!(
        refused(&|config| config.units.sp = Cited::new(6, "test")),
        format!("sm.units.sp = 6: {expected}")
    );
    assert_eq!(
        refused(&|config| config.collectors[1].count = Cited::new(9, "test")),
        format!("sm.collectors.count = 9: {expected}")
    );
    // Without sub-cores any number will do.
    let mut config = sm(false);
    (config.units.sp, config.collectors[1].count) = (Cited::new(6, "test"), Cited::new(9, "test"));
    assert_eq!(config.check(), Ok(()));
}
