//! The libraries that `strata exec` puts before CUDA programs.

use super::Finding;
use crate::exec::libraries;

/// One finding for the driver and one for the runtimes beside it.
pub fn findings() -> [Finding; 2] {
    let (programs, runtime) = ("exec: driver API", "exec: CUDA runtime");
    let made = "cargo build --release -p strata -p strata-driver makes it";
    let Ok(driver) = libraries::driver(None) else {
        return [
            Finding::missing(programs, "no libcuda.so where the command looks for it", made),
            Finding::missing(runtime, "the runtimes lie beside libcuda.so, which is missing", made),
        ];
    };
    let (there, absent): (Vec<_>, Vec<_>) =
        libraries::RUNTIMES.into_iter().partition(|(built, _)| driver.with_file_name(built).exists());
    let names = |of: &[(&str, &'static str)]| of.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    let build = absent.iter().filter_map(|(built, _)| {
        let version = built.strip_prefix("libcudart_")?.strip_suffix(".so")?;
        Some(format!("-p strata-cudart-{version}"))
    });
    let build = format!("cargo build --release {} makes it", build.collect::<Vec<_>>().join(" "));
    let runtime = match (there.as_slice(), absent.as_slice()) {
        (there, []) => Finding::ok(runtime, names(there)),
        ([], absent) => Finding::missing(runtime, format!("no {}", names(absent)), build),
        (there, absent) => Finding::missing(runtime, format!("{}, but no {}", names(there), names(absent)), build),
    };
    [Finding::ok(programs, driver.display().to_string()), runtime]
}
