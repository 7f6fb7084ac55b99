//! Random race-free episodes with false sharing: SMs write different bytes of the same lines at the same
//! time, and a plain array predicts every byte, so no other simulator is needed as an oracle.

pub mod episodes;

use crate::support::random;
use crate::support::variation;
use episodes::{Between, Shape, check};
use proptest::prelude::*;

/// Number of cases that fits an ordinary test run.
const CASES: u32 = 60;

fn shape(between: Between) -> impl Strategy<Value = Shape> {
    (1..6_u32, prop::sample::select(vec![32_u32, 64, 128]), 1..20_u32, 2..7_u32, 1..5_u32, any::<u64>())
        .prop_map(move |(grid, block, lines, episodes, steps, seed)| Shape {
            grid,
            block,
            lines,
            episodes,
            steps,
            between,
            seed,
        })
}

fn check_many(between: Between) {
    random::check(CASES, 1000, &(shape(between), variation::variation()), |(shape, variation)| {
        check(shape, &variation, &mut |_, l1d| l1d)
    });
}

#[test]
fn episodes_divided_by_launches() {
    check_many(Between::Launches);
}

#[test]
fn episodes_divided_by_grid_barriers_where_every_thread_fences() {
    check_many(Between::GridBarrier);
}

#[test]
fn episodes_divided_by_grid_barriers_where_one_thread_fences() {
    check_many(Between::GridBarrierOneFence);
}
