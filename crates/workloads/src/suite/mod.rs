//! The built-in workloads: one folder each, with its CUDA C, the PTX built from it, and its host side.
//!
//! About so many warp-instructions run; the compiler that reads the PTX has a say in it:
//!
//! | workload | test | small | paper |
//! |---|---|---|---|
//! | saxpy | 9 thousand | 1.8 million | 37 million |
//! | gemm | 93 thousand | 4.0 million | 62 million |
//! | atax | 91 thousand | 1.5 million | 39 million |
//! | conv2d | 57 thousand | 1.9 million | 38 million |
//! | bfs | 61 thousand | 3.4 million | 89 million |
//! | hotspot | 51 thousand | 4.0 million | 48 million |
//! | histogram | 15 thousand | 2.6 million | 32 million |
//! | spmv | 72 thousand | 4.2 million | 83 million |
//! | transpose | 43 thousand | 2.6 million | 42 million |
//! | reduction | 56 thousand | 2.9 million | 46 million |
//! | gather | 5 thousand | 0.2 million | 45 million |

mod atax;
mod bfs;
mod conv2d;
mod gather;
mod gemm;
mod histogram;
mod hotspot;
mod reduction;
mod saxpy;
mod spmv;
mod transpose;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Device, DeviceError, HostProgram, Module, Outcome};

/// How big a workload's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// At most 100 thousand warp-instructions, still with several CTAs: for tests.
    Test,
    /// A few million warp-instructions: seconds of simulation.
    Small,
    /// More than a billion thread-instructions, near the suite's own or the papers' inputs.
    Paper,
}

impl Size {
    /// Every size, smallest first.
    pub const ALL: [Self; 3] = [Self::Test, Self::Small, Self::Paper];

    /// Its name as written on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Small => "small",
            Self::Paper => "paper",
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
#[error("no size is called `{0}`: expected test, small or paper")]
pub struct UnknownSize(String);

impl FromStr for Size {
    type Err = UnknownSize;

    fn from_str(text: &str) -> Result<Self, UnknownSize> {
        Self::ALL.into_iter().find(|size| size.name() == text).ok_or_else(|| UnknownSize(text.into()))
    }
}

/// A built-in program: what it is, and how to get its host side.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As on a command line.
    pub name: &'static str,
    /// The benchmark suite whose program it stands for, or "none".
    pub suite: &'static str,
    /// Papers whose evaluation runs this program or another form of its algorithm; see `differences`.
    pub papers: &'static [&'static str],
    /// One sentence: what it computes and what its memory accesses look like.
    pub description: &'static str,
    /// The entries of its module, all of which it launches.
    pub kernels: &'static [&'static str],
    /// In what it differs from the suite's program on purpose.
    pub differences: &'static [&'static str],
    /// The input at each size, in words; in the order of [`Size::ALL`].
    pub inputs: [&'static str; 3],
    /// Its PTX.
    pub ptx: &'static str,
    build: fn(Size) -> Box<dyn Body>,
}

impl Workload {
    /// The host side at one size. Inputs are made when it runs, not here.
    #[must_use]
    pub fn program(&'static self, size: Size) -> Box<dyn HostProgram> {
        let module = format!("{}/kernel.ptx", self.name);
        Box::new(Builtin { workload: self, module, body: (self.build)(size) })
    }

    /// The input at one size, in words.
    #[must_use]
    pub fn input(&self, size: Size) -> &'static str {
        self.inputs[size as usize]
    }
}

/// What a workload's own file has to say: its host side, with the sizes as fields.
trait Body: fmt::Debug + Send + Sync {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError>;
}

#[derive(Debug)]
struct Builtin {
    workload: &'static Workload,
    module: String,
    body: Box<dyn Body>,
}

impl HostProgram for Builtin {
    fn name(&self) -> &str {
        self.workload.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: &self.module, text: self.workload.ptx }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        self.body.run(device)
    }
}

static ALL: [Workload; 11] = [
    saxpy::WORKLOAD,
    gemm::WORKLOAD,
    atax::WORKLOAD,
    conv2d::WORKLOAD,
    bfs::WORKLOAD,
    hotspot::WORKLOAD,
    histogram::WORKLOAD,
    spmv::WORKLOAD,
    transpose::WORKLOAD,
    reduction::WORKLOAD,
    gather::WORKLOAD,
];

/// Every built-in workload.
#[must_use]
pub fn all() -> &'static [Workload] {
    &ALL
}

/// The workload of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.name == name)
}

/// The CTAs that cover `threads` threads, `block` at a time.
fn ctas(threads: usize, block: u32) -> u32 {
    u32::try_from(threads.div_ceil(block as usize)).expect("a workload's grid fits its launch")
}

/// A size as kernels take it.
fn int(n: usize) -> i32 {
    i32::try_from(n).expect("a workload's sizes fit an int")
}
