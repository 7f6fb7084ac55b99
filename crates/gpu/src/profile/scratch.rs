//! Accesses to memories with four-byte words: shared, local and constant.

use strata_memory::LINE_BYTES;
use strata_ptx::lanes::lanes_of;
use strata_ptx::reference::Access;

/// Banks of shared memory and their width, the same on every NVIDIA GPU since Fermi (CUDA C++ Programming
/// Guide, compute capabilities).
const BANKS: usize = 32;
const BANK_BYTES: u64 = 4;

/// Passes over the banks that an access takes: the most distinct words that any one bank must deliver.
pub(super) fn passes(access: &Access<'_>) -> u64 {
    // A wide access takes its words in turn, half or quarter warps at a time, so each turn has at most 32
    // words.
    let words = (access.bytes as u64).div_ceil(BANK_BYTES);
    let mut seen = [[u64::MAX; 32]; BANKS];
    let mut counts = [0_u64; BANKS];
    for lane in lanes_of(access.lanes) {
        let word = access.addresses[lane] / BANK_BYTES / words;
        let bank = word as usize % BANKS;
        let known = &mut seen[bank][..counts[bank] as usize + 1];
        if !known.contains(&word) {
            known[counts[bank] as usize] = word;
            counts[bank] += 1;
        }
    }
    words * counts.into_iter().max().unwrap_or(0)
}

/// Lines of local memory that an access touches. The same word of all threads of a warp makes up one line.
pub(super) fn local_lines(access: &Access<'_>) -> u64 {
    let words = (access.bytes as u64).div_ceil(BANK_BYTES);
    words * different(access, BANK_BYTES)
}

/// Number of distinct words in an access; a constant cache delivers each separately.
pub(super) fn different_words(access: &Access<'_>) -> u64 {
    different(access, access.bytes as u64)
}

fn different(access: &Access<'_>, unit: u64) -> u64 {
    let mut seen = [u64::MAX; 32];
    let mut count = 0;
    for lane in lanes_of(access.lanes) {
        let word = access.addresses[lane] / unit;
        if !seen[..count].contains(&word) {
            seen[count] = word;
            count += 1;
        }
    }
    count as u64
}

/// A line holds one word of each thread of a warp.
const _: () = assert!(LINE_BYTES == 32 * BANK_BYTES as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use strata_ptx::isa::{Instruction, Op, Space};
    use strata_ptx::reference::{AccessKind, Issuer};

    fn with(bytes: usize, address: impl Fn(u64) -> u64, measure: fn(&Access<'_>) -> u64) -> u64 {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        let instruction = Instruction::new(Op::Nop);
        let access = Access {
            by: Issuer { cta: 0, warp: 0, pc: 0, instruction: &instruction },
            kind: AccessKind::Load,
            space: Space::Shared,
            lanes: u32::MAX,
            addresses: &addresses,
            bytes,
            written: None,
        };
        measure(&access)
    }

    #[test]
    fn bank_conflicts_are_counted_in_passes() {
        assert_eq!(with(4, |lane| 4 * lane, passes), 1, "one word a bank");
        assert_eq!(with(4, |_| 8, passes), 1, "one word for all");
        assert_eq!(with(4, |lane| 8 * lane, passes), 2, "every other bank");
        assert_eq!(with(4, |lane| 128 * lane, passes), 32, "one bank");
        assert_eq!(with(4, |lane| 132 * lane, passes), 1, "a padded column");
        assert_eq!(with(16, |lane| 16 * lane, passes), 4, "four words a lane");
        assert_eq!(with(1, |lane| lane, passes), 1, "bytes of eight words");
    }

    #[test]
    fn local_memory_is_interleaved_and_constants_are_broadcast() {
        assert_eq!(with(4, |_| 12, local_lines), 1);
        assert_eq!(with(8, |_| 16, local_lines), 2);
        assert_eq!(with(4, |lane| 4 * (lane % 3), local_lines), 3);
        assert_eq!(with(4, |lane| 4 * (lane / 16), different_words), 2);
    }
}
