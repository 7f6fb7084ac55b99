//! Names the simulator by what it is made of.

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
    // Away from the workspace there is nothing to hash: the package's version alone says what it was made of.
    let digest = digest.unwrap_or_else(|| "packaged".into());
    println!("cargo::rustc-env=STRATA_SIMULATOR={package}+{digest}");
}
