//! Samples of a launch: they change nothing, do not depend on threads or windows, and add up to the launch.

use crate::support::{How, run_watched, verified};
use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Sample, Verdict};
use strata_workloads::{HostProgram, Size, find};

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

/// A run and the spans of each of its launches.
fn sampled(machine: &Machine, program: &dyn HostProgram, how: How) -> (RunResult, Vec<Vec<Sample>>) {
    let mut spans: Vec<Vec<Sample>> = Vec::new();
    let result = run_watched(machine, program, how, &mut |progress| {
        if let Some(sample) = &progress.sample {
            spans.resize_with(progress.launch as usize + 1, Vec::new);
            spans.last_mut().unwrap().push(sample.clone());
        }
    });
    let result = result.unwrap_or_else(|error| panic!("{}: {error}", program.name()));
    assert_eq!(result.verdict, Verdict::Verified, "{}", program.name());
    (result, spans)
}

#[test]
fn spans_add_up_to_the_launch_and_change_nothing() {
    for (name, system) in [("bfs", "l1-sram"), ("atax", "dy-fuse"), ("histogram", "hybrid")] {
        let machine = Machine::load_with("gtx480", &[system], &[]).unwrap();
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let plain = verified(&machine, program.as_ref(), How::PLAIN, system);
        let how = How { sample_cycles: Some(SPAN), ..How::PLAIN };
        let (sampled, all_spans) = self::sampled(&machine, program.as_ref(), how);
        assert_eq!(plain.statistics, sampled.statistics, "{name}");
        assert_eq!(all_spans.len(), sampled.launches.len(), "{name}");
        for how in [How { threads: 2, ..how }, How { window: Some(1), ..how }] {
            let (_, others) = self::sampled(&machine, program.as_ref(), how);
            for (one, other) in all_spans.iter().zip(&others) {
                assert_eq!(one.len(), other.len(), "{name} {how:?}");
                for (one, other) in one.iter().zip(other) {
                    assert_same(one, other, &format!("{name} {how:?}, from {}", one.from));
                }
            }
        }
        let mut sum = vec![0; sampled.statistics.len()];
        let launches = sampled.launches.iter().zip(&all_spans);
        for ((launch, spans), without) in launches.zip(&plain.launches) {
            assert_eq!(launch.cycles, without.cycles, "{name}");
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
