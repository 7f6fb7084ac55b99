//! Bandwidth of the whole GPU: reading, writing and copying by footprint, and reading by threads in flight.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

const DATA: &str = "data";

/// What is moved, and how many bytes that is for each byte of the footprint that the kernel is told.
const OPERATIONS: [(&str, u64); 3] = [("read", 1), ("write", 1), ("copy", 2)];

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "bandwidth".into(), ptx: ptx() });
    let mut found = vec![];
    // What the L2 holds well, and half of what it does not.
    let held = (target.l2_bytes / 2).next_power_of_two() / 2;
    let large = target.l2_bytes.next_power_of_two();
    let footprints: Vec<u64> = match scale {
        Scale::Small => vec![512 << 10, held, 2 * large],
        Scale::Full => {
            (18..=30).flat_map(|power| [1u64 << power, (1u64 << power) / 2 * 3]).chain([2 << 30]).collect()
        }
    };
    for (operation, _) in OPERATIONS {
        let mut series = Series::new("bandwidth", operation, &text);
        let most = *footprints.iter().max().expect("there are some");
        series.buffer(Buffer::zeros(DATA, most));
        for footprint in &footprints {
            measure(&mut series, operation, *footprint, Shape::new(target.sms * 8, 256), scale, target);
        }
        found.push(series.done());
    }
    let threads: &[u32] = match scale {
        Scale::Small => &[128, 1024],
        Scale::Full => &[32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048],
    };
    let sizes: &[(&str, u64)] = match scale {
        Scale::Small => &[("l2", held)],
        Scale::Full => &[("l2", 16 << 20), ("large", 1 << 30)],
    };
    for (name, footprint) in sizes {
        let mut series = Series::new("bandwidth", format!("read-{name}-by-threads"), &text);
        series.buffer(Buffer::zeros(DATA, *footprint));
        for threads in threads {
            let shape = if *threads <= 1024 && threads % 256 != 0 {
                Shape::new(target.sms, *threads)
            } else {
                Shape::new(target.sms * (threads / 256), 256)
            };
            measure(&mut series, "read", *footprint, shape, scale, target);
        }
        found.push(series.done());
    }
    found
}

fn measure(series: &mut Series, operation: &str, footprint: u64, shape: Shape, scale: Scale, target: Target) {
    // A copy has its source in one half and its destination in the other.
    let (_, moved) = OPERATIONS.into_iter().find(|(name, _)| *name == operation).expect("an operation");
    let bytes = footprint / moved;
    let passes = match scale {
        Scale::Small => 1,
        Scale::Full => ((1u64 << 30) / footprint).clamp(2, 1 << 10),
    };
    // One pass, to fill the caches, then few passes and many.
    let [_, short, long] = [1, passes, 3 * passes].map(|passes| {
        let arguments = vec![
            Argument::Address(DATA, 0),
            Argument::U64(bytes),
            Argument::U32(u32::try_from(passes).expect("few passes")),
            Argument::Address(CLOCKS, 0),
        ];
        series.launch(operation, shape, 1, arguments)
    });
    let threads = shape.block * shape.grid / target.sms;
    let parameters: [(_, &dyn std::fmt::Display); 3] =
        [("operation", &operation), ("footprint", &footprint), ("threads_per_sm", &threads)];
    let quantity = quantity("bandwidth", "GB/s", Reading::WorkPerTime);
    let case = format!("{operation}-{footprint}-t{threads}");
    series.figure(case, &parameters, quantity, (2 * passes * footprint) as f64, Some(short), long);
}

