//! Shared memory: a banked scratchpad in the SM.
//!
//! The scratchpad performs one pass per cycle. In a pass each bank serves one word to any number of lanes; lanes that
//! need different words of one bank take further passes. Accesses wider than a bank are served in groups of lanes
//! whose bytes fill the banks once: half warps for 8 bytes, quarter warps for 16. (CUDA C Programming Guide, "Shared
//! Memory" of compute capability 2.x and 3.x.)

use std::collections::VecDeque;

use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::LaneAccess;
use strata_memory::{ByteMask, LINE_BYTES};
use strata_ptx::exec::{atomic, mbarrier};
use strata_ptx::isa::{self, MbarrierOp};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::coalesce::Shape;
use super::config::ScratchpadConfig;
use super::entry::{Entry, OWN, Operation, Place, SECOND_OPERAND, SECOND_WIDE_OPERAND};
use super::statistics::LsuStatistics;

/// Largest supported number of banks.
const MAX_BANKS: usize = 64;

/// A group of all lanes.
const ALL: u32 = WARP_LANES as u32;

/// Largest number of words in a group of lanes: one lane of 32 bytes, one word for each of 32 lanes, or one word per
/// bank.
const GROUP_WORDS: usize = 64;

/// The shared memory of an SM, with its banks and queue.
#[derive(Debug)]
pub struct Scratchpad {
    bytes: Vec<u8>,
    banks: u32,
    /// Base-2 logarithm of a bank's width in bytes.
    bank_shift: u32,
    latency: u64,
    /// Cycles more to another CTA of the cluster.
    remote_latency: u64,
    /// Instructions waiting for their passes, oldest first.
    queue: DelayLine<Place>,
    /// First cycle in which no pass is in progress.
    free_at: Cycle,
    /// Instructions whose passes have begun, ordered by completion cycle.
    under_way: DelayLine<Place>,
    /// The same of those that take the way to another CTA.
    remote: DelayLine<Place>,
    /// Accesses of the lane path's own ([`OWN`]) in the queue, and those that read and are under way.
    own: VecDeque<LaneAccess>,
    own_under_way: VecDeque<LaneAccess>,
    /// Values that atomics have changed.
    changed: u64,
}

impl Scratchpad {
    /// An idle scratchpad of `bytes` bytes, for at most `instructions` instructions in flight.
    pub fn new(config: &ScratchpadConfig, bytes: u32, instructions: usize) -> Scratchpad {
        Scratchpad {
            bytes: vec![0; bytes as usize],
            banks: *config.banks,
            bank_shift: config.bank_bytes.trailing_zeros(),
            latency: u64::from(*config.latency_cycles),
            remote_latency: u64::from(config.remote_latency()),
            queue: DelayLine::growing(instructions),
            free_at: Cycle::ZERO,
            under_way: DelayLine::growing(instructions),
            remote: DelayLine::growing(instructions),
            own: VecDeque::new(),
            own_under_way: VecDeque::new(),
            changed: 0,
        }
    }

    /// Zeroes `length` bytes from `base` on: a CTA's shared memory, before it starts.
    ///
    /// # Panics
    /// When the range exceeds the scratchpad.
    pub fn clear(&mut self, base: u32, length: u32) {
        self.bytes[base as usize..(base + length) as usize].fill(0);
    }

    /// Enqueues an instruction; its first pass begins at `ready` or later.
    #[inline]
    pub fn push(&mut self, entry: Place, ready: Cycle) {
        self.queue.push(ready, entry).expect("the queue has room for every instruction in flight");
    }

    /// Enqueues an access of the lane path's own.
    pub fn push_own(&mut self, access: LaneAccess, ready: Cycle) {
        self.own.push_back(access);
        self.push(OWN, ready);
    }

    /// Number of instructions and accesses whose passes have not begun.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Begins the passes of the lane path's next access, whose bytes move now. Returns the access if it writes; one
    /// that reads is complete `latency` cycles after its last pass ([`Scratchpad::complete_own`]).
    pub fn perform_own(&mut self, now: Cycle, statistics: &mut LsuStatistics) -> Option<LaneAccess> {
        let mut access = self.own.pop_front().expect("an access was queued");
        let passes = self.passes_of_bytes(access.bytes);
        statistics.shared_accesses += 1;
        statistics.shared_passes += passes;
        statistics.shared_conflict_cycles += passes - 1;
        self.free_at = now + passes;
        let base = access.line.0 as usize * LINE_BYTES;
        for byte in (0..LINE_BYTES).filter(|byte| access.bytes.0 >> byte & 1 == 1) {
            if access.writes {
                self.bytes[base + byte] = access.tray.0[byte];
            } else if let Some(from) = self.bytes.get(base + byte) {
                access.tray.0[byte] = *from;
            }
        }
        if access.writes {
            return Some(access);
        }
        let ready = now + (passes - 1 + self.latency);
        self.under_way.push(ready, OWN).expect("there is room for every instruction in flight");
        self.own_under_way.push_back(access);
        None
    }

