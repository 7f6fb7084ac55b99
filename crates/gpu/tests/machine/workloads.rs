//! What must hold for every workload, on the reference executor: what was measured of it still is so, and it can be
//! written as a launch file that does the same.

use std::path::Path;

use strata_gpu::device::ReferenceDevice;
use strata_gpu::machine::Machine;
use strata_gpu::profile_program;
use strata_gpu::results::Verdict;
use strata_workloads::recording::Recording;
use strata_workloads::{
    HostProgram, Measured, MeasuredKernel, Outcome, Size, Workload, all, find, launch_file,
};

use crate::support::{self, How, run_on};

/// What measurements were made on.
fn gtx480() -> Machine {
    Machine::load("gtx480", &[]).expect("a built-in machine can be built")
}

#[test]
fn measurements_are_up_to_date() {
    for workload in all() {
        let program = workload.program(Size::Test).expect("every workload has it");
        let (profile, outcome) =
            profile_program(program.as_ref(), &gtx480()).expect("the reference executor runs it");
        assert!(outcome.passed(), "{}: {outcome}", workload.name);
        let fresh = Measured {
            inputs_hash: format!("{:016x}", profile.inputs_hash),
            footprint_bytes: profile.footprint_bytes,
            launches: profile.launches,
            warp_instructions: profile.warp_instructions,
            thread_instructions: profile.thread_instructions,
            kernels: profile.kernels.keys().map(|name| MeasuredKernel { name: name.clone() }).collect(),
        };
        let name = workload.name;
        assert_eq!(workload.measured(Size::Test), Some(fresh), "{name}: run scripts/workloads.py {name}");
        for size in [Size::Small, Size::Paper] {
            assert!(
                workload.measured(size).is_some(),
                "{name} --size {size}: run scripts/workloads.py {name}"
            );
        }
    }
}

/// Those of the Stash paper, in each version.
fn versions() -> impl Iterator<Item = &'static Workload> {
    all().iter().flat_map(|workload| workload.versions().skip(1))
}

#[test]
fn every_version_computes_what_the_default_does() {
    let machine = gtx480();
    for version in versions() {
        let program = version.program(Size::Test).expect("every workload has it");
        let mut device =
            ReferenceDevice::for_program(program.as_ref(), &machine).expect("the module is right");
        let outcome = program.run(&mut device).unwrap_or_else(|error| panic!("{}: {error}", version.name));
        assert!(outcome.passed(), "{}: {outcome}", version.name);
        let default =
            find(version.family()).expect("it has a default").program(Size::Test).expect("all have it");
        let mut device =
            ReferenceDevice::for_program(default.as_ref(), &machine).expect("the module is right");
        let expected = default.run(&mut device).expect("the reference executor runs it");
        let names = |outcome: &Outcome| outcome.outputs.iter().map(|output| output.name.clone()).collect();
        let (found, expected): (Vec<String>, Vec<String>) = (names(&outcome), names(&expected));
        assert_eq!(found, expected, "{}", version.name);
    }
}

/// What a version calls tells whether a machine without a stash and a DMA engine runs it.
#[test]
fn versions_for_scratchpads_and_caches_run_on_any_machine() {
    let machine = support::gtx480(&["gpu.sms=2"]);
    for version in versions() {
        let program = version.program(Size::Test).expect("every workload has it");
        let run = run_on(&machine, program.as_ref(), How::CHECKED);
        if !version.ptx.contains(".extern .func") {
            let verdict = run.unwrap_or_else(|error| panic!("{}: {error}", version.name)).verdict;
            assert_eq!(verdict, Verdict::Verified, "{}", version.name);
            continue;
        }
        let error = run.expect_err("a stash or a DMA engine is needed").to_string();
        assert!(error.ends_with(" is not supported"), "{}: {error}", version.name);
        assert!(error.contains(" without a "), "{}: {error}", version.name);
    }
}

#[test]
fn test_sizes_are_small_and_wide_enough() {
    for workload in all() {
        let measured = workload.measured(Size::Test).expect("it is measured");
        assert!(measured.warp_instructions <= 100_000, "{}: {measured:?}", workload.name);
    }
}

#[test]
fn a_workload_written_as_a_launch_file_does_the_same() {
    for workload in all() {
        let program = workload.program(Size::Test).expect("every workload has it");
        let mut device =
            ReferenceDevice::for_program(program.as_ref(), &gtx480()).expect("the module is right");
        let mut recording = Recording::new(&mut device);
        let outcome = program.run(&mut recording).expect("the reference executor runs it");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written").join(workload.name);
        launch_file::write(workload.name, program.module(), &recording, &outcome, &folder).unwrap();
        let instructions = device.instructions();

        let file = launch_file::read(&folder.join(launch_file::FILE_NAME)).unwrap();
        let mut device = ReferenceDevice::for_program(&file, &gtx480()).expect("the module is the same");
        let again = file.run(&mut device).expect("the reference executor runs it");
        assert!(again.passed(), "{}: {again}", workload.name);
        assert_eq!(device.instructions(), instructions, "{}", workload.name);
        assert_eq!(results(&again), results(&outcome), "{}", workload.name);
    }
}

/// The outputs' names, types and bytes.
fn results(outcome: &Outcome) -> Vec<(&str, &str, &[u8])> {
    outcome
        .outputs
        .iter()
        .map(|output| (output.name.as_str(), output.element, output.bytes.as_slice()))
        .collect()
}
