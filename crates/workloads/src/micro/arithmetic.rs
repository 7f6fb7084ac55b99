//! Latency and rate of instructions that compute: dependent chains in one warp, and independent ones in many.
//!
//! Each instruction comes in kernels whose bodies differ in length only; what differs in time is the instructions'.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

/// An instruction, or several that only occur together, as a step of a chain.
struct Step {
    name: &'static str,
    /// Type of the chain's registers.
    ty: &'static str,
    /// `{x}` goes on, `{w}` is the chain's second register; `%y` and `%z` stay.
    text: &'static str,
    /// How many instructions that counts as.
    count: u32,
}

const fn step(name: &'static str, ty: &'static str, text: &'static str, count: u32) -> Step {
    Step { name, ty, text, count }
}

/// Instructions of every architecture since Volta.
const STEPS: &[Step] = &[
    step("f32-add", "f32", "add.f32 {x}, {x}, %y;", 1),
    step("f32-mul", "f32", "mul.f32 {x}, {x}, %y;", 1),
    step("f32-fma", "f32", "fma.rn.f32 {x}, {x}, %y, %z;", 1),
    step("f32-min-max", "f32", "min.f32 {x}, {x}, %y; max.f32 {x}, {x}, %z;", 2),
    step("f32-rcp-add", "f32", "rcp.approx.ftz.f32 {x}, {x}; add.ftz.f32 {x}, {x}, %y;", 2),
    step("f32-rsqrt", "f32", "rsqrt.approx.ftz.f32 {x}, {x};", 1),
    step("f32-sqrt", "f32", "sqrt.approx.ftz.f32 {x}, {x};", 1),
    step("f32-ex2", "f32", "ex2.approx.ftz.f32 {x}, {x};", 1),
    step("f32-lg2", "f32", "lg2.approx.ftz.f32 {x}, {x};", 1),
    step("f32-sin", "f32", "sin.approx.ftz.f32 {x}, {x};", 1),
    step("f32-cos", "f32", "cos.approx.ftz.f32 {x}, {x};", 1),
    step("f32-div-approx", "f32", "div.approx.ftz.f32 {x}, %y, {x};", 1),
    step("f32-div", "f32", "div.rn.f32 {x}, {x}, %y;", 1),
    step("f32-sqrt-rn", "f32", "sqrt.rn.f32 {x}, {x};", 1),
    step("f32-rcp-rn", "f32", "rcp.rn.f32 {x}, {x};", 1),
    step("f64-add", "f64", "add.f64 {x}, {x}, %y;", 1),
    step("f64-mul", "f64", "mul.f64 {x}, {x}, %y;", 1),
    step("f64-fma", "f64", "fma.rn.f64 {x}, {x}, %y, %z;", 1),
    step("f64-div", "f64", "div.rn.f64 {x}, {x}, %y;", 1),
    step("f64-sqrt", "f64", "sqrt.rn.f64 {x}, {x};", 1),
    step("f64-rcp", "f64", "rcp.rn.f64 {x}, {x};", 1),
    step("f16-add", "f16", "add.f16 {x}, {x}, %y;", 1),
    step("f16-mul", "f16", "mul.f16 {x}, {x}, %y;", 1),
    step("f16-fma", "f16", "fma.rn.f16 {x}, {x}, %y, %z;", 1),
    step("f16x2-add", "f16x2", "add.f16x2 {x}, {x}, %y;", 1),
    step("f16x2-fma", "f16x2", "fma.rn.f16x2 {x}, {x}, %y, %z;", 1),
    step("u32-add", "u32", "add.u32 {x}, {x}, {w}; add.u32 {w}, {w}, {x};", 2),
    step("u32-mul-lo", "u32", "mul.lo.u32 {x}, {x}, %y;", 1),
    step("u32-mul-hi", "u32", "mul.hi.u32 {x}, {x}, %y;", 1),
    step("u32-mad-lo", "u32", "mad.lo.u32 {x}, {x}, %y, %z;", 1),
    step("u32-sad", "u32", "sad.u32 {x}, {x}, %y, %z;", 1),
    step("u64-add", "u64", "add.u64 {x}, {x}, {w}; add.u64 {w}, {w}, {x};", 2),
    step("u64-mul-lo", "u64", "mul.lo.u64 {x}, {x}, %y;", 1),
    step("b32-lop3", "u32", "lop3.b32 {x}, {x}, {w}, %y, 0x2d; lop3.b32 {w}, {w}, {x}, %z, 0x96;", 2),
    step("b32-xor", "u32", "xor.b32 {x}, {x}, {w}; shf.l.wrap.b32 {x}, {x}, {x}, %y;", 2),
    step("b32-shl", "u32", "shl.b32 {x}, {x}, %y;", 1),
    step("u32-shr", "u32", "shr.u32 {x}, {x}, %y;", 1),
    step("b32-shf", "u32", "shf.l.wrap.b32 {x}, {x}, {w}, %y;", 1),
    step("b32-prmt", "u32", "prmt.b32 {x}, {x}, %y, %z;", 1),
    step("b32-popc", "u32", "popc.b32 {x}, {x};", 1),
    step("b32-clz", "u32", "clz.b32 {x}, {x};", 1),
    step("u32-bfind", "u32", "bfind.u32 {x}, {x};", 1),
    step("b32-brev-add", "u32", "brev.b32 {x}, {x}; add.u32 {x}, {x}, %y;", 2),
    step("u32-bfe", "u32", "bfe.u32 {x}, {x}, %y, %z;", 1),
    step("b32-bfi", "u32", "bfi.b32 {x}, {x}, %y, %z, 8;", 1),
    step("s32-min-max", "u32", "min.s32 {x}, {x}, %y; max.s32 {x}, {x}, %z;", 2),
    step("s32-abs-sub", "u32", "abs.s32 {x}, {x}; sub.s32 {x}, {x}, %y;", 2),
    step("u32-dp4a", "u32", "dp4a.u32.u32 {x}, {x}, %y, %z;", 1),
    step("u32-div", "u32", "div.u32 {x}, %y, {x};", 1),
    step("u32-rem", "u32", "rem.u32 {x}, %y, {x};", 1),
    step("u64-div", "u64", "div.u64 {x}, %y, {x};", 1),
    step("setp-selp", "u32", "setp.lt.u32 %o{i}, {x}, %y; selp.b32 {x}, {w}, %z, %o{i};", 2),
    step("predicated-add", "u32", "setp.lt.u32 %o{i}, {x}, %y; @%o{i} add.u32 {x}, {x}, %z;", 2),
    step("cvt-f32-s32", "f32", "cvt.rni.s32.f32 %t{i}, {x}; cvt.rn.f32.s32 {x}, %t{i};", 2),
    step("cvt-f32-f16", "f32", "cvt.rn.f16.f32 %h{i}, {x}; cvt.f32.f16 {x}, %h{i};", 2),
    step("cvt-f32-f64", "f32", "cvt.f64.f32 %d{i}, {x}; cvt.rn.f32.f64 {x}, %d{i};", 2),
    step("cvt-f64-s32", "f64", "cvt.rni.s32.f64 %t{i}, {x}; cvt.rn.f64.s32 {x}, %t{i};", 2),
    step("cvt-f64-s64", "f64", "cvt.rni.s64.f64 %l{i}, {x}; cvt.rn.f64.s64 {x}, %l{i};", 2),
    step("shfl-bfly", "u32", "shfl.sync.bfly.b32 {x}, {x}, 1, 31, -1;", 1),
    step("shfl-idx", "u32", "shfl.sync.idx.b32 {x}, {x}, %y, 31, -1;", 1),
    step("shfl-up", "u32", "shfl.sync.up.b32 {x}, {x}, 1, 0, -1;", 1),
    step("vote-ballot", "u32", "setp.ne.u32 %o{i}, {x}, %y; vote.sync.ballot.b32 {x}, %o{i}, -1;", 2),
    step(
        "vote-any",
        "u32",
        "setp.ne.u32 %o{i}, {x}, %y; vote.sync.any.pred %o{i}, %o{i}, -1; selp.b32 {x}, {w}, %z, %o{i};",
        3,
    ),
    step("match-any", "u32", "match.any.sync.b32 {x}, {x}, -1;", 1),
    step(
        "warp-sync",
        "u32",
        "bar.warp.sync -1; add.u32 {x}, {x}, {w}; bar.warp.sync -1; add.u32 {w}, {w}, {x};",
        4,
    ),
];

