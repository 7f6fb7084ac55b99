//! `strata exec`: a CUDA program as it is, with the modelled GPU's driver and runtime in place of the vendor's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use tempfile::TempDir;

use crate::Finished;
use crate::choice::MachineChoice;

/// Arguments of `strata exec`.
#[derive(Args)]
pub struct ExecArguments {
    #[command(flatten)]
    machine: MachineChoice,
    /// Replace a value of the machine file, as in `l1d.ways=8`. May be given several times.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Right values and no time: much faster.
    #[arg(long)]
    functional: bool,
    /// Worker threads; results do not depend on it. Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Write a line of JSON for each launch, and one for all, to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The driver, unless it stands beside this command as `libcuda.so`. Runtimes are looked for beside it.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Runs the program to its end. Its exit status says whether it went well.
pub fn exec(arguments: &ExecArguments) -> Result<Finished, String> {
    // Wrong machines are refused before the program starts.
    arguments.machine.load(&arguments.overrides)?;
    if let Some(set) = arguments.overrides.iter().find(|set| set.contains(';')) {
        return Err(format!("--set {set}: found `;`, which separates values"));
    }
    let folder = folder(&driver(arguments.driver.as_deref())?)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut command = Command::new(&arguments.program[0]);
    command
        .args(&arguments.program[1..])
        .env("LD_LIBRARY_PATH", before_others(folder.path()))
        .env("STRATA_MACHINE", &arguments.machine.machine)
        .env("STRATA_SYSTEM", arguments.machine.systems.join("+"))
        .env("STRATA_SET", arguments.overrides.join(";"))
        .env("STRATA_MODE", if arguments.functional { "functional" } else { "timing" })
        .env("STRATA_THREADS", arguments.threads.unwrap_or(cores).to_string())
        .env("STRATA_RESULTS", arguments.json.as_deref().unwrap_or(Path::new("")));
    let program = arguments.program[0].to_string_lossy();
    let status = command.status().map_err(|error| format!("{program}: {error}"))?;
    if status.success() { Ok(Finished::Well) } else { Err(format!("{program}: {status}")) }
}

/// The library.
fn driver(given: Option<&Path>) -> Result<PathBuf, String> {
    let beside = || {
        let command = std::env::current_exe().map_err(|error| format!("this command's place: {error}"))?;
        Ok::<_, String>(command.with_file_name("libcuda.so"))
    };
    let path = given.map_or_else(beside, |path| Ok(path.to_owned()))?;
    path.canonicalize().map_err(|error| {
        format!("{}: {error}; expected the library that `cargo build -p strata-driver` makes", path.display())
    })
}

/// A search path that begins with a folder.
fn before_others(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

/// Libraries of the CUDA runtime: as cargo names them, and as programs look for them.
const RUNTIMES: [(&str, &str); 3] = [
    ("libcudart_11.so", "libcudart.so.11.0"),
    ("libcudart_12.so", "libcudart.so.12"),
    ("libcudart_13.so", "libcudart.so.13"),
];

/// A folder with the driver under the names that programs look for, and the runtimes that stand beside it; gone when
/// dropped.
fn folder(driver: &Path) -> Result<TempDir, String> {
    let folder = tempfile::Builder::new().prefix("strata-exec-").tempdir();
    let folder = folder.map_err(|error| format!("a folder for the libraries: {error}"))?;
    let link = |to: &Path, name: &str| {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(to, &path).map_err(|error| format!("{}: {error}", path.display()))
    };
    for name in ["libcuda.so.1", "libcuda.so"] {
        link(driver, name)?;
    }
    for (made, name) in RUNTIMES {
        let runtime = driver.with_file_name(made);
        if runtime.exists() {
            link(&runtime, name)?;
        }
    }
    Ok(folder)
}
