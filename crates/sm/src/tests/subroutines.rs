//! Arithmetic that the GPU makes a subroutine of. Cycles are computed by hand, as in `golden`.

use strata_engine::Cited;
use strata_ptx::isa::{Class, Dst, FloatMode, FloatUnary, Instruction, Op, Reg, Special, Src, Ty};

use crate::fixtures::*;

/// The approximate root of a constant: its result is written 20 cycles after it is dispatched.
fn root(dst: u8) -> Instruction {
    let op = Op::FloatUnary(FloatUnary::RsqrtApprox, Ty::F32, FloatMode::DEFAULT);
    instruction(op, Class::Sfu, &[Dst::Reg(Reg(dst))], &[Src::Const(0)])
}

#[test]
fn a_warp_waits_for_its_own_subroutine_and_no_other_warp_does() {
    let clocks = |subroutine, code: &[Instruction], warps: u32| {
        let mut config = config();
        config.timing.sfu.subroutine = Some(Cited::new(subroutine, "test"));
        let code = code.iter().cloned().chain([special(2, Special::Clock), control(Op::Exit)]).collect();
        let mut bench = Bench::new(&config, launch(code, &[1], 1, 32 * warps), 10);
        bench.run(1);
        (0..warps as u8).map(|warp| bench.register(warp, 2)[0]).collect::<Vec<_>>()
    };
    let alone = clocks(false, &[root(1)], 1)[0];
    // The root is dispatched in the cycle before the clock otherwise, and written 20 cycles later; the clock issues in that cycle
    // and is read in the next.
    assert_eq!(clocks(true, &[root(1)], 1), [alone + 20]);
    // A second root, which needs nothing of the first, waits for it, and the clock for both.
    assert_eq!(clocks(true, &[root(1), root(3)], 1), [alone + 41]);
    // Of two warps one is a subroutine's interval of the unit behind the other, not a subroutine.
    let both = clocks(true, &[root(1)], 2);
    assert!(both[1].abs_diff(both[0]) < 20, "{both:?}");
    // Lanes that are all switched off call nothing.
    let nobody = guarded(strata_ptx::isa::Guard::If(strata_ptx::isa::PredReg(0)), root(1));
    assert_eq!(clocks(true, std::slice::from_ref(&nobody), 1), clocks(false, &[nobody], 1));
}
