//! Banks of memory: how many passes a warp's words take.
//!
//! In a pass each bank serves one word to any number of lanes; lanes that need different words of one bank take further
//! passes. Accesses wider than a bank are served in groups of lanes whose bytes fill the banks once: half warps for 8 bytes,
//! quarter warps for 16. (CUDA C Programming Guide, "Shared Memory" of compute capability 2.x and 3.x.)

use strata_memory::{ByteMask, LINE_BYTES};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::coalesce::Shape;
use super::entry::{Entry, Operation};

/// Largest supported number of banks.
pub const MAX_BANKS: usize = 64;

/// A group of all lanes.
const ALL: u32 = WARP_LANES as u32;

/// Largest number of words in a group of lanes: one lane of 32 bytes, one word for each of 32 lanes, or one word per
/// bank. Twice that where pairs of lanes are served together.
const GROUP_WORDS: usize = 128;

/// Passes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Those that it takes.
    pub taken: u64,
    /// Those that it would take without bank conflicts: one for each group with an active lane.
    pub least: u64,
}

/// Some banks of one width.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    /// A power of two.
    count: u32,
    /// Base-2 logarithm of a bank's width in bytes.
    shift: u32,
    /// Whether lanes that read the same wide word in pairs are served together.
    pairs: bool,
    /// Whether any number of words of one bank are served in a pass.
    conflict_free: bool,
}

impl Banks {
    /// `count` banks of `bytes` bytes, both powers of two, at most [`MAX_BANKS`].
    pub fn new(count: u32, bytes: u32, pairs: bool) -> Banks {
        Banks { count, shift: bytes.trailing_zeros(), pairs, conflict_free: false }
    }

    /// The same, of which each serves any number of words in a pass, if so asked: ideal banks.
    pub fn without_conflicts(self, conflict_free: bool) -> Banks {
        Banks { conflict_free, ..self }
    }

    /// Passes that bytes of a line take: the most words that any bank serves.
    pub fn passes_of_bytes(&self, bytes: ByteMask) -> u64 {
        if self.conflict_free {
            return 1;
        }
        let word = (1 << (1 << self.shift)) - 1;
        let mut load = [0; MAX_BANKS];
        for index in 0..LINE_BYTES >> self.shift {
            let touched = bytes.0 >> (index << self.shift) & word != 0;
            load[index & (self.count as usize - 1)] += u64::from(touched);
        }
        load.into_iter().max().unwrap_or(1).max(1)
    }

    /// Passes of some of an instruction's lanes.
    #[inline]
    pub fn passes(&self, entry: &Entry, lanes: LaneMask) -> Passes {
        let group = self.group_lanes(entry, lanes);
        let least = if group == ALL { u64::from(lanes != 0) } else { groups(lanes, group).count() as u64 };
        let serial = match entry.operation {
            Operation::Atomic { .. } | Operation::CopyArrive => true,
            Operation::Mbarrier(op) => !op.is_test(),
            Operation::Load
            | Operation::Store
            | Operation::LoadMatrix(_)
            | Operation::Copy
            | Operation::Bulk
            | Operation::Prefetch(_)
            | Operation::Tile
            | Operation::Texture => false,
        };
        let regular = self.conflict_free || matches!(entry.shape, Shape::Consecutive | Shape::Uniform);
        let taken = match group {
            _ if !serial && (regular || least == 1 && self.fits_once(entry)) => least,
            ALL => self.of_group(entry, lanes, serial),
            group => groups(lanes, group).map(|lanes| self.of_group(entry, lanes, serial)).sum(),
        };
        Passes { taken, least }
    }

    /// Number of lanes served together: those whose bytes fill the banks once, or twice as many where they read in pairs.
    fn group_lanes(&self, entry: &Entry, lanes: LaneMask) -> u32 {
        let lanes_at_once = ((self.count << self.shift) / u32::from(entry.width)).clamp(1, ALL);
        let is_wide = u32::from(entry.width) > 1 << self.shift && lanes_at_once < ALL;
        if self.pairs && is_wide && entry.operation == Operation::Load && are_pairs(entry, lanes) {
            return 2 * lanes_at_once;
        }
        lanes_at_once
    }

