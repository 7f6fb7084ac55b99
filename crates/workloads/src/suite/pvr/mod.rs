//! Mars's Page View Rank: pages by how often they were viewed.

mod expected;

use super::prelude::*;
use crate::mapreduce::text::url;
use crate::mapreduce::{BLOCK, MAP_GROUP, MapReduce, Shape, mars_differences};

pub(super) const WORKLOAD: Workload = Workload {
    name: "pvr",
    suite: "Mars",
    papers: &["fuse"],
    description: "Sorts pages by their number of views: almost all of it is a bitonic sort whose entries are moved \
                  and whose integer keys are read where map put them, coalesced at first and scattered later.",
    kernels: &MAP_GROUP,
    differences: mars_differences![
        "but for size suite, views follow Zipf's law and so repeat; Mars's are uniform random",
    ],
    inputs: &[
        input(Size::Test, "600 pages", || Box::new(Pvr { pages: 600, views: Views::Popular })),
        input(Size::Small, "12,000 pages", || Box::new(Pvr { pages: 12_000, views: Views::Popular })),
        input(Size::Paper, "250,000 pages (Mars: 1,000,000)", || {
            Box::new(Pvr { pages: 250_000, views: Views::Popular })
        }),
        suite_input(
            "1,000,000 pages",
            "Mars, PVR_BIN/run.sh: Gen data 1000000 rank",
            Piece::Input("the first 65,536 pages: 256 of the 3,907 CTAs of map, and what they emit"),
            || Box::new(Pvr { pages: 65_536, views: Views::Uniform }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// How often pages were viewed.
#[derive(Clone, Copy, Debug)]
enum Views {
    /// By Zipf's law.
    Popular,
    /// At random, all numbers alike, as Mars's generator has it.
    Uniform,
}

#[derive(Debug)]
struct Pvr {
    pages: usize,
    views: Views,
}

/// A line of the input, already read: a page's views and where the line that names it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Page {
    views: i32,
    offset: i32,
}

impl Pvr {
    fn pages(&self) -> Vec<Page> {
        match self.views {
            Views::Popular => self.popular_pages(),
            Views::Uniform => self.uniform_pages(),
        }
    }

    /// Pages of one site, of which Mars's generator names 1024.
    fn uniform_pages(&self) -> Vec<Page> {
        let mut random = Random::new(0x9a);
        let mut offset = 0;
        let page = |_| {
            let line = format!("http://www.abcdefg.com/{}.html\t", random.below(1024));
            let views = random.below(1 << 31) as i32;
            let page = Page { views, offset };
            offset += int(line.len() + 1 + views.to_string().len());
            page
        };
        (0..self.pages).map(page).collect()
    }

    /// Pages in random order; the page of rank r has some 4 n / (r + 1) views.
    fn popular_pages(&self) -> Vec<Page> {
        let mut random = Random::new(0x9a);
        let mut ranks: Vec<usize> = (0..self.pages).collect();
        for at in (1..ranks.len()).rev() {
            ranks.swap(at, random.below(at as u64 + 1) as usize);
        }
        let mut offset = 0;
        let mut page = |rank: usize| {
            let expected = 4 * self.pages / (rank + 1);
            let views = int(expected + random.below(expected as u64 / 4 + 1) as usize);
            let page = Page { views, offset };
            offset += int(url(rank).len() + 2 + views.to_string().len());
            page
        };
        ranks.into_iter().map(&mut page).collect()
    }
}

impl Body for Pvr {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let pages = self.pages();
        let ranking = expected::ranking(&pages);

        let job = MapReduce { label: "pages", input: &[], block: BLOCK };
        let keys: Vec<i32> = pages.iter().map(|page| page.views).collect();
        let values: Vec<i32> = pages.iter().map(|page| page.offset).collect();
        let records = job.records(host, pages.len(), &keys, &values)?;
        let pairs = job.map(host, records, pages.len(), Shape { key_bytes: 4, value_bytes: 4 })?;
        let groups = job.group(host, pairs, ranking.firsts.len())?;

        job.check_groups(host, groups, &ranking.views, &ranking.offsets, &ranking.firsts)
    }
}
