//! Rodinia's k-means: points to their nearest centroids on the device, new centroids on the host.

mod expected;
mod points;

use self::points::Points;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "kmeans",
    suite: "Rodinia",
    papers: &["morpheus"],
    description: "Lloyd's algorithm on 34 features and 5 clusters: a transposition whose reads are a row apart, then a \
                  thread per point that streams over all features once per centroid; centroids come from constant \
                  memory.",
    kernels: &[kernel("kmeans_invert", "invert_mapping"), kernel("kmeans_assign", "kmeansPoint")],
    differences: &[
        "features are read by __ldg instead of through a texture",
        "points are a random mixture of integers of 0 to 63 with a few frequent kinds of points, not KDD Cup's",
        "centroids are rounded to eighths, which makes all distances exact in f32",
        "a fixed number of iterations instead of convergence",
        "the copy of the centroids in global memory, which no thread reads, and unused parameters are left out",
    ],
    inputs: &[
        input(Size::Test, "700 points, 2 iterations", || Box::new(Kmeans { points: 700, iterations: 2 })),
        input(Size::Small, "20,000 points, 3 iterations", || {
            Box::new(Kmeans { points: 20_000, iterations: 3 })
        }),
        input(Size::Paper, "494,020 points (KDD Cup's), 4 iterations", || {
            Box::new(Kmeans { points: 494_020, iterations: 4 })
        }),
        input(Size::Morpheus, "20,000 points, 1 iteration", || {
            Box::new(Kmeans { points: 20_000, iterations: 1 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// As in KDD Cup's data.
const FEATURES: usize = 34;
/// Rodinia's default.
const CLUSTERS: usize = 5;
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Kmeans {
    points: usize,
    iterations: usize,
}

impl Body for Kmeans {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let points = Points::random(self.points, FEATURES);
        let d_by_point = host.buffer("by_point", &points.as_f32())?;
        let d_by_feature = host.zeros::<f32>("by_feature", self.points * FEATURES)?;
        let d_membership = host.buffer("membership", &vec![-1; self.points])?;
        let (count, features) = (int(self.points), FEATURES as i32);

        let args = args![d_by_point, d_by_feature, count, features];
        host.launch("kmeans_invert", [ctas(self.points, BLOCK), 1, 1], [BLOCK, 1, 1], args)?;
        host.exact("by_feature", d_by_feature, &points.by_feature())?;

        // The first points are the first centroids.
        let mut centroids = points.first_eighths(CLUSTERS);
        let side = square(ctas(self.points, BLOCK));
        for iteration in 1..=self.iterations {
            let values: Vec<f32> = centroids.iter().map(|&eighths| eighths as f32 / 8.0).collect();
            host.variable("centroids", &values)?;
            let args = args![d_by_feature, features, count, CLUSTERS as i32, d_membership];
            host.launch("kmeans_assign", [side, side, 1], [BLOCK, 1, 1], args)?;

            // The first iteration that goes wrong is compared, else the last.
            let membership = host.read::<i32>(d_membership, self.points)?;
            let expected = expected::nearest(&points, &centroids);
            if iteration == self.iterations || membership != expected {
                host.exact("membership", d_membership, &expected)?;
                break;
            }
            points.average_eighths(&membership, &mut centroids);
        }
        Ok(())
    }
}

/// The side of the smallest square grid of at least so many CTAs.
fn square(ctas: u32) -> u32 {
    (1..).find(|side| side * side >= ctas).expect("some square is large enough")
}
