//! Host time of an SM that issues in every cycle; run by hand, in release mode.

use std::time::Instant;

use strata_ptx::isa::{Class, Compare, Dst, FloatMode, Guard, Instruction, Op, PredReg, Reg, Signs, Src, Ty};

use crate::fixtures::*;

/// `dst = a * b + dst` in f32.
fn fma(dst: u8, a: u8, b: u8) -> Instruction {
    let src = [a, b, dst].map(|register| Src::Reg(Reg(register)));
    instruction(Op::Fma(Ty::F32, FloatMode::DEFAULT, Signs::PLUS), Class::F32Fma, &[Dst::Reg(Reg(dst))], &src)
}

#[test]
#[ignore = "measures host time"]
fn host_nanoseconds_per_instruction() {
    // A loop of 8 multiply-adds, a counter and a branch, in 32 warps.
    let mut code = vec![set(1, 0), set(2, 0), set(3, 0)];
    code.extend((0..8).map(|n| fma(4 + n, 2, 3)));
    code.push(add_constant(1, 1, 1));
    code.push(compare(0, Compare::Lt, 1, 2));
    code.push(guarded(Guard::If(PredReg(0)), branch(3, 14)));
    code.push(control(Op::Exit));
    let launch = launch(code, &[0, 1, 1000], 4, 256);
    let mut bench = Bench::new(&config(), launch, 10);
    let start = Instant::now();
    let end = bench.run(4);
    let nanoseconds = start.elapsed().as_nanos() as u64;
    let issued = bench.count("sm", "issued");
    println!(
        "{issued} instructions in {end} cycles, {} ticked: {} ns an instruction, {} ns a tick",
        bench.ticks,
        nanoseconds / issued,
        nanoseconds / bench.ticks
    );
}
