//! Mistakes in the kernel that the bench must find.

use strata_gpu::extended_llc::Indirection;

use super::{Case, in_registers};

/// A mistake: what it is, the text that it replaces, and what it puts there.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("an insertion drops a dirty victim", "\tst.relaxed.gpu.global.u32 [%at], %value;\n\tmov", "\tmov"),
    ("a miss drops a dirty victim", "\tst.relaxed.gpu.global.u32 [%at], %value;\nR_BRING:", "R_BRING:"),
    (
        "a clean victim is written back",
        "\tand.pred %p, %match, %dirty;\n",
        "\tand.pred %p, %match, %match;\n",
    ),
    (
        "the block used last goes",
        "\tredux.sync.min.u32 %u, %stamp0, -1;",
        "\tredux.sync.max.s32 %u, %stamp0, -1;",
    ),
    ("a use does not count", "\t@%match mov.b32 %stamp0, %count;\n\tbra.uni R_READY;", "\tbra.uni R_READY;"),
    ("an atomic twice", "R_K0:\n", "R_K0:\n\tadd.u32 %data, %value, %data;\n"),
    ("a write leaves its block clean", "\tor.pred %dirty, %dirty, %match;\n", ""),
    ("an insertion leaves its block clean", "\tor.pred %dirty, %dirty, %p;\n", ""),
    ("a flush writes one block", "\t@%p setp.ne.u32 %dirty, %t, %t;\n", "\tsetp.ne.u32 %dirty, %t, %t;\n"),
    (
        "a block is dirty that was inserted clean",
        "\t@%match setp.gt.s32 %dirty, %status, 0x0fffffff;",
        "\t@%match setp.gt.s32 %dirty, %status, 0x07ffffff;",
    ),
];

/// The same of sets of more than 32 blocks, in registers and in shared memory.
const MISTAKES_OF_LARGER_SETS: &[(&str, &str, &str)] = &[
    ("a tag in the wrong group", "\t@%q mov.b32 %meta1, %t;\n", "\t@%q mov.b32 %meta0, %t;\n"),
    ("a use in the second group does not count", "\t@%q mov.b32 %stamp1, %count;\n", ""),
    ("the second group has no victims", "\tmin.u32 %u, %stamp0, %stamp1;\n", "\tmov.u32 %u, %stamp0;\n"),
    (
        "another block is dirty",
        "\tshl.b32 %u, 1, %u;\n\tor.b32 %flags, %flags, %u;\n",
        "\tor.b32 %flags, %flags, 1;\n",
    ),
    (
        "a clean block stays dirty",
        "\tlop3.b32 %flags, %flags, %u, 0, 0x30;\n\tsetp.gt.s32 %q",
        "\tsetp.gt.s32 %q",
    ),
    ("the tag of a victim from the first group", "\t@%q mov.b32 %t, %meta1;\n", ""),
    (
        "a set in shared memory stores over its neighbour",
        "\tadd.u32 %t, %t, %base;\n\tst.shared.u32 [%t], %data",
        "\tadd.u32 %t, %t, %base;\n\tst.shared.u32 [%t+-128], %data",
    ),
];

fn are_found(case: &Case, mistakes: &[(&str, &str, &str)]) {
    case.on_reference(|text| text).expect("the kernel is right");
    for (what, right, wrong) in mistakes {
        let change = |text: String| {
            assert!(text.contains(right), "{what}: the text has changed");
            text.replacen(right, wrong, 1)
        };
        let found = case.on_reference(change);
        assert!(found.is_err(), "not found: {what}");
    }
}

#[test]
fn mistakes_are_found() {
    are_found(&Case::random(in_registers(Indirection::Branch, 2, 6), 400, 9), MISTAKES);
}

#[test]
fn mistakes_in_larger_sets_are_found() {
    let mut sets = in_registers(Indirection::Instruction, 2, 40);
    (sets.register_sets, sets.shared_sets, sets.shared_ways) = (1, 1, 35);
    sets.kernel.shared_ways = 35;
    are_found(&Case::random(sets, 700, 9), MISTAKES_OF_LARGER_SETS);
}
