//! The Stash paper's Implicit (section 5.4.1): one field of every element is updated once.

mod expected;

use super::prelude::*;
use crate::elements::Elements;

pub(super) const WORKLOAD: Workload = Workload {
    name: "implicit",
    suite: "stash",
    papers: &["stash"],
    description: "One field of each struct of an array is updated: CPU cores write the fields, the GPU reads and writes each once, CPU \
                  cores read them. Fields lie 32 bytes apart.",
    kernels: &[kernel("cpu_write", ""), kernel("cpu_read", ""), kernel("implicit", "Implicit")],
    differences: &[
        "the paper gives no program, no struct and no length: structs have 32 bytes, and an update is 3 x + 1",
    ],
    inputs: &[
        input(Size::Test, "3,072 elements", || Box::new(Implicit { elements: 3072 })),
        input(Size::Small, "16,384 elements", || Box::new(Implicit { elements: 16_384 })),
        input(Size::Paper, "32,768 elements: 128 KB of fields in 1 MB", || {
            Box::new(Implicit { elements: 32_768 })
        }),
        input(Size::Stash, "32,768 elements: 128 KB of fields in 1 MB", || {
            Box::new(Implicit { elements: 32_768 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' BLOCK.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Implicit {
    /// A multiple of BLOCK.
    elements: usize,
}

impl Body for Implicit {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let elements = Elements::begin(host, "elements", self.elements)?;
        let grid = [ctas(self.elements, BLOCK), 1, 1];
        host.launch("implicit", grid, [BLOCK, 1, 1], args![elements.ptr()])?;
        elements.end(host, "hashes", expected::field)
    }
}
