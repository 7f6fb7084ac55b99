//! What must hold for every built-in workload, seen by a device that computes nothing.

mod recorder;

use std::fmt::Write as _;

use expect_test::expect;
use recorder::Recorder;
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
            // ATAX's y is compared with what follows from the device's own tmp, here zero.
            let follows = workload.name == "atax" && comparison.buffer == "y";
            assert!(follows || !comparison.passed(), "{}: {comparison}", workload.name);
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

/// Inputs, grids and arguments, to the bit: results of one machine can be compared with those of another.
#[test]
fn inputs_are_the_same_on_every_machine() {
    let mut table = String::new();
    for workload in all() {
        for size in [Size::Test, Size::Small] {
            let (device, _) = record(workload, size);
            let uploaded: usize = device.uploaded_bytes();
            let hash = device.hash();
            writeln!(table, "{:<10} {size:<6} {uploaded:>9} bytes up  {hash:016x}", workload.name).unwrap();
        }
    }
    expect![[r#"
        saxpy      test       80000 bytes up  f005d8f3332ced78
        saxpy      small   33554432 bytes up  b220f8d1e7bb8eac
        gemm       test       51072 bytes up  8ce510774d13a14d
        gemm       small     786432 bytes up  a638596f2786a5aa
        atax       test      961600 bytes up  110c07450e97531d
        atax       small   16785408 bytes up  891fe974641fc7a8
        conv2d     test      120000 bytes up  b550f54d5ea529fe
        conv2d     small    4194304 bytes up  1e0e238c5308b441
        bfs        test       87560 bytes up  30693027376f4171
        bfs        small    4591332 bytes up  5b1f4e3abb7d2564
        hotspot    test       17920 bytes up  8d7cdf52d5508ce3
        hotspot    small    2097152 bytes up  fddb26b073dbd3ae
        histogram  test       80000 bytes up  9bd1336fb8c153d3
        histogram  small   16777216 bytes up  ab0aed57ccf24343
        spmv       test      104420 bytes up  699769ba54e72c13
        spmv       small    5935516 bytes up  0f0282e89cf5e418
        transpose  test      240000 bytes up  55fe61c1797428e9
        transpose  small   16777216 bytes up  872949d229bd11af
        reduction  test      160000 bytes up  7dbb6d0fd051edd6
        reduction  small    8388608 bytes up  c60f2de92ec2f39d
        gather     test     1048576 bytes up  656012ceec404126
        gather     small   67108864 bytes up  0b6480d54b6fab56
    "#]]
    .assert_eq(&table);
}
