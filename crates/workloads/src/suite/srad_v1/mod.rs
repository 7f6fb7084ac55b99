//! Rodinia's SRAD v1: despeckles an ultrasound image; six kernels, index arrays, sums by a tree.

mod expected;
mod image;

use self::expected::{Sums, compressed, extracted, q0sqr};
use super::prelude::*;
use crate::reference::diffusion::{self, Layout};

pub(super) const WORKLOAD: Workload = Workload {
    name: "srad_v1",
    suite: "Rodinia",
    papers: &["fuse"],
    description: "Anisotropic diffusion of an image stored by columns: a pixel per thread, neighbours through \
                  index arrays, no tiles; every step reduces the image to two sums in shared memory, level by \
                  level.",
    kernels: &[
        kernel("extract", "extract"),
        kernel("prepare", "prepare"),
        kernel("reduce", "reduce"),
        kernel("srad", "srad"),
        kernel("srad2", "srad2"),
        kernel("compress", "compress"),
    ],
    differences: &[
        "the image is made up: discs and a gradient under speckle, not a scaled copy of Rodinia's",
        "the terms left over in a level of the reduction are read at that level's stride; Rodinia reads \
         adjacent elements, which above the first level are not partial sums",
        "the tree of the reduction is computed by all CTAs, not chosen by branches for full and other CTAs",
        "sizes are 32-bit, and kernels take only the arguments that they use",
    ],
    inputs: &[
        input(Size::Test, "31 x 35 pixels, 5 steps", || Box::new(Srad { rows: 31, columns: 35, steps: 5 })),
        input(Size::Small, "150 x 170 pixels, 8 steps", || {
            Box::new(Srad { rows: 150, columns: 170, steps: 8 })
        }),
        input(Size::Paper, "502 x 458 pixels, 100 steps", || {
            Box::new(Srad { rows: 502, columns: 458, steps: 100 })
        }),
        suite_input(
            "502 x 458 pixels",
            "Rodinia 3.1, cuda/srad/srad_v1/run: srad 100 0.5 502 458",
            Piece::Launches(
                "the first 5 of 100 steps, and the conversions before and after all: 27 launches",
            ),
            || Box::new(Srad { rows: 502, columns: 458, steps: 5 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' BLOCK, Rodinia's.
const BLOCK: u32 = 512;
/// The length of a time step, as in Rodinia's run.
const LAMBDA: f32 = 0.5;
/// After so many steps the device's image, if right, is what the next step starts from: the bound on its error grows with
/// each.
const STEPS_TO_ACCEPTANCE: usize = 4;

#[derive(Debug)]
struct Srad {
    rows: usize,
    columns: usize,
    steps: usize,
}

impl Srad {
    fn layout(&self) -> Layout {
        Layout { rows: self.rows, columns: self.columns, by_columns: true }
    }
}

impl Body for Srad {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { rows, columns, steps } = self;
        let pixels = rows * columns;
        let n = int(pixels);
        let (grid, block) = ([ctas(pixels, BLOCK), 1, 1], [BLOCK, 1, 1]);

        let greys = image::ultrasound(rows, columns, 0x5a);
        let image = host.buffer("image", &greys)?;
        let before = |count: usize| (0..int(count)).map(|i| 0.max(i - 1)).collect::<Vec<i32>>();
        let after = |count: usize| (0..int(count)).map(|i| (i + 1).min(int(count) - 1)).collect::<Vec<i32>>();
        let to_north = host.buffer("to_north", &before(rows))?;
        let to_south = host.buffer("to_south", &after(rows))?;
        let to_east = host.buffer("to_east", &after(columns))?;
        let to_west = host.buffer("to_west", &before(columns))?;
        let sums = host.zeros::<f32>("sums", pixels)?;
        let sums2 = host.zeros::<f32>("sums2", pixels)?;
        let north = host.zeros::<f32>("north", pixels)?;
        let south = host.zeros::<f32>("south", pixels)?;
        let east = host.zeros::<f32>("east", pixels)?;
        let west = host.zeros::<f32>("west", pixels)?;
        let coefficient = host.zeros::<f32>("coefficient", pixels)?;

        host.launch("extract", grid, block, args![n, image])?;
        let mut known = extracted(&greys);
        let mut expected = Sums::default();
        for step in 1..=steps {
            host.launch("prepare", grid, block, args![n, image, sums, sums2])?;
            let (mut terms, mut stride) = (pixels, 1);
            while terms > 1 {
                let args = args![int(terms), int(stride), sums, sums2];
                host.launch("reduce", [ctas(terms, BLOCK), 1, 1], block, args)?;
                terms = terms.div_ceil(BLOCK as usize);
                stride *= BLOCK as usize;
            }
            let total = host.read::<f32>(sums, 1)?[0];
            let total2 = host.read::<f32>(sums2, 1)?[0];
            let args = args![
                int(rows),
                n,
                to_north,
                to_south,
                to_east,
                to_west,
                north,
                south,
                east,
                west,
                q0sqr(total, total2, pixels),
                coefficient,
                image,
            ];
            host.launch("srad", grid, block, args)?;
            let args =
                args![LAMBDA, int(rows), n, to_south, to_east, north, south, east, west, coefficient, image];
            host.launch("srad2", grid, block, args)?;

            expected = Sums::new(&known);
            known = diffusion::step(self.layout(), &known, expected.q0sqr(), f64::from(LAMBDA));
            if step % STEPS_TO_ACCEPTANCE == 0 {
                let found = host.read::<f32>(image, pixels)?;
                known = known.iter().zip(found).map(|(pixel, found)| pixel.accepting(found)).collect();
            }
        }
        host.launch("compress", grid, block, args![n, image])?;

        let Sums { sums: terms, sums2: terms2 } = expected;
        host.near::<f32>("sums", sums, terms.into_iter().map(Bounded::near).collect())?;
        host.near::<f32>("sums2", sums2, terms2.into_iter().map(Bounded::near).collect())?;
        host.near::<f32>("image", image, compressed(&known))?;
        Ok(())
    }
}
