//! Computes the simulator's version from its sources.

use std::path::PathBuf;

#[path = "build/version.rs"]
mod version;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/version.rs");
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let package = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let root = here.join("../..");
    for path in version::watched(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let digest = version::digest(&root).unwrap_or_else(|error| panic!("{error}"));
    // Outside the workspace there is nothing to hash, and the package's version identifies the sources.
    let digest = digest.unwrap_or_else(|| "packaged".into());
    println!("cargo::rustc-env=STRATA_SIMULATOR={package}+{digest}");
}
