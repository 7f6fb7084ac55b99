//! The built-in workloads: one folder each, with its CUDA C, the PTX built from it, and its host side.
//!
//! The build script finds the folders and checks that each is whole (`build/folders.rs`); `docs/new-workload.md`
//! shows how to write one.
//!
//! A workload may have versions: the same computation and the same host side, whose kernels keep their data elsewhere (in
//! scratchpads, in caches, in stashes). Its name alone is the version [`Workload::DEFAULT_VERSION`]; `NAME@VERSION` is each
//! other one, a [`Workload`] like any.

mod measured;
mod part;
mod prelude;

include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use self::measured::{Measured, MeasuredKernel};
use crate::host::Host;
use crate::{Device, DeviceError, HostProgram, Module, Outcome, Plan};

/// How big a workload's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// At most 100 thousand warp-instructions, still with several CTAs: for tests.
    Test,
    /// A few million warp-instructions: seconds of simulation.
    Small,
    /// The papers' input where one is given, else the suite's usual one; more than a billion thread-instructions
    /// where the paper says so.
    Paper,
    /// The input of the workload's own suite, for the programs of FUSE's, Hi-End's and tinyCache's evaluations; where that runs
    /// for long, a named piece of the program: its first launches, or the first CTAs of each. At most some 25 million
    /// warp-instructions.
    Suite,
    /// The input of the Stash paper (section 5.4), for the programs that it runs.
    Stash,
    /// For Morpheus's evaluation on a quarter of its machine: mostly more data than the 1.25 MiB of the LLC, in few or short
    /// steps, so that hundreds of runs take hours.
    Morpheus,
}

impl Size {
    /// Every size. All workloads have the first three.
    pub const ALL: [Self; 6] =
        [Self::Test, Self::Small, Self::Paper, Self::Suite, Self::Stash, Self::Morpheus];

    /// Its name as written on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Small => "small",
            Self::Paper => "paper",
            Self::Suite => "suite",
            Self::Stash => "stash",
            Self::Morpheus => "morpheus",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A size's name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no size is called `{0}`: expected test, small, paper, suite, stash or morpheus")]
pub struct UnknownSize(String);

impl FromStr for Size {
    type Err = UnknownSize;

    fn from_str(text: &str) -> Result<Self, UnknownSize> {
        Self::ALL.into_iter().find(|size| size.name() == text).ok_or_else(|| UnknownSize(text.into()))
    }
}

/// A workload has no input of this size.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("workload `{}` has no size `{size}`: expected {}", .workload.name, .workload.sizes())]
pub struct MissingSize {
    workload: &'static Workload,
    size: Size,
}

/// A workload has no such version.
#[derive(Clone, Debug, thiserror::Error)]
#[error("workload `{}` has no version `{version}`: expected {}", .workload.family(), .workload.version_names())]
pub struct MissingVersion {
    workload: &'static Workload,
    version: String,
}

/// A built-in program: what it is, and how to get its host side.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As on a command line; the name of its folder, followed by `@` and its version unless that is the default.
    pub name: &'static str,
    /// The benchmark suite whose program it stands for, or "none".
    pub suite: &'static str,
    /// Papers whose evaluation runs it, as the lab repeats it.
    pub papers: &'static [&'static str],
    /// One sentence: what it computes and what its memory accesses look like.
    pub description: &'static str,
    /// The entries of its module, all of which it launches.
    pub kernels: &'static [Kernel],
    /// In what it differs from the suite's program on purpose.
    pub differences: &'static [&'static str],
    /// Its inputs, smallest first.
    pub inputs: &'static [Input],
    /// Its PTX.
    pub ptx: &'static str,
    /// What runs of it measured, as TOML; see [`Workload::measured`].
    measured: &'static str,
}

/// An entry of a workload's module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub entry: &'static str,
    /// The kernel of the suite's program that it stands for; empty when the suite has none.
    pub original: &'static str,
}

/// An input of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its size.
    pub size: Size,
    /// Its size in words: "A 2048 x 2048".
    pub words: &'static str,
    /// Where it is from, if it is the suite's own.
    pub origin: Option<Origin>,
    body: fn() -> Box<dyn Body>,
}

/// Where the input of a suite is from, and what of the program runs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The suite's file or command that has it.
    pub source: &'static str,
    /// What runs.
    pub piece: Piece,
}

