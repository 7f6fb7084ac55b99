//! The back end as a whole: what it computes, how many registers it takes, where lanes meet.

use super::testing::*;
use super::verify::verify;
use super::{BackError, Options, RegisterAllocation, compile};
use crate::ir::{Constant, VInst, VSrc};
use crate::isa::{AtomicOp, Barrier, FloatMode, Op, PC_NONE, Part, Shuffle, Space, Src, Ty, Vote};

fn lid() -> Op {
    Op::ReadSpecial(crate::isa::Special::LaneId)
}

#[test]
fn parameters_become_operands() {
    let load = inst(Op::Load(mode(Space::Param, Ty::U64)), &[0], &[bits(8)]);
    let copy = inst(Op::Cvta { space: Space::Global, to_generic: false }, &[1], &[reg(0)]);
    let code = vec![load, copy, inst(ADD64, &[2], &[reg(1), bits(16)]), store(reg(2), Ty::U32, bits(7))];
    let kernel = compile(&function(code, vec![Ty::B64; 3]), &plain()).expect("compiles");
    // The parameter is an operand of the addition, whose sum is not a constant before launch.
    assert_eq!(kernel.code.len(), 3);
    assert_eq!(kernel.code[0].op, ADD64);
    let Src::Const(at) = kernel.code[0].src[0] else { panic!("the parameter is a constant row") };
    assert_eq!(kernel.constants[at as usize].value, Constant::Param { offset: 8 });
    assert_eq!(kernel.constants[at as usize + 1].half, 1);
    assert_eq!(kernel.registers, 2);
}

#[test]
fn a_machine_that_loads_parameters_has_a_load_for_each_of_the_texts() {
    let parameter = |offset| VSrc::Const(Constant::Param { offset });
    let narrow = Op::Cvt { to: Ty::S32, from: Ty::S8, mode: FloatMode::DEFAULT };
    let code = vec![
        inst(Op::Mov(Ty::U64), &[0], &[parameter(8)]),
        inst(narrow, &[1], &[parameter(16)]),
        inst(Op::Load(mode(Space::Param, Ty::U32)), &[2], &[bits(20)]),
        inst(Op::Load(mode(Space::Param, Ty::U32)), &[3], &[bits(20)]),
        store(reg(0), Ty::U32, reg(1)),
        store(reg(0), Ty::U32, reg(2)),
        store(reg(0), Ty::U32, reg(3)),
    ];
    let function = function(code, vec![Ty::B64, Ty::B32, Ty::B32, Ty::B32]);
    let loads = |options: &Options| -> Vec<(Ty, u64)> {
        let kernel = compile(&function, options).expect("compiles");
        let place = |src: Src| match src {
            Src::Const(at) => match kernel.constants[at as usize].value {
                Constant::Bits(bits) => bits,
                other => panic!("{other:?} is no place in the parameter block"),
            },
            other => panic!("{other:?} is no constant"),
        };
        kernel
            .code
            .iter()
            .filter_map(|inst| match inst.op {
                Op::Load(mode) => {
                    assert_eq!((mode.space, mode.vector), (Space::Param, 1));
                    Some((mode.ty, place(inst.src[0]).wrapping_add_signed(inst.offset)))
                }
                _ => None,
            })
            .collect()
    };
    assert_eq!(loads(&plain()), []);
    let loaded = loads(&Options { loads_parameters: true, ..plain() });
    assert_eq!(loaded, [(Ty::U64, 8), (Ty::S8, 16), (Ty::U32, 20), (Ty::U32, 20)]);
}

#[test]
fn local_memory_at_an_address_far_away_is_no_spill() {
    // What a dead path of a program may hold: null, less the beginning of the window.
    let far = bits(crate::ir::window::LOCAL.wrapping_neg());
    let code = vec![
        inst(Op::Load(mode(Space::Local, Ty::U32)), &[0], &[far]),
        inst(Op::Store(mode(Space::Local, Ty::U32)), &[], &[far, reg(0)]),
    ];
    assert!(compile(&function(code, vec![Ty::B32]), &plain()).is_ok());
}

