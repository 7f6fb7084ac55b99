//! Lines, one after the other: the latency of the last-level cache, seen by warps that do nothing else.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "lines-chase",
    suite: "Strata",
    papers: &[],
    description: "Warps go from line to line, past the L1D: the latency of the last-level cache.",
    kernels: &[kernel("lines_chase", "lines_chase")],
    differences: &[],
    inputs: &[
        input(Size::Test, "3 warps, 400 lines, 500 steps", || {
            Box::new(Chase { warps: 3, lines: 400, steps: 500 })
        }),
        input(Size::Small, "3 warps, 4,000 lines, 40,000 steps", || {
            Box::new(Chase { warps: 3, lines: 4000, steps: 40_000 })
        }),
        input(Size::Paper, "3 warps, 4,000 lines, 400,000 steps", || {
            Box::new(Chase { warps: 3, lines: 4000, steps: 400_000 })
        }),
        input(Size::Morpheus, "1 warp, 1,000 lines, 20,000 steps", || {
            Box::new(Chase { warps: 1, lines: 1000, steps: 20_000 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

#[derive(Debug)]
struct Chase {
    /// Warps, each a CTA; warp w begins at line w.
    warps: u32,
    lines: usize,
    steps: u32,
}

impl Chase {
    /// The line behind each line: one circle through all of them, in an order without pattern.
    fn next(&self) -> Vec<u32> {
        let mut random = Random::new(0x11);
        let mut order: Vec<u32> = (0..self.lines as u32).collect();
        for place in (1..self.lines).rev() {
            order.swap(place, random.below(place as u64 + 1) as usize);
        }
        let mut next = vec![0; self.lines];
        for (place, line) in order.iter().enumerate() {
            next[*line as usize] = order[(place + 1) % self.lines];
        }
        next
    }
}

impl Body for Chase {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let next = self.next();
        let words: Vec<u32> = next.iter().flat_map(|line| [*line; 32]).collect();
        let d_next = host.buffer("next", &words)?;
        let d_last = host.zeros::<u32>("last", 32 * self.warps as usize)?;
        host.launch("lines_chase", [self.warps, 1, 1], [32, 1, 1], args![d_next, d_last, self.steps])?;
        host.exact("last", d_last, &self.expected(&next))?;
        Ok(())
    }
}
