//! How far each SM is from lines of the L2: a load's latency from every SM to a few lines.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

const DATA: &str = "data";
/// Bytes between the lines.
const APART: u64 = 4096 + 128;

/// The first thread of a CTA on SM `which` follows a pointer that points to itself, past the L1D.
const FROM_SM: &str = "
.visible .entry from_sm(.param .u64 out, .param .u64 at, .param .u32 which, .param .u32 rounds)
{
    .reg .pred %p;
    .reg .b32 %which, %rounds, %sm, %thread;
    .reg .b64 %out, %at, %start, %end;
    ld.param.u64 %out, [out];
    ld.param.u64 %at, [at];
    ld.param.u32 %which, [which];
    ld.param.u32 %rounds, [rounds];
    mov.u32 %sm, %smid;
    setp.ne.u32 %p, %sm, %which;
    @%p ret;
    mov.u32 %thread, %tid.x;
    setp.ne.u32 %p, %thread, 0;
    @%p ret;
    st.global.u64 [%at], %at;
    fence.acq_rel.gpu;
    ld.global.cg.u64 %at, [%at];
    ld.global.cg.u64 %at, [%at];
    mov.u64 %start, %clock64;
again:
    .pragma \"nounroll\";
    LOADS
    sub.u32 %rounds, %rounds, 1;
    setp.ne.u32 %p, %rounds, 0;
    @%p bra again;
    setp.eq.u64 %p, %at, 1;
    @%p bra end;
    mov.u64 %end, %clock64;
    st.global.v2.u64 [%out], {%start, %end};
end:
    ret;
}
";

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let loads = "ld.global.cg.u64 %at, [%at];\n    ".repeat(8);
    let text = Arc::new(Text {
        name: "partitions".into(),
        ptx: header("7.0", "sm_70") + &FROM_SM.replace("LOADS", loads.trim()),
    });
    let (lines, sms): (u64, u32) = match scale {
        Scale::Small => (2, 2),
        Scale::Full => (16, target.sms),
    };
    let rounds = 16;
    (0..lines)
        .map(|line| {
            let mut series = Series::new("partitions", format!("line-{line}"), &text);
            series.buffer(Buffer::zeros(DATA, APART * lines));
            for sm in 0..sms {
                let at = Argument::Address(DATA, APART * line);
                // Two such CTAs fill an SM, so each gets some.
                let shape = Shape::new(target.sms * 2, 1024);
                let span =
                    series.clocked("from_sm", shape, (1, 1), [at, Argument::U32(sm), Argument::U32(rounds)]);
                let parameters: [(_, &dyn std::fmt::Display); 2] = [("sm", &sm), ("line", &line)];
                let quantity = quantity("load latency", "cycles", Reading::CyclesPerWork);
                series.figure(
                    format!("line-{line}-sm-{sm}"),
                    &parameters,
                    quantity,
                    f64::from(rounds * 8),
                    None,
                    span,
                );
            }
            series.done()
        })
        .collect()
}
