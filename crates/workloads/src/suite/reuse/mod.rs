//! The Stash paper's Reuse (section 5.4.1): launch after launch updates the same fields.

mod expected;

use super::prelude::*;
use crate::elements::Elements;

pub(super) const WORKLOAD: Workload = Workload {
    name: "reuse",
    suite: "stash",
    papers: &["stash"],
    description: "Launch after launch updates the same field of each struct of an array: the fields together are smaller than a \
                  scratchpad of 16 KB, the lines that they lie in are three times a cache of 32 KB.",
    kernels: &[kernel("cpu_write", ""), kernel("cpu_read", ""), kernel("reuse", "Reuse")],
    differences: &[
        "the paper gives no program, no struct and no length: structs have 32 bytes, and an update is 3 x + 1",
        "a CTA has 512 elements, so that all six CTAs are resident on one SM and their scratchpads hold all fields",
    ],
    inputs: &[
        input(Size::Test, "3,072 elements, 2 launches", || Box::new(Reuse { launches: 2 })),
        input(Size::Small, "3,072 elements, 8 launches", || Box::new(Reuse { launches: 8 })),
        input(Size::Paper, "3,072 elements, 16 launches: 12 KB of fields in 96 KB", || {
            Box::new(Reuse { launches: 16 })
        }),
        input(Size::Stash, "3,072 elements, 16 launches: 12 KB of fields in 96 KB", || {
            Box::new(Reuse { launches: 16 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' PIECE.
const PIECE: usize = 512;

/// The kernels' BLOCK.
const BLOCK: u32 = 256;
/// CTAs: 1,536 threads, what an SM holds.
const CTAS: usize = 6;

#[derive(Debug)]
struct Reuse {
    launches: usize,
}

impl Body for Reuse {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let elements = Elements::begin(host, "elements", CTAS * PIECE)?;
        for _ in 0..self.launches {
            host.launch("reuse", [CTAS as u32, 1, 1], [BLOCK, 1, 1], args![elements.ptr()])?;
        }
        elements.end(host, "hashes", |_, first| expected::field(first, self.launches))
    }
}
