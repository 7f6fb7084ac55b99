//! Instruction fetch: per-warp buffers of decoded instructions, filled through the instruction cache.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::read_only::ReadOnly;
use strata_memory::{Address, LINE_BYTES};
use strata_ptx::isa::Pc;

use crate::slots::Slots;

#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    /// Index of the next instruction to issue.
    head: Pc,
    /// Number of buffered instructions, from `head` on.
    count: u32,
}

/// The fetch stage: makes one request per cycle, round robin over warps whose buffers are empty.
///
/// A buffer holds consecutive instructions, starting with the warp's next one; a jump elsewhere empties it. Only
/// empty buffers are requested for, and a warp with an empty buffer cannot jump, so an arriving line is always the
/// one that its warp needs.
#[derive(Debug)]
pub struct Fetch {
    buffers: Slots<Buffer>,
    capacity: u32,
    /// Most requests in a cycle.
    width: u32,
    code_at: Address,
    code_len: u32,
    /// Base-2 logarithm of an instruction's size in bytes.
    shift: u32,
    /// Mask of warps with a non-empty buffer.
    have: u64,
    /// Mask of warps with an empty buffer and no request in flight.
    want: u64,
    /// Mask of warps whose line was not in the cache when it was requested.
    pending: u64,
    /// Mask of warps for which that was so at some time since [`Fetch::forget_misses`].
    missed: u64,
    /// Mask of warps whose line was,
    found: u64,
    /// the cycle from which each of them can use it,
    usable_at: Slots<Cycle>,
    /// and the earliest of those cycles.
    due: Cycle,
    last: usize,
}

impl Fetch {
    /// Empty buffers of `capacity` instructions of `bytes` bytes, and up to `width` requests a cycle.
    pub fn new(capacity: u32, bytes: u32, width: u32) -> Self {
        Fetch {
            buffers: Slots::new(Buffer::default),
            capacity,
            width,
            code_at: Address(0),
            code_len: 0,
            shift: bytes.trailing_zeros(),
            have: 0,
            want: 0,
            pending: 0,
            missed: 0,
            found: 0,
            usable_at: Slots::new(|| Cycle::NEVER),
            due: Cycle::NEVER,
            last: 0,
        }
    }

    /// Sets a launch's code: its device address and its length in instructions.
    pub fn prepare(&mut self, code_at: Address, code_len: u32) {
        (self.code_at, self.code_len) = (code_at, code_len);
    }

    /// Mask of warps whose next instruction is in the buffer.
    #[inline]
    pub fn have(&self) -> u64 {
        self.have
    }

    /// Whether any warp needs a request.
    #[inline]
    pub fn wants(&self) -> bool {
        self.want != 0
    }

    /// Whether any warp waits for a line that the cache did not have.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.pending != 0
    }

    /// Of these warps, those that have waited for a line that the cache did not have; forgets it.
    pub fn forget_misses(&mut self, warps: u64) -> u64 {
        let missed = self.missed & warps;
        self.missed &= !warps;
        missed
    }

    /// The cycle from which the next line that the cache had can be used.
    #[inline]
    pub fn due(&self) -> Cycle {
        self.due
    }

    /// Code index of a warp's next instruction; valid while the warp is in [`Fetch::have`].
    #[inline]
    pub fn head(&self, warp: usize) -> Pc {
        self.buffers[warp].head
    }

    /// Consumes the warp's next instruction and continues at `next`.
    #[inline]
    pub fn issue(&mut self, warp: usize, next: Pc) {
        self.take(warp);
        self.go(warp, next);
    }

    /// Consumes the warp's next instruction when its successor is not known yet; [`Fetch::go`] follows.
    #[inline]
    pub fn take(&mut self, warp: usize) {
        let buffer = &mut self.buffers[warp];
        buffer.head += 1;
        buffer.count -= 1;
        if buffer.count == 0 {
            self.have &= !(1 << warp);
        }
    }

    /// Continues the warp at `next`, emptying its buffer after a jump.
    #[inline]
    pub fn go(&mut self, warp: usize, next: Pc) {
        let bit = 1 << warp;
        let buffer = &mut self.buffers[warp];
        if buffer.head != next {
            *buffer = Buffer { head: next, count: 0 };
            self.have &= !bit;
        }
        if buffer.count == 0 {
            debug_assert!((self.pending | self.found) & bit == 0, "a warp without instructions goes nowhere");
            self.want |= bit;
        }
    }

    /// Starts a warp at instruction 0.
    pub fn start(&mut self, warp: usize) {
        self.buffers[warp] = Buffer::default();
        self.want |= 1 << warp;
    }

    /// Ends a warp and discards the rest of its buffer.
    pub fn stop(&mut self, warp: usize) {
        let bit = 1 << warp;
        debug_assert!(
            (self.pending | self.found | self.want) & bit == 0,
            "a warp ends by an instruction that was here"
        );
        self.have &= !bit;
    }

    /// Takes the lines that have arrived, then makes requests. Adds the warps whose buffers were filled to
    /// `filled`. Returns whether the cache did not have a line, or refused a request.
    #[inline(always)]
    pub fn tick(&mut self, cache: &mut impl ReadOnly, filled: &mut u64, now: Cycle) -> bool {
        if self.due <= now {
            self.use_found(filled, now);
        }
        while self.pending != 0
            && let Some((warp, _)) = cache.arrived(now)
        {
            self.pending &= !(1 << warp);
            self.fill(warp as usize, filled);
        }
        let mut missed = false;
        for _ in 0..self.width {
            if self.want == 0 {
                break;
            }
            let after = self.want & (u64::MAX << self.last << 1);
            let warp = (if after != 0 { after } else { self.want }).trailing_zeros() as usize;
            let line = self.address(self.buffers[warp].head).line();
            if let Some(usable_at) = cache.touch(line, now) {
                self.found |= 1 << warp;
                self.usable_at[warp] = usable_at;
                self.due = self.due.min(usable_at);
            } else {
                missed = true;
                if !cache.request(line, warp as u32, now) {
                    break;
                }
                self.pending |= 1 << warp;
                self.missed |= 1 << warp;
            }
            self.last = warp;
            self.want &= !(1 << warp);
        }
        missed
    }

    /// Takes the lines that the cache had and that can be used by now.
    #[inline]
    fn use_found(&mut self, filled: &mut u64, now: Cycle) {
        self.due = Cycle::NEVER;
        for warp in members(self.found) {
            if self.usable_at[warp] > now {
                self.due = self.due.min(self.usable_at[warp]);
                continue;
            }
            self.found &= !(1 << warp);
            self.fill(warp, filled);
        }
    }

    #[inline]
    fn fill(&mut self, warp: usize, filled: &mut u64) {
        let bit = 1 << warp;
        let head = self.buffers[warp].head;
        let in_line = (LINE_BYTES - self.address(head).offset()) >> self.shift;
        let left = self.code_len.saturating_sub(head);
        self.buffers[warp].count = self.capacity.min(left).min(in_line as u32);
        self.have |= bit;
        *filled |= bit;
    }

    fn address(&self, pc: Pc) -> Address {
        Address(self.code_at.0 + (u64::from(pc) << self.shift))
    }
}

