//! Folders of workloads: which are refused, and with what words.

#[path = "../build/folders.rs"]
mod folders;

use std::fs;
use std::path::{Path, PathBuf};

/// A suite of one folder with every file but those named.
fn suite_without(name: &str, missing: &[&str]) -> PathBuf {
    let suite = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-without-{}", missing.join("-")));
    let folder = suite.join(name);
    fs::create_dir_all(&folder).unwrap();
    for (file, _) in folders::FILES.iter().filter(|(file, _)| !missing.contains(file)) {
        fs::write(folder.join(file), "").unwrap();
    }
    suite
}

#[test]
fn a_folder_without_an_expected_result_is_refused() {
    let refusals = folders::workloads(&suite_without("mine", &["expected.rs"])).unwrap_err();
    let reason =
        "expected.rs is missing: the expected result, computed on the CPU without looking at the PTX";
    assert_eq!(refusals, [format!("workload `mine`: {reason}")]);
}

#[test]
fn every_missing_file_is_named() {
    let all: Vec<&str> = folders::FILES.iter().map(|(file, _)| *file).collect();
    let refusals = folders::workloads(&suite_without("mine", &all)).unwrap_err();
    assert_eq!(refusals.len(), all.len());
    assert!(refusals.iter().zip(&all).all(|(refusal, file)| refusal.contains(file)), "{refusals:?}");
}

#[test]
fn a_name_that_no_command_line_likes_is_refused() {
    let refusals = folders::workloads(&suite_without("Mine!", &[])).unwrap_err();
    assert_eq!(refusals, ["workload `Mine!`: found another character, expected a-z, 0-9, `-` and `_` only"]);
}

#[test]
fn a_whole_folder_becomes_a_module_and_a_workload() {
    let suite = suite_without("3-mine", &[]);
    let names = folders::workloads(&suite).unwrap();
    assert_eq!(names, ["3-mine"]);
    let registry = folders::registry(&suite, &names);
    assert!(registry.contains("mod workload_3_mine;"), "{registry}");
    assert!(registry.contains("[Workload; 1] = [\n    workload_3_mine::WORKLOAD,\n]"), "{registry}");
}

/// The refusals of a whole folder that has these files as well.
fn refusals_with(name: &str, files: &[&str]) -> Vec<String> {
    let suite = suite_without(name, &[]);
    for file in files {
        fs::write(suite.join(name).join(file), "").unwrap();
    }
    folders::workloads(&suite).err().unwrap_or_default()
}

#[test]
fn versions_are_listed_beside_the_workload() {
    let suite = suite_without("versioned", &[]);
    for file in ["stash.cu", "stash.ptx", "cache.cu", "cache.ptx", "part.cuh"] {
        fs::write(suite.join("versioned").join(file), "").unwrap();
    }
    let registry = folders::registry(&suite, &folders::workloads(&suite).unwrap());
    let of = |text: &str| registry.find(text).unwrap_or_else(|| panic!("{text} in {registry}"));
    assert!(of("static VERSIONS: &[Workload] = &[") < of("name: \"versioned@cache\""));
    assert!(of("name: \"versioned@cache\"") < of("name: \"versioned@stash\""));
    assert_eq!(registry.matches("..workload_versioned::WORKLOAD").count(), 2);
}

#[test]
fn a_version_that_lacks_its_ptx_or_has_no_name_is_refused() {
    assert_eq!(
        refusals_with("lacking", &["stash.cu"]),
        ["workload `lacking`: version `stash`: stash.ptx is missing: its PTX, built by scripts/build-ptx"]
    );
    assert_eq!(
        refusals_with("doubled", &["scratch.cu", "scratch.ptx"]),
        ["workload `doubled`: version `scratch`: found scratch.cu, expected kernel.cu to be that version"]
    );
    assert_eq!(
        refusals_with("odd", &["Stash.cu", "Stash.ptx"]),
        ["workload `odd`: version `Stash`: found another character, expected a-z, 0-9, `-` and `_` only"]
    );
}

/// The registry of the build: the folders that are there, each under its own name.
#[test]
fn every_folder_is_a_workload_of_its_name() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/suite");
    let names: Vec<String> =
        strata_workloads::all().iter().map(|workload| workload.name.to_owned()).collect();
    assert_eq!(folders::workloads(&suite).unwrap(), names);
}