/// Instructions since Ampere.
const AMPERE: &[Step] = &[
    step("f32-tanh", "f32", "tanh.approx.f32 {x}, {x};", 1),
    step("bf16x2-fma", "bf16x2", "fma.rn.bf16x2 {x}, {x}, %y, %z;", 1),
    step("redux-add", "u32", "redux.sync.add.u32 {x}, {x}, -1;", 1),
    step("redux-min", "u32", "redux.sync.min.u32 {x}, {x}, -1;", 1),
];

const CHAINS: usize = 4;
const SHORT: usize = 16;
const LONG: usize = 48;
const ROUNDS: u32 = 8;
/// Words that threads load at the beginning.
const DATA: &str = "data";

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let mut found = vec![];
    for (name, version, target, steps) in
        [("arithmetic", "7.0", "sm_70", STEPS), ("arithmetic-sm80", "7.0", "sm_80", AMPERE)]
    {
        // A few steps a text: what one text lacks on a machine does not take the others with it.
        for (part, steps) in steps.chunks(8).enumerate() {
            let mut ptx = header(version, target);
            for step in steps {
                for (chains, length) in [(1, SHORT), (1, LONG), (CHAINS, SHORT), (CHAINS, LONG)] {
                    ptx += &kernel(step, chains, length);
                }
            }
            let text = Arc::new(Text { name: format!("{name}-{part}"), ptx });
            found.extend(steps.iter().map(|step| benchmark(step, &text, scale)));
        }
    }
    found
}

