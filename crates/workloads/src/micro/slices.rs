//! Which addresses share a slice of the L2, as far as rates tell.
//!
//! All SMs add to two words at once: where these are so near that one unit serves both, they take as long as twice the adds to
//! one. Loads from lines a stride apart tell which strides fall on few slices.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::{Timed, header, repeated};
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

const DATA: &str = "data";
/// The largest distance between two words is two to this power.
const MOST_POWER: u32 = 33;
const ADDS: u32 = 4;
const ADD_ROUNDS: [u32; 2] = [8, 24];
const LOADS: u32 = 8;
const LOAD_ROUNDS: [u32; 2] = [8, 40];
/// Lines of a stride's walk.
const LINES: u32 = 8192;

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    if scale == Scale::Small {
        return vec![];
    }
    let text = Arc::new(Text { name: "slices".into(), ptx: ptx() });
    let mut found = vec![pairs(&text)];
    for power in 5..=20 {
        let odd = Some((1u32 << power) + 96).filter(|stride| !stride.is_power_of_two());
        for stride in [1 << power].into_iter().chain(odd) {
            let mut series = Series::new("slices", format!("stride-{stride}"), &text);
            let bytes = u64::from(stride) * u64::from(LINES);
            series.buffer(Buffer::zeros(DATA, bytes));
            let arguments =
                vec![Argument::Address(DATA, 0), Argument::U64(bytes), Argument::Address(CLOCKS, 0)];
            series.launch("touch", Shape::new(1024, 256), 1, arguments);
            let shape = Shape::new(target.sms, 1024);
            let [short, long] = LOAD_ROUNDS
                .map(|rounds| series.timed("strided", shape, (DATA, 0), rounds, (stride, LINES - 1)));
            let sectors = f64::from((LOAD_ROUNDS[1] - LOAD_ROUNDS[0]) * LOADS * shape.block);
            let quantity = quantity("sectors read with all SMs", "sectors/cycle/SM", Reading::WorkPerCycle);
            let parameters: [(_, &dyn std::fmt::Display); 2] = [("stride", &stride), ("lines", &LINES)];
            series.figure(format!("stride-{stride}"), &parameters, quantity, sectors, Some(short), long);
            found.push(series.done());
        }
    }
    found
}

/// By the bytes between the two words.
fn pairs(text: &Arc<Text>) -> Benchmark {
    let mut series = Series::new("slices", "pairs", text);
    let distances = [0].into_iter().chain((2..=MOST_POWER).map(|power| 1u64 << power));
    series.buffer(Buffer::zeros(DATA, (1 << MOST_POWER) + 4096));
    for apart in distances {
        let shape = Shape::new(32, 256);
        let words = u32::try_from(apart / 4).expect("at most 2^34 bytes");
        let [short, long] =
            ADD_ROUNDS.map(|rounds| series.timed("pair", shape, (DATA, 0), rounds, (words, 0)));
        // A launch runs its rounds twice.
        let work = f64::from(2 * (ADD_ROUNDS[1] - ADD_ROUNDS[0]) * ADDS * shape.grid * shape.block);
        let quantity = quantity("rate of adds to two words", "G thread operations/s", Reading::WorkPerTime);
        let parameters: [(_, &dyn std::fmt::Display); 1] = [("bytes_apart", &apart)];
        series.figure(format!("pair-{apart}"), &parameters, quantity, work, Some(short), long);
    }
    series.done()
}

fn ptx() -> String {
    // Even lanes have one word, odd lanes the other, `p` words on.
    let pair = Timed {
        name: "pair".into(),
        declarations: "    .reg .b32 %odd;\n    .reg .b64 %to;\n".into(),
        setup: "    and.b32 %odd, %lane, 1;
    mul.lo.u32 %odd, %odd, %p;
    mul.wide.u32 %to, %odd, 4;
    add.u64 %to, %to, %at;
    mov.u32 %odd, %loaded;
"
        .into(),
        body: repeated(ADDS as usize, |_| "red.global.add.u32 [%to], %odd;".into()),
        sink: "%odd",
        ..Timed::default()
    };
    // A thread's lines follow those of all before it; `p` bytes lie between two, `q` is the mask of lines.
    let mut body = String::new();
    for i in 0..LOADS {
        body += &format!(
            "    and.b32 %o, %next, %q;\n    mul.wide.u32 %g{i}, %o, %p;\n    add.u64 %g{i}, %g{i}, %at;\n    add.u32 %next, %next, %step;\n"
        );
    }
    body += &repeated(LOADS as usize, |i| format!("ld.global.cg.u32 %x{i}, [%g{i}];"));
    body += &repeated(LOADS as usize, |i| format!("or.b32 %sum, %sum, %x{};", LOADS as usize - 1 - i));
    let strided = Timed {
        name: "strided".into(),
        declarations: format!(
            "    .reg .b32 %o, %next, %step, %sum, %x<{LOADS}>;\n    .reg .b64 %g<{LOADS}>;\n"
        ),
        setup: "    mov.u32 %step, %ntid.x;
    mad.lo.u32 %next, %cta, %step, %thread;
    mov.u32 %o, %nctaid.x;
    mul.lo.u32 %step, %step, %o;
    mov.u32 %sum, %loaded;
"
        .into(),
        body,
        sink: "%sum",
        ..Timed::default()
    };
    header("7.0", "sm_70") + super::chase::TOUCH + &pair.text() + &strided.text()
}
