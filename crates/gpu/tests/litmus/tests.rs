//! Litmus tests as data: what each role does, and which outcome the PTX memory model forbids.

/// One litmus test. Roles run in different CTAs (or, with `one_cta`, in different warps of one CTA); each lane is
/// an instance of its own with its own `x` and `y`. Roles use `%x`, `%y` (addresses), `%r0`, `%r1` (what they saw).
pub struct Litmus {
    pub name: &'static str,
    /// All roles in one CTA.
    pub one_cta: bool,
    /// The PTX of each role.
    pub roles: &'static [&'static str],
    /// Whether what the roles saw (`r0, r1` of role 0, of role 1...) is forbidden.
    pub forbidden: fn(&[u32]) -> bool,
    /// Whether the outcome is shown by the machine at least once: the control for a test without fences.
    pub shown: bool,
}

const fn fenced(
    name: &'static str,
    roles: &'static [&'static str],
    forbidden: fn(&[u32]) -> bool,
) -> Litmus {
    Litmus { name, one_cta: false, roles, forbidden, shown: false }
}

/// Both copies are in the reader's L1D before the race begins: a stale one must not be believed.
const WARM: &str = "ld.global.u32 %w, [%x];\nld.global.u32 %w, [%y];\n";
/// Stands for [`WARM`] in the texts below.
pub const WARM_MARK: &str = "WARM";

/// The text that [`WARM_MARK`] stands for.
pub fn warm() -> &'static str {
    WARM
}

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
        |saw| (saw[4], saw[5]) == (1, 2) && (saw[6], saw[7]) == (2, 1)
            || (saw[4], saw[5]) == (2, 1) && (saw[6], saw[7]) == (1, 2),
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
];
