//! Launches: how long one takes after another, and how fast CTAs come and go.

use std::sync::Arc;

use super::benchmark::{Benchmark, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

pub(super) fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = Arc::new(Text {
        name: "launches".into(),
        ptx: header("7.0", "sm_70") + "\n.visible .entry empty()\n{\n    ret;\n}\n",
    });
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
    for per_sm in [1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter(|_| scale == Scale::Full) {
        let ctas = target.sms * per_sm;
        let case = format!("back-to-back-{ctas}-ctas");
        let mut series = Series::new("launches", &case, &text);
        let [_, short, long] =
            [few, few, many].map(|repeat| series.launch("empty", Shape::new(ctas, 128), repeat, vec![]));
        let parameters: [(_, &dyn std::fmt::Display); 2] = [("ctas", &ctas), ("threads", &128)];
        let quantity = quantity("interval of launches", "us", Reading::TimePerWork);
        series.figure(&case, &parameters, quantity, f64::from(many - few) * 1e3, Some(short), long);
        found.push(series.done());
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
