//! `strata completions` and `strata man`: what a shell and `man` know of the command.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Arguments, Finished, print};

/// Arguments of `strata completions`.
#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

/// Arguments of `strata man`.
#[derive(Args)]
pub struct ManArguments {
    /// Folder to write to; created if it does not exist.
    folder: PathBuf,
}

/// Prints the script.
///
/// # Errors
/// Standard output that cannot be written.
pub fn completions(arguments: &CompletionsArguments) -> Result<Finished, String> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "strata", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Finished::Well)
}

/// Writes the pages and prints their folder.
///
/// # Errors
/// A folder that cannot be written.
pub fn man(arguments: &ManArguments) -> Result<Finished, String> {
    let folder = &arguments.folder;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(failed)?;
    print(&format!("{}\n", folder.join("strata.1").display()))?;
    Ok(Finished::Well)
}
