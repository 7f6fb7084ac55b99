//! What requests cost on an RTX 3080, in cycles of the kernel from the arrival of a request to the store of its result, with one
//! warp on the SM. docs/extended-llc.md has the same table.

use strata_gpu::extended_llc::{Indirection, Kernel, Levels};
use strata_memory::atomic::{AtomicOp, AtomicType};

use super::bench::Sets;
use super::model::{Action, Request};
use super::{Case, in_registers, rtx3080};

/// The same list of actions for each set, on blocks of its own.
fn case(sets: Sets, actions: &[(Action, usize)]) -> Case {
    // No two words are alike: nothing that can be compressed.
    let payload = std::array::from_fn(|at| (at * 37) as u8);
    let request = |(action, block)| Request { action, block, payload, swap: [2; 128] };
    let of_set =
        |set: usize| actions.iter().map(|(action, block)| request((*action, block + BLOCKS * set))).collect();
    let count = sets.count();
    Case { sets, requests: (0..count).map(of_set).collect(), memory: vec![[0; 128]; BLOCKS * count] }
}

/// Blocks of a set: eight more than it holds, so that taken in turn each is gone when it comes again.
const BLOCKS: usize = 40;

/// The blocks in turn, so often that every path of the kernel is in the instruction cache.
fn turns(action: Action) -> Vec<(Action, usize)> {
    (0..3 * BLOCKS).map(|n| (action, n % BLOCKS)).collect()
}

/// Requests and what each costs by `brx.idx` and by `mov.indirect`, then the same in a compressed set whose registers are all
/// uncompressed, with one warp.
const COSTS: &[(&str, Action, [u32; 4])] = &[
    ("read, hit", Action::Read, [49, 45, 63, 59]),
    ("write of all bytes, hit", Action::Write(u128::MAX), [281, 279, 558, 555]),
    ("atomic add, hit", Action::Atomic(AtomicOp::Add, AtomicType::U32, 1), [388, 378, 593, 593]),
    ("insertion, clean victim", Action::Insert { dirty: false }, [281, 280, 311, 312]),
    ("insertion, dirty victim", Action::Insert { dirty: true }, [281, 280, 348, 351]),
    ("read, miss, clean victim", Action::Read, [301, 300, 482, 483]),
];

/// The kernels of the table's columns.
fn columns() -> impl Iterator<Item = Sets> {
    [None, Some(Levels::History)].into_iter().flat_map(|compression| {
        [Indirection::Branch, Indirection::Instruction].map(|indirection| {
            let plain = in_registers(indirection, 1, 32);
            Sets { kernel: Kernel { compression, ..plain.kernel }, epoch: u32::MAX, ..plain }
        })
    })
}

#[test]
fn cycles_of_a_request() {
    let mut wrong = Vec::new();
    for (n, sets) in columns().enumerate() {
        for (what, action, expected) in COSTS {
            let mut steps = turns(Action::Insert { dirty: what.contains("dirty victim") });
            if what.ends_with("hit") {
                steps.extend([(*action, BLOCKS - 1); 3]);
            } else {
                steps.extend(turns(*action));
            }
            let case = case(sets, &steps);
            let outcome = case
                .on_machine_with(&rtx3080(&[]), &case.sets.measuring_text())
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let found = *outcome.served[0].last().expect("there are requests");
            println!("column {n}: {what}: {found}");
            if found != expected[n] {
                wrong.push(format!("column {n}: {what}: {found}, expected {}", expected[n]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
