//! Rodinia's Streamcluster: costs of opening a center on the device, the decision on the host.

mod expected;
mod points;
mod solution;

use self::points::Points;
use self::solution::Solution;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "streamcluster",
    suite: "Rodinia",
    papers: &["hi-end"],
    description: "Local search for a facility location: for each candidate center a thread per point streams over the \
                  point's coordinates, a row per dimension, and adds to one float of a row of its own; points are \
                  structures of 32 bytes.",
    kernels: &[kernel("streamcluster_cost", "kernel_compute_cost")],
    differences: &[
        "coordinates are integers of 1 to 254 around 16 random places, not uniform in [0, 1), so that costs are exact",
        "the points are one chunk of the stream, all of weight 1, and candidates are tried once, in random order",
        "the facility cost is found by halving until there are ten centers, and an eighth of it from then on, without \
         the search for the best one",
        "the rows of savings keep their place from candidate to candidate instead of being allocated for each",
        "the host's pointer in each point is zero",
    ],
    inputs: &[
        input(Size::Test, "1,100 points of 24 dimensions, 3 candidates", || {
            Box::new(Streamcluster { points: 1100, dimensions: 24, candidates: 3 })
        }),
        input(Size::Small, "8,192 points of 64 dimensions, 16 candidates", || {
            Box::new(Streamcluster { points: 8192, dimensions: 64, candidates: 16 })
        }),
        input(Size::Paper, "65,536 points of 256 dimensions, 12 candidates", || {
            Box::new(Streamcluster { points: 65_536, dimensions: 256, candidates: 12 })
        }),
        suite_input(
            "65,536 points of 256 dimensions",
            "Rodinia 3.1, cuda/streamcluster/run: sc_gpu 10 20 256 65536 65536 1000 none output.txt 1",
            Piece::Launches("the first 4 candidates: a launch each"),
            || Box::new(Streamcluster { points: 65_536, dimensions: 256, candidates: 4 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 512;

#[derive(Debug)]
struct Streamcluster {
    points: usize,
    dimensions: usize,
    candidates: usize,
}

impl Body for Streamcluster {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { points: count, dimensions, candidates } = self;
        let points = Points::random(count, dimensions);
        let mut solution = Solution::with_ten_centers(&points);
        let candidates = solution.candidates(candidates);

        let most_centers = solution.centers().len() + candidates.len();
        let d_coordinates = host.buffer("coordinates", &points.by_dimension())?;
        let d_points = host.zeros::<u32>("points", count * solution::WORDS)?;
        let d_numbers = host.zeros::<i32>("center_number", count)?;
        let d_savings = host.zeros::<f32>("savings", (count + 1) * (most_centers + 1))?;
        let d_moves = host.zeros::<u8>("moves", count)?;

        for (tried, &candidate) in candidates.iter().enumerate() {
            let centers = solution.centers().len();
            let stride = centers + 1;
            host.write(d_points, &solution.as_structures())?;
            host.write(d_numbers, &solution.center_numbers())?;
            host.fill(d_moves, 0, count as u64)?;
            host.fill(d_savings, 0, 4 * ((count + 1) * stride) as u64)?;
            let args = args![
                int(count),
                int(dimensions),
                candidate as i64,
                d_points,
                int(centers),
                int(stride),
                d_coordinates,
                d_savings,
                d_numbers,
                d_moves,
            ];
            host.launch("streamcluster_cost", [ctas(count, BLOCK), 1, 1], [BLOCK, 1, 1], args)?;

            // The first candidate that goes wrong is compared, else the last.
            let savings = host.read::<f32>(d_savings, (count + 1) * stride)?;
            let moves = host.read::<u8>(d_moves, count)?;
            let expected = expected::costs(&points, &solution, candidate);
            if tried + 1 == candidates.len() || savings != expected.savings || moves != expected.moves {
                host.exact("savings", d_savings, &expected.savings)?;
                host.exact("moves", d_moves, &expected.moves)?;
                break;
            }
            solution.open_if_cheaper(&points, candidate, &savings, &moves);
        }
        Ok(())
    }
}
