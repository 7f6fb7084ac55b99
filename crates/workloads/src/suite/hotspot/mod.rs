//! Rodinia's HotSpot: a thermal stencil, several time steps per launch in overlapping shared-memory tiles.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "hotspot",
    suite: "Rodinia",
    papers: &["hi-end", "morpheus", "tinycache"],
    description: "Temperatures of a chip over time: each CTA loads a 16 x 16 tile, steps it in shared memory \
                  between barriers, and writes back the middle that is still right.",
    kernels: &[kernel("hotspot", "calculate_temp")],
    differences: &[
        "temperatures and power are random in the range of Rodinia's files: 323 to 342 K, 0 to 0.01 W",
        "the stencil's constants are computed by the host",
        "the last launch of several has only the CTAs that its steps ask for",
    ],
    inputs: &[
        input(Size::Test, "40 x 56 cells, 5 steps", || Box::new(Hotspot { rows: 40, columns: 56, steps: 5 })),
        input(Size::Small, "512 x 512 cells, 4 steps", || {
            Box::new(Hotspot { rows: 512, columns: 512, steps: 4 })
        }),
        input(Size::Paper, "1024 x 1024 cells, 12 steps", || {
            Box::new(Hotspot { rows: 1024, columns: 1024, steps: 12 })
        }),
        suite_input("1024 x 1024 cells", "ESESC, conf/gpu.conf: hotspot 1024 2 1", Piece::All, || {
            Box::new(Hotspot { rows: 1024, columns: 1024, steps: 1 })
        }),
        input(Size::Morpheus, "512 x 512 cells, 2 steps", || {
            Box::new(Hotspot { rows: 512, columns: 512, steps: 2 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's TILE.
const TILE: usize = 16;
/// Time steps per launch, Rodinia's pyramid height.
const PYRAMID: usize = 2;
/// Kelvin, as Rodinia has it.
const AMBIENT: f32 = 80.0;

#[derive(Debug)]
struct Hotspot {
    rows: usize,
    columns: usize,
    steps: usize,
}

/// The stencil's constants.
#[derive(Clone, Copy, Debug)]
struct Constants {
    dt_over_cap: f32,
    rx_inverse: f32,
    ry_inverse: f32,
    rz_inverse: f32,
}

impl Hotspot {
    /// Rodinia's chip: 16 mm x 16 mm x 0.5 mm of silicon, and the time step that keeps a cell's change by
    /// heating below 1 mK.
    fn constants(&self) -> Constants {
        const SIDE: f32 = 0.016;
        const THICKNESS: f32 = 0.0005;
        /// J / (m^3 K), and the factor that fits the capacitance.
        const SPECIFIC_HEAT: f32 = 1.75e6;
        const CAPACITANCE_FACTOR: f32 = 0.5;
        /// W / (m K).
        const CONDUCTIVITY: f32 = 100.0;
        /// W / m^2.
        const MAX_POWER_DENSITY: f32 = 3.0e6;
        const PRECISION: f32 = 0.001;

        let height = SIDE / self.rows as f32;
        let width = SIDE / self.columns as f32;
        let capacitance = CAPACITANCE_FACTOR * SPECIFIC_HEAT * THICKNESS * width * height;
        let max_slope = MAX_POWER_DENSITY / (CAPACITANCE_FACTOR * THICKNESS * SPECIFIC_HEAT);
        Constants {
            dt_over_cap: PRECISION / max_slope / capacitance,
            rx_inverse: 2.0 * CONDUCTIVITY * THICKNESS * height / width,
            ry_inverse: 2.0 * CONDUCTIVITY * THICKNESS * width / height,
            rz_inverse: CONDUCTIVITY * height * width / THICKNESS,
        }
    }
}

/// Above every temperature that occurs, in Kelvin.
const HOTTEST: f64 = 350.0;

impl Body for Hotspot {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let cells = self.rows * self.columns;
        let mut random = Random::new(0x407);
        let temperature: Vec<f32> = (0..cells).map(|_| 323.0 + 19.0 * random.unit()).collect();
        let power: Vec<f32> = (0..cells).map(|_| 0.01 * random.unit()).collect();
        let d_power = host.buffer("power", &power)?;
        let mut source = host.buffer("temperature_0", &temperature)?;
        let mut target = host.zeros::<f32>("temperature_1", cells)?;

        let c = self.constants();
        let mut left = self.steps;
        while left > 0 {
            let steps = left.min(PYRAMID);
            // A run of fewer steps than a pyramid has a pyramid's CTAs: the last ones lie off the chip.
            let tiled_steps = if self.steps < PYRAMID { PYRAMID } else { steps };
            let useful = TILE - 2 * tiled_steps;
            let tiles = |cells: usize| int(cells.div_ceil(useful)) as u32;
            let args = args![
                int(self.rows),
                int(self.columns),
                int(steps),
                d_power,
                source,
                target,
                c.dt_over_cap,
                c.rx_inverse,
                c.ry_inverse,
                c.rz_inverse,
                AMBIENT,
            ];
            let grid = [tiles(self.columns), tiles(self.rows), 1];
            host.launch("hotspot", grid, [TILE as u32, TILE as u32, 1], args)?;
            std::mem::swap(&mut source, &mut target);
            left -= steps;
        }

        host.near::<f32>("temperature", source, self.expected(&temperature, &power))?;
        Ok(())
    }
}
