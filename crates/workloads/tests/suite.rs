//! What must hold for every built-in workload, seen by a device that computes nothing.

mod recorder;

use recorder::Recorder;
use strata_workloads::recording::Recording;
use strata_workloads::{Piece, Size, Workload, all, find};

/// Every workload in each of its versions.
fn all_versions() -> impl Iterator<Item = &'static Workload> {
    all().iter().flat_map(Workload::versions)
}

/// Entries of a module and the sizes of their parameters in bytes, read off the text.
fn entries(ptx: &str) -> Vec<(String, Vec<usize>)> {
    let mut entries: Vec<(String, Vec<usize>)> = vec![];
    let mut is_in_list = false;
    for line in ptx.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            entries.push((rest.trim_end_matches('(').into(), vec![]));
            is_in_list = true;
        } else if let (true, Some(rest)) = (is_in_list, line.strip_prefix(".param .")) {
            let bits: usize = rest[1..3].parse().expect("parameters are .u32, .u64 or .f32");
            entries.last_mut().expect("a list belongs to an entry").1.push(bits / 8);
        }
        // Calls in an entry's body have lists of their own.
        is_in_list &= !line.starts_with(')');
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
    for workload in all_versions() {
        let entries = entries(workload.ptx);
        let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        let expected: Vec<&str> = workload.kernels.iter().map(|kernel| kernel.entry).collect();
        assert_eq!(names, expected, "{}", workload.name);

        let (device, _) = record(workload, Size::Test);
        for (name, parameters) in &entries {
            let is_launched = device.launches.iter().any(|launch| launch.kernel == *name);
            let is_phase = device.phases.iter().any(|phase| phase.kernel == *name);
            assert!(is_launched || is_phase, "{name} is never launched");
            for phase in device.phases.iter().filter(|phase| phase.kernel == *name) {
                let sizes: Vec<usize> = phase.args.iter().map(|arg| arg.to_bytes().1).collect();
                assert_eq!(&sizes, parameters, "{name}");
            }
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
    for workload in all_versions() {
        let (_, outcome) = record(workload, Size::Test);
        assert!(!outcome.passed());
        for comparison in &outcome.comparisons {
            assert!(!comparison.passed(), "{}: {comparison}", workload.name);
        }
    }
}

#[test]
fn every_output_is_compared_whole() {
    for workload in all_versions() {
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
    for workload in all_versions() {
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
        "no size is called `tiny`: expected test, small, paper, suite, stash or morpheus"
    );
}

#[test]
fn versions_are_found_by_their_names() {
    let implicit = find("implicit").expect("it is listed");
    let names: Vec<&str> = implicit.versions().map(|workload| workload.name).collect();
    assert_eq!(names, ["implicit", "implicit@cache", "implicit@scratch-gd", "implicit@stash"]);
    for workload in all_versions() {
        assert!(std::ptr::eq(find(workload.name).expect("it is listed"), workload));
        let found = find(workload.family()).expect("a family's name is its default version's");
        assert!(std::ptr::eq(found.in_version(workload.version()).expect("it is listed"), workload));
        assert_eq!(workload.program(Size::Test).expect("every workload has it").name(), workload.name);
    }
    assert!(std::ptr::eq(find("Implicit@scratch").expect("the default has a name, too"), implicit));
    assert!(find("saxpy@scratch").is_none() && find("implicit@nothing").is_none());
    assert_eq!(
        implicit.in_version("dma").unwrap_err().to_string(),
        "workload `implicit` has no version `dma`: expected scratch, cache, scratch-gd, stash"
    );
}

/// Versions differ in their kernels' code alone: all have the default's entries, in its order.
#[test]
fn versions_have_the_same_entries() {
    for workload in all() {
        for version in workload.versions().skip(1) {
            assert_eq!(version.kernels, workload.kernels, "{}", version.name);
            let file = format!("{}/{}.ptx", workload.name, version.version());
            assert_eq!(version.program(Size::Test).expect("every workload has it").module().name, file);
        }
    }
}

/// FUSE's, Hi-End's and tinyCache's programs have inputs of their suites, and only they.
#[test]
fn programs_of_three_papers_have_their_suites_inputs() {
    for workload in all() {
        let is_run = workload.papers.iter().any(|paper| ["fuse", "hi-end", "tinycache"].contains(paper));
        assert_eq!(workload.input(Size::Suite).is_some(), is_run, "{}", workload.name);
        for input in workload.inputs {
            assert_eq!(input.origin.is_some(), input.size == Size::Suite, "{} {}", workload.name, input.size);
        }
    }
}

#[test]
fn pieces_of_programs_are_affordable() {
    for workload in all().iter().filter(|workload| workload.input(Size::Suite).is_some()) {
        let measured = workload.measured(Size::Suite).unwrap_or_else(|| {
            panic!("{} --size suite is not measured: run scripts/workloads.py {0}", workload.name)
        });
        let instructions = measured.warp_instructions;
        assert!(instructions <= 25_000_000, "{}: {instructions} warp-instructions", workload.name);
    }
}

#[test]
fn kernels_that_lose_ctas_cannot_tell() {
    for workload in all_versions() {
        let origin = workload.input(Size::Suite).and_then(|input| input.origin);
        if matches!(origin.map(|origin| origin.piece), Some(Piece::Ctas(_))) {
            assert!(!workload.ptx.contains("%nctaid"), "{}", workload.name);
        }
    }
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
