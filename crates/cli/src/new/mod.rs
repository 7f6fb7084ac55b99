//! `strata new`: a small launch file to begin with, or one for a PTX file.

mod offer;
pub mod ptx_alone;

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
    /// Folder to write to; created if it does not exist. Default: this one, or that of the PTX file.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a launch file for the first kernel of this PTX file, with placeholders for its arguments.
    #[arg(long, value_name = "FILE.ptx")]
    ptx: Option<PathBuf>,
    /// The kernel to launch instead of the first.
    #[arg(long, value_name = "NAME", requires = "ptx")]
    kernel: Option<String>,
}

/// What the files hold, with `NAME` for the program's name.
const LAUNCH_FILE: &str = include_str!("launch.toml");
const KERNEL: &str = include_str!("kernel.ptx");

/// Writes a launch file and its PTX, and prints what to do with them.
///
/// # Errors
/// A name that no file can have, a file that exists, or a folder that cannot be written.
pub fn new(arguments: &NewArguments) -> Result<Finished, String> {
    let NewArguments { name, dir, ptx, kernel } = arguments;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 100 || !name.chars().all(allowed) || name.starts_with('-') {
        return Err(format!(
            "found \"{}\", expected a name of letters, digits, `-` and `_`",
            name.escape_debug()
        ));
    }
    if let Some(ptx) = ptx {
        return for_ptx(name, dir.as_deref(), ptx, kernel.as_deref());
    }
    let dir = dir.as_deref().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let file = |extension: &str| dir.join(format!("{name}.{extension}"));
    let (launch_file, kernel) = (file("toml"), file("ptx"));
    // Neither is written when either exists.
    if let Some(there) = [&launch_file, &kernel].into_iter().find(|path| path.exists()) {
        return Err(exists(there));
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

/// Writes a launch file for a PTX file, which it names as it is reached from the launch file's folder.
fn for_ptx(name: &str, dir: Option<&Path>, ptx: &Path, kernel: Option<&str>) -> Result<Finished, String> {
    let text = offer::read(ptx)?;
    let beside = ptx.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let module = match dir {
        None => ptx.file_name().map(PathBuf::from),
        Some(_) => Some(ptx.canonicalize().map_err(|error| format!("{}: {error}", ptx.display()))?),
    };
    let module = module.as_deref().and_then(Path::to_str);
    let module = module.ok_or_else(|| format!("{}: expected a name in UTF-8", ptx.display()))?;
    let offer = offer::offer(name, module, ptx, &text, kernel)?;
    let dir = dir.unwrap_or(beside);
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let launch_file = dir.join(format!("{name}.toml"));
    if launch_file.exists() {
        return Err(exists(&launch_file));
    }
    write(&launch_file, &offer.text)?;
    print(&format!(
        "{}: a launch of {} with placeholders for its arguments\n\nNext, with the arguments that you want:\n  strata run {}\n",
        launch_file.display(),
        offer.kernel,
        launch_file.display(),
    ))?;
    Ok(Finished::Well)
}

fn exists(path: &Path) -> String {
    format!("{}: exists already; expected a name that no file has", path.display())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