#[test]
fn additions_become_offsets() {
    let wide = Op::Mul(Part::Wide, Ty::U32);
    let code = vec![
        inst(lid(), &[0], &[]),
        inst(wide, &[1], &[reg(0), bits(4)]),
        inst(ADD64, &[2], &[reg(1), bits(16)]),
        inst(ADD64, &[3], &[reg(2), bits(-4i64 as u64)]),
        store(reg(2), Ty::U32, reg(0)),
        store(reg(3), Ty::U32, reg(0)),
    ];
    let registers = vec![Ty::B32, Ty::B64, Ty::B64, Ty::B64];
    let kernel = compile(&function(code, registers), &plain()).expect("compiles");
    let offsets: Vec<i64> =
        kernel.code.iter().filter(|inst| matches!(inst.op, Op::Store(_))).map(|inst| inst.offset).collect();
    assert_eq!(offsets, [16, 12]);
    assert_eq!(kernel.code.len(), 5);
}

/// Operations that wait for the lanes of a member mask (PTX ISA, `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
/// `elect.sync`), on registers 0 and predicate 1.
fn collectives() -> [VInst; 6] {
    let mask = bits(u64::from(u32::MAX));
    [
        inst(Op::Shfl(Shuffle::Bfly), &[2], &[reg(0), bits(1), bits(31), mask]),
        inst(Op::Vote(Vote::Ballot), &[2], &[reg(1), mask]),
        inst(Op::Match { ty: Ty::U32, all: false }, &[2], &[reg(0), mask]),
        inst(Op::Redux { op: AtomicOp::Add, ty: Ty::S32 }, &[2], &[reg(0), mask]),
        inst(Op::ReduxFloat { largest: false, nan: false, abs: false }, &[2], &[reg(0), mask]),
        inst(Op::Elect, &[2], &[mask]),
    ]
}

#[test]
fn what_lanes_wait_in_stays_without_a_use_and_in_order() {
    let set = [inst(lid(), &[0], &[]), inst(LESS, &[1], &[reg(0), bits(7)])];
    let registers = vec![Ty::B32, Ty::Pred, Ty::B32, Ty::B32, Ty::B32];
    for first in collectives() {
        for second in collectives() {
            // The first waits for a slow load and the second does not: free to move, it would overtake.
            let load = inst(Op::Load(mode(Space::Global, Ty::U32)), &[3], &[bits(64)]);
            let slow = inst(ADD, &[4], &[reg(3), bits(1)]);
            let mut early = first.clone();
            if let Some(source) = early.src.iter_mut().find(|src| **src == reg(0)) {
                *source = reg(4);
            }
            let code = set.iter().cloned().chain([load, slow, early, second.clone()]).collect();
            let kernel = compile(&function(code, registers.clone()), &plain()).expect("compiles");
            let expected = [first.op, second.op];
            let kept: Vec<Op> =
                kernel.code.iter().map(|inst| inst.op).filter(|op| expected.contains(op)).collect();
            assert_eq!(kept, expected);
        }
    }
}

#[test]
fn a_copy_of_a_changing_register_stays() {
    // r1 = r0; r0 = r0 + 1; store r1: the old value.
    let code = vec![
        inst(lid(), &[0], &[]),
        inst(Op::Mov(Ty::B32), &[1], &[reg(0)]),
        inst(ADD, &[0], &[reg(0), bits(1)]),
        store(bits(0), Ty::U32, reg(1)),
        store(bits(4), Ty::U32, reg(0)),
    ];
    let kernel = compile(&function(code, vec![Ty::B32; 2]), &plain()).expect("compiles");
    assert_eq!(kernel.registers, 2);
}

#[test]
fn pairs_are_aligned_and_packs_vanish() {
    let pack = Op::Pack { whole: Ty::B64, pieces: 2 };
    let code = vec![
        inst(lid(), &[0], &[]),
        inst(lid(), &[1], &[]),
        inst(lid(), &[2], &[]),
        inst(pack, &[3], &[reg(1), reg(2)]),
        store(reg(3), Ty::U64, reg(3)),
        store(bits(0), Ty::U32, reg(0)),
    ];
    let registers = vec![Ty::B32, Ty::B32, Ty::B32, Ty::B64];
    let kernel = compile(&function(code, registers), &plain()).expect("compiles");
    assert!(kernel.code.iter().all(|inst| !matches!(inst.op, Op::Pack { .. })));
    assert_eq!(kernel.registers, 3);
    let Src::Reg(pair) = kernel.code[3].src[0] else { panic!("an address in a pair") };
    assert_eq!(pair.0 % 2, 0);
}

/// Where the lanes of each branch meet, in terms of PTX lines.
fn meets(mut code: Vec<VInst>) -> Vec<Option<u32>> {
    for (at, inst) in code.iter_mut().enumerate() {
        inst.line = at as u32;
    }
    let kernel = compile(&function(code, vec![Ty::Pred, Ty::B32]), &plain()).expect("compiles");
    let branches = kernel.code.iter().filter(|inst| matches!(inst.op, Op::Branch { .. }));
    branches
        .map(|inst| (inst.reconverge != PC_NONE).then(|| kernel.code[inst.reconverge as usize].line))
        .collect()
}

