//! Rodinia's SRAD v2: despeckles an image in 16 x 16 tiles of shared memory; the statistics are the host's.

mod expected;

use self::expected::{exp, q0sqr};
use super::prelude::*;
// One step is the same in both of Rodinia's programs.
use crate::reference::accepted;
use crate::reference::diffusion::{self, Layout};

pub(super) const WORKLOAD: Workload = Workload {
    name: "srad_v2",
    suite: "Rodinia",
    papers: &["tinycache"],
    description: "Anisotropic diffusion of an image stored by rows: every thread loads a pixel of its 16 x 16 \
                  tile and one of each strip around it into shared memory; the tile's rim and middle branch \
                  apart.",
    kernels: &[kernel("srad_gradient", "srad_cuda_1"), kernel("srad_update", "srad_cuda_2")],
    differences: &[
        "nothing is read outside the image: Rodinia's border tiles read there before they take the border's \
         pixels",
        "the image stays on the device between steps; Rodinia copies it to the host and back",
        "the host adds up the region's statistics in f64, not f32",
        "tinyCache names SRAD without saying which of Rodinia's two it is",
    ],
    inputs: &[
        input(Size::Test, "48 x 80 pixels, 2 steps", || {
            Box::new(Srad { rows: 48, columns: 80, region: 32, steps: 2 })
        }),
        input(Size::Small, "384 x 512 pixels, 2 steps", || {
            Box::new(Srad { rows: 384, columns: 512, region: 128, steps: 2 })
        }),
        input(Size::Paper, "2048 x 2048 pixels, 2 steps", || {
            Box::new(Srad { rows: 2048, columns: 2048, region: 128, steps: 2 })
        }),
        suite_input(
            "1024 x 1024 pixels, statistics of 32 x 32",
            "ESESC, conf/gpu.conf: srad 1024 1024 0 31 0 31 0.5 1",
            Piece::All,
            || Box::new(Srad { rows: 1024, columns: 1024, region: 32, steps: 1 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' TILE, which divides both sides of the image.
const TILE: u32 = 16;
/// The length of a time step, as in Rodinia's run.
const LAMBDA: f32 = 0.5;

#[derive(Debug)]
struct Srad {
    rows: usize,
    columns: usize,
    /// The side of the square in the image's corner whose statistics tell speckle from edges.
    region: usize,
    steps: usize,
}

impl Srad {
    fn layout(&self) -> Layout {
        Layout { rows: self.rows, columns: self.columns, by_columns: false }
    }
}

impl Body for Srad {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { rows, columns, region, steps } = self;
        let pixels = rows * columns;
        let mut random = Random::new(0x52);
        let mut known: Vec<f32> = (0..pixels).map(|_| exp(f64::from(random.unit())) as f32).collect();
        let image = host.buffer("image", &known)?;
        let coefficient = host.zeros::<f32>("coefficient", pixels)?;
        let east = host.zeros::<f32>("east", pixels)?;
        let west = host.zeros::<f32>("west", pixels)?;
        let north = host.zeros::<f32>("north", pixels)?;
        let south = host.zeros::<f32>("south", pixels)?;

        let (grid, block) = ([ctas(columns, TILE), ctas(rows, TILE), 1], [TILE, TILE, 1]);
        for step in 1..=steps {
            let q0sqr = q0sqr(&known, columns, region);
            let (c, r) = (int(columns), int(rows));
            let args = args![east, west, north, south, image, coefficient, c, r, q0sqr];
            host.launch("srad_gradient", grid, block, args)?;
            let args = args![east, west, north, south, image, coefficient, c, r, LAMBDA];
            host.launch("srad_update", grid, block, args)?;

            let expected = self.expected(&known, q0sqr);
            if step == steps {
                host.near::<f32>("image", image, expected)?;
            } else {
                // The next step's expectation starts from what the device has, so that bounds do not grow.
                known = accepted(&host.read(image, pixels)?, &expected);
            }
        }
        Ok(())
    }
}
