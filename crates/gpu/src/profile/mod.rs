//! What a program asks of any memory hierarchy and of its registers, measured on the reference executor.
//!
//! | file | subject |
//! |---|---|
//! | `lines.rs` | how each line is read and written over the whole run (FUSE Fig. 6) |
//! | `registers.rs` | which registers are read and written, and how they compress (Hi-End section III) |
//! | `scratch.rs` | bank conflicts of shared memory |
//! | `json.rs` | a profile as JSON |

mod json;
mod lines;
mod registers;
mod scratch;

use std::collections::BTreeMap;

use strata_memory::LINE_BYTES;
use strata_ptx::isa::Space;
use strata_ptx::lanes::lanes_of;
use strata_ptx::program::Kernel;
use strata_ptx::reference::{Access, AccessKind, Counts, Observer, RegisterUse};

pub use lines::{LineClass, LineClasses};
pub use registers::{Compression, RegisterCounts, RegisterProfile};

use lines::Lines;

/// What a run asked of memory and of registers.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Bytes of the buffers that the program allocated.
    pub footprint_bytes: u64,
    /// Hash of the inputs; see [`inputs_hash`](strata_workloads::recording::Recording::inputs_hash).
    pub inputs_hash: u64,
    /// Number of kernel launches in the run.
    pub launches: u64,
    /// Instructions issued by warps.
    pub warp_instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// Accesses to global memory.
    pub global: SpaceProfile,
    /// Accesses to local memory.
    pub local: SpaceProfile,
    /// Accesses to shared memory; one access is one pass over the banks.
    pub shared: SpaceProfile,
    /// Accesses to constant memory; one access is one distinct word.
    pub constant: SpaceProfile,
    /// Lines of global memory, by how the run used them.
    pub lines: LineClasses,
    /// Accesses to registers.
    pub registers: RegisterProfile,
    /// Figures of each kernel, by name.
    pub kernels: BTreeMap<String, KernelProfile>,
}

/// Accesses to one memory space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceProfile {
    /// Load instructions issued by warps.
    pub loads: u64,
    /// Store instructions issued by warps.
    pub stores: u64,
    /// Atomic instructions issued by warps.
    pub atomics: u64,
    /// Active lanes, summed over all instructions.
    pub lanes: u64,
    /// Accesses that the instructions became. In global and local memory, these are lines after coalescing.
    pub accesses: u64,
}

impl SpaceProfile {
    /// Memory instructions issued by warps: loads, stores and atomics.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.loads + self.stores + self.atomics
    }

    /// Mean number of accesses per instruction; 0 without instructions.
    #[must_use]
    pub fn accesses_per_instruction(&self) -> f64 {
        ratio(self.accesses, self.instructions())
    }
}

/// Figures of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelProfile {
    /// Number of launches of the kernel.
    pub launches: u64,
    /// Registers that each thread takes.
    pub registers: u32,
    /// Whether registers of PTX that are not live together may share one of them.
    pub reuses_registers: bool,
    /// Most shared memory that a launch gave a CTA, in bytes, static and dynamic.
    pub shared_bytes: u32,
    /// Local memory per thread in bytes.
    pub local_bytes: u32,
    /// Most threads that a launch gave a CTA.
    pub cta_threads: u32,
    /// Instructions issued by warps.
    pub warp_instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// What its instructions ask of global and local memory, by program counter: the number that policies see.
    pub memory: BTreeMap<u32, InstructionProfile>,
}

/// What one instruction asks of global and local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionProfile {
    /// Its line in the PTX, counted over all texts that the kernel was linked from.
    pub line: u32,
    /// How often warps issue it.
    pub instructions: u64,
    /// Lines that it touches after coalescing.
    pub accesses: u64,
}

impl Profile {
    /// L1D accesses per thousand thread-instructions. FUSE's Table II counts this way: its simulator counts
    /// the instructions of threads.
    #[must_use]
    pub fn apki(&self) -> f64 {
        1000.0 * ratio(self.global.accesses + self.local.accesses, self.thread_instructions)
    }

