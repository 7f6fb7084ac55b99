//! Shared memory: latency and rate by the stride of lanes, and bandwidth by warps and width.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
/// Bytes of shared memory.
const BYTES: u32 = 32 << 10;
const LOADS: usize = 16;
const CHAINS: usize = 8;
const ROUNDS: [u32; 2] = [8, 24];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "shared".into(), ptx: ptx() });
    let mut found = vec![];
    let strides: Vec<u32> = match scale {
        Scale::Small => vec![0, 1, 2, 3, 4, 8, 16, 32],
        Scale::Full => (0..=64).collect(),
    };
    for stride in strides {
        let mut series = Series::new("shared", format!("stride-{stride}"), &text);
        series.buffer(Buffer::zeros(DATA, 4096));
        for (kernel, warps) in [("latency", 1), ("load_32", 8), ("store_32", 8)] {
            let [short, long] = ROUNDS
                .map(|rounds| series.timed(kernel, Shape::warps(warps), (DATA, 0), rounds, (stride * 4, 0)));
            let work = f64::from((ROUNDS[1] - ROUNDS[0]) * LOADS as u32 * warps);
            let what = if warps == 1 {
                "load latency"
            } else if kernel == "load_32" {
                "load interval"
            } else {
                "store interval"
            };
            let parameters: [(_, &dyn std::fmt::Display); 3] =
                [("stride_words", &stride), ("warps", &warps), ("bits", &32)];
            let case = format!("{}-stride-{stride}", kernel.replace('_', "-"));
            series.figure(
                case,
                &parameters,
                quantity(what, "cycles/warp access", Reading::CyclesPerWork),
                work,
                Some(short),
                long,
            );
        }
        found.push(series.done());
    }
    for bits in [64, 128] {
        let mut series = Series::new("shared", format!("latency-{bits}"), &text);
        series.buffer(Buffer::zeros(DATA, 4096));
        let [short, long] = ROUNDS.map(|rounds| {
            series.timed(&format!("latency_{bits}"), Shape::warps(1), (DATA, 0), rounds, (bits / 8, 0))
        });
        let work = f64::from((ROUNDS[1] - ROUNDS[0]) * LOADS as u32);
        let parameters: [(_, &dyn std::fmt::Display); 3] =
            [("stride_words", &(bits / 32)), ("warps", &1), ("bits", &bits)];
        let quantity = quantity("load latency", "cycles/warp access", Reading::CyclesPerWork);
        series.figure(format!("latency-{bits}"), &parameters, quantity, work, Some(short), long);
        found.push(series.done());
    }
    let warps: &[u32] = match scale {
        Scale::Small => &[1, 8],
        Scale::Full => &[1, 2, 4, 8, 16, 32],
    };
    for bits in [32, 64, 128] {
        for operation in ["load", "store"] {
            let mut series = Series::new("shared", format!("{operation}-{bits}"), &text);
            series.buffer(Buffer::zeros(DATA, 4096));
            for warps in warps {
                let kernel = format!("{operation}_{bits}");
                let [short, long] = ROUNDS.map(|rounds| {
                    series.timed(&kernel, Shape::warps(*warps), (DATA, 0), rounds, (bits / 8, 0))
                });
                let bytes = f64::from((ROUNDS[1] - ROUNDS[0]) * LOADS as u32 * warps * 32 * (bits / 8));
                let parameters: [(_, &dyn std::fmt::Display); 3] =
                    [("operation", &operation), ("bits", &bits), ("warps", warps)];
                let quantity = quantity("bandwidth", "bytes/cycle/SM", Reading::WorkPerCycle);
                series.figure(
                    format!("{operation}-{bits}-w{warps}"),
                    &parameters,
                    quantity,
                    bytes,
                    Some(short),
                    long,
                );
            }
            found.push(series.done());
        }
    }
    found
}

/// Lane `i` begins at the address `i * p`, where that address lies: loads are dependent chains, so none is superfluous.
fn ptx() -> String {
    let declarations = format!(
        "    .shared .align 16 .b8 space[{BYTES}];\n    .reg .b32 %f, %base, %sum, %b, %c, %d, %a<{CHAINS}>;\n    .reg .pred %filled;\n"
    );
    let chains: String = (1..CHAINS).map(|chain| format!("    mov.u32 %a{chain}, %a0;\n")).collect();
    let setup = format!(
        "    mov.u32 %base, space;
    shl.b32 %f, %thread, 2;
    mov.u32 %b, %ntid.x;
    shl.b32 %b, %b, 2;
fill:
    add.u32 %c, %base, %f;
    st.shared.u32 [%c], %c;
    add.u32 %f, %f, %b;
    setp.lt.u32 %filled, %f, {BYTES};
    @%filled bra fill;
    mad.lo.u32 %a0, %lane, %p, %base;
{chains}    mov.u32 %sum, %loaded;
    mov.u32 %b, %loaded;
    mov.u32 %c, %loaded;
    mov.u32 %d, %loaded;
    bar.sync 0;
"
    );
    let kernels = [
        ("latency", "ld.shared.u32 %a0, [%a0];"),
        ("latency_64", "ld.shared.v2.u32 {%a0, %b}, [%a0];\n    or.b32 %sum, %sum, %b;"),
        (
            "latency_128",
            "ld.shared.v4.u32 {%a0, %b, %c, %d}, [%a0];\n    or.b32 %b, %b, %c;\n    or.b32 %b, %b, %d;\n    or.b32 %sum, %sum, %b;",
        ),
        ("load_32", "ld.shared.u32 {a}, [{a}];"),
        ("load_64", "ld.shared.v2.u32 {{a}, %b}, [{a}];\n    or.b32 %sum, %sum, %b;"),
        (
            "load_128",
            "ld.shared.v4.u32 {{a}, %b, %c, %d}, [{a}];\n    or.b32 %b, %b, %c;\n    or.b32 %b, %b, %d;\n    or.b32 %sum, %sum, %b;",
        ),
        ("store_32", "st.volatile.shared.u32 [%a0], %a0;"),
        ("store_64", "st.volatile.shared.v2.u32 [%a0], {%a0, %b};"),
        ("store_128", "st.volatile.shared.v4.u32 [%a0], {%a0, %b, %c, %d};"),
    ];
    let drain: String = (0..CHAINS).map(|chain| format!("    xor.b32 %sum, %sum, %a{chain};\n")).collect();
    kernels.into_iter().fold(header("7.0", "sm_70"), |text, (name, line)| {
        let kernel = Timed {
            name: name.into(),
            declarations: declarations.clone(),
            setup: setup.clone(),
            body: repeated(LOADS, |i| line.replace("{a}", &format!("%a{}", i % CHAINS))),
            drain: drain.clone(),
            sink: "%sum",
            ..Timed::default()
        };
        text + &kernel.text()
    })
}
