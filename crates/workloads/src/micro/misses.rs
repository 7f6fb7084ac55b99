//! Misses in flight: so many independent loads of a warp, then a wait for all of them.
//!
//! Where the time of such a batch begins to grow with the loads, what keeps misses is full.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::{Timed, header};
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const ROUNDS: [u32; 2] = [8, 24];
/// Loads of a batch.
const LOADS: [u32; 6] = [1, 2, 4, 8, 16, 32];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "misses".into(), ptx: ptx() });
    let warps: &[u32] = match scale {
        Scale::Small => &[1, 8],
        Scale::Full => &[1, 2, 4, 8, 16, 32],
    };
    // Lines of a warp's load by the stride of its lanes.
    let patterns = [("line", 4, 128), ("lanes", 128, 4096)];
    let mut found = vec![];
    for level in ["l2", "l1-to-l2"] {
        for (pattern, lane, line) in patterns {
            for loads in LOADS {
                let mut series = Series::new("misses", format!("{level}-{pattern}-{loads}"), &text);
                let footprint: u32 = match scale {
                    Scale::Small => 4 << 20,
                    Scale::Full => 16 << 20,
                };
                series.buffer(Buffer::zeros(DATA, u64::from(footprint) + 8192));
                let arguments = vec![
                    Argument::Address(DATA, 0),
                    Argument::U64(footprint.into()),
                    Argument::Address(CLOCKS, 0),
                ];
                series.launch("touch", Shape::new(64, 256), 1, arguments);
                for warps in warps {
                    // A batch's lines: never so many that a walk through the footprint comes to them again within the L1D.
                    let kernel = format!("{}_{loads}", if level == "l2" { "past" } else { "through" });
                    let [short, long] = ROUNDS.map(|rounds| {
                        series.timed(
                            &kernel,
                            Shape::warps(*warps),
                            (DATA, 0),
                            rounds,
                            (line << 16 | lane, footprint - 1),
                        )
                    });
                    let batches = f64::from(ROUNDS[1] - ROUNDS[0]);
                    let parameters: [(_, &dyn std::fmt::Display); 4] =
                        [("level", &level), ("pattern", &pattern), ("loads", &loads), ("warps", warps)];
                    let quantity = quantity("time of a batch", "cycles", Reading::CyclesPerWork);
                    series.figure(
                        format!("{level}-{pattern}-k{loads}-w{warps}"),
                        &parameters,
                        quantity,
                        batches,
                        Some(short),
                        long,
                    );
                }
                found.push(series.done());
            }
        }
    }
    found
}

/// `p` is the bytes between two loads (upper half) and between lanes (lower half), `q` the mask of offsets.
fn ptx() -> String {
    let mut text = header("7.0", "sm_70") + super::chase::TOUCH;
    for (name, load) in [("past", "ld.global.cg.u32"), ("through", "ld.global.u32")] {
        for loads in LOADS {
            let mut body = String::new();
            for i in 0..loads {
                body += &format!(
                    "    and.b32 %o, %next, %q;\n    cvt.u64.u32 %a{i}, %o;\n    add.u64 %a{i}, %a{i}, %at;\n    add.u32 %next, %next, %step;\n"
                );
            }
            for i in 0..loads {
                body += &format!("    {load} %x{i}, [%a{i}];\n");
            }
            for i in 0..loads {
                body += &format!("    add.u32 %next, %next, %x{i};\n");
            }
            let setup = "    shr.u32 %line, %p, 16;
    and.b32 %o, %p, 0xffff;
    mul.wide.u32 %a0, %lane, %o;
    add.u64 %at, %at, %a0;
    mov.u32 %warps, %ntid.x;
    shr.u32 %warps, %warps, 5;
    mul.lo.u32 %step, %warps, %line;
    mad.lo.u32 %next, %warp, %line, %loaded;
";
            let kernel = Timed {
                name: format!("{name}_{loads}"),
                declarations: format!(
                    "    .reg .b32 %o, %next, %step, %line, %x<{loads}>;\n    .reg .b64 %a<{loads}>;\n"
                ),
                setup: setup.into(),
                body,
                sink: "%next",
                ..Timed::default()
            };
            text += &kernel.text();
        }
    }
    text
}
