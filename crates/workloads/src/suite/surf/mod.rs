//! SURF: interest points of an image and their descriptors (Bay, Tuytelaars, Van Gool, ECCV 2006).

mod describe;
mod expected;
mod image;
mod layers;
mod size;
mod steps;

use self::describe::{Gradient, direction};
use self::expected::{Point, Sums};
use self::image::Image;
use self::size::Surf;
use self::steps::Buffers;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "surf",
    suite: "computer vision",
    papers: &["stash"],
    description: "Interest points of a grey image: scans and transposes in shared memory make an integral image, whose \
                  corners are then read at growing distances, once per scale and again around each point found.",
    kernels: &[
        kernel("scan_pieces", ""),
        kernel("scan_add", ""),
        kernel("scan_rows", "scan"),
        kernel("transpose", "transpose"),
        kernel("hessian_determinant", "hessian_det"),
        kernel("suppress_non_maxima", "non_max_supression_kernel"),
        kernel("write_points", "non_max_supression_kernel"),
        kernel("sample_gradients", "getOrientationStep1"),
        kernel("find_direction", "getOrientationStep2"),
        kernel("describe", "createDescriptors_kernel"),
        kernel("normalize_descriptors", "normalizeDescriptors"),
    ],
    differences: &[
        "the paper names no program; kernels, blocks and their use of shared memory are those of clSURF, whose buffers \
         stand for images",
        "the image is generated: a slope, patches, blobs and noise; pixels are integers and so is the integral image",
        "box filters are centred; clSURF's reach a pixel further to the left and to the top",
        "points are marked, and written at places from prefix sums, where clSURF counts them with an atomic; the \
         gradients of a point likewise have places from a table",
        "the roundings of what decides are spelled out, and the offset of a point is found by Cramer's rule",
        "a point's direction is kept as a unit vector, not as an angle whose sine and cosine every thread takes",
        "a scan of a row has a barrier between the last reads of a piece and the first writes of the next",
    ],
    inputs: &[
        input(Size::Test, "46 x 40 pixels, 1 octave", || {
            Box::new(Surf { width: 46, height: 40, octaves: 1 })
        }),
        input(Size::Small, "150 x 130 pixels, 4 octaves", || {
            Box::new(Surf { width: 150, height: 130, octaves: 4 })
        }),
        input(Size::Paper, "256 x 256 pixels (66 KB), 5 octaves", || {
            Box::new(Surf { width: 256, height: 256, octaves: 5 })
        }),
        input(Size::Stash, "256 x 256 pixels (66 KB), 5 octaves", || {
            Box::new(Surf { width: 256, height: 256, octaves: 5 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const DISC_SAMPLES: usize = 109;

impl Surf {
    /// Directions and descriptors of the points, and whether they are right.
    fn describe(
        &self,
        host: &mut Host<'_>,
        buffers: &Buffers,
        sums: &Sums,
        points: &[Point],
    ) -> Result<(), DeviceError> {
        let n = int(points.len()) as u32;
        let common =
            args![buffers.integral, int(self.width), int(self.height), buffers.scales, buffers.positions]
                .to_vec();
        let gauss = host.buffer("gauss", &describe::weights())?;
        let slots = host.buffer("slots", &describe::slots())?;
        let samples = host.zeros::<f32>("samples", 4 * DISC_SAMPLES * points.len())?;
        let directions = host.zeros::<f32>("directions", 2 * points.len())?;
        let descriptors = host.zeros::<f32>("descriptors", 64 * points.len())?;
        let lengths = host.zeros::<f32>("lengths", 16 * points.len())?;
        for (name, corners) in ["region_x", "region_y"].into_iter().zip(describe::regions()) {
            host.variable(name, &corners)?;
        }

        let args = [&common[..], args![gauss, slots, samples]].concat();
        host.launch("sample_gradients", [n, 1, 1], [169, 1, 1], &args)?;
        // Vectors of 2 for 42 windows; of 4 for 81 samples of 16 regions; 8 words.
        let windows = host.temporaries::<f32>("window_sums", 2 * 42 * points.len())?;
        let args = [&args![samples, directions][..], &windows].concat();
        host.launch("find_direction", [n, 1, 1], [42, 1, 1], &args)?;
        let regions = host.temporaries::<f32>("region_sums", 4 * 81 * 16 * points.len())?;
        let args = [&common[..], args![directions, descriptors, lengths], &regions].concat();
        host.launch("describe", [16, n, 1], [81, 1, 1], &args)?;
        let squares = host.temporaries::<f32>("length_sums", 8 * points.len())?;
        let args = [&args![descriptors, lengths][..], &squares].concat();
        host.launch("normalize_descriptors", [n, 1, 1], [64, 1, 1], &args)?;

        let gradients: Vec<Vec<Gradient>> = points.iter().map(|&point| sums.gradients(point)).collect();
        let exactly = |value: f32| Near { value: value.into(), bound: 0.0 };
        let near = |g: &Gradient| [exactly(g.x), exactly(g.y), g.angle.near(), exactly(1.0)];
        let found =
            host.near::<f32>("samples", samples, gradients.iter().flatten().flat_map(near).collect())?;
        // Windows decide by angles, so what follows takes the device's own, which have just been checked.
        let angles =
            found.chunks_exact(4 * DISC_SAMPLES).map(|of_point| of_point.iter().skip(2).step_by(4).copied());
        let turned: Vec<[f32; 2]> =
            gradients.iter().zip(angles).map(|(gradients, angles)| direction(gradients, angles)).collect();
        host.exact("directions", directions, turned.as_flattened())?;

        let expected: Vec<_> =
            points.iter().zip(&turned).map(|(&point, &turned)| sums.descriptor(point, turned)).collect();
        let numbers = expected.iter().flat_map(|descriptor| descriptor.numbers.clone()).collect();
        host.near::<f32>("descriptors", descriptors, numbers)?;
        let squares = expected.into_iter().flat_map(|descriptor| descriptor.lengths).collect();
        host.near::<f32>("lengths", lengths, squares)?;
        Ok(())
    }
}

impl Body for Surf {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let image = Image::random(self.width, self.height, 0);
        let sums = Sums::new(&image);
        let (responses, laplacians) = self.responses(&sums);
        let points = self.points(&responses, &laplacians);

        let buffers = Buffers {
            integral: self.integrate(host, &image)?,
            responses: host.zeros::<f32>("responses", responses.len())?,
            laplacians: host.zeros::<i32>("laplacians", responses.len())?,
            positions: host.zeros::<f32>("positions", 2 * points.len())?,
            scales: host.zeros::<f32>("scales", points.len())?,
            signs: host.zeros::<i32>("signs", points.len())?,
        };
        self.respond(host, &buffers)?;
        self.find(host, &buffers)?;

        host.exact("integral", buffers.integral, &sums.integral())?;
        host.exact("responses", buffers.responses, &responses)?;
        host.exact("laplacians", buffers.laplacians, &laplacians)?;
        let positions: Vec<f32> = points.iter().flat_map(|point| [point.x, point.y]).collect();
        host.exact("positions", buffers.positions, &positions)?;
        let scales: Vec<f32> = points.iter().map(|point| point.scale).collect();
        host.exact("scales", buffers.scales, &scales)?;
        let signs: Vec<i32> = points.iter().map(|point| point.laplacian).collect();
        host.exact("signs", buffers.signs, &signs)?;
        self.describe(host, &buffers, &sums, &points)
    }
}
