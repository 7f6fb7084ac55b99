//! A recorded program as a launch file with its buffers, so that the same PTX, inputs, arguments and grids run
//! elsewhere.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::number::{Number, Type};
use crate::check::Near;
use crate::element::to_bytes;
use crate::recording::{RecordedArg, RecordedBuffer, RecordedLaunch, RecordedPhase, Recording, Spot, Step};
use crate::{Arg, Expected, Module, Outcome, Output};

/// The launch file's name in its folder.
pub const FILE_NAME: &str = "launch.toml";

/// Name of the file that holds its PTX.
const KERNEL_NAME: &str = "kernel.ptx";

/// Why a program was not written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", .path.display())]
pub struct WriteError {
    path: PathBuf,
    error: io::Error,
}

/// How an exported launch file begins.
const MARK: &str = "# Written by `strata workload export`.\n";

/// Checks that a folder holds an earlier export, or no launch file and no kernel that an export would overwrite.
///
/// # Errors
/// [`WriteError`]: the file that would be lost.
pub fn check_folder(folder: &Path) -> Result<(), WriteError> {
    let launch_file = folder.join(FILE_NAME);
    match fs::read(&launch_file) {
        Ok(text) if text.starts_with(MARK.as_bytes()) => return Ok(()),
        Ok(_) => return Err(foreign(launch_file)),
        Err(_) => {}
    }
    let others = [launch_file, folder.join(KERNEL_NAME)];
    others.into_iter().find(|path| path.symlink_metadata().is_ok()).map_or(Ok(()), |path| Err(foreign(path)))
}

fn foreign(path: PathBuf) -> WriteError {
    WriteError { path, error: io::Error::other("is not of an export, expected another folder") }
}

/// Writes the program into `folder`, which is made if need be: `launch.toml`, the PTX, and a file for each buffer
/// that is not zero at first, for each write of the host and for each expected result with its bounds.
///
/// # Errors
/// [`WriteError`]: a file could not be written, or the folder holds somebody's own ([`check_folder`]).
pub fn write(
    name: &str,
    module: Module<'_>,
    recording: &Recording<'_>,
    outcome: &Outcome,
    folder: &Path,
) -> Result<(), WriteError> {
    let mut writer =
        Writer { folder, text: String::new(), names: unique_names(recording.buffers()), files: 0 };
    check_folder(folder)?;
    fs::create_dir_all(folder).map_err(|error| WriteError { path: folder.into(), error })?;
    writer.put(format_args!("{MARK}name = {name:?}\nmodule = \"{KERNEL_NAME}\"\n"));
    writer.file(KERNEL_NAME, module.text.as_bytes())?;
    for index in 0..recording.buffers().len() {
        writer.buffer(index, &recording.buffers()[index])?;
    }
    writer.launches(recording.steps())?;
    for output in &outcome.outputs {
        let spot = recording.spot(output.ptr).expect("an output lies in a buffer");
        writer.check(output, spot)?;
    }
    let text = std::mem::take(&mut writer.text);
    writer.file(FILE_NAME, text.as_bytes())
}

/// The buffers' names; one that comes again gets a number.
fn unique_names(buffers: &[RecordedBuffer]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        let numbered = (2..).map(|n| format!("{}_{n}", buffer.name));
        let mut candidates = std::iter::once(buffer.name.clone()).chain(numbered);
        let free = candidates.find(|name| !names.contains(name)).expect("there are endless numbers");
        names.push(free);
    }
    names
}

