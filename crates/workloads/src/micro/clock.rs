//! The core clock, as a launch's cycles over its time.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Argument, Benchmark, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};

const SPIN: &str = "
.visible .entry spin(.param .u64 out, .param .u64 clocks)
{
    .reg .pred %p;
    .reg .b64 %out, %clocks, %start, %now, %gone;
    ld.param.u64 %out, [out];
    ld.param.u64 %clocks, [clocks];
    mov.u64 %start, %clock64;
again:
    mov.u64 %now, %clock64;
    sub.u64 %gone, %now, %start;
    setp.lt.u64 %p, %gone, %clocks;
    @%p bra again;
    st.global.u64 [%out], %start;
    st.global.u64 [%out+8], %now;
    ret;
}
";

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "clock".into(), ptx: header("7.0", "sm_70") + SPIN });
    let mut series = Series::new("clock", "spin", &text);
    let lengths = match scale {
        Scale::Small => [5_000, 10_000],
        Scale::Full => [10_000_000, 30_000_000],
    };
    // The code is in the caches before a launch is timed.
    series.clocked("spin", Shape::new(1, 1), (1, 1), [Argument::U64(0)]);
    let [short, long] =
        lengths.map(|clocks| series.clocked("spin", Shape::new(1, 1), (1, 1), [Argument::U64(clocks)]));
    series.figure("spin", &[], quantity("core clock", "MHz", Reading::CyclesPerTime), 1.0, Some(short), long);
    vec![series.done()]
}
