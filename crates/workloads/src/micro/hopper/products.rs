//! Products of warpgroups: latency of one, rate of many.

use std::sync::Arc;

use super::super::Scale;
use super::super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::super::kernel::{Timed, header};
use super::super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const ROUNDS: [u32; 2] = [4, 20];
/// Products of a batch, after which the warpgroup waits.
const BATCHES: [usize; 2] = [1, 8];

/// Types of D, A and B; depth; what follows the descriptors.
const KINDS: [(&str, u32, &str); 5] = [
    ("f32.f16.f16", 16, "%yes, 1, 1, 0, 0"),
    ("f32.bf16.bf16", 16, "%yes, 1, 1, 0, 0"),
    ("f32.tf32.tf32", 8, "%yes, 1, 1"),
    ("f32.e4m3.e4m3", 32, "%yes, 1, 1"),
    ("s32.s8.s8", 32, "%yes"),
];
const COLUMNS: [u32; 4] = [8, 64, 128, 256];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let mut found = vec![];
    for (kind, depth, tail) in KINDS {
        let name = kind.replace('.', "-");
        let mut ptx = header("8.0", "sm_90a");
        for columns in COLUMNS {
            for batch in BATCHES {
                ptx += &kernel(kind, depth, tail, columns, batch);
            }
        }
        let text = Arc::new(Text { name: format!("wgmma-{name}"), ptx });
        let columns: &[u32] = match scale {
            Scale::Small => &[64],
            Scale::Full => &COLUMNS,
        };
        for columns in columns {
            let mut series = Series::new("warpgroups", format!("{name}-n{columns}"), &text);
            series.buffer(Buffer::zeros(DATA, 4096));
            for (batch, groups) in [(1, 1), (8, 1), (8, 2), (8, 3)] {
                let shape = Shape::new(1, groups * 128);
                let kernel = format!("wgmma_{columns}_{batch}");
                let [short, long] =
                    ROUNDS.map(|rounds| series.timed(&kernel, shape, (DATA, 0), rounds, (0, 0)));
                let products = f64::from((ROUNDS[1] - ROUNDS[0]) * batch * groups);
                let (quantity, work) = if batch == 1 {
                    (quantity("latency", "cycles", Reading::CyclesPerWork), products)
                } else {
                    let unit = "multiply-adds/cycle/SM";
                    (
                        quantity("rate", unit, Reading::WorkPerCycle),
                        products * f64::from(64 * columns * depth),
                    )
                };
                let shape = format!("m64n{columns}k{depth}");
                let parameters: [(_, &dyn std::fmt::Display); 4] =
                    [("types", &kind), ("shape", &shape), ("batch", &batch), ("warpgroups", &groups)];
                let case = format!("{name}-n{columns}-b{batch}-g{groups}");
                series.figure(case, &parameters, quantity, work, Some(short), long);
            }
            found.push(series.done());
        }
    }
    found
}

fn kernel(kind: &str, depth: u32, tail: &str, columns: u32, batch: usize) -> String {
    let names: Vec<String> = (0..columns / 2).map(|i| format!("%d{i}")).collect();
    let register = if kind.starts_with("f32") { "f32" } else { "b32" };
    let product = format!(
        "    wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{kind} {{{}}}, %da, %db, {tail};\n",
        names.join(", ")
    );
    let zeros: String = names
        .iter()
        .map(|name| {
            if register == "f32" {
                format!("    cvt.rn.f32.u32 {name}, %loaded;\n")
            } else {
                format!("    mov.b32 {name}, %loaded;\n")
            }
        })
        .collect();
    let sum: String =
        names.iter().map(|name| format!("    mov.b32 %x, {name};\n    xor.b32 %sum, %sum, %x;\n")).collect();
    let kernel = Timed {
        name: format!("wgmma_{columns}_{batch}"),
        declarations: format!(
            "    .shared .align 128 .b8 room[16384];
    .reg .b32 %x, %sum, %f, %n;
    .reg .{register} {};
    .reg .b64 %da, %db;
    .reg .pred %yes;
",
            names.join(", ")
        ),
        // Descriptors of matrices without swizzle: eight rows of 16 bytes stand together, 128 bytes from one to the next.
        setup: format!(
            "    mov.u32 %x, room;
    shl.b32 %f, %thread, 4;
    mov.u32 %n, %ntid.x;
    shl.b32 %n, %n, 4;
zero:
    add.u32 %sum, %x, %f;
    st.shared.v4.u32 [%sum], {{%loaded, %loaded, %loaded, %loaded}};
    add.u32 %f, %f, %n;
    setp.lt.u32 %yes, %f, 16384;
    @%yes bra zero;
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %x, %x, 4;
    and.b32 %x, %x, 0x3fff;
    cvt.u64.u32 %da, %x;
    or.b64 %da, %da, 0x1000080000;
    mov.u64 %db, %da;
    setp.eq.u32 %yes, %loaded, 0;
{zeros}"
        ),
        body: format!(
            "    wgmma.fence.sync.aligned;\n{}    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n",
            product.repeat(batch)
        ),
        drain: String::from("    mov.u32 %sum, 0;\n") + &sum,
        sink: "%sum",
        ..Timed::default()
    };
    kernel.text()
}
