//! Parboil's MRI-gridding: samples are sorted into the cells of a grid, grid points gather those near them.

mod expected;
mod samples;
mod steps;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "mri-gridding",
    suite: "Parboil",
    papers: &["fuse", "morpheus"],
    description: "Scattered samples to a regular 3D grid: binning with atomics, a radix sort with scans in \
                  shared memory, a permuted copy, and a gather with much divergence from tiles in shared \
                  memory.",
    kernels: &[
        kernel("binning", "binning_kernel"),
        kernel("scan_blocks", "scan_L1_kernel"),
        kernel("scan_totals_up", "scan_inter1_kernel"),
        kernel("scan_totals_down", "scan_inter2_kernel"),
        kernel("add_totals", "uniformAdd"),
        kernel("split_sort", "splitSort"),
        kernel("split_rearrange", "splitRearrange"),
        kernel("reorder", "reorder_kernel"),
        kernel("gridding", "gridding_GPU"),
    ],
    differences: &[
        "samples lie on random lines through the middle of k-space",
        "no cell has more samples than its capacity, so that none are left to the host, which would get \
         those that come last",
        "the totals of a scan are scanned at one level: at most 1024 of them",
        "scans have no padding against bank conflicts; Parboil's comes to nothing by the precedence of its \
         operators",
        "the weights are computed in f32 throughout, and the cutoff's square is compared in f32",
        "buffers of keys and values are padded to a multiple of four, and threads beyond them find no ranks",
    ],
    inputs: &[
        input(Size::Test, "16 x 8 x 8 grid, 41 samples", || {
            Box::new(MriGridding { grid: Grid { size: [16, 8, 8] }, samples: 41 })
        }),
        input(Size::Small, "32 x 16 x 16 grid, 1,501 samples", || {
            Box::new(MriGridding { grid: Grid { size: [32, 16, 16] }, samples: 1501 })
        }),
        input(
            Size::Paper,
            "48 x 48 x 48 grid, 140,000 samples (Parboil: the same density on 128 x 128 x 128)",
            || Box::new(MriGridding { grid: Grid { size: [48; 3] }, samples: 140_000 }),
        ),
        suite_input(
            "24 x 24 x 24 grid, 17,500 samples",
            "Parboil 2.5, mri-gridding, data set small: 2,655,910 samples on 128 x 128 x 128",
            Piece::Input(
                "a cube of its cells with as many samples each: the first CTAs of the whole have none",
            ),
            || Box::new(MriGridding { grid: Grid { size: [24; 3] }, samples: 17_500 }),
        ),
        input(Size::Morpheus, "48 x 48 x 32 grid, 4,000 samples", || {
            Box::new(MriGridding { grid: Grid { size: [48, 48, 32] }, samples: 4_000 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The window's width in cells, and how much finer the grid is than the image.
const WINDOW: f32 = 5.0;
const OVERSAMPLING: f64 = 2.0;
/// Samples of a cell at most.
const CAPACITY: usize = 32;

/// The grid of cells; a grid point is the lowest corner of its cell.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// Along x, y and z: multiples of 8, 4 and 8.
    size: [usize; 3],
}

impl Grid {
    fn cells(&self) -> usize {
        self.size.iter().product()
    }

    fn layer(&self) -> usize {
        self.size[0] * self.size[1]
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }
}

/// A sample of k-space.
#[derive(Clone, Copy, Debug)]
struct Sample {
    real: f32,
    imaginary: f32,
    cell: [usize; 3],
    compensation: f32,
}

#[derive(Debug)]
struct MriGridding {
    grid: Grid,
    samples: usize,
}

/// The window's shape: pi sqrt(w^2 / s^2 (s - 1/2)^2 - 0.8) with w twice the width and s the oversampling
/// (Beatty, Nishimura, Pauly, IEEE Transactions on Medical Imaging 24, 2005).
fn beta() -> f32 {
    let (width, fine) = (f64::from(WINDOW), OVERSAMPLING);
    let root = (4.0 * width * width / (fine * fine) * (fine - 0.5) * (fine - 0.5) - 0.8).sqrt();
    (std::f64::consts::PI * root) as f32
}

impl Body for MriGridding {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { grid, .. } = self;
        let samples = samples::radial(&grid, self.samples, CAPACITY);
        let cutoff = WINDOW / 2.0;
        host.variable("grid_size", &grid.size.map(int))?;
        host.variable("layer_size", &[int(grid.layer())])?;
        host.variable("cutoff", &[cutoff])?;
        host.variable("cutoff_squared", &[cutoff * cutoff])?;
        host.variable("inverse_cutoff_squared", &[1.0 / (cutoff * cutoff)])?;

        let sorted = self.sort(host, &samples)?;
        let d_grid = host.zeros::<f32>("grid", 2 * grid.cells())?;
        let d_density = host.zeros::<f32>("density", grid.cells())?;
        const BLOCK: [u32; 3] = [8, 4, 2];
        let [x, y, z] = grid.size;
        let ctas = [ctas(x, BLOCK[0]), ctas(y, BLOCK[1]) * ctas(z, 4 * BLOCK[2]), 1];
        let args = args![sorted.data, sorted.locations, sorted.bin_starts, d_grid, d_density, beta()];
        host.launch("gridding", ctas, BLOCK, args)?;

        let (order, bin_starts) = expected::sorted(&grid, &samples);
        host.exact("order", sorted.order, &order)?;
        host.exact("bin_starts", sorted.bin_starts, &bin_starts)?;
        let (values, density) = expected::gridded(&grid, &samples, &order);
        host.near::<f32>("grid", d_grid, values)?;
        host.exact("density", d_density, &density)?;
        Ok(())
    }
}