    /// The lane path's access that [`Scratchpad::complete`] named by [`OWN`].
    pub fn complete_own(&mut self) -> LaneAccess {
        self.own_under_way.pop_front().expect("an access is under way")
    }

    /// Passes that bytes of a line take: the most words that any bank serves.
    fn passes_of_bytes(&self, bytes: ByteMask) -> u64 {
        let word = (1 << (1 << self.bank_shift)) - 1;
        let mut load = [0; MAX_BANKS];
        for index in 0..LINE_BYTES >> self.bank_shift {
            let touched = bytes.0 >> (index << self.bank_shift) & word != 0;
            load[index & (self.banks as usize - 1)] += u64::from(touched);
        }
        load.into_iter().max().unwrap_or(1).max(1)
    }

    /// Dequeues the instruction whose passes begin in this cycle.
    #[inline]
    pub fn begin(&mut self, now: Cycle) -> Option<Place> {
        if self.free_at > now { None } else { self.queue.pop(now) }
    }

    /// Begins an instruction's passes. Its bytes move now; it completes `latency` cycles after its last pass.
    /// Instructions pass one after another, so no other instruction can observe an intermediate state. What is in another CTA's shared
    /// memory moves in the same cycle, and is `remote_latency` later to complete.
    #[inline]
    pub fn perform(&mut self, place: Place, entry: &mut Entry, now: Cycle, statistics: &mut LsuStatistics) {
        let least = self.least_passes(entry);
        let passes = self.passes(entry, least);
        let lanes = u64::from(entry.shared.count_ones());
        statistics.shared_accesses += 1;
        statistics.shared_addresses += lanes;
        statistics.shared_bytes += lanes * u64::from(entry.width);
        statistics.shared_passes += passes;
        statistics.shared_conflict_cycles += passes - least;
        self.free_at = now + passes;
        let local = now + (passes - 1 + self.latency);
        let (line, ready) = if entry.remote == 0 {
            (&mut self.under_way, local)
        } else {
            (&mut self.remote, local + self.remote_latency)
        };
        line.push(ready, place).expect("there is room for every instruction in flight");
        match entry.operation {
            Operation::Load | Operation::LoadMatrix(_) => self.load(entry),
            Operation::Store | Operation::Copy => self.store(entry),
            Operation::Texture | Operation::Tile | Operation::Bulk | Operation::Prefetch(_) => {
                unreachable!("{:?} has no passes", entry.operation)
            }
            Operation::Atomic { op, .. } => self.modify(op, entry),
            Operation::Mbarrier(op) => self.synchronize(op, entry),
            Operation::CopyArrive => {
                self.synchronize(MbarrierOp::Arrive { drop: false, completes: true }, entry);
            }
        }
    }

    /// Dequeues the next completed instruction.
    #[inline]
    pub fn complete(&mut self, now: Cycle) -> Option<Place> {
        self.under_way.pop(now).or_else(|| self.remote.pop(now))
    }

    /// Earliest cycle in which a pass begins or an instruction completes.
    pub fn next_event(&self) -> Cycle {
        let begin = self.queue.next_ready();
        let begin = if begin == Cycle::NEVER { begin } else { begin.max(self.free_at) };
        begin.min(self.next_completion())
    }

    /// Earliest cycle in which an instruction completes.
    pub fn next_completion(&self) -> Cycle {
        self.under_way.next_ready().min(self.remote.next_ready())
    }

