//! Atomic operations by contention: within a warp, between warps of an SM, between SMs.

use std::sync::Arc;

use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

const DATA: &str = "data";
const DATA_BYTES: u64 = 16 << 20;
const SHARED_BYTES: u32 = 16 << 10;
const OPERATIONS: usize = 4;
const ROUNDS: [u32; 2] = [4, 12];
/// Operations without a result go on alone; only where many follow does the rate show that of what does them.
const MANY_ROUNDS: [u32; 2] = [16, 80];

struct Operation {
    name: &'static str,
    /// Registers' type.
    ty: &'static str,
    /// With a result, from `[%a]` and `%x` to `%x`.
    atom: &'static str,
    /// Without one.
    red: &'static str,
}

const ALL: &[Operation] = &[
    Operation {
        name: "add-u32",
        ty: "u32",
        atom: "atom.{s}.add.u32 %x, [{a}], %x;",
        red: "red.{s}.add.u32 [{a}], %x;",
    },
    Operation {
        name: "add-u64",
        ty: "u64",
        atom: "atom.{s}.add.u64 %x, [{a}], %x;",
        red: "red.{s}.add.u64 [{a}], %x;",
    },
    Operation {
        name: "add-f32",
        ty: "f32",
        atom: "atom.{s}.add.f32 %x, [{a}], %x;",
        red: "red.{s}.add.f32 [{a}], %x;",
    },
    Operation {
        name: "add-f64",
        ty: "f64",
        atom: "atom.{s}.add.f64 %x, [{a}], %x;",
        red: "red.{s}.add.f64 [{a}], %x;",
    },
    Operation {
        name: "max-s32",
        ty: "u32",
        atom: "atom.{s}.max.s32 %x, [{a}], %x;",
        red: "red.{s}.max.s32 [{a}], %x;",
    },
    Operation {
        name: "exch-b32",
        ty: "u32",
        atom: "atom.{s}.exch.b32 %x, [{a}], %x;",
        red: "atom.{s}.exch.b32 %r, [{a}], %x;",
    },
    Operation {
        name: "cas-b32",
        ty: "u32",
        atom: "atom.{s}.cas.b32 %x, [{a}], %x, %x;",
        red: "atom.{s}.cas.b32 %r, [{a}], %x, %x;",
    },
];

/// Which threads share an address: bytes between lanes and between warps.
const PATTERNS: [(&str, u32, u32); 3] =
    [("one-address", 0, 0), ("address-per-lane", 8, 0), ("address-per-thread", 8, 256)];

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "atomics".into(), ptx: ptx() });
    let operations: Vec<&Operation> = match scale {
        Scale::Small => ALL
            .iter()
            .filter(|operation| ["add-u32", "add-f32", "cas-b32"].contains(&operation.name))
            .collect(),
        Scale::Full => ALL.iter().collect(),
    };
    let mut found = vec![];
    for Operation { name, .. } in operations {
        for space in ["global", "shared"] {
            let mut series = Series::new("atomics", format!("{space}-{name}"), &text);
            series.buffer(Buffer::zeros(DATA, DATA_BYTES));
            let kernel = |kind: &str| format!("{kind}_{space}_{}", name.replace('-', "_"));
            for (lanes, lane) in [(1, 0), (32, 0), (32, 8)] {
                let shape = Shape::new(1, lanes);
                let [short, long] =
                    ROUNDS.map(|rounds| series.timed(&kernel("atom"), shape, (DATA, 0), rounds, (lane, 0)));
                let work = f64::from((ROUNDS[1] - ROUNDS[0]) * OPERATIONS as u32);
                let pattern = if lane == 0 { "one-address" } else { "address-per-lane" };
                let parameters: [(_, &dyn std::fmt::Display); 4] =
                    [("operation", name), ("space", &space), ("lanes", &lanes), ("pattern", &pattern)];
                let quantity = quantity("latency", "cycles", Reading::CyclesPerWork);
                series.figure(
                    format!("{space}-{name}-{pattern}-l{lanes}"),
                    &parameters,
                    quantity,
                    work,
                    Some(short),
                    long,
                );
            }
            let warps: &[u32] = match scale {
                Scale::Small => &[8],
                Scale::Full => &[1, 2, 4, 8, 32],
            };
            for (pattern, lane, warp) in PATTERNS {
                for warps in warps {
                    let rounds = if scale == Scale::Full { MANY_ROUNDS } else { ROUNDS };
                    let [short, long] = rounds.map(|rounds| {
                        series.timed(&kernel("red"), Shape::warps(*warps), (DATA, 0), rounds, (lane, warp))
                    });
                    let work = f64::from((rounds[1] - rounds[0]) * OPERATIONS as u32 * 32 * warps);
                    let parameters: [(_, &dyn std::fmt::Display); 4] =
                        [("operation", name), ("space", &space), ("warps", warps), ("pattern", &pattern)];
                    let quantity =
                        quantity("rate of an SM", "thread operations/cycle", Reading::WorkPerCycle);
                    series.figure(
                        format!("{space}-{name}-{pattern}-w{warps}"),
                        &parameters,
                        quantity,
                        work,
                        Some(short),
                        long,
                    );
                }
            }
            if space == "global" {
                for (pattern, lane, warp) in PATTERNS {
                    gpu(&mut series, name, pattern, (lane, warp), target);
                }
            }
            found.push(series.done());
        }
    }
    found
}

