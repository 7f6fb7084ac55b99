//! PolyBench FDTD-2D: Maxwell's equations in a plane by finite differences, three launches per time step.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "fdtd-2d",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "Electric and magnetic fields over time, a thread per cell and a launch per field: coalesced reads \
                  of a cell and its neighbours, written in place, every array streamed again by each launch.",
    kernels: &[
        kernel("fdtd_ey", "fdtd_step1_kernel"),
        kernel("fdtd_ex", "fdtd_step2_kernel"),
        kernel("fdtd_hz", "fdtd_step3_kernel"),
    ],
    differences: &[
        "sizes are parameters of the kernels, not constants",
        "8 steps at paper size instead of 500, already 2.7 billion thread-instructions",
        "fields are uniform random in [-1, 1)",
        "all three fields are compared, not hz alone",
    ],
    inputs: &[
        input(Size::Test, "50 x 100 cells, 3 steps", || Box::new(Fdtd { nx: 50, ny: 100, steps: 3 })),
        input(Size::Small, "512 x 512 cells, 4 steps", || Box::new(Fdtd { nx: 512, ny: 512, steps: 4 })),
        input(Size::Paper, "2048 x 2048 cells, 8 steps (PolyBench: 500 steps)", || {
            Box::new(Fdtd { nx: 2048, ny: 2048, steps: 8 })
        }),
        suite_input(
            "2048 x 2048 cells",
            "polybenchGpu, CUDA/FDTD-2D/fdtd2d.cuh: NX, NY, tmax",
            Piece::Launches("the first of 500 steps: 3 launches"),
            || Box::new(Fdtd { nx: 2048, ny: 2048, steps: 1 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

#[derive(Debug)]
struct Fdtd {
    nx: usize,
    ny: usize,
    steps: usize,
}

/// The fields, row by row: ex has a value more in each row than hz, ey a row more.
struct Fields<T> {
    ex: T,
    ey: T,
    hz: T,
}

impl Fdtd {
    /// What the first row of ey is set to in each step: PolyBench's, the step's number.
    fn source(&self) -> Vec<f32> {
        (0..self.steps).map(|t| t as f32).collect()
    }
}

impl Body for Fdtd {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny, .. } = self;
        let mut random = Random::new(0xfd7d);
        let counts = Fields { ex: nx * (ny + 1), ey: (nx + 1) * ny, hz: nx * ny };
        let mut field = |count| random.signed_vec(count);
        let fields = Fields { ex: field(counts.ex), ey: field(counts.ey), hz: field(counts.hz) };
        let source = self.source();
        let d_source = host.buffer("source", &source)?;
        let d_ex = host.buffer("ex", &fields.ex)?;
        let d_ey = host.buffer("ey", &fields.ey)?;
        let d_hz = host.buffer("hz", &fields.hz)?;

        let grid = [ctas(ny, BLOCK[0]), ctas(nx, BLOCK[1]), 1];
        let (rows, columns) = (int(nx), int(ny));
        let mut expected = fields.bounded();
        for (t, &source) in source.iter().enumerate() {
            if t > 0 {
                let ex = host.read(d_ex, counts.ex)?;
                let ey = host.read(d_ey, counts.ey)?;
                expected.accept(&Fields { ex, ey, hz: host.read(d_hz, counts.hz)? });
            }
            expected.step(ny, source);
            let t = int(t);
            host.launch("fdtd_ey", grid, BLOCK, args![rows, columns, d_source, d_ex, d_ey, d_hz, t])?;
            host.launch("fdtd_ex", grid, BLOCK, args![rows, columns, d_ex, d_ey, d_hz, t])?;
            host.launch("fdtd_hz", grid, BLOCK, args![rows, columns, d_ex, d_ey, d_hz, t])?;
        }

        let expected = expected.near();
        host.near::<f32>("ex", d_ex, expected.ex)?;
        host.near::<f32>("ey", d_ey, expected.ey)?;
        host.near::<f32>("hz", d_hz, expected.hz)?;
        Ok(())
    }
}
