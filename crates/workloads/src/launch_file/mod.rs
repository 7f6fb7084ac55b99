//! Programs described by a user: a TOML file that names PTX, buffers, launches and what to compare.
//!
//! [`read`] gives a [`LaunchFile`], which is a [`HostProgram`](crate::HostProgram) like the built-in ones. The
//! format is described with an example in `docs/launch-files.md`. A file with a key that means nothing, a value
//! out of its range or a size beyond [`limits`] is refused with the place in the file.
//!
//! | file | subject |
//! |---|---|
//! | `error.rs` | what a refusal says |
//! | `folder.rs` | where the files that it names come from |
//! | `node.rs` | one value of the file, its place, and reading it as this or that |
//! | `parse/` | the file's tables |
//! | `ptx.rs` | what the module's text says about its kernels |
//! | `number.rs` | types of elements and arguments |
//! | `contents.rs` | what a buffer holds: generated, written out, or from a file |
//! | `run.rs` | the host side |
//! | `write.rs` | a recorded program as a launch file |

mod contents;
mod error;
mod folder;
mod node;
mod number;
mod parse;
mod ptx;
mod run;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use error::LaunchFileError;
pub use write::{FILE_NAME, WriteError, check_folder, write};

use self::contents::Contents;
use self::folder::Folder;
use self::number::Type;
use crate::{Arg, Shape};

/// What a launch file may ask for at most. They bound what a hostile file costs before anything runs; a device
/// has limits of its own.
pub mod limits {
    /// Bytes of the launch file. Read, it takes up to eighty times as much memory.
    pub const FILE_BYTES: u64 = 8 << 20;
    /// Bytes of the PTX file.
    pub const MODULE_BYTES: u64 = 64 << 20;
    /// Buffers.
    pub const BUFFERS: usize = 1024;
    /// Bytes of one buffer.
    pub const BUFFER_BYTES: u64 = 4 << 30;
    /// Numbers written in the launch file for one buffer or expectation; more belong in a file.
    pub const VALUES: usize = 1 << 16;
    /// Bytes of all buffers together.
    pub const TOTAL_BYTES: u64 = 16 << 30;
    /// `[[launch]]` tables.
    pub const LAUNCHES: usize = 1 << 16;
    /// Writes before one launch.
    pub const WRITES: usize = 1024;
    /// Repetitions of one launch.
    pub const REPEAT: u64 = 1_000_000;
    /// Arguments of one launch.
    pub const ARGUMENTS: usize = 512;
    /// `[[check]]` tables.
    pub const CHECKS: usize = 256;
    /// CTAs in x, y and z: CUDA C++ Programming Guide, table of technical specifications.
    pub const GRID: [u64; 3] = [0x7fff_ffff, 65_535, 65_535];
    /// Threads of a CTA in x, y and z, same table.
    pub const BLOCK: [u64; 3] = [1024, 1024, 64];
    /// Threads of a CTA, same table.
    pub const BLOCK_THREADS: u64 = 1024;
    /// Threads of a host phase: as many as CTAs of a grid in x.
    pub const CPU_THREADS: u64 = GRID[0];
    /// Dynamic shared memory of a CTA in bytes: the most that any GPU of that table gives, 227 KiB.
    pub const DYNAMIC_SHARED_BYTES: u64 = 227 << 10;
}

/// A launch file that has been read and checked, with the files it names.
#[derive(Debug)]
pub struct LaunchFile {
    name: String,
    module_name: String,
    ptx: String,
    buffers: Vec<Buffer>,
    launches: Vec<Launch>,
    checks: Vec<Check>,
    /// The files that it names, as it names them and where they lie.
    files: Vec<(String, PathBuf)>,
}

/// A launch file with every file that it names, to be read where those are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The launch file's path where it was packed: for errors, and for its name if it gives itself none.
    pub path: String,
    /// The launch file.
    pub text: String,
    /// The files that it names, by the names that it has for them.
    pub files: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug)]
struct Buffer {
    name: String,
    place: Place,
    /// Its contents may depend on the order in which threads run.
    unordered: bool,
    ty: Type,
    count: usize,
    contents: Contents,
}

/// Where a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is allocated for the program.
    Allocated,
    /// It is the module's variable of its name.
    Variable,
}

impl Buffer {
    fn bytes(&self) -> usize {
        self.count * self.ty.bytes()
    }
}

#[derive(Debug)]
struct Launch {
    before: Vec<Write>,
    kernel: String,
    place: Processor,
    repeat: u64,
    arguments: Vec<Argument>,
}

