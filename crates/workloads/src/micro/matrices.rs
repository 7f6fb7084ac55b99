//! Products of matrices and loads of them: latency of dependent ones, rate of independent ones.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const STEPS: usize = 16;
const CHAINS: usize = 4;
const ROUNDS: [u32; 2] = [4, 20];

/// An `mma`: its name and the registers of D and C, A, and B.
struct Product {
    name: &'static str,
    text: &'static str,
    sums: usize,
    a: usize,
    b: usize,
    /// `f64` and 32-bit registers are the only kinds.
    wide: bool,
    /// Multiply-adds.
    work: u32,
}

const fn product(
    name: &'static str,
    text: &'static str,
    (sums, a, b): (usize, usize, usize),
    work: u32,
) -> Product {
    Product { name, text, sums, a, b, wide: false, work }
}

const PRODUCTS: &[Product] = &[
    product("f32-f16-m16n8k8", "m16n8k8.row.col.f32.f16.f16.f32", (4, 2, 1), 16 * 8 * 8),
    product("f32-f16-m16n8k16", "m16n8k16.row.col.f32.f16.f16.f32", (4, 4, 2), 16 * 8 * 16),
    product("f16-f16-m16n8k16", "m16n8k16.row.col.f16.f16.f16.f16", (2, 4, 2), 16 * 8 * 16),
    product("f32-bf16-m16n8k16", "m16n8k16.row.col.f32.bf16.bf16.f32", (4, 4, 2), 16 * 8 * 16),
    product("f32-tf32-m16n8k4", "m16n8k4.row.col.f32.tf32.tf32.f32", (4, 2, 1), 16 * 8 * 4),
    product("f32-tf32-m16n8k8", "m16n8k8.row.col.f32.tf32.tf32.f32", (4, 4, 2), 16 * 8 * 8),
    product("s32-s8-m16n8k16", "m16n8k16.row.col.s32.s8.s8.s32", (4, 2, 1), 16 * 8 * 16),
    product("s32-s8-m16n8k32", "m16n8k32.row.col.s32.s8.s8.s32", (4, 4, 2), 16 * 8 * 32),
    Product {
        name: "f64-m8n8k4",
        text: "m8n8k4.row.col.f64.f64.f64.f64",
        sums: 2,
        a: 1,
        b: 1,
        wide: true,
        work: 8 * 8 * 4,
    },
];