    /// Values that atomics have changed.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// All bytes, for what stands behind the banks.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn load(&self, entry: &mut Entry) {
        let width = usize::from(entry.width);
        let words = &mut entry.image.words;
        if entry.shape == Shape::Consecutive && width == 4 {
            let at = entry.addresses[0] as usize;
            let bytes = self.bytes[at..at + 4 * WARP_LANES].chunks_exact(4);
            for (to, from) in words[0].0.iter_mut().zip(bytes) {
                *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
            }
            return;
        }
        if width == 4 {
            for lane in lanes_of(entry.shared) {
                words[0].0[lane] = self.word(entry.addresses[lane] as usize);
            }
            return;
        }
        for lane in lanes_of(entry.shared) {
            let at = entry.addresses[lane] as usize;
            if width < 4 {
                let mut word = [0; 4];
                word[..width].copy_from_slice(&self.bytes[at..at + width]);
                words[0].0[lane] = u32::from_le_bytes(word);
            } else {
                for (n, row) in words.iter_mut().enumerate().take(width / 4) {
                    row.0[lane] = self.word(at + 4 * n);
                }
            }
        }
    }

    fn store(&mut self, entry: &Entry) {
        let width = usize::from(entry.width);
        if entry.shape == Shape::Consecutive && width == 4 {
            let at = entry.addresses[0] as usize;
            let bytes = self.bytes[at..at + 4 * WARP_LANES].chunks_exact_mut(4);
            for (from, to) in entry.image.words[0].0.iter().zip(bytes) {
                to.copy_from_slice(&from.to_le_bytes());
            }
            return;
        }
        if width == 4 {
            for lane in lanes_of(entry.shared) {
                self.put_word(entry.addresses[lane] as usize, entry.image.words[0].0[lane]);
            }
            return;
        }
        for lane in lanes_of(entry.shared) {
            let at = entry.addresses[lane] as usize;
            for n in 0..width.div_ceil(4) {
                let length = (width - 4 * n).min(4);
                let word = entry.image.words[n].0[lane].to_le_bytes();
                self.bytes[at + 4 * n..at + 4 * n + length].copy_from_slice(&word[..length]);
            }
        }
    }

    /// Performs an atomic, lane by lane in lane order.
    fn modify(&mut self, op: isa::AtomicOp, entry: &mut Entry) {
        let width = usize::from(entry.width);
        if width == 16 {
            return self.modify_wide(op, entry);
        }
        let words = &mut entry.image.words;
        for lane in lanes_of(entry.shared) {
            let at = entry.addresses[lane] as usize;
            let operand = |first: usize| {
                let high = if width == 8 { words[first + 1].0[lane] } else { 0 };
                u64::from(high) << 32 | u64::from(words[first].0[lane])
            };
            let mut old = [0; 8];
            old[..width].copy_from_slice(&self.bytes[at..at + width]);
            let old = u64::from_le_bytes(old);
            let new = atomic::apply(op, entry.ty, old, operand(0), operand(SECOND_OPERAND));
            self.changed += u64::from((new ^ old) << (64 - 8 * width) != 0);
            self.bytes[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
            words[0].0[lane] = old as u32;
            if width == 8 {
                words[1].0[lane] = (old >> 32) as u32;
            }
        }
    }

    /// The same, of 128 bits.
    #[cold]
    fn modify_wide(&mut self, op: isa::AtomicOp, entry: &mut Entry) {
        let words = &mut entry.image.words;
        for lane in lanes_of(entry.shared) {
            let operand = |first: usize| {
                (0..4).fold(0, |all, n| all | u128::from(words[first + n].0[lane]) << (32 * n))
            };
            let bytes = self.bytes[entry.addresses[lane] as usize..].first_chunk_mut();
            let bytes: &mut [u8; 16] = bytes.expect("resolved addresses lie in shared memory");
            let old = u128::from_le_bytes(*bytes);
            let new = atomic::apply_wide(op, old, operand(0), operand(SECOND_WIDE_OPERAND));
            self.changed += u64::from(new != old);
            *bytes = new.to_le_bytes();
            for (n, row) in words.iter_mut().enumerate().take(4) {
                row.0[lane] = (old >> (32 * n)) as u32;
            }
        }
    }

    /// Performs an mbarrier operation, lane by lane in lane order. Its operands are words 0 and 1.
    fn synchronize(&mut self, op: MbarrierOp, entry: &mut Entry) {
        let words = &mut entry.image.words;
        for lane in lanes_of(entry.shared) {
            let at = entry.addresses[lane] as usize;
            let cell = self.bytes[at..].first_chunk_mut().expect("the whole barrier is in shared memory");
            let operand = u64::from(words[1].0[lane]) << 32 | u64::from(words[0].0[lane]);
            let before = u64::from_le_bytes(*cell);
            let (after, result) = mbarrier::apply(op, before, operand);
            self.changed += u64::from(after != before);
            *cell = after.to_le_bytes();
            words[0].0[lane] = result as u32;
            words[1].0[lane] = (result >> 32) as u32;
        }
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = self.bytes[at..].first_chunk();
        u32::from_le_bytes(*bytes.expect("resolved addresses lie in shared memory"))
    }

    fn put_word(&mut self, at: usize, word: u32) {
        let bytes = self.bytes[at..].first_chunk_mut();
        *bytes.expect("resolved addresses lie in shared memory") = word.to_le_bytes();
    }

    /// Number of lanes served together, for a width in bytes per lane.
    fn group_lanes(&self, width: u8) -> u32 {
        ((self.banks << self.bank_shift) / u32::from(width)).clamp(1, ALL)
    }

    /// Number of passes that an instruction takes without bank conflicts: one for each group with an active lane.
    #[inline]
    fn least_passes(&self, entry: &Entry) -> u64 {
        match self.group_lanes(entry.width) {
            ALL => u64::from(entry.shared != 0),
            lanes => groups(entry.shared, lanes).count() as u64,
        }
    }

    /// Number of passes that an instruction takes. `least` is the number without bank conflicts.
    #[inline]
    fn passes(&self, entry: &Entry, least: u64) -> u64 {
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
        if matches!(entry.shape, Shape::Consecutive | Shape::Uniform) && !serial {
            return least;
        }
        if !serial && least == 1 && self.fits_once(entry) {
            return 1;
        }
        match self.group_lanes(entry.width) {
            ALL => self.group_passes(entry, entry.shared, serial),
            lanes => groups(entry.shared, lanes).map(|lanes| self.group_passes(entry, lanes, serial)).sum(),
        }
    }

    /// Whether all lanes' words lie within as many neighbouring words as there are banks: no two of them share a bank.
    #[inline]
    fn fits_once(&self, entry: &Entry) -> bool {
        // Inactive lanes repeat an active lane's address, and addresses in the scratchpad have 32 bits.
        let addresses = entry.addresses.map(|address| address as u32);
        let (low, high) =
            addresses.iter().fold((u32::MAX, 0), |(low, high), at| (low.min(*at), high.max(*at)));
        let last = high.saturating_add(u32::from(entry.width) - 1) >> self.bank_shift;
        last - (low >> self.bank_shift) < self.banks
    }

    /// Number of passes that a group of lanes takes: the most words that any bank serves. With `serial` set
    /// (atomics), lanes that share a word take a pass each.
    fn group_passes(&self, entry: &Entry, lanes: LaneMask, serial: bool) -> u64 {
        if serial || u32::from(entry.width) > 1 << self.bank_shift {
            return self.passes_of_words(entry, lanes, serial);
        }
        // In a pass each bank serves the word of its lowest lane, and all lanes with that word.
        let mut served = [0; MAX_BANKS];
        let (mut left, mut passes) = (lanes, 0);
        while left != 0 {
            let (mut busy, mut next) = (0u64, 0);
            for lane in lanes_of(left) {
                let word = entry.addresses[lane] as u32 >> self.bank_shift;
                let bank = (word & (self.banks - 1)) as usize % MAX_BANKS;
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
    fn passes_of_words(&self, entry: &Entry, lanes: LaneMask, serial: bool) -> u64 {
        const NONE: u8 = u8::MAX;
        let width = u32::from(entry.width);
        // A linked list of words per bank; most banks have one or two.
        let mut newest = [NONE; MAX_BANKS];
        let mut load = [0u8; MAX_BANKS];
        let mut words = [(0u32, NONE); GROUP_WORDS];
        let (mut count, mut most) = (0u8, 1);
        for lane in lanes_of(lanes) {
            let address = entry.addresses[lane] as u32;
            let last = (address + width - 1) >> self.bank_shift;
            for word in address >> self.bank_shift..=last {
                let bank = (word & (self.banks - 1)) as usize % MAX_BANKS;
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

/// Splits `lanes` into groups of `group_lanes` lanes and yields the active lanes of each group that has any.
fn groups(lanes: LaneMask, group_lanes: u32) -> impl Iterator<Item = LaneMask> {
    let group = LaneMask::MAX >> (WARP_LANES as u32 - group_lanes);
    (0..WARP_LANES as u32)
        .step_by(group_lanes as usize)
        .map(move |first| lanes & group << first)
        .filter(|l| *l != 0)
}
