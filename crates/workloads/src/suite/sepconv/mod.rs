//! Separable convolution of an image: along rows, then along columns, through tiles in shared memory.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "sepconv",
    suite: "CUDA SDK",
    papers: &["hi-end", "tinycache"],
    description: "An image filtered along rows and then along columns: each CTA loads a tile and its two ends into \
                  shared memory, every thread reads 17 neighbours of each of its 8 elements there, taps come from \
                  constant memory.",
    kernels: &[
        kernel("sepconv_rows", "convolutionRowsKernel"),
        kernel("sepconv_columns", "convolutionColumnsKernel"),
    ],
    differences: &[
        "one convolution instead of sixteen of the same image",
        "rows of the image lie one behind the other, without a pitch of their own",
        "the image has smooth areas, edges and noise, and the taps are random in [-1, 1): the SDK's are random \
         integers",
    ],
    inputs: &[
        input(Size::Test, "256 x 128", || Box::new(SepConv { width: 256, height: 128 })),
        input(Size::Small, "1024 x 1024", || Box::new(SepConv { width: 1024, height: 1024 })),
        input(Size::Paper, "3072 x 3072", || Box::new(SepConv { width: 3072, height: 3072 })),
        suite_input(
            "3072 x 3072",
            "CUDA samples, convolutionSeparable/main.cpp: imageW, imageH",
            Piece::Launches("the first of 17 convolutions: 2 launches"),
            || Box::new(SepConv { width: 3072, height: 3072 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' RADIUS and STEPS.
const RADIUS: usize = 8;
const TAPS: usize = 2 * RADIUS + 1;
const STEPS: usize = 8;
/// The SDK's blocks.
const ROWS: [u32; 3] = [16, 4, 1];
const COLUMNS: [u32; 3] = [16, 8, 1];

#[derive(Debug)]
struct SepConv {
    width: usize,
    height: usize,
}

impl SepConv {
    /// A slope in both directions, brighter or darker in rectangles, and noise all over.
    fn image(&self, random: &mut Random) -> Vec<f32> {
        let &Self { width, height } = self;
        let slope = |at: usize| (at / width + at % width) as f32 * (96.0 / (width + height) as f32);
        let mut image: Vec<f32> =
            (0..width * height).map(|at| 80.0 + slope(at) + 8.0 * random.signed()).collect();
        for _ in 0..16 {
            let mut range = |side: usize| {
                let start = random.below(side as u64) as usize;
                start..(start + side / 8).min(side)
            };
            let (rows, columns) = (range(height), range(width));
            let brighter = 48.0 * random.signed();
            for row in rows {
                image[row * width..][columns.clone()].iter_mut().for_each(|value| *value += brighter);
            }
        }
        image
    }
}

impl Body for SepConv {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { width, height } = self;
        let mut random = Random::new(0x5e9c);
        let filter = random.signed_vec(TAPS);
        let image = self.image(&mut random);
        host.variable("filter", &filter)?;
        let d_image = host.buffer("image", &image)?;
        let d_rows = host.zeros::<f32>("rows", image.len())?;
        let d_result = host.zeros::<f32>("result", image.len())?;

        let row_grid = [ctas(width / STEPS, ROWS[0]), ctas(height, ROWS[1]), 1];
        let args = args![d_rows, d_image, int(width), int(height)];
        host.launch("sepconv_rows", row_grid, ROWS, args)?;
        let column_grid = [ctas(width, COLUMNS[0]), ctas(height / STEPS, COLUMNS[1]), 1];
        let args = args![d_result, d_rows, int(width), int(height)];
        host.launch("sepconv_columns", column_grid, COLUMNS, args)?;

        let (rows, result) = self.expected(&image, &filter);
        host.near::<f32>("rows", d_rows, rows)?;
        host.near::<f32>("result", d_result, result)?;
        Ok(())
    }
}
