//! Bulk copies: how long one takes by its size, and how many bytes a cycle go through with several on the way.

use std::sync::Arc;

use super::super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::super::kernel::{Timed, header, repeated};
use super::super::series::{Series, Shape, quantity};
use super::super::{Scale, Target};

const DATA: &str = "data";
const STAGES: usize = 4;
const STEPS: usize = 4;
const ROUNDS: [u32; 2] = [4, 20];

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "bulk".into(), ptx: ptx() });
    let sizes: &[u32] = match scale {
        Scale::Small => &[16, 1024],
        Scale::Full => &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768],
    };
    let mut found = vec![];
    for operation in ["load", "store"] {
        let mut series = Series::new("bulk", format!("{operation}-latency"), &text);
        warmed(&mut series, 1 << 20);
        for bytes in sizes {
            let kernel = format!("{operation}_latency");
            let shape = Shape { shared: 32 << 10, ..Shape::new(1, 1) };
            let [short, long] =
                ROUNDS.map(|rounds| series.timed(&kernel, shape, (DATA, 0), rounds, (*bytes, 0)));
            let work = f64::from((ROUNDS[1] - ROUNDS[0]) * STEPS as u32);
            let parameters: [(_, &dyn std::fmt::Display); 2] = [("operation", &operation), ("bytes", bytes)];
            let quantity = quantity("copy latency", "cycles", Reading::CyclesPerWork);
            series.figure(
                format!("{operation}-latency-{bytes}"),
                &parameters,
                quantity,
                work,
                Some(short),
                long,
            );
        }
        found.push(series.done());
    }
    let (sizes, large): (&[u32], u32) = match scale {
        Scale::Small => (&[1024], 4 << 20),
        Scale::Full => (&[128, 512, 1024, 2048, 4096, 8192, 16384, 32768], 1 << 30),
    };
    for (level, footprint) in [("l2", large.min(16 << 20)), ("large", large)] {
        let mut series = Series::new("bulk", format!("load-bandwidth-{level}"), &text);
        warmed(&mut series, footprint.into());
        for bytes in sizes {
            // As many bytes on each SM, whatever a copy's size.
            let amount = if scale == Scale::Full { 8 << 20 } else { 64 << 10 };
            let rounds = [1, 3].map(|times| times * amount / (bytes * STAGES as u32));
            let work = f64::from((rounds[1] - rounds[0]) * STAGES as u32 * bytes);
            let shape = |grid| Shape { shared: (STAGES as u32) * bytes, ..Shape::new(grid, 1) };
            let parameters: [(_, &dyn std::fmt::Display); 3] =
                [("level", &level), ("bytes", bytes), ("stages", &STAGES)];
            if level == "l2" {
                let [short, long] = rounds.map(|rounds| {
                    series.timed("load_stream", shape(1), (DATA, 0), rounds, (*bytes, footprint - 1))
                });
                let quantity = quantity("read bandwidth of an SM", "bytes/cycle/SM", Reading::WorkPerCycle);
                series.figure(
                    format!("load-{level}-{bytes}-sm"),
                    &parameters,
                    quantity,
                    work,
                    Some(short),
                    long,
                );
            }
            let [short, long] = rounds.map(|rounds| {
                series.timed("load_stream", shape(target.sms), (DATA, 0), rounds, (*bytes, footprint - 1))
            });
            let quantity = quantity("read bandwidth of the GPU", "GB/s", Reading::WorkPerTime);
            // A launch runs its rounds twice.
            let work = 2.0 * work * f64::from(target.sms);
            series.figure(
                format!("load-{level}-{bytes}-gpu"),
                &parameters,
                quantity,
                work,
                Some(short),
                long,
            );
        }
        found.push(series.done());
    }
    found
}

fn warmed(series: &mut Series, bytes: u64) {
    series.buffer(Buffer::zeros(DATA, bytes));
    let arguments = vec![Argument::Address(DATA, 0), Argument::U64(bytes), Argument::Address(CLOCKS, 0)];
    series.launch("touch", Shape::new(64, 256), 1, arguments);
}

/// `p` is the bytes of a copy, `q` the mask of offsets.
fn ptx() -> String {
    let declarations = format!(
        "    .shared .align 8 .b64 barriers[{STAGES}];\n    .reg .b32 %x, %to, %barrier, %phase, %offset, %step;\n    .reg .b64 %g, %state;\n    .reg .pred %o;\n"
    );
    let begin = "    mov.u32 %barrier, barriers;\n    mov.u32 %to, room;\n    mov.u32 %x, %loaded;\n    mov.u64 %g, %at;\n";
    let barriers: String = (0..STAGES)
        .map(|stage| format!("    mbarrier.init.shared.b64 [%barrier+{}], 1;\n", stage * 8))
        .collect::<String>()
        + "    fence.mbarrier_init.release.cluster;\n    fence.proxy.async;\n";
    let copy = |to: &str, barrier: &str| {
        format!(
            "    mbarrier.arrive.expect_tx.shared.b64 %state, [{barrier}], %p;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [%g], %p, [{barrier}];
"
        )
    };
    let wait = |label: &str, barrier: &str| {
        format!(
            "{label}:\n    mbarrier.try_wait.parity.shared.b64 %o, [{barrier}], %phase;\n    @!%o bra {label};\n"
        )
    };
    let mut text =
        header("8.0", "sm_90") + super::super::chase::TOUCH + "\n.extern .shared .align 128 .b8 room[];\n";
    let load = Timed {
        name: "load_latency".into(),
        declarations: declarations.clone(),
        setup: format!("{begin}{barriers}    mov.u32 %phase, 0;\n"),
        body: (0..STEPS)
            .map(|i| {
                copy("%to", "%barrier")
                    + &wait(&format!("wait_{i}"), "%barrier")
                    + "    xor.b32 %phase, %phase, 1;\n"
            })
            .collect(),
        sink: "%phase",
        ..Timed::default()
    };
    let store = Timed {
        name: "store_latency".into(),
        declarations: declarations.clone(),
        setup: begin.into(),
        body: repeated(STEPS, |_| {
            "cp.async.bulk.global.shared::cta.bulk_group [%g], [%to], %p;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;"
                .into()
        }),
        sink: "%x",
        ..Timed::default()
    };
    // A stage is filled again when what was in it has come; before the first time nothing is waited for.
    let mut body = String::new();
    for stage in 0..STAGES {
        let barrier = format!("%barrier+{}", stage * 8);
        body += &wait(&format!("full_{stage}"), &barrier);
        body += "    and.b32 %x, %offset, %q;\n    cvt.u64.u32 %g, %x;\n    add.u64 %g, %g, %at;\n    add.u32 %offset, %offset, %step;\n";
        body += &format!("    mad.lo.u32 %x, %p, {stage}, %to;\n");
        body += &copy("%x", &barrier);
    }
    body += "    xor.b32 %phase, %phase, 1;\n";
    let drain: String =
        (0..STAGES).map(|stage| wait(&format!("last_{stage}"), &format!("%barrier+{}", stage * 8))).collect();
    let stream = Timed {
        name: "load_stream".into(),
        declarations,
        setup: format!(
            "{begin}{barriers}    mov.u32 %phase, 1;
    mul.lo.u32 %offset, %cta, %p;
    mov.u32 %step, %nctaid.x;
    mul.lo.u32 %step, %step, %p;
"
        ),
        body,
        drain,
        sink: "%offset",
        ..Timed::default()
    };
    for kernel in [load, store, stream] {
        text += &kernel.text();
    }
    text
}
