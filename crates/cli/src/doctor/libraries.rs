//! The libraries that `strata exec` puts before CUDA programs.

use super::finding::Finding;
use crate::exec::libraries;

/// One finding for the driver and one for the runtimes beside it.
pub fn findings() -> [Finding; 2] {
    let (programs, runtime) = ("exec: driver API", "exec: CUDA runtime");
    let driver = libraries::driver(None).ok();
    let is_there = |built: &str| driver.as_ref().is_some_and(|driver| driver.with_file_name(built).exists());
    let (there, absent): (Vec<_>, Vec<_>) =
        libraries::RUNTIMES.into_iter().partition(|(built, _)| is_there(built));
    let package =
        |(built, _): &(&str, &str)| built.trim_end_matches(".so").replace("libcudart_", "strata-cudart-");
    let packages: Vec<String> = absent.iter().map(package).collect();
    let runtime = match (names(&there), names(&absent)) {
        (there, absent) if absent.is_empty() => Finding::ok(runtime, there),
        (there, absent) if there.is_empty() => {
            Finding::missing(runtime, format!("no {absent}"), build(&packages))
        }
        (there, absent) => Finding::missing(runtime, format!("{there}, but no {absent}"), build(&packages)),
    };
    let driver = match &driver {
        Some(driver) => Finding::ok(programs, driver.display().to_string()),
        None => Finding::missing(
            programs,
            "no libcuda.so beside the command or in ../lib/strata",
            build(&["strata", "strata-driver"]),
        ),
    };
    [driver, runtime]
}

/// The names that programs look for.
fn names(runtimes: &[(&str, &str)]) -> String {
    runtimes.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// How packages of the workspace are built.
fn build(packages: &[impl AsRef<str>]) -> String {
    let packages: String = packages.iter().map(|package| format!(" -p {}", package.as_ref())).collect();
    format!("cargo build --release{packages} makes it")
}
