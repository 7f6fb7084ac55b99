//! Finds the workloads: one folder each under `src/suite`, checked for the files that a workload has.

#[path = "build/folders.rs"]
mod folders;

use std::path::Path;
use std::{env, fs, process};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/folders.rs");
    println!("cargo::rerun-if-changed=src/suite");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let suite = Path::new(&root).join("src/suite");
    let names = folders::workloads(&suite).unwrap_or_else(|refusals| {
        for refusal in refusals {
            println!("cargo::error={refusal}");
        }
        process::exit(1);
    });
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("workloads.rs"), folders::registry(&suite, &names))
        .expect("cargo's output folder can be written");
}
