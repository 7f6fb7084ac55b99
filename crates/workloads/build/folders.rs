//! The folders of workloads: which there are, what each must hold, and the Rust text that names them all.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What every folder holds, and what for.
pub const FILES: [(&str, &str); 5] = [
    ("kernel.cu", "the kernels in CUDA C"),
    ("kernel.ptx", "their PTX, built by scripts/build-ptx"),
    ("mod.rs", "what the workload is, its sizes and its host side"),
    ("expected.rs", "the expected result, computed on the CPU without looking at the PTX"),
    ("measured.toml", "what runs measured, written by scripts/workloads.py; empty at first"),
];

/// The version that `kernel.cu` is of a workload that has several: the one whose data lie where the original has them.
pub const DEFAULT_VERSION: &str = "scratch";

/// The names of the folders in `suite`, sorted: each is a workload's name.
///
/// # Errors
/// A sentence for each file that a folder lacks, and for each folder whose name is none.
pub fn workloads(suite: &Path) -> Result<Vec<String>, Vec<String>> {
    let entries = fs::read_dir(suite).map_err(|error| vec![format!("{}: {error}", suite.display())])?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let refusals: Vec<String> = names.iter().flat_map(|name| refusals(&suite.join(name), name)).collect();
    if refusals.is_empty() { Ok(names) } else { Err(refusals) }
}

fn refusals(folder: &Path, name: &str) -> Vec<String> {
    let mut refusals: Vec<String> = FILES
        .iter()
        .filter(|(file, _)| !folder.join(file).is_file())
        .map(|(file, what)| format!("workload `{name}`: {file} is missing: {what}"))
        .collect();
    refusals.extend(versions(folder).iter().filter_map(|version| refused_version(folder, name, version)));
    if !is_name(name) {
        refusals
            .push(format!("workload `{name}`: found another character, expected a-z, 0-9, `-` and `_` only"));
    }
    refusals
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
}

/// The names of a folder's further versions, sorted: each `*.cu` beside `kernel.cu` is one, with its PTX beside it.
fn versions(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut versions: Vec<String> = entries
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".cu").map(str::to_owned))
        .filter(|name| name != "kernel")
        .collect();
    versions.sort();
    versions
}

fn refused_version(folder: &Path, workload: &str, version: &str) -> Option<String> {
    let of = format!("workload `{workload}`: version `{version}`");
    if version == DEFAULT_VERSION {
        return Some(format!("{of}: found {version}.cu, expected kernel.cu to be that version"));
    }
    if !is_name(version) {
        return Some(format!("{of}: found another character, expected a-z, 0-9, `-` and `_` only"));
    }
    let has_ptx = folder.join(format!("{version}.ptx")).is_file();
    (!has_ptx).then(|| format!("{of}: {version}.ptx is missing: its PTX, built by scripts/build-ptx"))
}

/// A module for each folder, the list of their workloads, and that of their further versions: `NAME@VERSION` is the workload
/// with other PTX.
pub fn registry(suite: &Path, names: &[String]) -> String {
    let mut text = String::new();
    let module = |name: &str| format!("workload_{}", name.replace('-', "_"));
    for name in names {
        let path = suite.join(name).join("mod.rs");
        writeln!(text, "#[path = {path:?}]\nmod {};", module(name)).expect("a string takes all");
    }
    writeln!(text, "static ALL: [Workload; {}] = [", names.len()).expect("a string takes all");
    for name in names {
        writeln!(text, "    {}::WORKLOAD,", module(name)).expect("a string takes all");
    }
    writeln!(text, "];\nstatic VERSIONS: &[Workload] = &[").expect("a string takes all");
    for name in names {
        for version in versions(&suite.join(name)) {
            let path = suite.join(name).join(format!("{version}.ptx"));
            let (full, module) = (format!("{name}@{version}"), module(name));
            writeln!(
                text,
                "    Workload {{ name: {full:?}, ptx: include_str!({path:?}), measured: \"\", ..{module}::WORKLOAD }},"
            )
            .expect("a string takes all");
        }
    }
    text + "];\n"
}
