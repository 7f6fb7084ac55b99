//! Launches: how long one takes after another, and how fast CTAs come and go.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

/// How many parameters kernels have.
const PARAMETERS: [u32; 6] = [1, 8, 32, 64, 128, 500];

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text { name: "launches".into(), ptx: ptx() });
    let mut found = vec![];
    let (few, many) = match scale {
        Scale::Small => (2, 6),
        Scale::Full => (50, 250),
    };
    for (name, grid, block) in
        [("one-warp", 1, 32), ("one-per-sm", target.sms, 256), ("full", target.sms * 2, 1024)]
    {
        let mut series = Series::new("launches", format!("back-to-back-{name}"), &text);
        let [_, short, long] =
            [few, few, many].map(|repeat| series.launch("empty", Shape::new(grid, block), repeat, vec![]));
        let parameters: [(_, &dyn std::fmt::Display); 2] = [("ctas", &grid), ("threads", &block)];
        let quantity = quantity("interval of launches", "us", Reading::TimePerWork);
        let work = f64::from(many - few) * 1e3;
        series.figure(format!("back-to-back-{name}"), &parameters, quantity, work, Some(short), long);
        found.push(series.done());
    }
    let empty = |found: &mut Vec<Benchmark>, parameters: u32, ctas: u32| {
        let case = format!("back-to-back-{parameters}-parameters-{ctas}-ctas");
        let mut series = Series::new("launches", &case, &text);
        let kernel = if parameters == 0 { "empty".to_owned() } else { format!("empty_{parameters}") };
        let arguments = vec![Argument::U64(1); parameters as usize];
        let [_, short, long] = [few, few, many]
            .map(|repeat| series.launch(&kernel, Shape::new(ctas, 128), repeat, arguments.clone()));
        let bytes = parameters * 8;
        let parameters: [(_, &dyn std::fmt::Display); 3] =
            [("ctas", &ctas), ("threads", &128), ("parameter_bytes", &bytes)];
        let quantity = quantity("interval of launches", "us", Reading::TimePerWork);
        series.figure(&case, &parameters, quantity, f64::from(many - few) * 1e3, Some(short), long);
        found.push(series.done());
    };
    if scale == Scale::Full {
        for parameters in PARAMETERS {
            empty(&mut found, parameters, 1);
        }
        for per_sm in [1, 2, 4, 8, 16, 32, 64, 128] {
            empty(&mut found, 0, target.sms * per_sm);
        }
    }
    let threads: &[u32] = match scale {
        Scale::Small => &[64, 256],
        Scale::Full => &[32, 64, 128, 256, 512, 1024],
    };
    for block in threads {
        let mut series = Series::new("launches", format!("ctas-{block}"), &text);
        let per_sm = match scale {
            Scale::Small => (8, 24),
            Scale::Full => (64, 320),
        };
        let [_, short, long] = [per_sm.0, per_sm.0, per_sm.1]
            .map(|ctas| series.launch("empty", Shape::new(target.sms * ctas, *block), 1, vec![]));
        let parameters: [(_, &dyn std::fmt::Display); 2] = [("threads", block), ("sms", &target.sms)];
        let quantity = quantity("interval of CTAs", "ns", Reading::TimePerWork);
        let work = f64::from((per_sm.1 - per_sm.0) * target.sms);
        series.figure(format!("ctas-{block}"), &parameters, quantity, work, Some(short), long);
        found.push(series.done());
    }
    found
}

/// Kernels without anything to do, by their parameters of 8 bytes.
fn ptx() -> String {
    let kernel = |name: String, parameters: u32| {
        let list: Vec<String> = (0..parameters).map(|i| format!(".param .u64 p{i}")).collect();
        format!("\n.visible .entry {name}({})\n{{\n    ret;\n}}\n", list.join(", "))
    };
    let with_parameters = PARAMETERS.map(|parameters| kernel(format!("empty_{parameters}"), parameters));
    header("7.0", "sm_70") + &kernel("empty".into(), 0) + &with_parameters.concat()
}
