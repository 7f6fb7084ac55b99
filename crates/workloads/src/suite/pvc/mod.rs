//! Mars's Page View Count: who viewed each page, each line of the log counted once.

mod expected;
mod log;

use self::log::{Log, Pages};
use super::prelude::*;
use crate::mapreduce::{BLOCK, MAP_REDUCE, MapReduce, Shape, mars_differences};

pub(super) const WORKLOAD: Workload = Workload {
    name: "pvc",
    suite: "Mars",
    papers: &["fuse"],
    description: "Drops repeated lines of a web log, then groups its views by page, two MapReduces: each thread \
                  hashes its line byte by byte; the sorts compare hashes, and for equal ones texts that lie anywhere.",
    kernels: &MAP_REDUCE,
    differences: mars_differences![
        "but for size suite, pages follow Zipf's law with addresses of several lengths, and one line of eight repeats \
         an earlier one; Mars's lines are uniform random",
        "the second MapReduce takes the first one's output where it lies, without a copy through the host",
        "sizes of lines and of URLs leave the zero byte at their ends out, and so do their hashes",
    ],
    inputs: &[
        input(Size::Test, "90 lines, 60 pages, 32 threads per CTA", || {
            Box::new(Pvc { lines: 90, pages: Pages::Popular(60), block: 32 })
        }),
        input(Size::Small, "3,900 lines, 1024 pages", || {
            Box::new(Pvc { lines: 3_900, pages: Pages::Popular(1024), block: BLOCK })
        }),
        input(Size::Paper, "80,000 lines, 10,000 pages", || {
            Box::new(Pvc { lines: 80_000, pages: Pages::Popular(10_000), block: BLOCK })
        }),
        suite_input(
            "1,000,000 lines, 1024 pages",
            "Mars, PVC_BIN/run.sh: Gen data 1000000 count",
            Piece::Input("the first 16,384 lines: 64 of the 3,907 CTAs of map, and what they emit"),
            || Box::new(Pvc { lines: 16_384, pages: Pages::Uniform(1024), block: BLOCK }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

#[derive(Debug)]
struct Pvc {
    lines: usize,
    pages: Pages,
    block: u32,
}

impl Body for Pvc {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let log = Log::random(self.lines, self.pages, 0x9c);
        let distinct = log.distinct();
        let views = log.views(&distinct);

        let text = host.buffer("text", &log.text)?;
        let lines = MapReduce { label: "lines", input: args![text], block: self.block };
        let keys: Vec<i32> = log.lines.iter().flat_map(|line| [int(line.offset), 0]).collect();
        let values: Vec<i32> = log.lines.iter().flat_map(|line| [int(line.bytes), 0]).collect();
        let records = lines.records(host, log.lines.len(), &keys, &values)?;
        let shape = Shape { key_bytes: 8, value_bytes: 8 };
        let mapped = lines.map(host, records, log.lines.len(), shape)?;
        let groups = lines.group(host, mapped, distinct.len())?;
        let reduced = lines.reduce(host, groups, shape)?;

        let pages = MapReduce { label: "pages", input: args![text], block: self.block };
        let shape = Shape { key_bytes: 8, value_bytes: 4 };
        let mapped = pages.map(host, reduced, distinct.len(), shape)?;
        let groups = pages.group(host, mapped, views.firsts.len())?;
        pages.check_groups(host, groups, &views.keys, &views.addresses, &views.firsts)?;
        let (keys, values) = log.reduced(&distinct);
        lines.check(host, reduced, &keys, &values)?;
        host.exact("text", text, &views.text)?;
        Ok(())
    }
}
