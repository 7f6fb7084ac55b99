//! Kernels whose operands access other registers than their rows.

use strata_ptx::back::Accesses;
use strata_ptx::isa::{Dst, Op, Reg, RegList};

use crate::fixtures::*;

fn reads(registers: &[u8]) -> RegList {
    let mut list = RegList::EMPTY;
    for register in registers {
        list.push(Reg(*register));
    }
    list
}

#[test]
fn the_register_file_has_the_accesses_and_the_values_lie_beside_it() {
    // r1 = 5; r2 = 7; r3 = r1 + r2, of which the last reads only r1 and writes r0.
    let code = vec![set(1, 0), set(2, 1), alu(3, &[1, 2]), control(Op::Exit)];
    let run = |accesses: Vec<Accesses>| {
        let mut launch = launch(code.clone(), &[5, 7], 1, 32);
        let kernel = std::sync::Arc::get_mut(&mut launch.kernel).expect("nobody shares it");
        kernel.accesses = accesses;
        let mut bench = Bench::new(&config(), launch, 10);
        bench.run(1);
        let counts = ["reads", "writes"].map(|counter| bench.count("register_file", counter));
        (bench.register(0, 3), counts)
    };
    let (value, rows) = run(Vec::new());
    assert_eq!((value, rows), ([12; 32], [2, 3]));
    let access =
        |read: &[u8], writes: &[(Reg, Dst)]| Accesses { reads: reads(read), writes: writes.to_vec() };
    let accesses = vec![
        access(&[], &[]),
        access(&[], &[(Reg(2), Dst::Reg(Reg(2)))]),
        access(&[1], &[(Reg(0), Dst::Reg(Reg(3)))]),
        access(&[], &[]),
    ];
    assert_eq!(run(accesses), ([12; 32], [1, 2]));
}
