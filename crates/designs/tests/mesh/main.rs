//! The mesh by itself: its latency without load, by hand, and load-latency curves against those of BookSim 2.

mod booksim2;
mod load;

use booksim2::{config, published};
use load::{Load, Pattern, measure};

/// Average number of routers on a path of uniform traffic, the node itself included, on a grid of `side` by `side`: the
/// average distance of two coordinates is (side^2 - 1) / (3 side).
fn average_routers(side: usize) -> f64 {
    let side = side as f64;
    1.0 + 2.0 * (side * side - 1.0) / (3.0 * side)
}

#[test]
fn without_load_latency_is_hops_and_serialization() {
    for (side, pattern, routers) in [
        (4, Pattern::Uniform, average_routers(4)),
        (8, Pattern::Uniform, average_routers(8)),
        // A transposed pair is twice the distance of the two coordinates apart: the same average.
        (8, Pattern::Transpose, average_routers(8)),
    ] {
        for flits in [1, 4] {
            let load = Load { measured: 20_000, ..Load::new(pattern, flits, 0.005 * f64::from(flits)) };
            let measured = measure(&config(side, 2), &load).latency.expect("there is no load");
            // A router takes 3 cycles (channel, switch, its passage), a link 1. From the sender to its router are 2
            // cycles (of which BookSim counts one as injection), to the receiver 1.
            let expected = 2.0 + 3.0 * routers + (routers - 1.0) + 1.0 + f64::from(flits) - 1.0;
            assert!(
                (measured - expected).abs() < 0.02 * expected,
                "{side} x {side}, {pattern:?}, {flits} flits: {measured} cycles, expected {expected}"
            );
        }
    }
}

/// How far a latency may be from BookSim 2's, up to three quarters of the load that the mesh takes (four points of a
/// curve) and beyond, and how far the flits that come through at most.
const TOLERANCE: f64 = 0.03;
const TOLERANCE_NEAR_SATURATION: f64 = 0.06;
const TOLERANCE_OF_SATURATION: f64 = 0.02;

#[test]
fn curves_agree_with_booksim_2() {
    let mut wrong = Vec::new();
    let mut compare = |what: String, ours: f64, theirs: f64, tolerance: f64| {
        if (ours / theirs - 1.0).abs() > tolerance {
            wrong.push(format!("{what}: {ours:.3}, BookSim 2 {theirs:.3}"));
        }
    };
    for curve in published() {
        let name = format!(
            "{0} x {0}, {1} channels, {2:?}, {3} flits",
            curve.side, curve.virtual_channels, curve.pattern, curve.flits
        );
        let config = config(curve.side, curve.virtual_channels);
        for (index, (offered, theirs)) in curve.points.into_iter().enumerate() {
            // Near saturation averages take long, which a small mesh can afford.
            let (tolerance, measured) = match (index, curve.side) {
                (0..4, _) => (TOLERANCE, 10_000),
                (_, 4) => (TOLERANCE_NEAR_SATURATION, 40_000),
                _ => continue,
            };
            let load = Load { measured, ..Load::new(curve.pattern, curve.flits, offered) };
            let point = measure(&config, &load);
            let ours = point.latency.unwrap_or(f64::INFINITY);
            compare(format!("{name}, {offered} flits offered: latency"), ours, theirs, tolerance);
            // BookSim 2 hands flits over as they come, and waits for nothing there.
            let interleaved = ours - point.interface_wait;
            compare(
                format!("{name}, {offered} flits offered: without interface"),
                interleaved,
                theirs,
                tolerance,
            );
        }
        let full = measure(&config, &Load::saturating(curve.pattern, curve.flits));
        compare(format!("{name}: saturation"), full.accepted, curve.saturation, TOLERANCE_OF_SATURATION);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
