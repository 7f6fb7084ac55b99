//! What warps issue together: by how many there are, and what two kinds of instructions take of each other.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const BYTES: u32 = 4096;
const CHAINS: usize = 4;
const STEPS: [usize; 2] = [16, 48];
const ROUNDS: u32 = 8;

const FMA: &str = "fma.rn.f32 %x{i}, %x{i}, %y, %z;";
const MAD: &str = "mad.lo.u32 %t{i}, %t{i}, %u, %v;";
const LOGIC: &str = "lop3.b32 %t{i}, %t{i}, %u, %v, 0x2d;";
const ROOT: &str = "rsqrt.approx.ftz.f32 %w{i}, %w{i};";
const LOAD: &str = "ld.shared.u32 %a{i}, [%a{i}];";
const DOUBLE: &str = "fma.rn.f64 %d{i}, %d{i}, %e, %e;";

/// Instructions of a step.
const MIXES: &[(&str, &[&str])] = &[
    ("fma", &[FMA]),
    ("lop3", &[LOGIC]),
    ("fma-lop3", &[FMA, LOGIC]),
    ("fma-mad", &[FMA, MAD]),
    ("mad-lop3", &[MAD, LOGIC]),
    ("fma-rsqrt", &[FMA, FMA, FMA, ROOT]),
    ("fma-load", &[FMA, FMA, FMA, LOAD]),
    ("lop3-load", &[LOGIC, LOGIC, LOGIC, LOAD]),
    ("rsqrt-load", &[ROOT, LOAD]),
    ("fma-f64", &[FMA, DOUBLE]),
];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "issue".into(), ptx: ptx() });
    let warps: &[u32] = match scale {
        Scale::Small => &[1, 8],
        Scale::Full => &[1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32],
    };
    let mut found = vec![];
    for (name, mix) in MIXES {
        let mut series = Series::new("issue", *name, &text);
        series.buffer(Buffer::zeros(DATA, BYTES.into()));
        for chains in [1, CHAINS] {
            for warps in warps {
                let [short, long] = STEPS.map(|steps| {
                    let kernel = entry(name, chains, steps);
                    series.timed(&kernel, Shape::warps(*warps), (DATA, 0), ROUNDS, (1, 1))
                });
                let work = ((STEPS[1] - STEPS[0]) * chains * mix.len()) as f64 * f64::from(ROUNDS * warps);
                let parameters: [(_, &dyn std::fmt::Display); 3] =
                    [("instructions", name), ("warps", warps), ("chains", &chains)];
                let quantity = quantity("rate", "warp instructions/cycle/SM", Reading::WorkPerCycle);
                let case = format!("{name}-w{warps}-c{chains}");
                series.figure(case, &parameters, quantity, work, Some(short), long);
            }
        }
        found.push(series.done());
    }
    found
}

fn entry(name: &str, chains: usize, steps: usize) -> String {
    format!("{}_{chains}_{steps}", name.replace('-', "_"))
}

fn ptx() -> String {
    let mut text = header("7.0", "sm_70");
    for (name, mix) in MIXES {
        for chains in [1, CHAINS] {
            for steps in STEPS {
                text += &kernel(entry(name, chains, steps), mix, chains, steps);
            }
        }
    }
    text
}

fn kernel(name: String, mix: &[&str], chains: usize, steps: usize) -> String {
    let begin = |i: usize| {
        format!(
            "mov.u32 %a{i}, %room;
    add.u32 %u, %loaded, {i};
    cvt.rn.f32.u32 %x{i}, %u;
    cvt.rn.f32.u32 %w{i}, %u;
    cvt.rn.f64.u32 %d{i}, %u;
    mov.u32 %t{i}, %u;"
        )
    };
    let end = |i: usize| {
        format!(
            "add.f32 %x{i}, %x{i}, %w{i};
    cvt.rn.f32.f64 %w{i}, %d{i};
    add.f32 %x{i}, %x{i}, %w{i};
    mov.b32 %v, %x{i};
    xor.b32 %sum, %sum, %v;
    xor.b32 %sum, %sum, %t{i};
    xor.b32 %sum, %sum, %a{i};"
        )
    };
    let setup = format!(
        "    mov.u32 %room, space;
    shl.b32 %u, %lane, 2;
    add.u32 %room, %room, %u;
    st.shared.u32 [%room], %room;
    cvt.rn.f32.u32 %y, %p;
    cvt.rn.f32.u32 %z, %q;
    cvt.rn.f64.u32 %e, %p;
    mov.u32 %sum, %loaded;
{}    add.u32 %u, %loaded, %p;
    add.u32 %v, %loaded, %q;
",
        repeated(CHAINS, begin)
    );
    Timed {
        name,
        declarations: format!(
            "    .shared .align 16 .b8 space[{BYTES}];
    .reg .f32 %x<{CHAINS}>, %w<{CHAINS}>, %y, %z;
    .reg .f64 %d<{CHAINS}>, %e;
    .reg .b32 %a<{CHAINS}>, %t<{CHAINS}>, %room, %u, %v, %sum;
"
        ),
        setup,
        body: repeated(steps * chains, |i| {
            let lines: Vec<String> =
                mix.iter().map(|line| line.replace("{i}", &(i % chains).to_string())).collect();
            lines.join("\n    ")
        }),
        drain: repeated(CHAINS, end) + "    add.u32 %v, %loaded, %q;\n",
        sink: "%sum",
        ..Timed::default()
    }
    .text()
}
