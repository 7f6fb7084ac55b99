//! What must hold for every built-in workload, seen by a device that computes nothing.

mod recorder;

use recorder::Recorder;
use strata_workloads::recording::Recording;
use strata_workloads::{Size, Workload, all, find};

/// Entries of a module and the sizes of their parameters in bytes, read off the text.
fn entries(ptx: &str) -> Vec<(String, Vec<usize>)> {
    let mut entries: Vec<(String, Vec<usize>)> = vec![];
    for line in ptx.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            entries.push((rest.trim_end_matches('(').into(), vec![]));
        } else if let Some(rest) = line.strip_prefix(".param .") {
            let bits: usize = rest[1..3].parse().expect("parameters are .u32, .u64 or .f32");
            entries.last_mut().expect("a parameter belongs to an entry").1.push(bits / 8);
        }
    }
    entries
}

fn record(workload: &'static Workload, size: Size) -> (Recorder, strata_workloads::Outcome) {
    let mut device = Recorder::default();
    let outcome =
        workload.program(size).expect("it is listed").run(&mut device).expect("the recorder refuses nothing");
    (device, outcome)
}

#[test]
fn every_launch_fits_an_entry_and_every_entry_is_launched() {
    for workload in all() {
        let entries = entries(workload.ptx);
        let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        let expected: Vec<&str> = workload.kernels.iter().map(|kernel| kernel.entry).collect();
        assert_eq!(names, expected, "{}", workload.name);

        let (device, _) = record(workload, Size::Test);
        for (name, parameters) in &entries {
            assert!(device.launches.iter().any(|launch| launch.kernel == *name), "{name} is never launched");
            for launch in device.launches.iter().filter(|launch| launch.kernel == *name) {
                let sizes: Vec<usize> = launch.args.iter().map(|arg| arg.to_bytes().1).collect();
                assert_eq!(&sizes, parameters, "{name}");
            }
        }
        assert!(device.launches.iter().all(|launch| names.contains(&launch.kernel.as_str())));
    }
}

#[test]
fn the_results_of_kernels_that_did_nothing_are_rejected() {
    for workload in all() {
        let (_, outcome) = record(workload, Size::Test);
        assert!(!outcome.passed());
        for comparison in &outcome.comparisons {
            assert!(!comparison.passed(), "{}: {comparison}", workload.name);
        }
    }
}

#[test]
fn every_output_is_compared_whole() {
    for workload in all() {
        let (_, outcome) = record(workload, Size::Test);
        assert_eq!(outcome.outputs.len(), outcome.comparisons.len(), "{}", workload.name);
        for (output, comparison) in outcome.outputs.iter().zip(&outcome.comparisons) {
            assert_eq!(output.name, comparison.buffer);
            assert_eq!(output.bytes.len() % comparison.elements, 0);
        }
    }
}

#[test]
fn a_test_runs_several_ctas_on_several_sms() {
    for workload in all() {
        let (device, _) = record(workload, Size::Test);
        let ctas = |grid: [u32; 3]| grid.iter().product::<u32>();
        let widest = device.launches.iter().map(|launch| ctas(launch.grid)).max();
        assert!(widest >= Some(3), "{}", workload.name);
    }
}

#[test]
fn names_are_unique_and_found() {
    for workload in all() {
        assert!(std::ptr::eq(find(workload.name).expect("it is listed"), workload));
        let program = workload.program(Size::Small).expect("every workload has it");
        assert_eq!(program.name(), workload.name);
        assert_eq!(program.module().name, format!("{}/kernel.ptx", workload.name));
    }
    assert!(find("nothing").is_none());
    assert_eq!("small".parse(), Ok(Size::Small));
    assert_eq!(
        "tiny".parse::<Size>().unwrap_err().to_string(),
        "no size is called `tiny`: expected test, small, paper or stash"
    );
}

/// Inputs, to the bit: results of one machine can be compared with those of another.
#[test]
fn inputs_are_the_same_on_every_machine() {
    for workload in all() {
        for size in [Size::Test, Size::Small] {
            let mut device = Recorder::default();
            let mut recording = Recording::inputs_only(&mut device);
            workload
                .program(size)
                .expect("every workload has it")
                .run(&mut recording)
                .expect("nothing is refused");
            let measured = workload.measured(size).unwrap_or_else(|| {
                panic!("{} --size {size} is not measured: run scripts/workloads.py {0}", workload.name)
            });
            let hash = format!("{:016x}", recording.inputs_hash());
            assert_eq!(hash, measured.inputs_hash, "{} --size {size}", workload.name);
        }
    }
}
