//! Asks a scheduler's command, and passes on what it says.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Standard output of a command, which is run without a shell.
///
/// # Errors
/// What the command says, or why it does not start.
pub fn ask(command: &str, arguments: &[OsString]) -> Result<String, String> {
    let output = Command::new(command)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command}: {error}, expected this command on the PATH"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = lines.join("; ");
    // Most commands name themselves.
    let prefix = format!("{command}: ");
    Err(match said.strip_prefix(&prefix) {
        _ if said.is_empty() => format!("{prefix}{}", output.status),
        Some(rest) => format!("{prefix}{rest}"),
        None => format!("{prefix}{said}"),
    })
}