fn entry(step: &Step, chains: usize, length: usize) -> String {
    format!("{}_{chains}_{length}", step.name.replace('-', "_"))
}

fn kernel(step: &Step, chains: usize, length: usize) -> String {
    let wide = matches!(step.ty, "f64" | "u64");
    let register = match step.ty {
        "f32" => "f32",
        "f64" => "f64",
        "f16" => "b16",
        "u64" => "b64",
        _ => "b32",
    };
    let mut declarations = format!("    .reg .{register} %x<{chains}>, %w<{chains}>, %y, %z;\n");
    declarations +=
        &format!("    .reg .b32 %t<{chains}>, %u, %v, %part;\n    .reg .b16 %h<{chains}>, %half;\n");
    declarations +=
        &format!("    .reg .f64 %d<{chains}>;\n    .reg .b64 %l<{chains}>;\n    .reg .pred %o<{chains}>;\n");
    let mut setup = String::from("    add.u32 %u, %loaded, %p;\n    add.u32 %v, %loaded, %q;\n");
    let made = |to: &str, from: &str| match step.ty {
        "f32" | "f64" => format!("    cvt.rn.{}.u32 {to}, {from};\n", step.ty),
        "f16" => format!("    cvt.rn.f16.u32 {to}, {from};\n"),
        "f16x2" => format!("    cvt.rn.f16.u32 %half, {from};\n    mov.b32 {to}, {{%half, %half}};\n"),
        // The upper half of an f32 is a bf16.
        "bf16x2" => format!("    mul.lo.u32 {to}, {from}, 0x3f803f80;\n"),
        "u64" => format!("    cvt.u64.u32 {to}, {from};\n"),
        _ => format!("    mov.b32 {to}, {from};\n"),
    };
    setup += &made("%y", "%u");
    setup += &made("%z", "%v");
    for chain in 0..chains {
        setup += &format!("    add.u32 %part, %u, {};\n", chain * 2);
        setup += &made(&format!("%x{chain}"), "%part");
        setup += "    add.u32 %part, %part, 1;\n";
        setup += &made(&format!("%w{chain}"), "%part");
    }
    let body = repeated(length * chains, |index| {
        let chain = index % chains;
        let text = step.text.replace("{x}", &format!("%x{chain}")).replace("{w}", &format!("%w{chain}"));
        text.replace("{i}", &chain.to_string())
    });
    let mut drain = String::from("    mov.u32 %part, 0;\n");
    for chain in 0..chains {
        for register in ["x", "w"] {
            let register = format!("%{register}{chain}");
            drain += &match register_bits(step.ty) {
                16 => format!("    mov.b32 %u, {{{register}, {register}}};\n    xor.b32 %part, %part, %u;\n"),
                64 if wide => format!(
                    "    mov.b64 {{%u, %v}}, {register};\n    xor.b32 %part, %part, %u;\n    xor.b32 %part, %part, %v;\n"
                ),
                _ => format!("    mov.b32 %u, {register};\n    xor.b32 %part, %part, %u;\n"),
            };
        }
    }
    // The second pass needs it again.
    drain += "    add.u32 %u, %loaded, %p;\n";
    Timed {
        name: entry(step, chains, length),
        declarations,
        setup,
        body,
        drain,
        sink: "%part",
        ..Timed::default()
    }
    .text()
}

fn register_bits(ty: &str) -> u32 {
    match ty {
        "f16" => 16,
        "f64" | "u64" => 64,
        _ => 32,
    }
}

fn benchmark(step: &Step, text: &Arc<Text>, scale: Scale) -> Benchmark {
    let mut series = Series::new("arithmetic", step.name, text);
    series.buffer(Buffer::zeros(DATA, 4096));
    let warps: &[u32] = match scale {
        Scale::Small => &[8],
        Scale::Full => &[4, 8, 16, 32],
    };
    let shapes = [(1, 1), (1, CHAINS)].into_iter().chain(warps.iter().map(|warps| (*warps, CHAINS)));
    for (warps, chains) in shapes {
        let [short, long] = [SHORT, LONG].map(|length| {
            series.timed(&entry(step, chains, length), Shape::warps(warps), (DATA, 0), ROUNDS, (1, 1))
        });
        let work = f64::from(step.count * ROUNDS) * ((LONG - SHORT) * chains) as f64;
        let (quantity, work) = if warps == 1 && chains == 1 {
            (quantity("latency", "cycles", Reading::CyclesPerWork), work)
        } else {
            let unit = "thread instructions/cycle/SM";
            (quantity("rate", unit, Reading::WorkPerCycle), work * f64::from(warps * 32))
        };
        let parameters: [(_, &dyn std::fmt::Display); 3] =
            [("instruction", &step.name), ("warps", &warps), ("chains", &chains)];
        series.figure(
            format!("{}-w{warps}-c{chains}", step.name),
            &parameters,
            quantity,
            work,
            Some(short),
            long,
        );
    }
    series.done()
}
