//! `strata exec`: runs an unmodified CUDA program with the modelled GPU's driver and runtime in place of the
//! vendor's.

mod store;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::Value;
use strata_lab::store::check_writable;
use tempfile::TempDir;

use crate::Finished;
use crate::choice::MachineChoice;
use crate::output::Output;

/// Arguments of `strata exec`.
#[derive(Args)]
pub struct ExecArguments {
    #[command(flatten)]
    machine: MachineChoice,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Compute correct values without modelling time. Much faster.
    #[arg(long)]
    functional: bool,
    /// Most worker threads; fewer run while more would not be faster. Does not affect results.
    /// Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Write one line of JSON for each launch, and one for the whole run, to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Add the program's numbers to this result store: those of the whole run, and of each launch. Only a program that
    /// ends with status 0 and without a failed launch is added.
    #[arg(long, value_name = "DIR", conflicts_with = "functional")]
    store: Option<PathBuf>,
    /// Driver library to load. Default: `libcuda.so` beside this command. CUDA runtimes are looked for in the
    /// driver's folder.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// Program to run, with its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Runs the program to completion, says on standard error what it cost, and ends with its exit status.
///
/// # Errors
/// A machine that cannot be built, a missing driver, results that cannot be written, or a program that cannot be
/// started.
pub fn exec(arguments: &ExecArguments) -> Result<Finished, String> {
    // Refuse a bad machine and a bad store before the program starts.
    let machine = arguments.machine.load(&arguments.overrides)?;
    arguments.store.as_deref().map_or(Ok(()), check_writable)?;
    if let Some(set) = arguments.overrides.iter().find(|set| set.contains(';')) {
        return Err(format!("--set {set}: found `;`, which separates values"));
    }
    let mut json = arguments.json.as_deref().map(Output::new).transpose()?;
    // What the driver writes is read again at the end.
    if let Some(json) = json.as_ref().filter(|json| !json.is_file()) {
        return Err(format!("--json {}: not a regular file, expected one", json.path().display()));
    }
    let folder = folder(&driver(arguments.driver.as_deref())?)?;
    let results = match &json {
        Some(json) => std::path::absolute(json.path()).map_err(|error| error.to_string())?,
        None => folder.path().join("results.json"),
    };
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
        .env("STRATA_RESULTS", &results);
    let program = arguments.program[0].to_string_lossy();
    let before = std::fs::read(&results).unwrap_or_default();
    let status = command.status().map_err(|error| format!("{program}: {error}"))?;
    let lines = std::fs::read_to_string(&results).unwrap_or_default();
    if lines.as_bytes() == before {
        eprintln!("{program}: made no CUDA call, so there are no results");
    } else {
        json.iter_mut().for_each(Output::keep);
        eprintln!("{program}: {}", cost(&lines));
        if let Some(folder) = &arguments.store {
            let stored = match status.success() {
                true => store::add(arguments, folder, &machine, &lines),
                false => Err(format!("not stored: {status}, expected 0")),
            };
            match stored {
                Ok(path) => eprintln!("{program}: stored in {}", path.display()),
                Err(error) if status.success() => return Err(format!("{program}: {error}")),
                Err(error) => eprintln!("{program}: {error}"),
            }
        }
    }
    match status.code() {
        Some(code) => Ok(Finished::As(code as u8)),
        None => Err(format!("{program}: {status}")),
    }
}

/// What a run cost, in a sentence, from its lines of JSON.
fn cost(lines: &str) -> String {
    let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
    let launches = lines.lines().filter_map(parsed).filter(|line| line["launch"].is_u64());
    let (mut count, mut cycles, mut instructions, mut timed) = (0, 0, 0, true);
    for launch in launches {
        count += 1;
        cycles += launch["cycles"].as_u64().unwrap_or(0);
        instructions += launch["warp_instructions"].as_u64().unwrap_or(0);
        timed &= launch["cycles"].is_u64();
    }
    let cycles = if timed { format!("{cycles} cycles, ") } else { String::new() };
    let end = match lines.lines().last().and_then(parsed) {
        Some(last) if last["launch_count"].is_u64() && last["stopped"].is_null() => "",
        _ => " until it was stopped",
    };
    format!("{count} launches, {cycles}{instructions} warp instructions{end}")
}

/// Finds the driver library.
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

/// A library search path with `folder` in front.
fn before_others(folder: &Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

/// CUDA runtime libraries: the name that cargo builds and the names that programs load.
const RUNTIMES: [(&str, &str); 3] = [
    ("libcudart_11.so", "libcudart.so.11.0"),
    ("libcudart_12.so", "libcudart.so.12"),
    ("libcudart_13.so", "libcudart.so.13"),
];

/// A temporary folder that holds the driver under the names programs look for, and the runtimes found beside
/// the driver. Dropping it deletes the folder.
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
