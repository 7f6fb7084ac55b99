//! The Stash paper's On-demand (section 5.4.1): one element in 32 is updated, by a condition that only the kernel knows.

mod expected;

use super::prelude::*;
use crate::elements::Elements;

pub(super) const WORKLOAD: Workload = Workload {
    name: "on-demand",
    suite: "stash",
    papers: &["stash"],
    description: "One field of one struct in 32 is updated, by a condition that only the running kernel knows: one lane of each warp has \
                  accesses, unless all fields are copied beforehand.",
    kernels: &[kernel("cpu_write", ""), kernel("cpu_read", ""), kernel("on_demand", "On-demand")],
    differences: &[
        "the paper gives no program, no struct and no length: structs have 32 bytes, and an update is 3 x + 1",
        "the condition is computed from the thread's number and an argument, so that it costs no access",
    ],
    inputs: &[
        input(Size::Test, "1,536 elements", || Box::new(OnDemand { elements: 1536 })),
        input(Size::Small, "8,192 elements", || Box::new(OnDemand { elements: 8192 })),
        input(Size::Paper, "32,768 elements: 128 KB of fields in 1 MB", || {
            Box::new(OnDemand { elements: 32_768 })
        }),
        input(Size::Stash, "32,768 elements: 128 KB of fields in 1 MB", || {
            Box::new(OnDemand { elements: 32_768 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' BLOCK.
const BLOCK: usize = 256;

/// The argument of the condition.
const PICK: u32 = 5;

#[derive(Debug)]
struct OnDemand {
    /// A multiple of BLOCK.
    elements: usize,
}

impl Body for OnDemand {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let elements = Elements::begin(host, "elements", self.elements)?;
        let grid = [ctas(self.elements, BLOCK as u32), 1, 1];
        host.launch("on_demand", grid, [BLOCK as u32, 1, 1], args![elements.ptr(), PICK])?;
        elements.end(host, "hashes", expected::field)
    }
}