struct Writer<'a> {
    folder: &'a Path,
    text: String,
    names: Vec<String>,
    /// Files of host writes so far.
    files: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all");
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).map_err(|error| WriteError { path, error })
    }

    fn buffer(&mut self, index: usize, buffer: &RecordedBuffer) -> Result<(), WriteError> {
        if buffer.bytes == 0 {
            return Ok(());
        }
        let name = self.names[index].clone();
        self.put(format_args!("\n[[buffer]]\nname = {name:?}\ntype = \"u8\"\ncount = {}\n", buffer.bytes));
        if buffer.variable {
            self.put(format_args!("variable = true\n"));
        }
        if buffer.unordered {
            self.put(format_args!("unordered = true\n"));
        }
        if buffer.contents.iter().any(|byte| *byte != 0) {
            let file = format!("{name}.bin");
            let mut bytes = buffer.contents.clone();
            bytes.resize(usize::try_from(buffer.bytes).expect("a buffer fits the host"), 0);
            self.file(&file, &bytes)?;
            self.put(format_args!("contents = {{ file = {file:?} }}\n"));
        }
        Ok(())
    }

    /// Launches in order, each with the writes before it; the same launch again is a repetition.
    fn launches(&mut self, steps: &[Step]) -> Result<(), WriteError> {
        let mut before = vec![];
        let mut rest = steps.iter().peekable();
        while let Some(step) = rest.next() {
            match step {
                Step::Write { to, bytes } => {
                    self.files += 1;
                    let file = format!("write_{}.bin", self.files);
                    self.file(&file, bytes)?;
                    before.push(format!("{{ {}, file = {file:?} }}", self.spot(*to)));
                }
                Step::Fill { to, bytes, value } => {
                    before.push(format!("{{ {}, bytes = {bytes}, fill = {value} }}", self.spot(*to)));
                }
                Step::Launch(_) | Step::Phase(_) => {
                    let mut repeat = 1;
                    while before.is_empty() && rest.next_if_eq(&step).is_some() {
                        repeat += 1;
                    }
                    self.launch(step, &std::mem::take(&mut before), repeat);
                }
            }
        }
        Ok(())
    }

    /// A launch or host phase.
    fn launch(&mut self, step: &Step, before: &[String], repeat: u64) {
        let args = match step {
            Step::Launch(RecordedLaunch { kernel, grid, block, dynamic_shared, args }) => {
                self.put(format_args!(
                    "\n[[launch]]\nkernel = {kernel:?}\ngrid = {grid:?}\nblock = {block:?}\n"
                ));
                if *dynamic_shared > 0 {
                    self.put(format_args!("dynamic_shared_bytes = {dynamic_shared}\n"));
                }
                args
            }
            Step::Phase(RecordedPhase { kernel, threads, args }) => {
                self.put(format_args!("\n[[launch]]\nkernel = {kernel:?}\ncpu_threads = {threads}\n"));
                args
            }
            Step::Write { .. } | Step::Fill { .. } => return,
        };
        if repeat > 1 {
            self.put(format_args!("repeat = {repeat}\n"));
        }
        if !before.is_empty() {
            self.put(format_args!("before = [{}]\n", before.join(", ")));
        }
        let args: Vec<String> = args.iter().map(|arg| self.argument(arg)).collect();
        self.put(format_args!("arguments = [{}]\n", args.join(", ")));
    }

    fn argument(&self, arg: &RecordedArg) -> String {
        match *arg {
            RecordedArg::Address(spot) => format!("{{ {} }}", self.spot(spot)),
            RecordedArg::Scalar(arg) => match arg {
                Arg::Ptr(ptr) => format!("{{ u64 = {} }}", ptr.0),
                Arg::U8(value) => format!("{{ u8 = {value} }}"),
                Arg::I8(value) => format!("{{ i8 = {value} }}"),
                Arg::U16(value) => format!("{{ u16 = {value} }}"),
                Arg::I16(value) => format!("{{ i16 = {value} }}"),
                Arg::U32(value) => format!("{{ u32 = {value} }}"),
                Arg::I32(value) => format!("{{ i32 = {value} }}"),
                Arg::U64(value) => format!("{{ u64 = {value} }}"),
                Arg::I64(value) => format!("{{ i64 = {value} }}"),
                // Every f32 is an f64, whose shortest digits say which.
                Arg::F32(value) => format!("{{ f32 = {:?} }}", f64::from(value)),
                Arg::F64(value) => format!("{{ f64 = {value:?} }}"),
            },
        }
    }

    fn spot(&self, spot: Spot) -> String {
        let name = &self.names[spot.buffer];
        if spot.byte_offset == 0 {
            return format!("buffer = {name:?}");
        }
        format!("buffer = {name:?}, byte_offset = {}", spot.byte_offset)
    }

    fn check(&mut self, output: &Output, spot: Spot) -> Result<(), WriteError> {
        let Output { name, element, bytes, expected, .. } = output;
        let ty = Type::from_name(element).expect("elements have the names of launch files");
        let count = bytes.len() / ty.bytes();
        let buffer = self.names[spot.buffer].clone();
        self.put(format_args!("\n[[check]]\nbuffer = {buffer:?}\nname = {name:?}\ntype = {element:?}\n"));
        self.put(format_args!("byte_offset = {}\ncount = {count}\n", spot.byte_offset));
        let file = format!("{name}.expected.bin");
        match expected {
            Expected::Anything => return Ok(()),
            Expected::Exact(bytes) => self.file(&file, bytes)?,
            Expected::Near(near) => {
                let (values, bounds) = rounded(near, ty);
                self.file(&file, &values)?;
                let bounds_file = format!("{name}.bounds.bin");
                self.file(&bounds_file, &to_bytes(&bounds))?;
                self.put(format_args!("bounds = {bounds_file:?}\n"));
            }
        }
        self.put(format_args!("expected = {{ file = {file:?} }}\n"));
        Ok(())
    }
}

/// Expected values as elements of their type, and bounds that make up for it.
fn rounded(near: &[Near], ty: Type) -> (Vec<u8>, Vec<f64>) {
    let mut values = vec![0; near.len() * ty.bytes()];
    let mut bounds = Vec::with_capacity(near.len());
    for (near, place) in near.iter().zip(values.chunks_exact_mut(ty.bytes())) {
        ty.put(Number::Float(near.value), place);
        let off = (ty.value(place) - near.value).abs();
        bounds.push(if off == 0.0 { near.bound } else { (near.bound + off).next_up() });
    }
    (values, bounds)
}
