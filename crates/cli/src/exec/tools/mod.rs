//! Tools that a program calls and finds Strata's in their place: this command, under their names.

pub mod nvcc;
mod options;
mod ptxas;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The file that lists what was put before a program, for `strata exec --report`.
pub const LOG: &str = "STRATA_AUDIT_LOG";

/// The user's own `nvcc`, for Strata's.
pub const NVCC: &str = "STRATA_NVCC";

/// Name of the assembler, in the folder of tools.
pub const PTXAS: &str = "ptxas";

/// Runs as a tool, if this process was started under a tool's name. Returns its exit status.
pub fn as_tool() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let name = words.next()?;
    let tool: fn(Vec<OsString>) -> Result<(), String> = match Path::new(&name).file_name()?.to_str()? {
        PTXAS => ptxas::run,
        nvcc::NAME => nvcc::run,
        _ => return None,
    };
    Some(match tool(words.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            // As ptxas and nvcc do.
            ExitCode::from(255)
        }
    })
}

/// Notes what a tool does, where a report is wanted. Without one it does the same.
fn note(tool: &str, what: &str) {
    let Some(path) = std::env::var_os(LOG).map(PathBuf::from) else { return };
    let what: String = what.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let line = format!("{}\tran\t{tool}\t{what}\n", std::process::id());
    let file = File::options().append(true).create(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