/// What runs the threads of a launch, and how many there are.
#[derive(Clone, Copy, Debug)]
enum Processor {
    /// The GPU.
    Gpu(Shape),
    /// The CPU cores: a host phase of so many threads.
    Cpu(u32),
}

/// What the host writes before a launch.
#[derive(Debug)]
enum Write {
    Bytes { buffer: usize, byte_offset: u64, bytes: Vec<u8> },
    Fill { buffer: usize, byte_offset: u64, bytes: u64, value: u8 },
}

#[derive(Debug)]
enum Argument {
    /// A buffer's address and how far into it.
    Buffer {
        index: usize,
        byte_offset: u64,
    },
    Scalar(Arg),
}

#[derive(Debug)]
struct Check {
    buffer: usize,
    name: String,
    ty: Type,
    byte_offset: u64,
    count: usize,
    /// `None`: the buffer is an output, but nothing says what it should hold.
    expected: Option<Contents>,
    /// `None`: equal bit for bit.
    tolerance: Option<Tolerance>,
}

/// How far a result may be off.
#[derive(Debug)]
enum Tolerance {
    /// `absolute + relative * |expected|`.
    Everywhere { absolute: f64, relative: f64 },
    /// A bound for each element.
    Each(Vec<f64>),
}

impl LaunchFile {
    /// The files that it names: PTX, contents, expectations, bounds. Each once.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(_, path)| path.as_path())
    }

    /// The buffers' names, in the file's order.
    pub fn buffers(&self) -> impl Iterator<Item = &str> {
        self.buffers.iter().map(|buffer| buffer.name.as_str())
    }

    /// Reads a whole buffer back after the last launch, as a `[[check]]` without `expected` does. Gives the place of
    /// its contents in [`Outcome::outputs`](crate::Outcome); `None` when there is no such buffer.
    pub fn show(&mut self, name: &str) -> Option<usize> {
        let index = self.buffers.iter().position(|buffer| buffer.name == name)?;
        let Buffer { ty, count, .. } = self.buffers[index];
        let shows = |check: &Check| {
            let part = (check.buffer, check.ty, check.byte_offset, check.count);
            part == (index, ty, 0, count) && check.expected.is_none()
        };
        if let Some(place) = self.checks.iter().position(shows) {
            return Some(place);
        }
        let (name, expected, tolerance) = (name.into(), None, None);
        self.checks.push(Check { buffer: index, name, ty, byte_offset: 0, count, expected, tolerance });
        Some(self.checks.len() - 1)
    }
}

/// Reads a launch file and every file it names; those are looked for beside it.
///
/// # Errors
/// [`LaunchFileError`], with the place in the file where there is one.
pub fn read(path: &Path) -> Result<LaunchFile, LaunchFileError> {
    let text = text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse::parse(&path.display().to_string(), &text, &default_name(path), Folder::host(folder))
}

/// Reads a launch file that came along with every file it names.
///
/// # Errors
/// As [`read`].
pub fn read_package(package: &Package) -> Result<LaunchFile, LaunchFileError> {
    let name = default_name(Path::new(&package.path));
    parse::parse(&package.path, &package.text, &name, Folder::package(package))
}

/// Packs a launch file with every file it names.
///
/// # Errors
/// As [`read`].
pub fn pack(path: &Path) -> Result<Package, LaunchFileError> {
    let file = read(path)?;
    let mut files = BTreeMap::new();
    for (name, path) in &file.files {
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, error.to_string()))?;
        files.insert(name.clone(), bytes);
    }
    Ok(Package { path: path.display().to_string(), text: text(path)?, files })
}

/// The name of a program whose launch file gives it none.
fn default_name(path: &Path) -> String {
    path.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, reason: String) -> LaunchFileError {
    LaunchFileError::Unreadable { file: path.display().to_string(), reason }
}

/// The text of a launch file.
fn text(path: &Path) -> Result<String, LaunchFileError> {
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, error.to_string()))?;
    if !meta.is_file() {
        return Err(unreadable(path, "not a regular file".into()));
    }
    if meta.len() > limits::FILE_BYTES {
        let reason = format!("{} bytes long, at most {} expected", meta.len(), limits::FILE_BYTES);
        return Err(unreadable(path, reason));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let (valid, bytes) = (error.utf8_error().valid_up_to(), error.into_bytes());
        let before = String::from_utf8_lossy(&bytes[..valid]);
        let (line, column) = node::place(&before, before.len());
        let message = format!("byte {:#04x} is not UTF-8", bytes[valid]);
        LaunchFileError::Syntax { file: path.display().to_string(), line, column, message }
    })
}
