//! Shared memory of another CTA of the cluster, and the cluster's barrier.

use std::sync::Arc;

use super::super::Scale;
use super::super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::super::kernel::{Timed, header, repeated};
use super::super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const LOADS: usize = 16;
const CHAINS: usize = 8;
const ROUNDS: [u32; 2] = [8, 24];
const SIZES: [u32; 4] = [1, 2, 4, 8];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "clusters".into(), ptx: ptx() });
    let mut found = vec![];
    for size in SIZES {
        let mut series = Series::new("clusters", format!("size-{size}"), &text);
        series.buffer(Buffer::zeros(DATA, 4096));
        for rank in 0..size {
            let shape = Shape::new(size, 32);
            let [short, long] = ROUNDS
                .map(|rounds| series.timed(&format!("latency_{size}"), shape, (DATA, 0), rounds, (rank, 0)));
            let work = f64::from((ROUNDS[1] - ROUNDS[0]) * LOADS as u32);
            let parameters: [(_, &dyn std::fmt::Display); 2] = [("ctas", &size), ("rank", &rank)];
            let quantity = quantity("load latency", "cycles", Reading::CyclesPerWork);
            series.figure(
                format!("latency-{size}-rank-{rank}"),
                &parameters,
                quantity,
                work,
                Some(short),
                long,
            );
        }
        let warps: &[u32] = match scale {
            Scale::Small => &[8],
            Scale::Full => &[1, 4, 8, 16, 32],
        };
        for warps in warps {
            let shape = Shape::new(size, warps * 32);
            let apart = u32::from(size > 1);
            let [short, long] = ROUNDS
                .map(|rounds| series.timed(&format!("load_{size}"), shape, (DATA, 0), rounds, (apart, 0)));
            let bytes = f64::from((ROUNDS[1] - ROUNDS[0]) * LOADS as u32 * warps * 32 * 16);
            let parameters: [(_, &dyn std::fmt::Display); 2] = [("ctas", &size), ("warps", warps)];
            let quantity = quantity("read bandwidth", "bytes/cycle/SM", Reading::WorkPerCycle);
            series.figure(format!("load-{size}-w{warps}"), &parameters, quantity, bytes, Some(short), long);
        }
        for order in ["barrier", "relaxed"] {
            let shape = Shape::new(size, 32);
            let [short, long] = ROUNDS
                .map(|rounds| series.timed(&format!("{order}_{size}"), shape, (DATA, 0), rounds, (0, 0)));
            let semantics = if order == "relaxed" { order } else { "release" };
            let parameters: [(_, &dyn std::fmt::Display); 2] = [("ctas", &size), ("order", &semantics)];
            let work = f64::from((ROUNDS[1] - ROUNDS[0]) * 4);
            let quantity = quantity("barrier latency", "cycles", Reading::CyclesPerWork);
            series.figure(format!("{order}-{size}"), &parameters, quantity, work, Some(short), long);
        }
        found.push(series.done());
    }
    found
}

/// Every word of shared memory holds its address within the cluster. `p` is the rank that the first CTA reads from, or
/// how many ranks further on each CTA does.
fn ptx() -> String {
    let declarations = format!(
        "    .shared .align 16 .b8 space[16384];\n    .reg .b32 %f, %base, %rank, %ranks, %sum, %b, %c, %d, %a<{CHAINS}>;\n    .reg .pred %filled, %other;\n"
    );
    let fill = "    mov.u32 %base, space;
    mov.u32 %rank, %cluster_ctarank;
    mov.u32 %ranks, %cluster_nctarank;
    mov.u32 %sum, %loaded;
    shl.b32 %f, %thread, 2;
    mov.u32 %b, %ntid.x;
    shl.b32 %b, %b, 2;
fill:
    add.u32 %c, %base, %f;
    mapa.shared::cluster.u32 %d, %c, %rank;
    st.shared.u32 [%c], %d;
    add.u32 %f, %f, %b;
    setp.lt.u32 %filled, %f, 16384;
    @%filled bra fill;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
";
    let meet = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n";
    // Only the first CTA measures latency; the others wait at the end.
    let one = "    mapa.shared::cluster.u32 %a0, %base, %p;
    setp.ne.u32 %other, %rank, 0;
    @%other mov.u32 %rounds, 1;
    @%other mapa.shared::cluster.u32 %a0, %base, %rank;
";
    let mut all = String::from(
        "    add.u32 %rank, %rank, %p;
    rem.u32 %rank, %rank, %ranks;
    shl.b32 %f, %thread, 4;
    add.u32 %base, %base, %f;
    mapa.shared::cluster.u32 %a0, %base, %rank;
",
    );
    let mut drain = String::new();
    for chain in 0..CHAINS {
        if chain > 0 {
            all += &format!("    mov.u32 %a{chain}, %a0;\n");
        }
        drain += &format!("    xor.b32 %sum, %sum, %a{chain};\n");
    }
    let load = |index: usize| {
        let a = format!("%a{}", index % CHAINS);
        format!(
            "ld.shared::cluster.v4.u32 {{{a}, %b, %c, %d}}, [{a}];\n    or.b32 %b, %b, %c;\n    or.b32 %b, %b, %d;\n    or.b32 %sum, %sum, %b;"
        )
    };
    let mut text = header("8.0", "sm_90");
    for size in SIZES {
        let directives = format!(".reqnctapercluster {size}, 1, 1\n");
        let kernels = [
            (
                "latency",
                one.to_owned(),
                repeated(LOADS, |_| "ld.shared::cluster.u32 %a0, [%a0];".into()),
                "    mov.u32 %sum, %a0;\n".to_owned(),
            ),
            ("load", all.clone(), repeated(LOADS, load), drain.clone()),
            ("barrier", String::new(), meet.repeat(4), String::new()),
            ("relaxed", String::new(), meet.replace("arrive", "arrive.relaxed").repeat(4), String::new()),
        ];
        for (name, setup, body, drain) in kernels {
            let kernel = Timed {
                name: format!("{name}_{size}"),
                directives: &directives,
                declarations: declarations.clone(),
                setup: fill.to_owned() + &setup,
                body,
                drain,
                finish: meet.into(),
                sink: "%sum",
                ..Timed::default()
            };
            text += &kernel.text();
        }
    }
    text
}
