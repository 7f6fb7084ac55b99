//! What `strata doctor` says of a host, where the host is made for the test.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{folder, json, well};

/// Runs the command with programs from one folder only.
fn doctor(command: &Path, programs: &Path, arguments: &[&str]) -> Output {
    let mut run = Command::new(command);
    run.args(["doctor", "--json"]).args(arguments).env("PATH", programs);
    for variable in ["CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"] {
        run.env_remove(variable);
    }
    run.output().expect("the command starts")
}

fn findings(output: &Output) -> Vec<Value> {
    json(std::str::from_utf8(&output.stdout).unwrap()).as_array().unwrap().clone()
}

/// State of a feature, what was found and the remedy.
fn finding<'a>(findings: &'a [Value], feature: &str) -> [&'a str; 3] {
    let found = findings.iter().find(|finding| finding["feature"] == feature);
    let found = found.unwrap_or_else(|| panic!("no {feature} in {findings:?}"));
    ["state", "found", "remedy"].map(|key| found[key].as_str().unwrap())
}

/// Writes a program for the shell.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const STRATA: &str = env!("CARGO_BIN_EXE_strata");

#[test]
fn what_is_missing_has_a_remedy_and_is_no_failure() {
    let programs = folder("doctor-nothing", &[]);
    let store = programs.join("store");
    let output = doctor(Path::new(STRATA), &programs, &["--store", store.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let found = findings(&output);
    for feature in ["compiling CUDA C", "Python", "sweeps on Slurm", "sweeps on HyperQueue"] {
        assert_eq!(finding(&found, feature)[0], "missing", "{feature}");
    }
    assert_eq!(finding(&found, "Python")[1], "no python3");
    for one in &found {
        assert_eq!(one["remedy"] == "", one["state"] == "ok", "{one}");
    }
    assert_eq!(finding(&found, "result store")[0], "ok");
    assert!(!store.exists(), "a look makes no store");
}

#[test]
fn programs_and_packages_are_found_where_a_shell_finds_them() {
    let programs = folder("doctor-programs", &[]);
    for name in ["nvcc", "sbatch", "squeue"] {
        program(&programs, name, "exit 1");
    }
    let answer = r#"{"package": "0.1.0", "nvrtc": "/lib/libnvrtc.so.12", "hyperqueue": "0.27.0"}"#;
    program(&programs, "python3", &format!("echo '{answer}'"));
    let found = findings(&doctor(Path::new(STRATA), &programs, &[]));
    assert_eq!(finding(&found, "Python"), ["ok", "strata-gpu 0.1.0", ""]);
    assert_eq!(finding(&found, "CUDA C in Python"), ["ok", "/lib/libnvrtc.so.12", ""]);
    assert_eq!(finding(&found, "compiling CUDA C"), ["ok", programs.join("nvcc").to_str().unwrap(), ""]);
    assert_eq!(finding(&found, "sweeps on Slurm"), ["ok", "sbatch, squeue", ""]);
    assert_eq!(finding(&found, "sweeps on HyperQueue"), ["ok", "hyperqueue 0.27.0 in python3", ""]);

    // A file that may not be run is no program, and half of Slurm is none.
    std::fs::set_permissions(programs.join("squeue"), std::fs::Permissions::from_mode(0o644)).unwrap();
    program(&programs, "python3", "echo hello");
    let found = findings(&doctor(Path::new(STRATA), &programs, &[]));
    assert_eq!(finding(&found, "sweeps on Slurm")[..2], ["missing", "no squeue"]);
    let [state, python, _] = finding(&found, "Python");
    assert!(
        state == "missing" && python.ends_with("python3, which answers something else than it was asked"),
        "{python}"
    );
}

#[test]
fn the_libraries_of_exec_are_looked_for_beside_the_command() {
    let beside = folder("doctor-libraries", &[]);
    let command = beside.join("strata");
    let _ = std::fs::remove_file(&command);
    std::fs::hard_link(STRATA, &command).unwrap();
    let present =
        ["libcuda.so", "libcudart_11.so", "libcudart_13.so", "libstrata_audit.so", "libstrata_nvrtc.so"];
    for name in present {
        let _ = std::fs::remove_file(beside.join(name));
    }
    let found = findings(&doctor(&command, &beside, &[]));
    assert_eq!(finding(&found, "exec: driver API")[0], "missing");
    assert_eq!(finding(&found, "exec: CUDA runtime")[0], "missing");
    for name in present {
        std::fs::write(beside.join(name), "").unwrap();
    }
    let found = findings(&doctor(&command, &beside, &[]));
    assert_eq!(finding(&found, "exec: driver API")[0], "ok");
    let [state, runtimes, remedy] = finding(&found, "exec: CUDA runtime");
    assert_eq!((state, runtimes), ("missing", "libcudart.so.11.0, libcudart.so.13, but no libcudart.so.12"));
    assert!(remedy.contains(" -p strata-cudart-12 ") && !remedy.contains("cudart-11"), "{remedy}");
    let [state, absent, remedy] = finding(&found, "exec: programs' own libraries");
    assert_eq!((state, absent), ("missing", "no libstrata_nvjitlink.so"));
    assert!(remedy.contains(" -p strata-nvjitlink "), "{remedy}");
}

#[test]
fn a_store_that_takes_no_files_is_broken() {
    let folder = folder("doctor-store", &[("file", "kept")]);
    let file = folder.join("file");
    let output = doctor(Path::new(STRATA), &folder, &["--store", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let found = findings(&output);
    let [state, reason, remedy] = finding(&found, "result store");
    assert_eq!(state, "broken");
    assert_eq!(reason, format!("{}: not a directory, expected a folder that takes files", file.display()));
    assert_eq!(remedy, "--store DIR names another folder");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
}

#[test]
fn a_table_fits_80_columns() {
    let table = well(&["doctor"]);
    assert!(table.starts_with("FEATURE"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}