    /// Mean number of active threads per instruction, of 32.
    #[must_use]
    pub fn active_lanes(&self) -> f64 {
        ratio(self.thread_instructions, self.warp_instructions)
    }
}

/// `dividend / divisor`; 0 if the divisor is 0.
fn ratio(dividend: u64, divisor: u64) -> f64 {
    if divisor == 0 { 0.0 } else { dividend as f64 / divisor as f64 }
}

/// Observes launches and adds up what they do.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    profile: Profile,
    lines: Lines,
    /// What the instructions of the launch that runs have asked of memory.
    memory: BTreeMap<u32, InstructionProfile>,
}

impl Profiler {
    /// Records a launch that has ended.
    pub(crate) fn launched(&mut self, kernel: &Kernel, threads: u32, dynamic_shared: u32, counts: &Counts) {
        let profile = &mut self.profile;
        profile.launches += 1;
        profile.warp_instructions += counts.warp_instructions;
        profile.thread_instructions += counts.thread_instructions;
        let of = profile.kernels.entry(kernel.name.clone()).or_default();
        of.launches += 1;
        of.registers = kernel.registers;
        of.reuses_registers = kernel.reuses_registers;
        of.shared_bytes = of.shared_bytes.max(kernel.shared_bytes + dynamic_shared);
        of.local_bytes = kernel.local_bytes;
        of.cta_threads = of.cta_threads.max(threads);
        of.warp_instructions += counts.warp_instructions;
        of.thread_instructions += counts.thread_instructions;
        for (pc, asked) in std::mem::take(&mut self.memory) {
            let sum = of.memory.entry(pc).or_default();
            sum.line = asked.line;
            sum.instructions += asked.instructions;
            sum.accesses += asked.accesses;
        }
    }

    /// Ends profiling and returns the profile.
    pub(crate) fn finish(self) -> Profile {
        Profile { lines: self.lines.classes(), ..self.profile }
    }

    /// Visits each distinct line that the lanes touch. Returns the number of lines.
    fn touched(&mut self, access: &Access<'_>, mut visit: impl FnMut(&mut Self, u64)) -> u64 {
        let (mut left, mut lines) = (access.lanes, 0);
        while left != 0 {
            // An access is aligned to its size, so it lies in one line.
            let line = access.addresses[left.trailing_zeros() as usize] / LINE_BYTES as u64;
            for lane in lanes_of(left) {
                let same = access.addresses[lane] / LINE_BYTES as u64 == line;
                left &= !(u32::from(same) << lane);
            }
            visit(self, line);
            lines += 1;
        }
        lines
    }
}

impl Observer for Profiler {
    fn watches_registers(&self) -> bool {
        true
    }

    fn registers(&mut self, registers: &RegisterUse<'_>) {
        self.profile.registers.add(registers);
    }

    fn access(&mut self, access: &Access<'_>) {
        let accesses = match access.space {
            Space::Global => self.touched(access, |this, line| this.lines.touch(line, access.kind)),
            // A thread's local memory is a column of its warp's rows, so lanes' words are interleaved.
            Space::Local => scratch::local_lines(access),
            Space::Shared => scratch::passes(access),
            Space::Const => scratch::different_words(access),
            Space::Generic | Space::Param => 0,
        };
        let of = match access.space {
            Space::Global => &mut self.profile.global,
            Space::Local => &mut self.profile.local,
            Space::Shared => &mut self.profile.shared,
            Space::Const => &mut self.profile.constant,
            Space::Generic | Space::Param => return,
        };
        match access.kind {
            AccessKind::Load => of.loads += 1,
            AccessKind::Store => of.stores += 1,
            AccessKind::Atomic => of.atomics += 1,
        }
        of.lanes += u64::from(access.lanes.count_ones());
        of.accesses += accesses;
        if let Space::Global | Space::Local = access.space {
            let by = self.memory.entry(access.by.pc).or_default();
            by.line = access.by.instruction.line;
            by.instructions += 1;
            by.accesses += accesses;
        }
    }
}
