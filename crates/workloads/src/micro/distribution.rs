//! How the latencies of single loads are spread: each load of a walk is timed by itself.
//!
//! Each includes the clock's own cost, which the loads that hit the L1D show.

use std::sync::Arc;

use super::Scale;
use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::chase::{CHAIN, FACTOR, TOUCH};
use super::kernel::header;
use super::series::{Series, Shape, quantity};

const DATA: &str = "data";
const SWEPT: &str = "swept";
const LINE: u32 = 128;
const QUANTILES: [u32; 25] =
    [0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 97, 98, 99, 100];

/// Name, load, bytes, who read the memory before, random order.
const CASES: [(&str, &str, u64, &str, bool); 7] = [
    ("l1", "through", 16 << 10, "own", true),
    ("l2-own", "past", 8 << 20, "own", true),
    ("l2-anyone", "past", 8 << 20, "anyone", true),
    ("l2-own-large", "past", 40 << 20, "own", true),
    ("memory", "past", 1 << 30, "none", true),
    ("memory-near", "past", 256 << 10, "none", true),
    ("memory-in-order", "past", 256 << 10, "none", false),
];

pub(super) fn all(scale: Scale) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "distribution".into(), ptx: ptx() });
    let (loads, sweep, quantiles): (u32, u64, &[u32]) = match scale {
        Scale::Small => (64, 8 << 20, &[0, 50, 100]),
        Scale::Full => (2048, 512 << 20, &QUANTILES),
    };
    let mut found = vec![];
    for (name, kernel, bytes, before, random) in CASES {
        let bytes = if scale == Scale::Small { bytes.min(256 << 10) } else { bytes };
        let mut series = Series::new("distribution", name, &text);
        series.buffer(Buffer::zeros(DATA, bytes));
        let at = Argument::Address(DATA, 0);
        let count = bytes / u64::from(LINE);
        let factor = if random { FACTOR % count } else { 1 };
        let numbers = [
            Argument::U32(u32::try_from(count).expect("few lines")),
            Argument::U64(LINE.into()),
            Argument::U64(factor),
        ];
        series.launch("chain", Shape::new(1024, 256), 1, [at, at].into_iter().chain(numbers).collect());
        if before != "own" {
            let (buffer, bytes) = if before == "none" { (SWEPT, sweep) } else { (DATA, bytes) };
            if before == "none" {
                series.buffer(Buffer::zeros(SWEPT, sweep));
            }
            let arguments =
                vec![Argument::Address(buffer, 0), Argument::U64(bytes), Argument::Address(CLOCKS, 0)];
            series.launch("touch", Shape::new(1024, 256), 1, arguments);
        }
        let own = if before == "own" { bytes } else { 0 };
        let pairs = u64::from(loads);
        let arguments = [at, Argument::U32(loads), Argument::U64(own)];
        let shape = Shape::new(1, if own > 0 { 1024 } else { 1 });
        let span = series.clocked(&format!("singly_{kernel}"), shape, (pairs, pairs), arguments);
        let before = if before == "own" { "its SM" } else { before };
        let order = if random { "random" } else { "ascending" };
        for quantile in quantiles {
            let parameters: [(_, &dyn std::fmt::Display); 4] = [
                ("footprint", &bytes),
                ("order", &order),
                ("read_before_by", &before),
                ("quantile_percent", quantile),
            ];
            let quantity = quantity("latency of a single load", "cycles", Reading::Quantile(*quantile));
            series.figure(format!("{name}-q{quantile}"), &parameters, quantity, 1.0, None, span);
        }
        found.push(series.done());
    }
    found
}

fn ptx() -> String {
    let mut text = header("7.0", "sm_70") + CHAIN + TOUCH;
    for (name, load) in [("through", "ld.global"), ("past", "ld.global.cg")] {
        text += &format!(
            "
.visible .entry singly_{name}(.param .u64 out, .param .u64 at, .param .u32 loads, .param .u64 own)
{{
    .reg .pred %p;
    .reg .b32 %loads, %i, %n, %word, %sum, %times;
    .reg .b64 %out, %at, %own, %read, %apart, %start, %end;
    ld.param.u64 %out, [out];
    ld.param.u64 %at, [at];
    ld.param.u32 %loads, [loads];
    ld.param.u64 %own, [own];
    add.u64 %own, %own, %at;
    mov.u32 %i, %tid.x;
    mov.u32 %n, %ntid.x;
    mul.wide.u32 %apart, %n, 32;
    mov.u32 %times, 2;
    mov.u32 %sum, 0;
over:
    mul.wide.u32 %read, %i, 32;
    add.u64 %read, %read, %at;
    setp.ge.u64 %p, %read, %own;
    @%p bra through;
reading:
    {load}.u32 %word, [%read];
    xor.b32 %sum, %sum, %word;
    add.u64 %read, %read, %apart;
    setp.lt.u64 %p, %read, %own;
    @%p bra reading;
through:
    sub.u32 %times, %times, 1;
    setp.ne.u32 %p, %times, 0;
    @%p bra over;
    setp.ne.u32 %p, %sum, 0x7fc12345;
    @%p bra read;
    st.global.u32 [%out], %sum;
read:
    bar.sync 0;
    setp.ne.u32 %p, %i, 0;
    @%p ret;
again:
    .pragma \"nounroll\";
    mov.u64 %start, %clock64;
    {load}.u64 %at, [%at];
    setp.eq.u64 %p, %at, 1;
    @%p bra end;
    mov.u64 %end, %clock64;
    st.global.u64 [%out], %start;
    st.global.u64 [%out+8], %end;
    add.u64 %out, %out, 16;
    sub.u32 %loads, %loads, 1;
    setp.ne.u32 %p, %loads, 0;
    @%p bra again;
end:
    ret;
}}
"
        );
    }
    text
}
