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
        "\tredux.sync.min.u32 %u, %stamp, -1;",
        "\tredux.sync.max.s32 %u, %stamp, -1;",
    ),
    ("a use does not count", "\t@%match mov.u32 %stamp, %count;\n\tbra.uni R_READY;", "\tbra.uni R_READY;"),
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
