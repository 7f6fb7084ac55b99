//! Straight code by its size: what fetching instructions costs once no cache near the core holds them.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Benchmark, Buffer, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
/// Registers that the code adds up in, so that no instruction waits for the one before.
const CHAINS: usize = 8;
/// Bytes of an instruction since Volta.
const INSTRUCTION: usize = 16;
const ROUNDS: [u32; 2] = [2, 6];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let sizes: &[usize] = match scale {
        Scale::Small => &[1, 8],
        Scale::Full => {
            &[1, 2, 4, 8, 12, 16, 24, 28, 32, 40, 48, 64, 80, 96, 112, 120, 128, 144, 160, 192, 256, 384]
        }
    };
    sizes.iter().map(|kib| of_size(*kib)).collect()
}

fn of_size(kib: usize) -> Benchmark {
    let instructions = kib * 1024 / INSTRUCTION;
    let kernel = Timed {
        name: format!("code_{kib}"),
        declarations: format!("    .reg .f32 %x<{CHAINS}>, %y, %z;\n    .reg .b32 %sum;\n"),
        setup: String::from("    cvt.rn.f32.u32 %y, %p;\n    cvt.rn.f32.u32 %z, %loaded;\n")
            + &repeated(CHAINS, |i| format!("cvt.rn.f32.u32 %x{i}, %thread;")),
        body: repeated(instructions, |i| {
            let x = i % CHAINS;
            format!("fma.rn.f32 %x{x}, %x{x}, %y, %z;")
        }),
        drain: repeated(CHAINS - 1, |i| format!("add.f32 %x0, %x0, %x{};", i + 1))
            + "    mov.b32 %sum, %x0;\n",
        sink: "%sum",
        ..Timed::default()
    };
    let text = Arc::new(Text { name: format!("code-{kib}"), ptx: header("7.0", "sm_70") + &kernel.text() });
    let mut series = Series::new("code", format!("straight-{kib}-kib"), &text);
    series.buffer(Buffer::zeros(DATA, 4096));
    for warps in [1, 4, 16] {
        let [short, long] =
            ROUNDS.map(|rounds| series.timed(&kernel.name, Shape::warps(warps), (DATA, 0), rounds, (1, 1)));
        let bytes = instructions * INSTRUCTION;
        let work = f64::from((ROUNDS[1] - ROUNDS[0]) * warps) * instructions as f64;
        let parameters: [(_, &dyn std::fmt::Display); 2] = [("code_bytes", &bytes), ("warps", &warps)];
        let quantity =
            quantity("interval of a SM's instructions", "cycles/warp instruction", Reading::CyclesPerWork);
        series.figure(format!("straight-{kib}-kib-w{warps}"), &parameters, quantity, work, Some(short), long);
    }
    series.done()
}
