//! The libraries that a CUDA program finds in place of the vendor's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::part::{Part, Parts};

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

/// A variable that lists paths, with one more in front.
pub fn before_others(path: &Path, variable: &str) -> OsString {
    let mut all = path.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// CUDA runtime libraries: the name that cargo builds and the names that programs load.
pub const RUNTIMES: [(&str, &str); 3] = [
    ("libcudart_11.so", "libcudart.so.11.0"),
    ("libcudart_12.so", "libcudart.so.12"),
    ("libcudart_13.so", "libcudart.so.13"),
];

/// Stand-ins for libraries that a program brings: the name that cargo builds, the name without version that programs load, and what
/// switches it off.
pub const STAND_INS: [(&str, &str, Part); 2] = [
    ("libstrata_nvrtc.so", "libnvrtc.so", Part::Nvrtc),
    ("libstrata_nvjitlink.so", "libnvJitLink.so", Part::Nvjitlink),
];

/// The library that has the dynamic linker find Strata's libraries, by whatever path a program asks.
pub const AUDIT: &str = "libstrata_audit.so";

/// The management library, which frameworks ask for devices: the name that cargo builds and the one that programs load.
const MANAGEMENT: (&str, &str) = ("libnvidia_ml.so", "libnvidia-ml.so.1");

/// Puts the driver into a folder under the names programs look for, and the management library and the runtimes found beside it.
///
/// # Errors
/// If the folder takes no links.
pub fn link(driver: &Path, folder: &Path, parts: &Parts) -> Result<(), String> {
    for name in ["libcuda.so.1", "libcuda.so"] {
        symlink(driver, &folder.join(name))?;
    }
    let runtimes = RUNTIMES.into_iter().filter(|_| parts.has(Part::Runtime));
    link_built(driver, folder, runtimes.chain([MANAGEMENT]))
}

/// Puts the stand-ins found beside the driver into a folder.
///
/// # Errors
/// If the folder takes no links.
pub fn link_stand_ins(driver: &Path, folder: &Path, parts: &Parts) -> Result<(), String> {
    let wanted = STAND_INS.into_iter().filter(|(_, _, part)| parts.has(*part));
    link_built(driver, folder, wanted.map(|(built, name, _)| (built, name)))
}

fn link_built<'a>(
    driver: &Path,
    folder: &Path,
    libraries: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), String> {
    for (built, name) in libraries {
        let library = driver.with_file_name(built);
        if library.exists() {
            symlink(&library, &folder.join(name))?;
        }
    }
    Ok(())
}

/// Makes a link.
///
/// # Errors
/// If its folder takes none.
pub fn symlink(to: &Path, at: &Path) -> Result<(), String> {
    std::os::unix::fs::symlink(to, at).map_err(|error| format!("{}: {error}", at.display()))
}