/// A CTA moves a chunk of 64 bytes for each of its threads, then goes on by as many chunks as there are CTAs, and around.
fn ptx() -> String {
    let load = |i: usize| format!("    ld.global.cg.v4.u32 {{%a{i}, %b{i}, %c{i}, %d{i}}}, [%from{i}];\n");
    let store =
        |i: usize, to: &str| format!("    st.global.v4.u32 [{to}{i}], {{%a{i}, %b{i}, %c{i}, %d{i}}};\n");
    let four = |line: &dyn Fn(usize) -> String| (0..4).map(line).collect::<String>();
    let sum = four(&|i| {
        format!(
            "    or.b32 %a{i}, %a{i}, %b{i};\n    or.b32 %c{i}, %c{i}, %d{i};\n    or.b32 %sum, %sum, %a{i};\n    or.b32 %sum, %sum, %c{i};\n"
        )
    });
    let bodies = [
        ("read", four(&load) + &sum),
        ("write", four(&|i| store(i, "%from"))),
        (
            "copy",
            four(&load)
                + &four(&|i| format!("    add.u64 %to{i}, %from{i}, %bytes;\n"))
                + &four(&|i| store(i, "%to")),
        ),
    ];
    bodies.into_iter().fold(header("7.0", "sm_70"), |text, (name, body)| text + &kernel(name, &body))
}

fn kernel(name: &str, body: &str) -> String {
    format!(
        "
.visible .entry {name}(.param .u64 at, .param .u64 bytes, .param .u32 passes, .param .u64 out)
{{
    .reg .pred %p;
    .reg .b32 %passes, %thread, %threads, %cta, %ctas, %sum, %size, %chunks, %chunk, %step, %left, %a<4>, %b<4>, %c<4>, %d<4>;
    .reg .b64 %at, %bytes, %out, %offset, %apart, %wide, %from<4>, %to<4>;
    ld.param.u64 %at, [at];
    ld.param.u64 %bytes, [bytes];
    ld.param.u32 %passes, [passes];
    ld.param.u64 %out, [out];
    mov.u32 %thread, %tid.x;
    mov.u32 %threads, %ntid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %ctas, %nctaid.x;
    mul.wide.u32 %apart, %threads, 16;
    mul.lo.u32 %size, %threads, 64;
    cvt.u64.u32 %wide, %size;
    div.u64 %wide, %bytes, %wide;
    cvt.u32.u64 %chunks, %wide;
    rem.u32 %chunk, %cta, %chunks;
    rem.u32 %step, %ctas, %chunks;
    mul.lo.u32 %left, %chunks, %passes;
    add.u32 %left, %left, %ctas;
    sub.u32 %left, %left, %cta;
    sub.u32 %left, %left, 1;
    div.u32 %left, %left, %ctas;
    mul.wide.u32 %offset, %thread, 16;
    add.u64 %at, %at, %offset;
    mov.u32 %sum, 0;
    mov.u32 %a0, %passes;
    mov.u32 %a1, %a0;
    mov.u32 %a2, %a0;
    mov.u32 %a3, %a0;
    mov.u32 %b0, %a0;
    mov.u32 %b1, %a0;
    mov.u32 %b2, %a0;
    mov.u32 %b3, %a0;
    mov.u32 %c0, %a0;
    mov.u32 %c1, %a0;
    mov.u32 %c2, %a0;
    mov.u32 %c3, %a0;
    mov.u32 %d0, %a0;
    mov.u32 %d1, %a0;
    mov.u32 %d2, %a0;
    mov.u32 %d3, %a0;
    setp.eq.u32 %p, %left, 0;
    @%p bra end;
again:
    .pragma \"nounroll\";
    mul.wide.u32 %offset, %chunk, %size;
    add.u64 %from0, %at, %offset;
    add.u64 %from1, %from0, %apart;
    add.u64 %from2, %from1, %apart;
    add.u64 %from3, %from2, %apart;
{body}    add.u32 %chunk, %chunk, %step;
    setp.ge.u32 %p, %chunk, %chunks;
    @%p sub.u32 %chunk, %chunk, %chunks;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %p, %left, 0;
    @%p bra again;
end:
    setp.ne.u32 %p, %sum, 0x7fc12345;
    @%p ret;
    st.global.u32 [%out], %sum;
    ret;
}}
"
    )
}