fn work() -> VInst {
    store(bits(0), Ty::U32, bits(1))
}

fn barrier() -> VInst {
    inst(Op::Barrier(Barrier::Sync), &[], &[bits(0)])
}

#[test]
fn lanes_meet_at_the_post_dominator() {
    let when = Some((0, false));
    let set = || inst(LESS, &[0], &[bits(1), bits(2)]);
    // if (p) work; else work; meet at 5.
    let both = vec![set(), branch(4, when), work(), branch(5, None), work(), work(), exit()];
    assert_eq!(meets(both), [Some(5), Some(5)]);
    // A loop: its lanes meet behind it.
    assert_eq!(meets(vec![set(), work(), branch(1, when), work(), exit()]), [Some(3)]);
    // An early exit inside one side does not keep the others from meeting at 6.
    let early = vec![set(), branch(6, when), branch(4, when), exit(), work(), work(), work(), exit()];
    assert_eq!(meets(early), [Some(6), Some(4)]);
    // Nobody meets only to exit.
    assert_eq!(meets(vec![set(), branch(3, when), work(), exit()]), [None]);
    // Those who go on to a barrier meet before it, though the return of the others stands last.
    let stays = vec![
        set(),
        branch(4, when),
        branch(7, when),
        branch(5, None),
        branch(7, when),
        barrier(),
        exit(),
        work(),
        exit(),
    ];
    assert_eq!(meets(stays), [Some(5), Some(3), Some(5), Some(5)]);
    // An endless loop on one side.
    let endless = vec![set(), branch(4, when), work(), branch(2, None), work(), work(), exit()];
    assert_eq!(meets(endless), [Some(4), None]);
    // Two headers: irreducible.
    let twisted = vec![
        set(),
        branch(3, when),
        work(),
        work(),
        branch(2, when),
        work(),
        branch(3, when),
        work(),
        exit(),
    ];
    assert_eq!(meets(twisted), [Some(3), Some(5), Some(7)]);
}

#[test]
fn limits_hold_by_spilling() {
    // Forty values live at once.
    let mut code: Vec<VInst> = (0..40).map(|n| inst(ADD, &[n], &[reg(40), bits(u64::from(n))])).collect();
    code.insert(0, inst(Op::Load(mode(Space::Global, Ty::U32)), &[40], &[bits(64)]));
    code.extend((0..40).map(|n| store(bits(u64::from(n) * 4), Ty::U32, reg(n))));
    let mut function = function(code, vec![Ty::B32; 41]);
    let free = compile(&function, &plain()).expect("compiles");
    assert_eq!((free.registers, free.spill_bytes), (40, 0));
    function.launch_bounds.max_registers = Some(16);
    let tight = compile(&function, &plain()).expect("compiles");
    assert!(tight.registers <= 16, "{} registers", tight.registers);
    assert!(tight.spill_bytes >= 24 * 4);
    assert_eq!(tight.local_bytes, 8 + tight.spill_bytes);
}

#[test]
fn shared_addresses_take_one_register() {
    let window = Op::Cvta { space: Space::Shared, to_generic: false };
    let code = vec![
        inst(lid(), &[0], &[]),
        inst(Op::Mul(Part::Wide, Ty::U32), &[1], &[reg(0), bits(4)]),
        inst(ADD64, &[2], &[bits(1024), reg(1)]),
        inst(window, &[3], &[reg(2)]),
        inst(Op::Store(mode(Space::Shared, Ty::U32)), &[], &[reg(3), reg(0)]),
        inst(Op::Store(mode(Space::Shared, Ty::U32)), &[], &[reg(1), reg(0)]),
    ];
    let kernel =
        compile(&function(code, vec![Ty::B32, Ty::B64, Ty::B64, Ty::B64]), &plain()).expect("compiles");
    let stores: Vec<(Src, i64)> = kernel
        .code
        .iter()
        .filter(|inst| matches!(inst.op, Op::Store(_)))
        .map(|inst| (inst.src[0], inst.offset))
        .collect();
    assert_eq!(kernel.registers, 2);
    assert_eq!(stores[0].0, stores[1].0);
    assert_eq!((stores[0].1, stores[1].1), (1024, 0));
}

