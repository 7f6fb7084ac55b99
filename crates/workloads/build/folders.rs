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
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let mut refusals: Vec<String> = FILES
        .iter()
        .filter(|(file, _)| !folder.join(file).is_file())
        .map(|(file, what)| format!("workload `{name}`: {file} is missing: {what}"))
        .collect();
    if !name.chars().all(allowed) {
        refusals
            .push(format!("workload `{name}`: found another character, expected a-z, 0-9, `-` and `_` only"));
    }
    refusals
}

/// A module for each folder and the list of their workloads.
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
    text + "];\n"
}
