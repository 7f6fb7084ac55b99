//! Rodinia's PathFinder: dynamic programming down a grid, twenty rows per launch in overlapping stretches.

mod expected;

use self::expected::expected;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "pathfinder",
    suite: "Rodinia",
    papers: &["fuse", "stash"],
    description: "The cheapest way down a grid of small costs: each CTA keeps a row of 256 cells in shared \
                  memory between barriers and streams the costs of its columns, row after row.",
    kernels: &[kernel("pathfinder", "dynproc_kernel")],
    differences: &[
        "the last launch's stretches overlap only as far as its rows ask; Rodinia's keep their places",
    ],
    inputs: &[
        input(Size::Test, "25 x 1,500", || Box::new(Pathfinder { rows: 25, columns: 1500 })),
        input(Size::Small, "101 x 20,000", || Box::new(Pathfinder { rows: 101, columns: 20_000 })),
        input(Size::Paper, "500 x 100,000 (Rodinia: 100 x 100,000)", || {
            Box::new(Pathfinder { rows: 500, columns: 100_000 })
        }),
        suite_input(
            "100 x 100,000",
            "Rodinia 3.1, cuda/pathfinder/run: pathfinder 100000 100 20",
            Piece::All,
            || Box::new(Pathfinder { rows: 100, columns: 100_000 }),
        ),
        input(Size::Stash, "10 x 100,000", || Box::new(Pathfinder { rows: 10, columns: 100_000 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's BLOCK.
const BLOCK: usize = 256;
/// Rows per launch, Rodinia's pyramid height.
const PYRAMID: usize = 20;

#[derive(Debug)]
struct Pathfinder {
    rows: usize,
    columns: usize,
}

impl Body for Pathfinder {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { rows, columns } = self;
        let mut random = Random::new(0x9a);
        let costs: Vec<i32> = (0..rows * columns).map(|_| random.below(10) as i32).collect();
        let (first, wall) = costs.split_at(columns);
        let d_wall = host.buffer("wall", wall)?;
        let mut source = host.buffer("cost_0", first)?;
        let mut target = host.zeros::<i32>("cost_1", columns)?;

        // Two rows of costs for each CTA, where they are not in shared memory.
        let most_ctas = columns.div_ceil(BLOCK - 2 * PYRAMID.min(rows - 1));
        let own_rows = host.temporaries::<i32>("rows", most_ctas * 2 * BLOCK)?;

        for row in (0..rows - 1).step_by(PYRAMID) {
            let steps = PYRAMID.min(rows - 1 - row);
            let grid = [int(columns.div_ceil(BLOCK - 2 * steps)) as u32, 1, 1];
            let args =
                [&args![int(steps), d_wall, source, target, int(columns), int(row)][..], &own_rows].concat();
            host.launch("pathfinder", grid, [BLOCK as u32, 1, 1], &args)?;
            std::mem::swap(&mut source, &mut target);
        }

        host.exact("cost", source, &expected(columns, &costs))?;
        Ok(())
    }
}
