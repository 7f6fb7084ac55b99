//! The libraries that a CUDA program finds in place of the vendor's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The driver library's file.
const DRIVER: &str = "libcuda.so";

/// Where an installed command has its libraries, from its own folder.
const INSTALLED: &str = "../lib/strata";

/// Finds the driver library: the one that is given, beside the command, or where an installed command has it.
///
/// # Errors
/// If it is not where it is expected.
pub fn driver(given: Option<&Path>) -> Result<PathBuf, String> {
    let found = |path: &Path| {
        path.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; expected the library that `cargo build -p strata-driver` makes",
                path.display()
            )
        })
    };
    if let Some(path) = given {
        return found(path);
    }
    let command = std::env::current_exe().map_err(|error| format!("this command's place: {error}"))?;
    let folder = command.parent().unwrap_or(Path::new("/"));
    found(&folder.join(DRIVER))
        .or_else(|error| found(&folder.join(INSTALLED).join(DRIVER)).map_err(|_| error))
}

/// A library search path with `folder` in front.
pub fn before_others(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

/// CUDA runtime libraries: the name that cargo builds and the names that programs load.
pub const RUNTIMES: [(&str, &str); 3] = [
    ("libcudart_11.so", "libcudart.so.11.0"),
    ("libcudart_12.so", "libcudart.so.12"),
    ("libcudart_13.so", "libcudart.so.13"),
];

/// The management library, which frameworks ask for devices: the name that cargo builds and the one that programs load.
const MANAGEMENT: (&str, &str) = ("libnvidia_ml.so", "libnvidia-ml.so.1");

/// Puts the driver into a folder under the names programs look for, and the other libraries found beside it.
///
/// # Errors
/// If the folder takes no links.
pub fn link(driver: &Path, folder: &Path) -> Result<(), String> {
    let link = |to: &Path, name: &str| {
        let path = folder.join(name);
        std::os::unix::fs::symlink(to, &path).map_err(|error| format!("{}: {error}", path.display()))
    };
    for name in ["libcuda.so.1", "libcuda.so"] {
        link(driver, name)?;
    }
    for (made, name) in RUNTIMES.into_iter().chain([MANAGEMENT]) {
        let library = driver.with_file_name(made);
        if library.exists() {
            link(&library, name)?;
        }
    }
    Ok(())
}
