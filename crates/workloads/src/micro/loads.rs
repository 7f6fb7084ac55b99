//! Rate and latency of global loads of one SM: by the stride of lanes, the width, the warps, and the level that they hit.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Scale;
use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::{Timed, header};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const DATA_BYTES: u64 = 8 << 20;
const CHAINS: u32 = 8;
const ROUNDS: [u32; 2] = [8, 24];
const WIDTHS: [u32; 3] = [32, 64, 128];
/// Past the L1D, or through it.
const LEVELS: [(&str, &str); 2] = [("l1", "ld.global"), ("l2", "ld.global.cg")];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "loads".into(), ptx: ptx() });
    let mut found = vec![];
    let strides: &[u32] = match scale {
        Scale::Small => &[0, 4, 8, 32, 128],
        Scale::Full => &[0, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64, 96, 128, 160, 256, 512, 1024],
    };
    for (level, _) in LEVELS {
        let mut series = Series::new("coalescing", level, &text);
        warmed(&mut series);
        for stride in strides {
            for (chains, warps) in [(1, 1), (CHAINS, 8)] {
                // Warps and chains read the same, so that it all fits.
                let kernel = format!("load_{level}_32_{chains}");
                let [short, long] = ROUNDS.map(|rounds| {
                    series.timed(&kernel, Shape::warps(warps), (DATA, 0), rounds, (*stride, 0))
                });
                let accesses = f64::from((ROUNDS[1] - ROUNDS[0]) * chains * warps);
                let what = if chains == 1 { "load latency" } else { "load interval" };
                let parameters: [(_, &dyn std::fmt::Display); 3] =
                    [("level", &level), ("stride_bytes", stride), ("warps", &warps)];
                let quantity = quantity(what, "cycles/warp access", Reading::CyclesPerWork);
                series.figure(
                    format!("{level}-stride-{stride}-w{warps}"),
                    &parameters,
                    quantity,
                    accesses,
                    Some(short),
                    long,
                );
            }
        }
        found.push(series.done());
    }
    let warps: &[u32] = match scale {
        Scale::Small => &[4, 16],
        Scale::Full => &[1, 2, 4, 8, 16, 32],
    };
    for (level, _) in LEVELS {
        for bits in WIDTHS {
            let mut series = Series::new("sm-bandwidth", format!("{level}-{bits}"), &text);
            warmed(&mut series);
            let [short, long] = ROUNDS.map(|rounds| {
                let kernel = format!("load_{level}_{bits}_1");
                series.timed(&kernel, Shape::warps(1), (DATA, 0), rounds, (bits / 8, 0))
            });
            let parameters: [(_, &dyn std::fmt::Display); 3] =
                [("level", &level), ("bits", &bits), ("warps", &1)];
            series.figure(
                format!("{level}-{bits}-latency"),
                &parameters,
                quantity("load latency", "cycles/warp access", Reading::CyclesPerWork),
                f64::from(ROUNDS[1] - ROUNDS[0]),
                Some(short),
                long,
            );
            for warps in warps {
                let kernel = format!("load_{level}_{bits}_{CHAINS}");
                let access = 4 * bits;
                // In the L1D every warp has lines of its own as long as 64 KiB suffice.
                let apart = if level == "l2" || warps * CHAINS * access <= 64 << 10 { access } else { 0 };
                let [short, long] = ROUNDS.map(|rounds| {
                    series.timed(&kernel, Shape::warps(*warps), (DATA, 0), rounds, (bits / 8, apart))
                });
                let bytes = f64::from((ROUNDS[1] - ROUNDS[0]) * CHAINS * warps * access);
                let parameters: [(_, &dyn std::fmt::Display); 3] =
                    [("level", &level), ("bits", &bits), ("warps", warps)];
                let quantity = quantity("read bandwidth", "bytes/cycle/SM", Reading::WorkPerCycle);
                series.figure(
                    format!("{level}-{bits}-w{warps}"),
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

/// The buffer, which the L2 holds.
fn warmed(series: &mut Series) {
    series.buffer(Buffer::zeros(DATA, DATA_BYTES));
    series.launch(
        "selves",
        Shape::new(256, 256),
        1,
        vec![Argument::Address(DATA, 0), Argument::U64(DATA_BYTES)],
    );
    let arguments = vec![Argument::Address(DATA, 0), Argument::U64(DATA_BYTES), Argument::Address(CLOCKS, 0)];
    series.launch("touch", Shape::new(64, 256), 1, arguments);
}

/// Writes the low half of its address into each word.
const SELVES: &str = "
.visible .entry selves(.param .u64 at, .param .u64 bytes)
{
    .reg .pred %done;
    .reg .b32 %i, %n, %t, %step, %low, %high;
    .reg .b64 %at, %end, %stride;
    ld.param.u64 %at, [at];
    ld.param.u64 %end, [bytes];
    add.u64 %end, %at, %end;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %step, %nctaid.x;
    mul.lo.u32 %step, %step, %n;
    mul.wide.u32 %stride, %step, 4;
    mad.lo.u32 %i, %i, %n, %t;
    mad.wide.u32 %at, %i, 4, %at;
again:
    setp.ge.u64 %done, %at, %end;
    @%done ret;
    mov.b64 {%low, %high}, %at;
    st.global.u32 [%at], %low;
    add.u64 %at, %at, %stride;
    bra again;
}
";

/// Each chain reads the same address again and again, for that is what lies there.
fn ptx() -> String {
    let mut text = header("7.0", "sm_70") + super::chase::TOUCH + SELVES;
    for (level, load) in LEVELS {
        for (bits, chains) in WIDTHS.into_iter().flat_map(|bits| [(bits, 1), (bits, CHAINS)]) {
            let mut setup = String::from(
                "    mov.u32 %warps, %ntid.x;
    shr.u32 %warps, %warps, 5;
    mul.lo.u32 %i, %lane, %p;
    mad.lo.u32 %i, %warp, %q, %i;
    mul.lo.u32 %j, %warps, %q;
    mov.u32 %sum, 0;
",
            );
            let mut body = String::new();
            for chain in 0..chains {
                writeln!(
                    setup,
                    "    cvt.u64.u32 %a, %i;
    add.u64 %a, %at, %a;
    mov.b64 {{%x{chain}, %h{chain}}}, %a;
    add.u32 %i, %i, %j;"
                )
                .expect("a string takes all");
            }
            for chain in 0..chains {
                let line = match bits {
                    32 => format!("{load}.u32 %x{chain}, [%a];"),
                    64 => format!("{load}.v2.u32 {{%x{chain}, %y}}, [%a];\n    or.b32 %sum, %sum, %y;"),
                    _ => format!(
                        "{load}.v4.u32 {{%x{chain}, %y, %z, %w}}, [%a];\n    or.b32 %y, %y, %z;\n    or.b32 %y, %y, %w;\n    or.b32 %sum, %sum, %y;"
                    ),
                };
                body += &format!("    mov.b64 %a, {{%x{chain}, %h{chain}}};\n    {line}\n");
            }
            let drain: String =
                (0..chains).map(|chain| format!("    xor.b32 %sum, %sum, %x{chain};\n")).collect();
            let kernel = Timed {
                name: format!("load_{level}_{bits}_{chains}"),
                declarations: format!(
                    "    .reg .b32 %i, %j, %sum, %y, %z, %w, %x<{chains}>, %h<{chains}>;\n    .reg .b64 %a;\n"
                ),
                setup,
                body,
                drain,
                sink: "%sum",
                ..Timed::default()
            };
            text += &kernel.text();
        }
    }
    text
}
