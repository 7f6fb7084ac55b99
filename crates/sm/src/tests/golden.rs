//! Cycles of tiny kernels, computed by hand.
//!
//! What they share: the command to start a CTA is sent in cycle 0 and taken in cycle 1, which asks for
//! instructions 0 and 1; they come in cycle 2 and can issue in cycle 3. A warp that issues the last
//! instruction of its buffer (2 entries) in cycle t asks for the next ones in t, has them in t + 1 and can issue
//! them in t + 2. A notice sent in cycle t arrives in t + 1.

use strata_engine::{Cited, Cycle};
use strata_ptx::isa::{Barrier, Instruction, Op, Reg, Special, Src};

use crate::config::{BarrierTiming, Scheduling, SmConfig};
use crate::dispatch::Notice;
use crate::fixtures::*;

const EXIT: Op = Op::Exit;

#[test]
fn dependent_additions() {
    let code =
        vec![set(1, 0), add_constant(2, 1, 0), add_constant(3, 2, 0), add_constant(4, 3, 0), control(EXIT)];
    let mut bench = Bench::new(&config(), launch(code, &[7], 1, 32), 10);
    bench.run(1);
    // Latency 4. The first reads no register: issued in 3, dispatched in 4, written in 8.
    // An addition that issues in t: row granted in t + 1, dispatched in t + 2, written in t + 6, and there the
    // next one issues: 8, 14, 20; the last is written in 26.
    // `exit` is fetched when instruction 3 has issued (20) and issues in 22; the CTA ends with the last
    // write-back in 26.
    assert_eq!(bench.told[0], (Cycle(27), Notice::CtaDone));
    assert_eq!(bench.register(0, 4), [28; 32]);
    assert_eq!(bench.count("sm", "issued"), 5);
    // Scheduler 0 waits for values in 4 to 7, 10 to 13 and 15 to 19.
    assert_eq!(bench.count("sm", "stall_execution"), 13);
    // In 1 and 2 the first instructions are under way, in 9 number 2, in 21 number 4.
    assert_eq!(bench.count("sm", "stall_fetch"), 4);
    // From `exit` to the last write-back: 23, 24, 25.
    assert_eq!(bench.count("sm", "stall_drained"), 3);
    assert_eq!(bench.count("register_file", "reads"), 3);
    assert_eq!(bench.count("register_file", "writes"), 4);
}

#[test]
fn registers_of_the_pipeline_come_on_top_of_each_unit() {
    let code =
        vec![set(1, 0), add_constant(2, 1, 0), add_constant(3, 2, 0), add_constant(4, 3, 0), control(EXIT)];
    let config = crate::SmConfig { pipeline_latency_cycles: Cited::new(4, "test"), ..config() };
    let mut bench = Bench::new(&config, launch(code, &[7], 1, 32), 10);
    bench.run(1);
    // As above, but written 8 cycles after dispatch: in 12, 22, 32 and 42.
    assert_eq!(bench.told[0], (Cycle(43), Notice::CtaDone));
}

/// `dst` = the register of the `registers` from `first` on that `index` picks.
fn from_array(dst: u8, index: u8, first: u8, registers: u8) -> Instruction {
    let mut out = alu(dst, &[index]);
    out.op = Op::MovFromArray { registers };
    out.src[1] = Src::Reg(Reg(first));
    out.row_of[1] = 1;
    (first..first + registers).for_each(|register| out.read_set.insert(Reg(register)));
    out
}

#[test]
fn a_register_picked_by_number_takes_two_reads() {
    // Array of registers 4 to 7; constants 1 and 70.
    let code =
        vec![set(1, 0), set(5, 1), from_array(2, 1, 4, 4), set(6, 0), add_constant(3, 2, 0), control(EXIT)];
    let mut bench = Bench::new(&config(), launch(code, &[1, 70], 1, 32), 10);
    bench.run(1);
    // The sets issue in 3 and 4 and are written in 8 and 9. The move waits for register 5, which it might pick, and issues in
    // 9: number granted in 10, the register it picks in 11, dispatched in 12, written in 16.
    // Register 6 might have been picked too, so its set waits until 11, when the operands are there; the addition issues in
    // 16, is granted in 17, dispatched in 18 and written in 22.
    assert_eq!(bench.register(0, 3), [71; 32]);
    assert_eq!(bench.told[0], (Cycle(23), Notice::CtaDone));
    assert_eq!(bench.count("register_file", "reads"), 3);
    assert_eq!(bench.count("register_file", "writes"), 5);
}

