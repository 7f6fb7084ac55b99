//! Litmus tests as data: what each role does, and which outcome the PTX memory model forbids.

/// One litmus test. Roles run in different CTAs (or, with `one_cta`, in different warps of one CTA); each lane is
/// an instance of its own with its own `x`, `y` and `z`, 0 at first. Roles use `%x`, `%y`, `%z` (addresses), `%r0`, `%r1`
/// (what they saw), and `%w`, `%p`.
pub struct Litmus {
    pub name: &'static str,
    /// All roles in one CTA.
    pub one_cta: bool,
    /// The PTX of each role.
    pub roles: &'static [&'static str],
    /// Whether what the roles saw (`r0, r1` of role 0, of role 1..., then `x, y, z` at the end) is forbidden.
    pub forbidden: fn(&[u32]) -> bool,
    /// Whether the outcome is shown by the machine at least once: the control for a test without fences.
    pub shown: bool,
}

const fn fenced(name: &'static str, roles: &'static [&'static str], forbidden: fn(&[u32]) -> bool) -> Litmus {
    Litmus { name, one_cta: false, roles, forbidden, shown: false }
}

/// Stands for loads that bring copies into the L1D before the race begins: a stale one must not be believed.
pub const WARM: &str = "WARM";
/// Stands for a wait, of another length in each CTA and launch.
pub const DELAY: &str = "DELAY";

pub const TESTS: &[Litmus] = &[
    fenced(
        "message passing, membar.gl",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\nst.volatile.global.u32 [%y], 1;",
            "WARM DELAY ld.volatile.global.u32 %r0, [%y];\nmembar.gl;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, fence.acq_rel.gpu with relaxed flag",
        &[
            "WARM st.global.u32 [%x], 1;\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%y], 1;",
            "WARM DELAY ld.relaxed.gpu.global.u32 %r0, [%y];\nfence.acq_rel.gpu;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, release and acquire",
        &[
            "WARM st.global.u32 [%x], 1;\nst.release.gpu.global.u32 [%y], 1;",
            "WARM DELAY ld.acquire.gpu.global.u32 %r0, [%y];\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, atomic flag",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\natom.global.exch.b32 %w, [%y], 1;",
            "WARM DELAY atom.global.or.b32 %r0, [%y], 0;\nmembar.gl;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, release and acquire atomics",
        &[
            "WARM st.global.u32 [%x], 1;\natom.release.gpu.global.exch.b32 %w, [%y], 1;",
            "WARM DELAY atom.acquire.gpu.global.or.b32 %r0, [%y], 0;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, the reader spins",
        &[
            "WARM DELAY st.global.u32 [%x], 1;\nmembar.gl;\nst.volatile.global.u32 [%y], 1;",
            "WARM\nSPIN:\nld.volatile.global.u32 %r0, [%y];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra SPIN;\n\
             membar.gl;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] != 1 || saw[3] != 1,
    ),
    Litmus {
        name: "message passing in a CTA, fence.acq_rel.cta",
        one_cta: true,
        roles: &[
            "WARM st.global.u32 [%x], 1;\nfence.acq_rel.cta;\nst.relaxed.cta.global.u32 [%y], 1;",
            "WARM DELAY ld.relaxed.cta.global.u32 %r0, [%y];\nfence.acq_rel.cta;\nld.global.u32 %r1, [%x];",
        ],
        forbidden: |saw| saw[2] == 1 && saw[3] == 0,
        shown: false,
    },
    fenced(
        "store buffering, fence.sc.gpu",
        &[
            "WARM st.relaxed.gpu.global.u32 [%x], 1;\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r0, [%y];",
            "WARM st.relaxed.gpu.global.u32 [%y], 1;\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r0, [%x];",
        ],
        |saw| saw[0] == 0 && saw[2] == 0,
    ),
    fenced(
        "store buffering, membar.gl, weak accesses",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\nld.global.u32 %r0, [%y];",
            "WARM st.global.u32 [%y], 1;\nmembar.gl;\nld.global.u32 %r0, [%x];",
        ],
        |saw| saw[0] == 0 && saw[2] == 0,
    ),
    Litmus {
        name: "store buffering without a fence",
        one_cta: false,
        roles: &[
            "WARM st.global.u32 [%x], 1;\nld.global.u32 %r0, [%y];",
            "WARM st.global.u32 [%y], 1;\nld.global.u32 %r0, [%x];",
        ],
        forbidden: |saw| saw[0] == 0 && saw[2] == 0,
        shown: true,
    },
    fenced(
        "load buffering, fence.sc.gpu",
        &[
            "ld.relaxed.gpu.global.u32 %r0, [%x];\nfence.sc.gpu;\nst.relaxed.gpu.global.u32 [%y], 1;",
            "ld.relaxed.gpu.global.u32 %r0, [%y];\nfence.sc.gpu;\nst.relaxed.gpu.global.u32 [%x], 1;",
        ],
        |saw| saw[0] == 1 && saw[2] == 1,
    ),
    fenced(
        "coherence of reads",
        &[
            "WARM DELAY st.relaxed.gpu.global.u32 [%x], 1;",
            "WARM DELAY ld.relaxed.gpu.global.u32 %r0, [%x];\nld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "coherence of volatile reads",
        &[
            "WARM DELAY st.volatile.global.u32 [%x], 1;",
            "WARM DELAY ld.volatile.global.u32 %r0, [%x];\nld.volatile.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "coherence of writes: readers agree on their order",
        &[
            "DELAY st.relaxed.gpu.global.u32 [%x], 1;",
            "DELAY st.relaxed.gpu.global.u32 [%x], 2;",
            "DELAY ld.relaxed.gpu.global.u32 %r0, [%x];\nld.relaxed.gpu.global.u32 %r1, [%x];",
            "DELAY ld.relaxed.gpu.global.u32 %r0, [%x];\nld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        |saw| {
            (saw[4], saw[5]) == (1, 2) && (saw[6], saw[7]) == (2, 1)
                || (saw[4], saw[5]) == (2, 1) && (saw[6], saw[7]) == (1, 2)
        },
    ),
    fenced(
        "independent reads of independent writes, fence.sc.gpu",
        &[
            "DELAY st.relaxed.gpu.global.u32 [%x], 1;",
            "DELAY st.relaxed.gpu.global.u32 [%y], 1;",
            "DELAY ld.relaxed.gpu.global.u32 %r0, [%x];\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r1, [%y];",
            "DELAY ld.relaxed.gpu.global.u32 %r0, [%y];\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        |saw| saw[4] == 1 && saw[5] == 0 && saw[6] == 1 && saw[7] == 0,
    ),
    fenced(
        "a thread reads its own write",
        &["WARM st.global.u32 [%x], 7;\nld.global.u32 %r0, [%x];\nst.volatile.global.u32 [%y], 9;\n\
           ld.global.u32 %r1, [%y];"],
        |saw| saw[0] != 7 || saw[1] != 9,
    ),
    Litmus {
        name: "message passing without a fence",
        one_cta: false,
        roles: &[
            "WARM st.global.u32 [%x], 1;\nst.volatile.global.u32 [%y], 1;",
            "WARM DELAY ld.volatile.global.u32 %r0, [%y];\nld.global.u32 %r1, [%x];",
        ],
        forbidden: |saw| saw[2] == 1 && saw[3] == 0,
        shown: true,
    },
    Litmus {
        name: "message passing, only the writer fences",
        one_cta: false,
        roles: &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\nst.volatile.global.u32 [%y], 1;",
            "WARM DELAY ld.volatile.global.u32 %r0, [%y];\nld.global.u32 %r1, [%x];",
        ],
        forbidden: |saw| saw[2] == 1 && saw[3] == 0,
        shown: true,
    },
    fenced(
        "message passing, a reduction as flag",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\nred.global.add.u32 [%y], 1;",
            "WARM DELAY ld.volatile.global.u32 %r0, [%y];\nmembar.gl;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, the reader writes beside the message",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.gl;\nst.volatile.global.u32 [%y], 1;",
            "WARM st.global.u32 [%x+4], 5;\nDELAY ld.volatile.global.u32 %r0, [%y];\nmembar.gl;\n\
             ld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, the message bypasses the cache",
        &[
            "WARM st.global.cg.u32 [%x], 1;\nmembar.gl;\nst.global.cg.u32 [%y], 1;",
            "WARM DELAY ld.global.cg.u32 %r0, [%y];\nmembar.gl;\nld.global.cg.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "message passing, fences of system scope",
        &[
            "WARM st.global.u32 [%x], 1;\nmembar.sys;\nst.relaxed.sys.global.u32 [%y], 1;",
            "WARM DELAY ld.relaxed.sys.global.u32 %r0, [%y];\nfence.acq_rel.sys;\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[3] == 0,
    ),
    fenced(
        "a chain of release and acquire over three CTAs (ISA2)",
        &[
            "WARM st.global.u32 [%x], 1;\nst.release.gpu.global.u32 [%y], 1;",
            "WARM DELAY ld.acquire.gpu.global.u32 %r0, [%y];\nst.release.gpu.global.u32 [%z], 1;",
            "WARM DELAY ld.acquire.gpu.global.u32 %r0, [%z];\nld.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[4] == 1 && saw[5] == 0,
    ),
    fenced(
        "a write is passed on (WRC)",
        &[
            "WARM DELAY st.relaxed.gpu.global.u32 [%x], 1;",
            "WARM DELAY ld.relaxed.gpu.global.u32 %r0, [%x];\nfence.acq_rel.gpu;\n\
             st.relaxed.gpu.global.u32 [%y], 1;",
            "WARM DELAY ld.relaxed.gpu.global.u32 %r0, [%y];\nfence.acq_rel.gpu;\n\
             ld.relaxed.gpu.global.u32 %r1, [%x];",
        ],
        |saw| saw[2] == 1 && saw[4] == 1 && saw[5] == 0,
    ),
    fenced(
        "two writes each, fence.sc.gpu (2+2W)",
        &[
            "WARM DELAY st.relaxed.gpu.global.u32 [%x], 1;\nfence.sc.gpu;\nst.relaxed.gpu.global.u32 [%y], 2;",
            "WARM DELAY st.relaxed.gpu.global.u32 [%y], 1;\nfence.sc.gpu;\nst.relaxed.gpu.global.u32 [%x], 2;",
        ],
        |saw| saw[4] == 1 && saw[5] == 1,
    ),
    fenced(
        "a write after a read (S)",
        &[
            "WARM DELAY st.relaxed.gpu.global.u32 [%x], 2;\nfence.acq_rel.gpu;\n\
             st.relaxed.gpu.global.u32 [%y], 1;",
            "WARM DELAY ld.relaxed.gpu.global.u32 %r0, [%y];\nfence.acq_rel.gpu;\n\
             st.relaxed.gpu.global.u32 [%x], 1;",
        ],
        |saw| saw[2] == 1 && saw[4] == 2,
    ),
    fenced(
        "a read after writes (R)",
        &[
            "WARM DELAY st.relaxed.gpu.global.u32 [%x], 1;\nfence.sc.gpu;\nst.relaxed.gpu.global.u32 [%y], 1;",
            "WARM DELAY st.relaxed.gpu.global.u32 [%y], 2;\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r0, [%x];",
        ],
        |saw| saw[5] == 2 && saw[2] == 0,
    ),
    fenced(
        "only one exchange finds the old value",
        &[
            "WARM DELAY atom.global.exch.b32 %r0, [%x], 1;",
            "WARM DELAY atom.global.exch.b32 %r0, [%x], 2;",
            "WARM DELAY atom.global.cas.b32 %r0, [%x], 0, 3;",
        ],
        |saw| [0, 2, 4].into_iter().filter(|role| saw[*role] == 0).count() != 1,
    ),
    Litmus {
        name: "message passing in a CTA, release and acquire of its scope",
        one_cta: true,
        roles: &[
            "WARM DELAY st.global.u32 [%x], 1;\nst.release.cta.global.u32 [%y], 1;",
            "WARM DELAY ld.acquire.cta.global.u32 %r0, [%y];\nld.global.u32 %r1, [%x];",
        ],
        forbidden: |saw| saw[2] == 1 && saw[3] == 0,
        shown: false,
    },
    Litmus {
        name: "store buffering in a CTA, fence.sc.cta",
        one_cta: true,
        roles: &[
            "WARM DELAY st.relaxed.cta.global.u32 [%x], 1;\nfence.sc.cta;\nld.relaxed.cta.global.u32 %r0, [%y];",
            "WARM DELAY st.relaxed.cta.global.u32 [%y], 1;\nfence.sc.cta;\nld.relaxed.cta.global.u32 %r0, [%x];",
        ],
        forbidden: |saw| saw[0] == 0 && saw[2] == 0,
        shown: false,
    },
    Litmus {
        name: "message passing in a CTA over a barrier",
        one_cta: true,
        roles: &[
            "WARM DELAY st.global.u32 [%x], 1;\nbar.sync 0;",
            "WARM DELAY bar.sync 0;\nld.global.u32 %r1, [%x];",
        ],
        forbidden: |saw| saw[3] == 0,
        shown: false,
    },
];
