//! `strata new`: a small launch file to begin with.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{Finished, print};

/// Arguments of `strata new`.
#[derive(Args)]
pub struct NewArguments {
    /// Name of the program: letters, digits, `-` and `_`. The files are NAME.toml and NAME.ptx.
    name: String,
    /// Folder to write to; created if it does not exist.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// What the files hold, with `NAME` for the program's name.
const LAUNCH_FILE: &str = include_str!("launch.toml");
const KERNEL: &str = include_str!("kernel.ptx");

/// Writes a launch file and its PTX, and prints what to do with them.
///
/// # Errors
/// A name that is no file's, a file that exists, or a folder that cannot be written.
pub fn new(arguments: &NewArguments) -> Result<Finished, String> {
    let NewArguments { name, dir } = arguments;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 100 || !name.chars().all(allowed) || name.starts_with('-') {
        return Err(format!(
            "found \"{}\", expected a name of letters, digits, `-` and `_`",
            name.escape_debug()
        ));
    }
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let file = |extension: &str| dir.join(format!("{name}.{extension}"));
    let (launch_file, kernel) = (file("toml"), file("ptx"));
    // Neither is written when either exists.
    if let Some(there) = [&launch_file, &kernel].into_iter().find(|path| path.exists()) {
        return Err(format!("{}: exists already; expected a name that no file has", there.display()));
    }
    write(&kernel, KERNEL)?;
    write(&launch_file, &LAUNCH_FILE.replace("NAME", name))?;
    let run = format!("strata run {}", launch_file.display());
    print(&format!(
        "{}: y = a * x + y, with its result checked\n{}: its kernel\n\nNext:\n  {run}\n  {run} --check --show y\n  \
         {run} --dump y={}\n",
        launch_file.display(),
        kernel.display(),
        file("csv").display(),
    ))?;
    Ok(Finished::Well)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