/// Eight warps on every SM.
fn gpu(series: &mut Series, name: &str, pattern: &str, apart: (u32, u32), target: Target) {
    let shape = Shape::new(target.sms, 256);
    let kernel = format!("red_global_{}", name.replace('-', "_"));
    let rounds = [8, 24];
    let [short, long] = rounds.map(|rounds| series.timed(&kernel, shape, (DATA, 0), rounds, apart));
    // A launch runs its rounds twice.
    let work = f64::from(2 * (rounds[1] - rounds[0]) * OPERATIONS as u32 * 256) * f64::from(target.sms);
    let parameters: [(_, &dyn std::fmt::Display); 4] =
        [("operation", &name), ("space", &"global"), ("sms", &target.sms), ("pattern", &pattern)];
    let quantity = quantity("rate of the GPU", "G thread operations/s", Reading::WorkPerTime);
    series.figure(format!("global-{name}-{pattern}-gpu"), &parameters, quantity, work, Some(short), long);
}

fn ptx() -> String {
    let mut text = header("7.0", "sm_70");
    for Operation { name, ty, atom, red } in ALL {
        for (space, address) in [("global", "%to"), ("shared", "%inner")] {
            for (kind, line) in [("atom", atom), ("red", red)] {
                // Reductions in shared memory are atomic operations without a result.
                let line = line.replace("{s}", space).replace("{a}", address);
                let register = match *ty {
                    "f32" | "f64" => ty,
                    "u64" => "b64",
                    _ => "b32",
                };
                let kernel = Timed {
                    name: format!("{kind}_{space}_{}", name.replace('-', "_")),
                    declarations: format!(
                        "    .reg .{register} %x;\n    .reg .b32 %r, %number, %inner, %offset;\n    .reg .b64 %to, %bits;\n{}",
                        if space == "shared" { format!("    .shared .align 16 .b8 space[{SHARED_BYTES}];\n") } else { String::new() }
                    ),
                    setup: format!(
                        "    mov.u32 %warps, %ntid.x;
    shr.u32 %warps, %warps, 5;
    mad.lo.u32 %number, %cta, %warps, %warp;
    mul.lo.u32 %number, %number, %q;
    mad.lo.u32 %offset, %lane, %p, %number;
    cvt.u64.u32 %to, %offset;
    add.u64 %to, %to, %at;
    mov.u32 %r, %loaded;
{}",
                        if space == "shared" { SHARED_SETUP } else { "" }
                    ) + &match *ty {
                        "f32" | "f64" => format!("    cvt.rn.{ty}.u32 %x, %loaded;\n"),
                        "u64" => "    cvt.u64.u32 %x, %loaded;\n".into(),
                        _ => "    mov.u32 %x, %loaded;\n".into(),
                    },
                    body: repeated(OPERATIONS, |_| line.clone()),
                    drain: match *ty {
                        "f64" | "u64" => "    mov.b64 %bits, %x;\n    cvt.u32.u64 %number, %bits;\n    xor.b32 %number, %number, %r;\n".into(),
                        _ => "    mov.b32 %number, %x;\n    xor.b32 %number, %number, %r;\n".into(),
                    },
                    sink: "%number",
                    ..Timed::default()
                };
                text += &kernel.text();
            }
        }
    }
    text
}

/// Zeros in shared memory, and a thread's address there.
const SHARED_SETUP: &str = "    mov.u32 %inner, space;
    shl.b32 %number, %thread, 4;
    and.b32 %number, %number, 0x3ff0;
    add.u32 %number, %number, %inner;
    st.shared.v4.u32 [%number], {%loaded, %loaded, %loaded, %loaded};
    and.b32 %offset, %offset, 0x3fff;
    add.u32 %inner, %inner, %offset;
    bar.sync 0;
";