#[cfg(test)]
mod tests {
    use strata_memory::LineAddress;

    use super::*;
    use crate::fakes::{FakeReadOnly, Memory};

    fn fetch() -> Fetch {
        let mut fetch = Fetch::new(2, 8, 1);
        fetch.prepare(Address(0x1000), 100);
        fetch
    }

    /// A cache that answers in the cycle after the request.
    fn cache() -> FakeReadOnly {
        FakeReadOnly::new(Memory::low_bytes(), 1)
    }

    #[test]
    fn one_request_a_cycle_in_turn() {
        let (mut fetch, mut cache, mut filled) = (fetch(), cache(), 0);
        [0, 2, 3].into_iter().for_each(|warp| fetch.start(warp));
        for cycle in 0..4 {
            fetch.tick(&mut cache, &mut filled, Cycle(cycle));
        }
        let line = LineAddress(0x20);
        assert_eq!(cache.asked, [(Cycle(0), line, 2), (Cycle(1), line, 3), (Cycle(2), line, 0)]);
        assert_eq!(filled, 0b1101);
    }

    #[test]
    fn several_requests_a_cycle_in_turn() {
        let (mut fetch, mut cache, mut filled) = (Fetch { width: 2, ..fetch() }, cache(), 0);
        [0, 2, 3].into_iter().for_each(|warp| fetch.start(warp));
        for cycle in 0..2 {
            fetch.tick(&mut cache, &mut filled, Cycle(cycle));
        }
        let line = LineAddress(0x20);
        assert_eq!(cache.asked, [(Cycle(0), line, 2), (Cycle(0), line, 3), (Cycle(1), line, 0)]);
        assert_eq!(filled, 0b1100);
    }

    #[test]
    fn larger_instructions_fill_a_line_sooner() {
        let (mut fetch, mut cache, mut filled) = (Fetch::new(2, 16, 1), cache(), 0);
        fetch.prepare(Address(0x1000), 100);
        fetch.start(0);
        fetch.buffers[0].head = 7;
        for cycle in 0..2 {
            fetch.tick(&mut cache, &mut filled, Cycle(cycle));
        }
        // Instruction 7 is the last of eight in its line.
        fetch.issue(0, 8);
        assert_eq!(fetch.have(), 0);
        fetch.tick(&mut cache, &mut filled, Cycle(2));
        assert_eq!(cache.asked, [(Cycle(0), LineAddress(0x20), 0), (Cycle(2), LineAddress(0x21), 0)]);
    }

    #[test]
    fn the_buffer_empties_as_instructions_issue_and_at_jumps() {
        let (mut fetch, mut cache, mut filled) = (fetch(), cache(), 0);
        fetch.start(1);
        fetch.tick(&mut cache, &mut filled, Cycle(0));
        fetch.tick(&mut cache, &mut filled, Cycle(1));
        fetch.issue(1, 1);
        assert_eq!((fetch.have(), fetch.head(1), fetch.wants()), (0b10, 1, false));
        fetch.issue(1, 15);
        assert_eq!((fetch.have(), fetch.wants()), (0, true));
        fetch.tick(&mut cache, &mut filled, Cycle(2));
        fetch.tick(&mut cache, &mut filled, Cycle(3));
        assert_eq!(fetch.head(1), 15);
        // Instruction 15 is the last of its line (16 instructions of 8 bytes), so the line delivers only that one.
        fetch.issue(1, 16);
        assert_eq!(fetch.have(), 0);
        fetch.tick(&mut cache, &mut filled, Cycle(4));
        assert_eq!(cache.asked.last(), Some(&(Cycle(4), LineAddress(0x21), 1)));
    }
}
