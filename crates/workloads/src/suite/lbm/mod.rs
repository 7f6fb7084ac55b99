//! Parboil's LBM: a lattice-Boltzmann fluid in a box whose lid moves, one launch per time step.

mod expected;
mod lattice;

use self::expected::expected;
use self::lattice::Lattice;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "lbm",
    suite: "Parboil",
    papers: &["hi-end", "morpheus"],
    description: "A fluid of 19 populations per cell, a CTA per row of cells: each thread reads a word of 19 arrays \
                  and writes a word of 19, many of them one word off alignment; nothing is used twice in a step.",
    kernels: &[kernel("lbm_step", "performStreamCollide_kernel")],
    differences: &[
        "the populations begin up to a sixteenth off equilibrium, at random; Parboil's at rest",
        "the walls are those of the box alone, which Parboil reads from a file",
        "the cells' flags are an array of their own, not a twentieth one in both lattices",
        "3 time steps in place of 100, which is two billion thread-instructions",
        "sizes are parameters of the kernel, not constants",
    ],
    inputs: &[
        input(Size::Test, "20 x 8 x 10 cells, 2 steps", || Box::new(Lbm::new([20, 8, 10], 2))),
        input(Size::Small, "60 x 48 x 40 cells, 2 steps", || Box::new(Lbm::new([60, 48, 40], 2))),
        input(Size::Paper, "120 x 120 x 150 cells, 3 steps (Parboil: 100)", || {
            Box::new(Lbm::new([120, 120, 150], 3))
        }),
        suite_input(
            "120 x 120 x 150 cells",
            "Parboil 2.5, lbm, data set short: lbm 100, 120_120_150_ldc.of",
            Piece::Launches("the first of 100 steps: a launch"),
            || Box::new(Lbm::new([120, 120, 150], 1)),
        ),
        input(Size::Morpheus, "32 x 32 x 16 cells, 5 steps", || Box::new(Lbm::new([32, 32, 16], 5))),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's.
const OMEGA: f32 = 1.95;

#[derive(Debug)]
struct Lbm {
    lattice: Lattice,
    steps: usize,
}

impl Lbm {
    const fn new([x, y, z]: [usize; 3], steps: usize) -> Self {
        Self { lattice: Lattice { x, y, z }, steps }
    }
}

impl Body for Lbm {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { lattice, steps } = self;
        let flags = lattice.flags();
        let initial = lattice.populations(0x1b3);
        let mut source = host.buffer("lattice_0", &initial)?;
        let mut target = host.buffer("lattice_1", &initial)?;
        let d_flags = host.buffer("flags", &flags)?;

        let [x, y, z] = [lattice.x, lattice.y, lattice.z].map(|n| int(n) as u32);
        let [row, plane, cells] = [lattice.row(), lattice.plane(), lattice.cells()].map(int);
        for _ in 0..steps {
            let args = args![source, target, d_flags, row, plane, cells];
            host.launch("lbm_step", [y, z, 1], [x, 1, 1], args)?;
            std::mem::swap(&mut source, &mut target);
        }
        host.near::<f32>("populations", source, expected(lattice, &flags, &initial, steps))?;
        Ok(())
    }
}