/// `%clock` is read at dispatch; the instruction reads no register, so it was issued the cycle before.
fn clocks(schedulers: u32) -> [[u32; 2]; 2] {
    let code = vec![special(1, Special::Clock), special(2, Special::Clock), control(EXIT)];
    let config = crate::SmConfig { schedulers: Cited::new(schedulers, "test"), ..config() };
    let mut bench = Bench::new(&config, launch(code, &[], 1, 64), 10);
    bench.run(1);
    [0, 1].map(|warp| [1, 2].map(|register| bench.register(warp, register)[0]))
}

#[test]
fn two_schedulers_issue_in_one_cycle() {
    // One fetch a cycle: warp 1 first (after slot 0, in turn), warp 0 a cycle later. Warp 1 issues in 3 and 4,
    // warp 0 in 4 and 5: in 4 both schedulers issue.
    assert_eq!(clocks(2), [[5, 6], [4, 5]]);
}

#[test]
fn one_scheduler_issues_one_instruction_a_cycle() {
    // Greedy: warp 1 issues in 3 and 4, then warp 0 in 5 and 6.
    assert_eq!(clocks(1), [[6, 7], [4, 5]]);
}

#[test]
fn rows_of_one_bank_are_read_one_after_the_other() {
    let end = |sources: [u8; 2]| {
        let mut bench = Bench::new(&config(), launch(vec![alu(3, &sources), control(EXIT)], &[], 1, 32), 10);
        bench.run(1);
        (bench.told[0].0, bench.count("register_file", "read_conflicts"))
    };
    // Issued in 3, both rows granted in 4, dispatched in 5, written in 9, told of in 10.
    assert_eq!(end([0, 1]), (Cycle(10), 0));
    // Registers 0 and 16 lie in bank 0 of 16: granted in 4 and 5, everything a cycle later.
    assert_eq!(end([0, 16]), (Cycle(11), 1));
    // The same register twice is read once.
    assert_eq!(end([5, 5]), (Cycle(10), 0));
}

#[test]
fn a_barrier_lets_go_in_the_cycle_after_the_last_arrival() {
    let code =
        vec![barrier(Barrier::Sync, &[], 0, Src::None, Src::None), special(2, Special::Clock), control(EXIT)];
    let mut bench = Bench::new(&config(), launch(code, &[0], 1, 64), 10);
    bench.run(1);
    // Warp 1 arrives in 3, warp 0 in 4; both go on in 5 and read the clock in 6.
    assert_eq!([0, 1].map(|warp| bench.register(warp, 2)[0]), [6, 6]);
    // Warp 1 waits in 4. Warp 0 does not wait beyond the cycle of its arrival.
    assert_eq!(bench.count("sm", "stall_barrier"), 1);
}

#[test]
fn a_barrier_takes_its_arrivals_one_by_one_and_then_its_latency() {
    let cycles = |value| Some(Cited { value, source: "test".into() });
    let timing = BarrierTiming {
        latency_cycles: cycles(13),
        arrival_interval_cycles: cycles(2),
        result_cycles: cycles(24),
    };
    let config = SmConfig { barrier_timing: Some(timing), ..config() };
    let code =
        vec![barrier(Barrier::Sync, &[], 0, Src::None, Src::None), special(2, Special::Clock), control(EXIT)];
    let mut bench = Bench::new(&config, launch(code, &[0], 1, 64), 10);
    bench.run(1);
    // Arrivals in 3 and 4 have their turns in 3 and 5; both warps are let go in 5 + 13, go on in 19 and read the clock in 20.
    assert_eq!([0, 1].map(|warp| bench.register(warp, 2)[0]), [20, 20]);
}

