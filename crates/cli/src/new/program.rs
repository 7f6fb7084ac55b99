//! Programs: a launch file and its PTX to begin with, and a launch file for PTX that is there.

use std::path::{Path, PathBuf};

use super::{name, offer, write};
use crate::print;

/// What the files hold, with `NAME` for the program's name.
const LAUNCH_FILE: &str = include_str!("program/launch.toml");
const KERNEL: &str = include_str!("program/kernel.ptx");

/// Writes a launch file and its PTX, and prints what to do with them.
///
/// # Errors
/// A name that no file can have, a file that exists, or a folder that cannot be written.
pub fn example(name: &str, dir: Option<&Path>) -> Result<(), String> {
    name::of_program(name)?;
    let dir = dir.unwrap_or(Path::new("."));
    let file = |extension: &str| dir.join(format!("{name}.{extension}"));
    let (launch_file, kernel) = (file("toml"), file("ptx"));
    write::all(&[
        (launch_file.clone(), LAUNCH_FILE.replace("NAME", name)),
        (kernel.clone(), KERNEL.to_owned()),
    ])?;
    let run = format!("strata run {}", launch_file.display());
    print(&format!(
        "{}: y = a * x + y, with its result checked\n{}: its kernel\n\nNext:\n  {run}\n  {run} --check --show y\n  \
         {run} --dump y={}\n",
        launch_file.display(),
        kernel.display(),
        file("csv").display(),
    ))
}

/// Writes a launch file for a PTX file, which it names as it is reached from the launch file's folder.
///
/// # Errors
/// PTX that cannot be read or launched, a file that exists, or a folder that cannot be written.
pub fn for_ptx(name: &str, dir: Option<&Path>, ptx: &Path, kernel: Option<&str>) -> Result<(), String> {
    name::of_program(name)?;
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
    let launch_file = dir.join(format!("{name}.toml"));
    write::all(&[(launch_file.clone(), offer.text)])?;
    print(&format!(
        "{}: a launch of {} with placeholders for its arguments\n\nNext, with the arguments that you want:\n  strata run {}\n",
        launch_file.display(),
        offer.kernel,
        launch_file.display(),
    ))
}