/// What of a program runs. Words say which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// All of it.
    All,
    /// Some of its launches.
    Launches(&'static str),
    /// The first CTAs of its launches, by kernels that do not read the size of their grid.
    Ctas(&'static str),
    /// All of it on a part of the input, so that its launches have fewer CTAs.
    Input(&'static str),
}

impl Piece {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Launches(words) | Self::Ctas(words) | Self::Input(words) => words,
        }
    }
}

impl Workload {
    /// The version that a workload's name alone means, if it has several.
    pub const DEFAULT_VERSION: &'static str = "scratch";

    /// The name of its version.
    #[must_use]
    pub fn version(&self) -> &'static str {
        self.name.split_once('@').map_or(Self::DEFAULT_VERSION, |(_, version)| version)
    }

    /// Its name without the version: that of its folder.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.name.split_once('@').map_or(self.name, |(family, _)| family)
    }

    /// The workload and its other versions, the default first: one alone for most.
    pub fn versions(&self) -> impl Iterator<Item = &'static Workload> {
        let family = self.family();
        ALL.iter().chain(VERSIONS).filter(move |workload| workload.family() == family)
    }

    /// The workload in another version.
    ///
    /// # Errors
    /// [`MissingVersion`].
    pub fn in_version(&'static self, version: &str) -> Result<&'static Workload, MissingVersion> {
        self.versions()
            .find(|workload| workload.version() == version)
            .ok_or_else(|| MissingVersion { workload: self, version: version.into() })
    }

    /// The host side at one size. Inputs are made when it runs, not here.
    ///
    /// # Errors
    /// [`MissingSize`]: the workload has no input of that size.
    pub fn program(&'static self, size: Size) -> Result<Box<dyn HostProgram>, MissingSize> {
        let input = self.input(size).ok_or(MissingSize { workload: self, size })?;
        let module = match self.name.split_once('@') {
            None => format!("{}/kernel.ptx", self.name),
            Some((family, version)) => format!("{family}/{version}.ptx"),
        };
        Ok(Box::new(Builtin { workload: self, module, size, body: (input.body)() }))
    }

    /// The input at one size, if the workload has it.
    #[must_use]
    pub fn input(&self, size: Size) -> Option<&'static Input> {
        self.inputs.iter().find(|input| input.size == size)
    }

    /// The names of its sizes: "test, small, paper".
    fn sizes(&self) -> String {
        self.inputs.iter().map(|input| input.size.name()).collect::<Vec<_>>().join(", ")
    }

    /// The names of its versions: "scratch, cache, stash".
    fn version_names(&self) -> String {
        self.versions().map(Workload::version).collect::<Vec<_>>().join(", ")
    }

    /// What a run at one size measured, if it was measured.
    #[must_use]
    pub fn measured(&self, size: Size) -> Option<Measured> {
        Measured::read(self.name, self.measured, size)
    }
}

/// What a workload's own folder has to say: its host side, with the sizes as fields.
trait Body: fmt::Debug + Send + Sync {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError>;
}

#[derive(Debug)]
struct Builtin {
    workload: &'static Workload,
    module: String,
    size: Size,
    body: Box<dyn Body>,
}

impl HostProgram for Builtin {
    fn name(&self) -> &str {
        self.workload.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: &self.module, text: self.workload.ptx }
    }

    fn plan(&self) -> Option<Plan> {
        let measured = self.workload.measured(self.size)?;
        let mut kernels: Vec<String> = measured.kernels.into_iter().map(|kernel| kernel.name).collect();
        kernels.sort();
        Some(Plan { launches: measured.launches, kernels })
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut host = Host::new(device, self.workload.version());
        self.body.run(&mut host)?;
        let outcome = host.into_outcome();
        assert!(!outcome.comparisons.is_empty(), "workload `{}` compares nothing", self.workload.name);
        Ok(outcome)
    }
}

/// Every built-in workload, by name, each in its default version.
#[must_use]
pub fn all() -> &'static [Workload] {
    &ALL
}

/// The workload of that name, `NAME` or `NAME@VERSION`; case does not matter, nor whether words are joined by `-` or `_`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Workload> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let name = plain(name);
    let default = name.strip_suffix(Workload::DEFAULT_VERSION).and_then(|name| name.strip_suffix('@'));
    match default {
        Some(family) => {
            ALL.iter().find(|workload| plain(workload.name) == family && workload.versions().count() > 1)
        }
        None => ALL.iter().chain(VERSIONS).find(|workload| plain(workload.name) == name),
    }
}