#[test]
fn an_unpipelined_unit_takes_one_instruction_an_interval() {
    use strata_ptx::isa::{Class, Dst, FloatMode, FloatUnary, Reg, Ty};
    let root = |dst| {
        let op = Op::FloatUnary(FloatUnary::RsqrtApprox, Ty::F32, FloatMode::DEFAULT);
        instruction(op, Class::Sfu, &[Dst::Reg(Reg(dst))], &[Src::Const(0)])
    };
    let mut bench = Bench::new(&config(), launch(vec![root(1), root(2), control(EXIT)], &[0], 1, 32), 10);
    bench.run(1);
    // Issued in 3 and 4. One SFU, interval 8, latency 20: dispatched in 4 and 12, written in 24 and 32.
    assert_eq!(bench.told[0], (Cycle(33), Notice::CtaDone));
}

#[test]
fn matrix_products_read_every_register_and_take_their_unit_for_an_interval() {
    use strata_ptx::isa::{Accumulator, Class, Combine, Dst, Element, Layout, Mma, Reg};
    let product = |first: u8| {
        let (f16, f32) = (Element::F16, Accumulator::F32);
        let layout = Layout::Warp { rows: 16 };
        let mma = Mma {
            layout,
            depth: 8,
            a: f16,
            b: f16,
            c: f32,
            d: f32,
            combine: Combine::Multiply,
            sparse: None,
        };
        let dst = [0, 1, 2, 3].map(|n| Dst::Reg(Reg(first + n)));
        let src = [0, 1, 2, 3, 4, 5, 6].map(|n| Src::Reg(Reg(n)));
        instruction(Op::Mma(mma), Class::MatrixHalf, &dst, &src)
    };
    let end = |interval: u32| {
        let mut config = config();
        config.timing.matrix_half.interval_cycles = Cited::new(interval, "test");
        let code = vec![product(7), product(11), product(15), control(EXIT)];
        let mut bench = Bench::new(&config, launch(code, &[], 1, 32), 10);
        bench.run(1);
        let counts = ["issued_matrix", "products_half"].map(|name| bench.count("sm", name));
        assert_eq!((counts, bench.count("register_file", "reads")), ([3, 3 * 1024], 21));
        assert_eq!(bench.count("register_file", "writes"), 12);
        bench.told[0].0
    };
    // Issued in 3, 4 and 6 (the third is fetched when the second has issued); seven rows in seven banks are granted a cycle
    // later. Two SP units, latency 8: the first two are dispatched in 5 and 6, the third in 8 when a unit is free, and written
    // in 16; with interval 4 a unit is free in 9.
    assert_eq!([end(1), end(4), end(6)], [Cycle(17), Cycle(18), Cycle(20)]);
}

#[test]
fn a_load_and_its_use() {
    // Registers 0 and 1: the address HEAP; lane l does not matter, all lanes read the word at HEAP.
    let code = vec![set(0, 0), set(1, 1), load(2, 0), add_constant(3, 2, 1), control(EXIT)];
    let mut bench = Bench::new(&config(), launch(code, &[HEAP as u32, 0], 1, 32), 10);
    bench.run(1);
    // The sets issue in 3 and 4 and are written in 8 and 9; the load (fetched in 4, there from 6 on) issues in
    // 9, has its two rows (two banks) in 10 and is with the load/store unit in 11. Address generation 3: offered
    // in 14; L1D 10: complete in 24; write-back 2: written in 26. The addition issues in 26, is dispatched in
    // 28, written in 32.
    assert_eq!(bench.told[0], (Cycle(33), Notice::CtaDone));
    assert_eq!(bench.register(0, 3), [0x0302_0100; 32]);
    // Scheduler 0 waits for the load in 10 to 25.
    assert_eq!(bench.count("sm", "stall_memory"), 16);
}

#[test]
fn a_full_collector_pool_is_named() {
    // Six collectors for SP; every addition takes two cycles of bank 0, where registers 0 and 16 of warp 0 lie.
    let mut code: Vec<_> = (0..8).map(|n| alu(2 + n, &[0, 16])).collect();
    code.push(control(EXIT));
    // Eight warps a scheduler: more instructions could issue than collectors are free.
    let mut bench = Bench::new(&config(), launch(code, &[], 1, 512), 10);
    bench.run(1);
    assert!(bench.count("sm", "stall_collector_full") > 0);
    assert!(bench.count("register_file", "read_conflicts") > 0);
}

