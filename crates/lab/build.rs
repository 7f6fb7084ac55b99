//! Names the simulator by what it is made of: a hash of the sources of every room that decides a number.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The rooms below the lab.
const ROOMS: [&str; 7] = ["engine", "ptx", "memory", "sm", "designs", "workloads", "gpu"];

fn main() {
    let crates = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    // A packaged crate stands alone. The rooms are then those published with exactly this version, and it names them.
    if ROOMS.iter().all(|room| !crates.join(room).exists()) {
        println!("cargo:rerun-if-changed=build.rs");
        println!("cargo:rustc-env=STRATA_SIMULATOR={version}+published");
        return;
    }
    let mut files = Vec::new();
    for room in ROOMS {
        let src = crates.join(room).join("src");
        println!("cargo:rerun-if-changed={}", src.display());
        collect(&src, &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        hash.update(file.strip_prefix(&crates).expect("it was found there").to_string_lossy().as_bytes());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            hash.update(line.as_bytes());
            hash.update(b"\n");
        }
    }
    let digest: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=STRATA_SIMULATOR={version}+{digest}");
}

/// Rust sources, those that only tests build left out.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder of sources can be read").path();
        let name = path.file_name().expect("it is in a folder").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            collect(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}