    /// The word of an address, by the low 32 bits: what lies 4 GiB apart counts as one place.
    fn word(&self, address: u64) -> u32 {
        address as u32 >> self.shift
    }

    /// Whether all lanes' words lie within as many neighbouring words as there are banks: no two of them share a bank.
    #[inline]
    fn fits_once(&self, entry: &Entry) -> bool {
        // Inactive lanes repeat an active lane's address.
        let addresses = entry.addresses.map(|address| address as u32);
        let (low, high) =
            addresses.iter().fold((u32::MAX, 0), |(low, high), at| (low.min(*at), high.max(*at)));
        let last = high.saturating_add(u32::from(entry.width) - 1) >> self.shift;
        last - (low >> self.shift) < self.count
    }

    /// Number of passes that a group of lanes takes: the most words that any bank serves. With `serial` set
    /// (atomics), lanes that share a word take a pass each.
    fn of_group(&self, entry: &Entry, lanes: LaneMask, serial: bool) -> u64 {
        if serial || u32::from(entry.width) > 1 << self.shift {
            return self.of_words(entry, lanes, serial);
        }
        // In a pass each bank serves the word of its lowest lane, and all lanes with that word.
        let mut served = [0; MAX_BANKS];
        let (mut left, mut passes) = (lanes, 0);
        while left != 0 {
            let (mut busy, mut next) = (0u64, 0);
            for lane in lanes_of(left) {
                let word = self.word(entry.addresses[lane]);
                let bank = (word & (self.count - 1)) as usize % MAX_BANKS;
                let is_free = busy >> bank & 1 == 0;
                let serves = if is_free { word } else { served[bank] };
                served[bank] = serves;
                busy |= 1 << bank;
                next |= u32::from(serves != word) << lane;
            }
            left = next;
            passes += 1;
        }
        passes
    }

    /// The same, where lanes have several words or share none: counted bank by bank.
    fn of_words(&self, entry: &Entry, lanes: LaneMask, serial: bool) -> u64 {
        const NONE: u8 = u8::MAX;
        // A linked list of words per bank; most banks have one or two.
        let mut newest = [NONE; MAX_BANKS];
        let mut load = [0u8; MAX_BANKS];
        let mut words = [(0u32, NONE); GROUP_WORDS];
        let (mut count, mut most) = (0u8, 1);
        for lane in lanes_of(lanes) {
            let address = entry.addresses[lane];
            let last = self.word(address + u64::from(entry.width) - 1);
            for word in self.word(address)..=last {
                let bank = (word & (self.count - 1)) as usize % MAX_BANKS;
                let mut at = newest[bank];
                while at != NONE && (serial || words[usize::from(at)].0 != word) {
                    at = if serial { NONE } else { words[usize::from(at)].1 };
                }
                if at == NONE {
                    words[usize::from(count)] = (word, newest[bank]);
                    newest[bank] = count;
                    count += 1;
                    load[bank] += 1;
                    most = most.max(load[bank]);
                }
            }
        }
        most.into()
    }
}

/// Whether the active lanes read the same in pairs: each as its neighbour, or each as the next but one.
fn are_pairs(entry: &Entry, lanes: LaneMask) -> bool {
    let are_alike = |apart: usize| {
        lanes_of(lanes).all(|lane| {
            let other = lane ^ apart;
            lanes >> other & 1 == 0 || entry.addresses[lane] == entry.addresses[other]
        })
    };
    entry.shape == Shape::Uniform || are_alike(1) || are_alike(2)
}

/// Splits `lanes` into groups of `group_lanes` lanes and yields the active lanes of each group that has any.
fn groups(lanes: LaneMask, group_lanes: u32) -> impl Iterator<Item = LaneMask> {
    let group = LaneMask::MAX >> (WARP_LANES as u32 - group_lanes);
    (0..WARP_LANES as u32)
        .step_by(group_lanes as usize)
        .map(move |first| lanes & group << first)
        .filter(|l| *l != 0)
}
