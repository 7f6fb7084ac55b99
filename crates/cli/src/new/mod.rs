//! `strata new`: a small launch file to begin with, one for a PTX file, or a crate with a part of a machine of one's own.

mod name;
mod offer;
mod own;
mod program;
pub mod ptx_alone;
mod strata;
mod write;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::Finished;

/// Arguments of `strata new`.
#[derive(Args)]
pub struct NewArguments {
    /// Name of the program or of the part. A program's files are NAME.toml and NAME.ptx; a part's crate, its name in machine
    /// files and its system file are called so.
    name: String,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Kind::Program)]
    kind: Kind,
    /// Folder to write to; created if it does not exist. Default: for a program this one, or that of the PTX file; for a crate
    /// NAME.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a launch file for the first kernel of this PTX file, with placeholders for its arguments.
    #[arg(long, value_name = "FILE.ptx")]
    ptx: Option<PathBuf>,
    /// The kernel to launch instead of the first.
    #[arg(long, value_name = "NAME", requires = "ptx")]
    kernel: Option<String>,
    /// Where the crate finds Strata: the folder of a checkout, the address of a Git repository (`#TAG` behind it for a tag), or
    /// `crates.io`. Default: the checkout that this command was built from, if it is still there, else crates.io.
    #[arg(long, value_name = "WHERE")]
    strata: Option<String>,
}

/// What `strata new` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A launch file and its PTX.
    Program,
    /// A crate with a replacement policy of caches.
    Replacement,
    /// A crate with a prefetch policy of caches.
    Prefetch,
    /// A crate with a scheduler of DRAM channels.
    DramScheduler,
    /// A crate with a warp scheduler.
    WarpScheduler,
    /// A crate with an L1 data cache.
    L1d,
    /// A crate with a last-level cache.
    Llc,
    /// A crate with a network between SMs and memory partitions.
    Network,
    /// A crate with a register file.
    RegisterFile,
}

/// Writes a program or a crate, and prints what to do with it.
///
/// # Errors
/// A name that it cannot have, a file that exists, or a folder that cannot be written.
pub fn new(arguments: &NewArguments) -> Result<Finished, String> {
    let NewArguments { name, kind, dir, ptx, kernel, strata } = arguments;
    match (own::Part::of(*kind), ptx, strata) {
        (None, _, Some(_)) => Err("--strata: found a program, expected a --kind that is a crate".into()),
        (Some(_), Some(ptx), _) => Err(format!("--ptx {}: found a crate, expected a program", ptx.display())),
        (None, Some(ptx), None) => program::for_ptx(name, dir.as_deref(), ptx, kernel.as_deref()),
        (None, None, None) => program::example(name, dir.as_deref()),
        (Some(part), None, strata) => own::write(part, name, dir.as_deref(), strata.as_deref()),
    }?;
    Ok(Finished::Well)
}
