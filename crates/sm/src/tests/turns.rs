//! Independent threads: in which cycles paths of a warp change, computed by hand as in the golden tests.

use strata_engine::Cycle;
use strata_ptx::isa::{Compare, Guard, Instruction, Op, PredReg, Special};

use crate::dispatch::Notice;
use crate::fixtures::*;

/// Lanes above 0 make two trips through a loop and read the clock; lane 0 reads it on the other side of the branch.
fn two_sides(yields: bool) -> Vec<Instruction> {
    vec![
        special(1, Special::LaneId),
        set(4, 1),
        compare(0, Compare::Lt, 1, 0),
        guarded(Guard::If(PredReg(0)), branch(9, 10)),
        add_constant(4, 4, 0),
        compare(1, Compare::Lt, 4, 2),
        Instruction { yields, ..guarded(Guard::If(PredReg(1)), branch(4, 7)) },
        special(2, Special::Clock),
        branch(10, 10),
        special(3, Special::Clock),
        control(Op::Exit),
    ]
}

/// When lane 1 reads the clock, when lane 0 does, and when the end of the CTA is told.
fn times(yields: bool) -> (u32, u32, Cycle) {
    let mut bench = Bench::new(&config(), launch(two_sides(yields), &[1, 0, 2], 1, 32), 10);
    bench.run(1);
    let (told, notice) = bench.told[0];
    assert_eq!(notice, Notice::CtaDone);
    assert_eq!(bench.count("sm", "issued"), 14);
    (bench.register(0, 2)[1], bench.register(0, 3)[0], told)
}

#[test]
fn lanes_that_turn_back_let_the_other_side_run() {
    // Instructions 0 and 1 issue in 3 and 4; the lane number is written in 8, where the comparison issues, and the predicate in 14,
    // where the branch does. Its first side is fetched in 15: addition in 16 (written in 22), comparison in 22 (written in 28), and
    // the branch back issues in 28.
    //
    // There the lanes give way: lane 0 is fetched in 29 and issues its clock in 30, read at dispatch in 31. It has come to the
    // meeting point, so the others are fetched again in 31: addition in 32, comparison in 38, branch in 44, which is not
    // taken, and the clock behind it in 45, read in 46 and written in 50. The jump is fetched in 46 and issues in 47, `exit` in 49.
    assert_eq!(times(true), (46, 31, Cycle(51)));
    // Without, the second trip comes first: addition in 30, comparison in 36, branch in 42, clock in 43, jump in 45; lane 0's clock is
    // in the buffer behind the jump and issues in 46, is read in 47 and written in 51.
    assert_eq!(times(false), (44, 47, Cycle(52)));
}
