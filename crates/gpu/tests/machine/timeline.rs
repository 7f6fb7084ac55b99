//! Samples of a launch: they change nothing, do not depend on threads or windows, and add up to the launch.

use crate::support::{How, verified};
use strata_gpu::machine::Machine;
use strata_gpu::results::Sample;
use strata_workloads::{Size, find};

const SPAN: u64 = 700;

/// Compares counter by counter: a whole launch is too long to be read.
fn assert_same(one: &Sample, other: &Sample, what: &str) {
    assert_eq!((one.from, one.to), (other.from, other.to), "{what}");
    for (one, other) in one.counted.iter().zip(&other.counted) {
        for ((definition, one_value), value) in one.definitions.iter().zip(&one.values).zip(&other.values) {
            assert_eq!(one_value, value, "{what}: {}.{}", one.name, definition.name);
        }
    }
    assert!(one.energy == other.energy, "{what}: energy");
}

#[test]
fn spans_add_up_to_the_launch_and_change_nothing() {
    for (name, system) in [("bfs", "l1-sram"), ("atax", "dy-fuse"), ("histogram", "hybrid")] {
        let machine = Machine::load_with("gtx480", &[system], &[]).unwrap();
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let plain = verified(&machine, program.as_ref(), How::PLAIN, system);
        let how = How { sample_cycles: Some(SPAN), ..How::PLAIN };
        let sampled = verified(&machine, program.as_ref(), how, system);
        assert_eq!(plain.statistics, sampled.statistics, "{name}");
        for how in [How { threads: 2, ..how }, How { window: Some(1), ..how }] {
            let other = verified(&machine, program.as_ref(), how, system);
            for (one, other) in sampled.launches.iter().zip(&other.launches) {
                assert_eq!(one.samples.len(), other.samples.len(), "{name} {how:?}");
                for (one, other) in one.samples.iter().zip(&other.samples) {
                    assert_same(one, other, &format!("{name} {how:?}, from {}", one.from));
                }
            }
        }
        let mut sum = vec![0; sampled.statistics.len()];
        for (launch, without) in sampled.launches.iter().zip(&plain.launches) {
            assert_eq!(launch.cycles, without.cycles, "{name}");
            assert!(without.samples.is_empty());
            let spans = &launch.samples;
            assert_eq!(spans.len() as u64, launch.cycles.div_ceil(SPAN), "{name}");
            assert_eq!((spans[0].from, spans.last().unwrap().to), (0, launch.cycles));
            assert!(spans.windows(2).all(|two| two[0].to == two[1].from && two[0].to % SPAN == 0));
            let energy: f64 = spans.iter().map(|span| span.energy.as_ref().unwrap().total_pj()).sum();
            let whole = launch.energy.as_ref().unwrap().total_pj();
            assert!((energy - whole).abs() <= 1e-9 * whole, "{name}: {energy} pJ of {whole}");
            for span in spans {
                for (sum, group) in sum.iter_mut().zip(&span.counted) {
                    *sum += group.values[0];
                }
                let sm = span.counted.iter().find(|group| group.name == "sm").unwrap();
                let slots = sm.get("issue_slots").unwrap();
                assert!(slots > 0 && sm.get("issued").unwrap() <= slots, "{name}, from {}", span.from);
            }
        }
        for (sum, group) in sum.iter().zip(&sampled.statistics) {
            assert_eq!(*sum, group.values[0], "{name}: {}.{}", group.name, group.definitions[0].name);
        }
    }
}
