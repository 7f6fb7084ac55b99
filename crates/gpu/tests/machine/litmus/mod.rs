//! Litmus tests of the PTX memory model: forbidden outcomes never appear, and the controls, which lack a fence, show
//! that they would have been seen.

mod atomics;
mod kernel;
pub mod outcomes;
pub mod tests;

use outcomes::outcomes;
use tests::TESTS;

/// Machines that order things differently, as systems and overrides of gtx480, and their worker threads.
pub const MACHINES: &[(&[&str], &[&str], usize)] = &[
    (&[], &[], 1),
    (&[], &["l1d.sram.write_policy=\"write-through\""], 2),
    (&[], &["l1d.sram.sets=1", "l1d.sram.write_buffer=2", "network.hop_latency_cycles=1"], 1),
    (&[], &["lsu.queue=2", "l1d.sram.bypass_entries=1", "llc.conventional.sets=1", "gpu.channels=1"], 4),
    (&[], &["lsu.atomic_combining_lanes=16"], 1),
    (&["denovo"], &["lsu.atomic_combining_lanes=32"], 1),
    (&["denovo"], &["l1d.sets=1", "l1d.ways=2", "llc.sets=2", "llc.ways=2", "lsu.queue=2"], 2),
    (&["tcbase"], &[], 1),
    (&["tcbase"], &["lane_path.tiny-cache.barrier=block", "lsu.queue=2"], 2),
    (
        &[],
        &["gpu.channels=6", "llc.conventional.rop_latency_cycles=1", "l1d.sram.write_miss_policy=fetch"],
        1,
    ),
];

#[test]
fn forbidden_outcomes_do_not_appear_and_controls_show_theirs() {
    for test in TESTS {
        let mut shown = false;
        for (systems, sets, threads) in MACHINES {
            let seen = outcomes(test, (systems, sets), *threads, &mut |_, l1d| l1d)
                .unwrap_or_else(|error| panic!("{} on {systems:?} {sets:?}: {error}", test.name));
            println!("{} on {systems:?} {sets:?}: {} outcomes", test.name, seen.len());
            if let Some(outcome) = seen.iter().find(|outcome| (test.forbidden)(outcome)) {
                assert!(test.shown, "{} on {systems:?} {sets:?}: forbidden {outcome:?}", test.name);
                shown = true;
            }
        }
        assert_eq!(test.shown, shown, "{}: the control must show its outcome", test.name);
    }
}
