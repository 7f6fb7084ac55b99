//! Streams of one SM, and of more and more of them: how many bytes a cycle come through, by warps and width.
//!
//! Each warp has eight accesses on their way, and no two read the same bytes before all of the footprint is through.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::{Timed, header};
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

const DATA: &str = "data";
const ACCESSES: u32 = 8;
const WIDTHS: [u32; 3] = [32, 64, 128];
const ROUNDS: [u32; 2] = [8, 40];

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "streams".into(), ptx: ptx() });
    let (levels, warps): (&[(&str, u32)], &[u32]) = match scale {
        Scale::Small => (&[("l2", 512 << 10)], &[4, 16]),
        Scale::Full => (&[("l2", 16 << 20), ("large", 1 << 30)], &[1, 2, 4, 8, 16, 32]),
    };
    let mut sms = BTreeSet::new();
    if scale == Scale::Full {
        sms.extend((1..).map(|power| 1 << power).take_while(|sms| *sms < target.sms));
        sms.extend([target.sms / 2, target.sms * 3 / 4, target.sms].into_iter().filter(|sms| *sms > 1));
    }
    let mut found = vec![];
    for (level, footprint) in levels {
        for operation in ["load", "store"] {
            for bits in WIDTHS {
                let mut series = Series::new("streams", format!("{level}-{operation}-{bits}"), &text);
                series.buffer(Buffer::zeros(DATA, (*footprint).into()));
                let arguments = vec![
                    Argument::Address(DATA, 0),
                    Argument::U64((*footprint).into()),
                    Argument::Address(CLOCKS, 0),
                ];
                series.launch("touch", Shape::new(64, 256), 1, arguments);
                let most = *warps.last().expect("there are some");
                let together = sms.iter().filter(|_| bits == 128);
                let shapes = warps.iter().map(|warps| (1, *warps));
                for (sms, warps) in shapes.chain(together.map(|sms| (*sms, most))) {
                    let shape = Shape { grid: sms, ..Shape::warps(warps) };
                    let [short, long] = ROUNDS.map(|rounds| {
                        let kernel = format!("{operation}_{bits}");
                        series.timed(&kernel, shape, (DATA, 0), rounds, (0, footprint - 1))
                    });
                    let bytes = f64::from((ROUNDS[1] - ROUNDS[0]) * ACCESSES * warps * 32 * bits / 8);
                    let parameters: [(_, &dyn std::fmt::Display); 5] = [
                        ("level", level),
                        ("operation", &operation),
                        ("bits", &bits),
                        ("warps", &warps),
                        ("sms", &sms),
                    ];
                    let quantity = quantity("bandwidth", "bytes/cycle/SM", Reading::WorkPerCycle);
                    let case = format!("{level}-{operation}-{bits}-w{warps}-s{sms}");
                    series.figure(case, &parameters, quantity, bytes, Some(short), long);
                }
                found.push(series.done());
            }
        }
    }
    found
}

/// `q` is the mask of offsets.
fn ptx() -> String {
    let mut text = header("7.0", "sm_70") + super::chase::TOUCH;
    for bits in WIDTHS {
        let (vector, load, store) = match bits {
            32 => ("", "%a{i}", "%sum"),
            64 => (".v2", "{%a{i}, %b{i}}", "{%sum, %sum}"),
            _ => (".v4", "{%a{i}, %b{i}, %c{i}, %d{i}}", "{%sum, %sum, %sum, %sum}"),
        };
        for operation in ["load", "store"] {
            let mut body = String::new();
            for i in 0..ACCESSES {
                body += &format!(
                    "    and.b32 %o, %next, %q;\n    cvt.u64.u32 %g{i}, %o;\n    add.u64 %g{i}, %g{i}, %at;\n    add.u32 %next, %next, %step;\n"
                );
            }
            for i in 0..ACCESSES {
                body += &if operation == "load" {
                    format!(
                        "    ld.global.cg{vector}.u32 {}, [%g{i}];\n",
                        load.replace("{i}", &i.to_string())
                    )
                } else {
                    format!("    st.global{vector}.u32 [%g{i}], {store};\n")
                };
            }
            if operation == "load" {
                let words = &["a", "b", "c", "d"][..(bits / 32) as usize];
                // The last first: all loads are on their way before any is waited for.
                for i in (0..ACCESSES).rev() {
                    body += &words
                        .iter()
                        .map(|word| format!("    or.b32 %sum, %sum, %{word}{i};\n"))
                        .collect::<String>();
                }
            }
            let kernel = Timed {
                name: format!("{operation}_{bits}"),
                // Registers for all that is on its way.
                directives: ".maxntid 1024, 1, 1\n.minnctapersm 1\n",
                declarations: format!(
                    "    .reg .b32 %o, %next, %step, %sum, %a<{ACCESSES}>, %b<{ACCESSES}>, %c<{ACCESSES}>, %d<{ACCESSES}>;\n    .reg .b64 %g<{ACCESSES}>;\n"
                ),
                setup: format!(
                    "    mov.u32 %warps, %ntid.x;
    mov.u32 %o, %nctaid.x;
    mul.lo.u32 %step, %warps, %o;
    mul.lo.u32 %step, %step, {bytes};
    mad.lo.u32 %next, %cta, %warps, %thread;
    mul.lo.u32 %next, %next, {bytes};
    mov.u32 %sum, %loaded;
",
                    bytes = bits / 8
                ),
                body,
                // What is stored is seen by all before the clock is read.
                drain: if operation == "store" { "    fence.acq_rel.gpu;\n".into() } else { String::new() },
                sink: "%sum",
                ..Timed::default()
            };
            text += &kernel.text();
        }
    }
    text
}