#[test]
fn registers_are_reused_unless_each_shall_have_its_own() {
    let code = vec![
        inst(lid(), &[0], &[]),
        inst(ADD, &[1], &[reg(0), bits(1)]),
        store(bits(0), Ty::U32, reg(1)),
        inst(ADD, &[2], &[reg(0), bits(2)]),
        store(bits(4), Ty::U32, reg(2)),
        inst(Op::Mul(Part::Wide, Ty::U32), &[3], &[reg(0), reg(0)]),
        store(bits(8), Ty::U64, reg(3)),
    ];
    let function = function(code, vec![Ty::B32, Ty::B32, Ty::B32, Ty::B64]);
    let taken = |allocation, max_registers| {
        let options = Options { allocation, max_registers, ..plain() };
        let kernel = compile(&function, &options).expect("compiles");
        (kernel.registers, kernel.reuses_registers)
    };
    let [tight, spread, separate] =
        [RegisterAllocation::Tight, RegisterAllocation::Spread, RegisterAllocation::Separate];
    let (fewest, own) = (taken(tight, 255), taken(separate, 255));
    assert!(fewest.0 <= 4 && fewest.1, "{fewest:?}");
    assert!(taken(spread, 255).0 >= fewest.0);
    // Three words and a pair.
    assert_eq!(own, (5, false));
    assert_eq!(taken(separate, 5), (5, false));
    assert_eq!(taken(separate, 4), taken(spread, 4), "they do not fit");
}

#[test]
fn loads_move_up_but_not_past_what_they_may_depend_on() {
    let load = |dst, at| inst(Op::Load(mode(Space::Shared, Ty::U32)), &[dst], &[bits(at)]);
    let keep = |at, reg_| inst(Op::Store(mode(Space::Shared, Ty::U32)), &[], &[bits(at), reg(reg_)]);
    let code =
        vec![load(0, 0), keep(64, 0), load(1, 12), keep(76, 1), load(2, 64), store(bits(0), Ty::U32, reg(2))];
    let function = function(code, vec![Ty::B32; 3]);
    let loads = |options: Options| {
        let kernel = compile(&function, &options).expect("compiles");
        let order: Vec<bool> =
            kernel.code.iter().take(5).map(|inst| matches!(inst.op, Op::Load(_))).collect();
        (kernel, order)
    };
    let (_, as_written) = loads(Options { load_window: 0, ..Options::default() });
    assert_eq!(as_written, [true, false, true, false, true]);
    let (kernel, order) = loads(Options::default());
    // The second load passes the first store, as they lie apart; the third reads what that store wrote.
    assert_eq!(order[..3], [true, true, false]);
    let reads_64 = kernel.code.iter().position(|inst| {
        matches!((inst.op, inst.src[0]), (Op::Load(_), Src::Const(at))
            if kernel.constants[at as usize].value == Constant::Bits(64))
    });
    assert!(reads_64 > Some(2));
}

/// Loads of shared memory before the first addition, and the kernel's registers, when 40 are added up one after the other on
/// an SM that is full with so many registers a thread.
fn loads_ahead(full: u32) -> (usize, u32) {
    let mut code = vec![inst(lid(), &[0], &[])];
    for n in 1..=40 {
        code.push(inst(Op::Load(mode(Space::Shared, Ty::U32)), &[n], &[reg(0)]));
        code.push(inst(ADD, &[41], &[reg(if n == 1 { 0 } else { 41 }), reg(n)]));
    }
    code.push(store(bits(0), Ty::U32, reg(41)));
    let options = Options { sm_registers: full, sm_threads: 1, ..plain() };
    let kernel = compile(&function(code, vec![Ty::B32; 42]), &options).expect("compiles");
    let ahead = kernel.code.iter().take_while(|inst| inst.op != ADD);
    (ahead.filter(|inst| matches!(inst.op, Op::Load(_))).count(), kernel.registers)
}

#[test]
fn loads_move_up_as_far_as_registers_cost_no_warp() {
    // The address is live all the time. What is left are places for values on their way, but for no more than the window has.
    assert_eq!(loads_ahead(16), (15, 16));
    assert_eq!(loads_ahead(11), (10, 11));
    assert_eq!(loads_ahead(250).0, 32);
    // The address, the sum and a value at a time are what it takes; before the first sum two values have a place.
    assert_eq!(loads_ahead(1), (2, 3));
}