#[test]
fn the_flush_at_the_end_waits_for_the_l1d() {
    let mut bench = Bench::new(&config(), launch(vec![control(EXIT)], &[], 1, 32), 10);
    bench.run(1);
    // `exit` in 3, told in 4; the flush is sent in 5 (the test looks after its cycle), taken in 6; the load/store
    // unit begins it in the same cycle, the L1D takes 30 cycles; told in 37.
    assert_eq!(bench.told, [(Cycle(4), Notice::CtaDone), (Cycle(37), Notice::Flushed)]);
}

/// When each of four warps of one scheduler reads `%clock` before a barrier, and after it.
fn around_a_barrier(scheduling: Scheduling) -> [[u32; 2]; 4] {
    let meet = barrier(Barrier::Sync, &[], 0, Src::None, Src::None);
    let code = vec![special(1, Special::Clock), meet, special(2, Special::Clock), control(EXIT)];
    let config = crate::SmConfig {
        schedulers: Cited::new(1, "test"),
        scheduling: Cited::new(scheduling.clone(), "test"),
        ..config()
    };
    let mut bench = Bench::new(&config, launch(code, &[0], 1, 128), 10);
    bench.run(1);
    [0, 1, 2, 3].map(|warp| [1, 2].map(|register| bench.register(warp, register)[0]))
}

#[test]
fn two_levels_take_a_warp_in_only_when_another_waits() {
    // Warps 1, 2, 3 and 0 have their first instructions in 3, 4, 5 and 6. Each issues its clock and its barrier; a warp
    // at the barrier waits from the next cycle on. A clock is read the cycle after its issue.
    //
    // Active 0 and 1: warp 1 issues its clock in 3 and its barrier in 4. It leaves in 5 and lets 2 in, which issues in 5, 0
    // in 6, in turn; 2 arrives in 7 and lets 3 in, which issues in 8; 0 arrives in 9 and leaves nobody but waiting warps
    // outside; 3 arrives in 10, and all go on. In the order in which they left, outside are 1, 2 and 0.
    // In 11 warp 1 enters and issues its clock, 3 (whose instruction was fetched in 10) in 12; 1 exits in 13. 2 enters and
    // issues in 14, 3 exits in 15, 0 enters and issues in 16.
    assert_eq!(around_a_barrier(two_level(2)), [[7, 17], [4, 12], [6, 15], [9, 13]]);
    // All active, as in a round robin: clocks in 3 (1), 4 (2), 5 (3), 6 (0); barriers in 7 (1), 8 (2), 9 (3), 10 (0); clocks
    // again in 11 (1), 12 (2), 13 (3), 14 (0).
    let turns = [[7, 15], [4, 12], [5, 13], [6, 14]];
    assert_eq!(around_a_barrier(two_level(4)), turns);
    assert_eq!(around_a_barrier(named("loose-round-robin")), turns);
    // One active: 0 first, in 6 and 7; then 1 in 8 and 9, 2 in 10 and 11, 3 in 12 and 13. When 3 arrives, it is in, and stays
    // until it exits: its clock, fetched in 13, issues in 15 and `exit` in 16; then 0 in 17 and 18, 1 in 19 and 20, 2 in 21.
    assert_eq!(around_a_barrier(two_level(1)), [[7, 18], [9, 20], [11, 22], [13, 16]]);
}

#[test]
fn every_scheduling_finishes_everything() {
    for scheduling in [named("loose-round-robin"), named("greedy-then-oldest"), two_level(2)] {
        let config = crate::SmConfig { scheduling: Cited::new(scheduling.clone(), "test"), ..config() };
        let code = vec![
            set(0, 0),
            set(1, 1),
            load(2, 0),
            add_constant(3, 2, 1),
            store(0, 3),
            barrier(Barrier::Sync, &[], 1, Src::None, Src::None),
            control(EXIT),
        ];
        let mut bench = Bench::new(&config, launch(code, &[HEAP as u32, 0], 4, 256), 100);
        bench.run(4);
        assert_eq!(bench.count("sm", "issued"), 4 * 8 * 7, "{scheduling:?}");
        assert_eq!(bench.count("sm", "ctas"), 4);
        assert!(bench.sm.is_idle());
    }
}