/// Loads of matrices from shared memory.
const LOADS: [u32; 3] = [1, 2, 4];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "matrices".into(), ptx: ptx() });
    let warps: &[u32] = match scale {
        Scale::Small => &[4],
        Scale::Full => &[4, 8, 16],
    };
    let shapes: Vec<(u32, usize)> =
        [(1, 1), (1, CHAINS)].into_iter().chain(warps.iter().map(|warps| (*warps, CHAINS))).collect();
    let mut found = vec![];
    let products = PRODUCTS
        .iter()
        .map(|product| (format!("mma-{}", product.name), "multiply-adds/cycle/SM", f64::from(product.work)));
    let loads =
        LOADS.iter().map(|count| (format!("ldmatrix-x{count}"), "bytes/cycle/SM", f64::from(count * 128)));
    for (name, unit, work) in products.chain(loads) {
        let mut series = Series::new("matrices", &name, &text);
        series.buffer(Buffer::zeros(DATA, 4096));
        for (warps, chains) in &shapes {
            let kernel = format!("{}_{chains}", name.replace('-', "_"));
            let [short, long] =
                ROUNDS.map(|rounds| series.timed(&kernel, Shape::warps(*warps), (DATA, 0), rounds, (0, 0)));
            let steps = f64::from(ROUNDS[1] - ROUNDS[0]) * (STEPS * chains) as f64;
            let (quantity, work) = if *warps == 1 && *chains == 1 {
                (quantity("latency", "cycles", Reading::CyclesPerWork), steps)
            } else {
                (quantity("rate", unit, Reading::WorkPerCycle), steps * work * f64::from(*warps))
            };
            let parameters: [(_, &dyn std::fmt::Display); 3] =
                [("instruction", &name), ("warps", warps), ("chains", chains)];
            series.figure(
                format!("{name}-w{warps}-c{chains}"),
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

fn ptx() -> String {
    let mut text = header("7.0", "sm_80");
    for chains in [1, CHAINS] {
        for product in PRODUCTS {
            text += &multiply(product, chains);
        }
        for count in LOADS {
            text += &load(count, chains);
        }
    }
    text
}

fn multiply(product: &Product, chains: usize) -> String {
    let Product { name, text, sums, a, b, wide, .. } = product;
    let list = |prefix: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("%{prefix}_{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let register = if *wide { "f64" } else { "b32" };
    let all: Vec<String> = (0..chains)
        .flat_map(|chain| (0..*sums).map(move |i| format!("%d{chain}_{i}")))
        .chain((0..*a).map(|i| format!("%a_{i}")))
        .chain((0..*b).map(|i| format!("%b_{i}")))
        .collect();
    let setup = all
        .iter()
        .map(|name| {
            if *wide {
                format!("    cvt.rn.f64.u32 {name}, %loaded;\n")
            } else {
                format!("    mov.b32 {name}, %loaded;\n")
            }
        })
        .collect();
    let drain: String = (0..chains)
        .flat_map(|chain| (0..*sums).map(move |i| format!("%d{chain}_{i}")))
        .map(|name| {
            if *wide {
                format!("    mov.b64 {{%u, %v}}, {name};\n    xor.b32 %sum, %sum, %v;\n")
            } else {
                format!("    xor.b32 %sum, %sum, {name};\n")
            }
        })
        .collect();
    let kernel = Timed {
        name: format!("mma_{}_{chains}", name.replace('-', "_")),
        declarations: format!("    .reg .{register} {};\n    .reg .b32 %sum, %u, %v;\n", all.join(", ")),
        setup,
        body: repeated(STEPS * chains, |index| {
            let d = list(&format!("d{}", index % chains), *sums);
            format!("mma.sync.aligned.{text} {d}, {}, {}, {d};", list("a", *a), list("b", *b))
        }),
        drain: String::from("    mov.u32 %sum, 0;\n") + &drain,
        sink: "%sum",
        ..Timed::default()
    };
    kernel.text()
}

/// Every row of the matrices holds zeros, which are added to the address.
fn load(count: u32, chains: usize) -> String {
    let registers: Vec<String> = (0..count).map(|i| format!("%r{i}")).collect();
    let mut setup = String::from(
        "    mov.u32 %base, space;
    shl.b32 %o, %thread, 4;
    and.b32 %o, %o, 0x3ff0;
    add.u32 %o, %o, %base;
    st.shared.v4.u32 [%o], {%loaded, %loaded, %loaded, %loaded};
    shl.b32 %o, %lane, 4;
    add.u32 %base, %base, %o;
    bar.sync 0;
",
    );
    let mut drain = String::from("    mov.u32 %sum, 0;\n");
    for chain in 0..chains {
        setup += &format!("    add.u32 %a{chain}, %base, {};\n", chain * 512);
        drain += &format!("    xor.b32 %sum, %sum, %a{chain};\n");
    }
    let sum: String =
        registers.iter().skip(1).map(|name| format!("    or.b32 %r0, %r0, {name};\n")).collect();
    let kernel = Timed {
        name: format!("ldmatrix_x{count}_{chains}"),
        declarations: format!(
            "    .shared .align 16 .b8 space[16384];\n    .reg .b32 %base, %o, %sum, %r<4>, %a<{chains}>;\n"
        ),
        setup,
        body: repeated(STEPS * chains, |index| {
            let chain = index % chains;
            format!(
                "ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{}}}, [%a{chain}];\n{sum}    add.u32 %a{chain}, %a{chain}, %r0;",
                registers.join(", ")
            )
        }),
        drain,
        sink: "%sum",
        ..Timed::default()
    };
    kernel.text()
}
