//! The libraries that `strata exec` puts before CUDA programs.

use super::finding::Finding;
use crate::exec::libraries;

/// One finding for the driver, one for the runtimes beside it and one for what stands before libraries that programs bring.
pub fn findings() -> [Finding; 3] {
    let (programs, runtime, front) =
        ("exec: driver API", "exec: CUDA runtime", "exec: programs' own libraries");
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
    let stand_ins = libraries::STAND_INS.into_iter().map(|(built, ..)| built);
    let (there, absent): (Vec<&str>, Vec<&str>) =
        std::iter::once(libraries::AUDIT).chain(stand_ins).partition(|built| is_there(built));
    let front = if absent.is_empty() {
        Finding::ok(front, there.join(", "))
    } else {
        let packages: Vec<String> = absent
            .iter()
            .map(|built| built.trim_start_matches("lib").replace(".so", "").replace('_', "-"))
            .collect();
        Finding::missing(front, format!("no {}", absent.join(", ")), build(&packages))
    };
    [driver, runtime, front]
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
