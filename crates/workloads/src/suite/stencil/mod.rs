//! Parboil's stencil: Jacobi steps of a 7-point stencil, plane by plane through shared memory.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "stencil",
    suite: "Parboil",
    papers: &["hi-end", "morpheus", "stash"],
    description: "A 7-point stencil on a 3D grid, a launch per step: CTAs walk up the planes with one plane \
                  in shared memory and two in registers, so that global reads and writes stream.",
    kernels: &[kernel("stencil", "block2D_hybrid_coarsen_x")],
    differences: &[
        "both points of a thread add their neighbours in the same order",
        "the grid is uniform random in [0, 1)",
    ],
    inputs: &[
        input(Size::Test, "70 x 10 x 6, 3 iterations", || {
            Box::new(Stencil { nx: 70, ny: 10, nz: 6, iterations: 3 })
        }),
        input(Size::Small, "128 x 128 x 32, 4 iterations", || {
            Box::new(Stencil { nx: 128, ny: 128, nz: 32, iterations: 4 })
        }),
        input(Size::Paper, "512 x 512 x 64, 5 iterations (Parboil: 100)", || {
            Box::new(Stencil { nx: 512, ny: 512, nz: 64, iterations: 5 })
        }),
        suite_input(
            "512 x 512 x 64",
            "Parboil 2.5, stencil, data set default: stencil 512 512 64 100",
            Piece::Launches("the first of 100 iterations: a launch"),
            || Box::new(Stencil { nx: 512, ny: 512, nz: 64, iterations: 1 }),
        ),
        input(Size::Stash, "128 x 128 x 4, 4 iterations", || {
            Box::new(Stencil { nx: 128, ny: 128, nz: 4, iterations: 4 })
        }),
        input(Size::Morpheus, "544 x 144 x 5, 8 iterations", || {
            Box::new(Stencil { nx: 544, ny: 144, nz: 5, iterations: 8 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The weight of the point itself, taken away, and of each of its neighbours.
const C0: f32 = 1.0 / 6.0;
const C1: f32 = 1.0 / 6.0 / 6.0;
/// Parboil's block.
const BLOCK: [u32; 3] = [32, 4, 1];
/// Points along x that a CTA has.
const WIDTH: u32 = 2 * BLOCK[0];

#[derive(Debug)]
struct Stencil {
    nx: usize,
    ny: usize,
    nz: usize,
    iterations: usize,
}

impl Body for Stencil {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny, nz, iterations } = self;
        let mut random = Random::new(0x57e4);
        let start: Vec<f32> = (0..nx * ny * nz).map(|_| random.unit()).collect();
        let mut now = host.buffer("grid_0", &start)?;
        // The surface is never written, so both buffers need it.
        let mut next = host.buffer("grid_1", &start)?;

        let grid = [ctas(nx, WIDTH), ctas(ny, BLOCK[1]), 1];
        // The other versions declare their shared memory.
        let shared_bytes = if host.version() == Workload::DEFAULT_VERSION { WIDTH * BLOCK[1] * 4 } else { 0 };
        for _ in 0..iterations {
            let args = args![C0, C1, now, next, int(nx), int(ny), int(nz)];
            host.launch_with_shared("stencil", grid, BLOCK, shared_bytes, args)?;
            std::mem::swap(&mut now, &mut next);
        }

        host.near::<f32>("grid", now, self.expected(&start))?;
        Ok(())
    }
}
