//! Load-latency curves of the mesh beside those of BookSim 2, as comma-separated values:
//! `cargo run --release -p strata-designs --example mesh_curves -- 100000`. The number of measured cycles is 10000 without
//! an argument.

#[path = "../tests/mesh/booksim2.rs"]
mod booksim2;
#[path = "../tests/mesh/load.rs"]
mod load;

use booksim2::{config, published};
use load::{Load, measure};

fn main() {
    let cycles = std::env::args().nth(1).map(|cycles| cycles.parse().expect("a number of cycles"));
    println!(
        "side,virtual channels,pattern,flits,offered,latency,at the interface,accepted,BookSim 2 latency"
    );
    for curve in published() {
        let config = config(curve.side, curve.virtual_channels);
        let row = |load: Load, theirs: String| {
            let load = Load { measured: cycles.unwrap_or(load.measured), ..load };
            let point = measure(&config, &load);
            let latency = point.latency.map_or("saturated".to_owned(), |cycles| format!("{cycles:.2}"));
            println!(
                "{},{},{:?},{},{},{latency},{:.2},{:.4},{theirs}",
                curve.side,
                curve.virtual_channels,
                curve.pattern,
                curve.flits,
                load.offered,
                point.interface_wait,
                point.accepted
            );
        };
        curve.points.iter().for_each(|(offered, theirs)| {
            row(Load::new(curve.pattern, curve.flits, *offered), format!("{theirs:.2}"));
        });
        row(Load::saturating(curve.pattern, curve.flits), format!("saturated at {:.4}", curve.saturation));
    }
}
