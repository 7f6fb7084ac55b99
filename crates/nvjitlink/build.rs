//! Makes the library need the one that it stands for, under a name that Strata's audit library knows. So a function that is not
//! here is found there, whatever version that is.

use std::path::PathBuf;
use std::process::Command;

/// The name by which the library asks for the one that it stands for.
const REAL: &str = "strata-real-libnvJitLink.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let file = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join(REAL);
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    // The linker takes the name from an empty library.
    let made = Command::new(&cc)
        .args(["-shared", "-nostdlib", &format!("-Wl,-soname,{REAL}"), "-x", "c", "/dev/null", "-o"])
        .arg(&file)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "{}: no C compiler that links", cc.display());
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed");
    println!("cargo::rustc-cdylib-link-arg={}", file.display());
}
