//! Registers of the warps of the kernel by where their sets are: as if each place had a launch of its own.
//!
//! The kernel is one text, of which a warp runs the part for its place. What it needs is what is read or written there and
//! before the parts.

use strata_memory::doors::{HelperKernel, SetPlace};
use strata_ptx::program;

use crate::extended_llc::Parts;

/// Places of sets, in the order of a CTA's warps.
const PLACES: [SetPlace; 3] = [SetPlace::Registers, SetPlace::SharedMemory, SetPlace::L1d];

/// Registers of a thread, by place of its warp's set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    of: [u32; 3],
    /// Warps of an SM.
    warps: [u32; 3],
}

impl Registers {
    /// Those that a compiled text needs.
    pub fn needed(compiled: &program::Kernel, text: &str, kernel: &HelperKernel) -> Registers {
        let parts = Parts::of(text);
        let mut of = [0; 3];
        for instruction in &compiled.code {
            let (reads, writes) = (instruction.read_set.0, instruction.write_set.0);
            let highest = (0..4).rev().find_map(|word| {
                let used: u64 = reads[word] | writes[word];
                (used != 0).then(|| 64 * word as u32 + 64 - used.leading_zeros())
            });
            let part = parts.place(instruction.line);
            for (place, most) in PLACES.iter().zip(&mut of) {
                if part.is_none_or(|part| part == *place) {
                    *most = highest.unwrap_or(0).max(*most);
                }
            }
        }
        let [all, shared, l1] = [kernel.warps, kernel.shared_warps, kernel.l1_warps];
        Registers { of, warps: [all - shared - l1, shared, l1] }
    }

    /// What warps with sets in registers can have, of so many registers of an SM that are allocated in units.
    pub fn left(&self, registers: u32, unit: u32) -> u32 {
        let others: u32 = (1..3).map(|place| self.warps[place] * rounded(self.of[place], unit)).sum();
        let left = registers.saturating_sub(others).checked_div(self.warps[0]).unwrap_or(0);
        left / unit * unit / 32
    }

    /// What all warps have, in registers of an SM.
    pub fn all(&self, unit: u32) -> u32 {
        (0..3).map(|place| self.warps[place] * rounded(self.of[place], unit)).sum()
    }

    /// Those of each warp of a CTA, of which an SM has so many.
    pub fn of_cta(&self, ctas: u32) -> Vec<u32> {
        (0..3).flat_map(|place| (0..self.warps[place] / ctas).map(move |_| self.of[place])).collect()
    }

    /// Those of warps with sets in shared memory and in the L1D.
    pub fn of_others(&self) -> [u32; 2] {
        [self.of[1], self.of[2]]
    }
}

/// Registers of a warp whose threads have so many, in units.
fn rounded(registers: u32, unit: u32) -> u32 {
    (32 * registers).next_multiple_of(unit)
}
