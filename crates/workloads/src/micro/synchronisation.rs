//! Barriers, fences and asynchronous copies: what each costs when nothing hides it.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const DATA_BYTES: u64 = 1 << 20;
const STEPS: usize = 8;
const ROUNDS: [u32; 2] = [4, 20];

/// What is measured and its text; `%a` is an address in shared memory, `%g` one in global memory that the L2 holds.
const BARRIERS: &[(&str, &str)] = &[("bar-sync", "bar.sync 0;"), ("bar-red", "bar.red.popc.u32 %x, 0, %o;")];
const FENCES: &[(&str, &str)] = &[
    ("fence-cta", "fence.acq_rel.cta;"),
    ("fence-gpu", "fence.acq_rel.gpu;"),
    ("fence-sys", "fence.acq_rel.sys;"),
    ("store-fence-cta", "st.global.u32 [%g], %x;\n    fence.acq_rel.cta;"),
    ("store-fence-gpu", "st.global.u32 [%g], %x;\n    fence.acq_rel.gpu;"),
    ("store-fence-sys", "st.global.u32 [%g], %x;\n    fence.acq_rel.sys;"),
];
const COPIES: &[(&str, &str)] = &[
    ("cp-async-ca-4", "cp.async.ca.shared.global [%a], [%g], 4;\n    cp.async.wait_all;"),
    ("cp-async-ca-8", "cp.async.ca.shared.global [%a], [%g], 8;\n    cp.async.wait_all;"),
    ("cp-async-ca-16", "cp.async.ca.shared.global [%a], [%g], 16;\n    cp.async.wait_all;"),
    ("cp-async-cg-16", "cp.async.cg.shared.global [%a], [%g], 16;\n    cp.async.wait_all;"),
    ("mbarrier-arrive", "mbarrier.arrive.shared.b64 %state, [barrier];"),
    (
        "mbarrier-phase",
        "mbarrier.arrive.shared.b64 %state, [barrier];\nwait_{i}:\n    mbarrier.test_wait.shared.b64 %o, [barrier], %state;\n    @!%o bra wait_{i};",
    ),
];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text {
        name: "synchronisation".into(),
        ptx: ptx("7.0", "sm_70", &[BARRIERS, FENCES].concat()),
    });
    let ampere = Arc::new(Text { name: "synchronisation-sm80".into(), ptx: ptx("7.0", "sm_80", COPIES) });
    let many: &[u32] = match scale {
        Scale::Small => &[1, 8],
        Scale::Full => &[1, 2, 4, 8, 16, 24, 32],
    };
    let mut found = vec![];
    for (text, steps, warps) in [(&text, BARRIERS, many), (&text, FENCES, &[1]), (&ampere, COPIES, &[1])] {
        for (name, _) in steps {
            let mut series = Series::new("synchronisation", *name, text);
            series.buffer(Buffer::zeros(DATA, DATA_BYTES));
            let arguments =
                vec![Argument::Address(DATA, 0), Argument::U64(DATA_BYTES), Argument::Address(CLOCKS, 0)];
            series.launch("touch", Shape::new(64, 256), 1, arguments);
            for warps in warps {
                // Barriers of a phase count one thread's arrival.
                let shape =
                    if name.starts_with("mbarrier") { Shape::new(1, 1) } else { Shape::warps(*warps) };
                let [short, long] = ROUNDS
                    .map(|rounds| series.timed(&name.replace('-', "_"), shape, (DATA, 0), rounds, (0, 0)));
                let work = f64::from((ROUNDS[1] - ROUNDS[0]) * STEPS as u32);
                let parameters: [(_, &dyn std::fmt::Display); 2] = [("operation", name), ("warps", warps)];
                let quantity = quantity("latency", "cycles", Reading::CyclesPerWork);
                series.figure(format!("{name}-w{warps}"), &parameters, quantity, work, Some(short), long);
            }
            found.push(series.done());
        }
    }
    found
}

fn ptx(version: &str, target: &str, steps: &[(&str, &str)]) -> String {
    steps.iter().fold(header(version, target) + super::chase::TOUCH, |text, (name, line)| {
        let barrier = name.starts_with("mbarrier");
        let kernel = Timed {
            name: name.replace('-', "_"),
            declarations: format!(
                "    .shared .align 16 .b8 space[16384];\n    .reg .b32 %a, %x;\n    .reg .b64 %g, %state;\n    .reg .pred %o;\n{}",
                if barrier { "    .shared .align 8 .b64 barrier;\n" } else { "" }
            ),
            setup: format!(
                "    mov.u32 %a, space;
    mad.lo.u32 %a, %thread, 16, %a;
    mul.wide.u32 %g, %thread, 16;
    add.u64 %g, %g, %at;
    mov.u32 %x, %loaded;
    setp.eq.u32 %o, %x, %p;
{}",
                if barrier { "    mbarrier.init.shared.b64 [barrier], 1;\n" } else { "" }
            ),
            body: repeated(STEPS, |i| line.replace("{i}", &i.to_string())),
            sink: "%x",
            ..Timed::default()
        };
        text + &kernel.text()
    })
}
