//! `--show` and `--dump` of `strata run`: buffers of a launch file after its last launch.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_workloads::Output;
use strata_workloads::launch_file::LaunchFile;
use tempfile::NamedTempFile;

use crate::output::beside;

/// Which buffers to show and to write.
#[derive(Args)]
pub struct BufferArguments {
    /// Show a buffer of the launch file after the last launch or the one that failed: type, length, first and last
    /// elements, range, NaNs. May be repeated.
    #[arg(long = "show", value_name = "BUFFER")]
    shown: Vec<String>,
    /// Write a buffer of the launch file after the last launch or the one that failed, and show it: raw bytes, or one
    /// element a line if the file's name ends in .csv or .txt. May be repeated.
    #[arg(long = "dump", value_name = "BUFFER=FILE", value_parser = dump)]
    dumped: Vec<(String, PathBuf)>,
}

/// Splits `BUFFER=FILE`.
fn dump(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.into(), path.into())),
        _ => Err("expected BUFFER=FILE".into()),
    }
}

/// A file that a buffer goes to. It is written beside its place and moved there whole, so a run that is refused leaves
/// what was there.
pub struct Dump {
    /// The buffer's place among the program's outputs.
    output: usize,
    path: PathBuf,
    file: NamedTempFile,
}

impl BufferArguments {
    /// Whether no buffer is asked for.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.dumped.is_empty()
    }

    /// The files that buffers go to, each with its buffer.
    pub fn dumped(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.dumped.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }

    /// Makes the program read back what is asked for, and opens the files.
    ///
    /// # Errors
    /// A buffer that the launch file does not have, or a file that cannot be written.
    pub fn prepare(&self, program: &mut LaunchFile) -> Result<Vec<Dump>, String> {
        for name in &self.shown {
            show(program, name).map_err(|error| format!("--show {name}: {error}"))?;
        }
        let mut dumps = Vec::new();
        for (name, path) in &self.dumped {
            let failed = |error| format!("--dump {name}={}: {error}", path.display());
            let output = show(program, name).map_err(failed)?;
            let (path, file) = beside(path).map_err(|error| failed(error.to_string()))?;
            dumps.push(Dump { output, path, file });
        }
        Ok(dumps)
    }
}

fn show(program: &mut LaunchFile, name: &str) -> Result<usize, String> {
    program.show(name).ok_or_else(|| {
        let names: Vec<&str> = program.buffers().collect();
        let alike = did_you_mean(name, names.iter().copied());
        match &names[..] {
            [] => "the launch file has no buffers".into(),
            _ => format!("no buffer `{name}`{alike}, the launch file has {}", names.join(", ")),
        }
    })
}

impl Dump {
    /// Writes the buffer. Warns if the run was cut short and the buffer holds a partial result.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(self, outputs: &[Output], is_whole: bool) -> Result<(), String> {
        let Self { output, path, file } = self;
        let text = path.extension().is_some_and(|extension| extension == "csv" || extension == "txt");
        let output =
            outputs.get(output).ok_or_else(|| format!("{}: its buffer cannot be read", path.display()))?;
        let write = || {
            let mut writer = BufWriter::new(file.as_file());
            if text {
                output.write_text(&mut writer)?
            } else {
                writer.write_all(&output.bytes)?
            }
            writer.flush()
        };
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        write().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        if !is_whole {
            eprintln!("{}: PARTIAL, `{}` as it was when the run was stopped", path.display(), output.name);
        }
        Ok(())
    }
}
