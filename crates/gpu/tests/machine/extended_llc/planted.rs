//! Mistakes in the kernel that the bench must find.

use strata_gpu::extended_llc::Indirection;

use super::{Case, in_registers};

/// A mistake: what it is, the text that it replaces, and what it puts there.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("a dirty victim is dropped", "\tst.relaxed.gpu.global.u32 [%at], %value;\nR_FILL:", "R_FILL:"),
    (
        "a clean victim is written back",
        "\tand.pred %p, %match, %dirty;\n",
        "\tand.pred %p, %match, %match;\n",
    ),
    (
        "the second victim goes",
        "%t, 0xf8000000;\n\tand.b32 %u,",
        "%t, 0xf8000000;\n\tadd.u32 %t, %t, 0x08000000;\n\tand.b32 %u,",
    ),
    (
        "a use does not count",
        "\tbfind.u32 %index, %index;\n\tshfl.sync.idx.b32 %t, %meta, %index, 31, -1;\n\tor.b32 %t, %t, 0x07ffffff;",
        "\tbfind.u32 %index, %index;\n\tmov.u32 %t, -1;",
    ),
    ("an atomic twice", "R_K0:\n", "R_K0:\n\tadd.u32 %data, %value, %data;\n"),
    (
        "a write leaves its block clean",
        "\tor.pred %dirty, %dirty, %match;\n\tbra.uni R_DONE;",
        "\tbra.uni R_DONE;",
    ),
    ("a flush writes one block", "\t@%p setp.ne.u32 %dirty, %t, %t;\n", "\tsetp.ne.u32 %dirty, %t, %t;\n"),
    (
        "a block is dirty that was inserted clean",
        "\tsetp.ne.u32 %p, %t, 0;\n\tand.pred %p, %p, %match;",
        "\tsetp.ne.u32 %p, %t, 2;\n\tand.pred %p, %p, %match;",
    ),
];

#[test]
fn mistakes_are_found() {
    let case = Case::random(in_registers(Indirection::Branch, 2, 6), 400, 9);
    case.on_reference(|text| text).expect("the kernel is right");
    for (what, right, wrong) in MISTAKES {
        let change = |text: String| {
            assert!(text.contains(right), "{what}: the text has changed");
            text.replacen(right, wrong, 1)
        };
        let found = case.on_reference(change);
        assert!(found.is_err(), "not found: {what}");
    }
}
