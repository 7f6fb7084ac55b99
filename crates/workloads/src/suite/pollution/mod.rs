//! The Stash paper's Pollution (section 5.4.1): one array passes by while another is used again and again.

mod expected;

use super::prelude::*;
use crate::elements::Elements;

pub(super) const WORKLOAD: Workload = Workload {
    name: "pollution",
    suite: "stash",
    papers: &["stash"],
    description: "One field of each struct is updated in two arrays: a long one that passes by once, and one of 24 KB of lines that is \
                  updated at every step and stays in a cache of 32 KB unless the long one goes through it.",
    kernels: &[kernel("cpu_write", ""), kernel("cpu_read", ""), kernel("pollution", "Pollution")],
    differences: &[
        "the paper gives no program, no struct and no length: structs have 32 bytes, and an update is 3 x + 1",
        "a CTA has 128 elements of B and, one step after the other, as many of A, so that no two CTAs share any",
    ],
    inputs: &[
        input(Size::Test, "A 1,536 elements, B 768", || Box::new(Pollution { steps: 2 })),
        input(Size::Small, "A 6,144 elements, B 768", || Box::new(Pollution { steps: 8 })),
        input(Size::Paper, "A 12,288 elements: 48 KB of fields in 384 KB; B 768: 24 KB of lines", || {
            Box::new(Pollution { steps: 16 })
        }),
        input(Size::Stash, "A 12,288 elements: 48 KB of fields in 384 KB; B 768: 24 KB of lines", || {
            Box::new(Pollution { steps: 16 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' BLOCK.
const BLOCK: usize = 128;

/// CTAs. Their part of B and a step of A have 48 KB of lines.
const CTAS: usize = 6;

#[derive(Debug)]
struct Pollution {
    /// Elements of A for each of B.
    steps: usize,
}

impl Body for Pollution {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let passing = Elements::begin(host, "a", self.steps * CTAS * BLOCK)?;
        let staying = Elements::begin(host, "b", CTAS * BLOCK)?;
        let args = args![passing.ptr(), staying.ptr(), int(self.steps)];
        host.launch("pollution", [CTAS as u32, 1, 1], [BLOCK as u32, 1, 1], args)?;
        passing.end(host, "hashes_a", |_, first| expected::field(first, 1))?;
        staying.end(host, "hashes_b", |_, first| expected::field(first, self.steps))
    }
}