#[test]
fn loads_by_a_loaded_address_come_after_the_others() {
    // The addresses of 20 loads are a chain of sums, of which each takes 4 slots: the last goes in slot 80 or later. The value of the
    // first load would have been there long before.
    let load = |space, dst, at| inst(Op::Load(mode(space, Ty::U32)), &[dst], &[at]);
    let mut code = vec![
        inst(lid(), &[0], &[]),
        load(Space::Shared, 1, bits(64)),
        inst(ADD, &[2], &[reg(1), reg(0)]),
        load(Space::Local, 3, reg(2)),
    ];
    for n in 0..20 {
        let before = if n == 0 { 0 } else { 3 + n };
        code.push(inst(ADD, &[4 + n], &[reg(before), reg(0)]));
        code.push(load(Space::Shared, 24 + n, reg(4 + n)));
    }
    code.extend((0..20).map(|n| inst(ADD, &[3], &[reg(3), reg(24 + n)])));
    code.push(store(bits(0), Ty::U32, reg(3)));
    let kernel = compile(&function(code, vec![Ty::B32; 44]), &Options::default()).expect("compiles");
    let loads = kernel.code.iter().filter_map(|inst| match inst.op {
        Op::Load(mode) => Some(mode.space),
        _ => None,
    });
    assert_eq!(loads.collect::<Vec<_>>().iter().position(|space| *space == Space::Local), Some(21));
}

#[test]
fn the_checker_finds_wrong_places() {
    let mut code: Vec<VInst> = (0..6).map(|n| inst(lid(), &[n], &[])).collect();
    code.extend((0..6).map(|n| store(bits(0), Ty::U32, reg(n))));
    let mut allocation = super::lower(&function(code, vec![Ty::B32; 6]), &plain()).expect("lowers");
    assert_eq!(verify(&allocation), Ok(()));
    for wrong in 1..6 {
        let right = allocation.places[wrong];
        allocation.places[wrong] = allocation.places[wrong - 1];
        assert!(verify(&allocation).is_err());
        allocation.places[wrong] = right;
    }
}

#[test]
fn spreading_costs_no_warp() {
    let limits = Options::default().limits(Default::default());
    // Three are reserved: 10 + 4 rows; up to 32 in all; to the end of a unit of eight beyond that.
    let rows: Vec<usize> =
        [10, 27, 29, 30, 36, 37].into_iter().filter_map(|rows| limits.roomy(rows)).collect();
    assert_eq!(rows, [14, 29, 29, 34, 37, 37]);
    // 32,768 registers for 1,536 threads are 21.3, in units of two 20: with 21 an SM would hold fewer warps.
    let options = Options { sm_registers: 32_768, sm_threads: 1536, register_unit: 2, ..Options::default() };
    let limits = options.limits(Default::default());
    let rows: Vec<usize> = [12, 16, 17, 18].into_iter().filter_map(|rows| limits.roomy(rows)).collect();
    assert_eq!(rows, [16, 17, 17, 19]);
}

#[test]
fn launch_bounds_share_out_the_registers() {
    let limit = |threads, ctas| {
        let bounds = crate::ir::LaunchBounds {
            max_threads: Some(threads),
            min_ctas: Some(ctas),
            ..Default::default()
        };
        plain().limits(bounds).registers
    };
    assert_eq!(limit(1024, 1), 64);
    assert_eq!(limit(1024, 2), 32);
    assert_eq!(limit(256, 1), 255);
    assert_eq!(limit(256, 3), 85);
    let of_eight = Options { register_unit: 8, ..plain() };
    let bounds = crate::ir::LaunchBounds { max_threads: Some(256), min_ctas: Some(3), ..Default::default() };
    assert_eq!(of_eight.limits(bounds).registers, 80);
    let bounds = crate::ir::LaunchBounds { max_registers: Some(40), ..Default::default() };
    assert_eq!(Options::default().limits(bounds).registers, 37);
}

#[test]
fn misfits_are_refused() {
    let cases = [
        inst(ADD, &[0], &[reg(1), reg(1)]),
        inst(ADD64, &[0], &[reg(1), reg(0)]),
        inst(ADD, &[1], &[reg(2), reg(1)]),
        inst(LESS, &[1], &[reg(1), reg(1)]),
        branch(9, None),
        inst(Op::BranchIndexed { table: 0 }, &[], &[reg(1)]),
    ];
    for case in cases {
        let code = function(vec![case.clone()], vec![Ty::B64, Ty::B32, Ty::Pred]);
        let outcome = compile(&code, &plain());
        assert!(matches!(outcome, Err(BackError::Malformed { .. })), "{case:?} gave {outcome:?}");
    }
}
