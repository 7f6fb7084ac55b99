//! `--without`: what stands before a program apart from the driver.

use clap::ValueEnum;

/// Something that stands before a program's own libraries and tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// Strata's CUDA runtime in place of the program's own.
    Runtime,
    /// A stand-in that has NVRTC return PTX.
    Nvrtc,
    /// A stand-in that has nvJitLink link to PTX.
    Nvjitlink,
    /// An assembler for Triton, which hands out the PTX.
    Ptxas,
    /// An `nvcc` in PATH that calls the user's own and compiles to PTX in place of a cubin.
    Nvcc,
}

/// The parts but for those that are switched off.
#[derive(Clone, Debug)]
pub struct Parts(pub Vec<Part>);

impl Parts {
    /// Whether a part is wanted.
    pub fn has(&self, part: Part) -> bool {
        !self.0.contains(&part)
    }
}
