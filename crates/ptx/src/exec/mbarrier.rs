//! The barriers in shared memory: what an operation does to the 64 bits of one.
//!
//! The ISA leaves the bits open. Here: arrivals still to come in this phase in bits 0 to 19, arrivals that a phase expects
//! in bits 20 to 39, bytes still to come in bits 40 to 60 as a two's complement number, and the number of the phase modulo 8
//! in bits 61 to 63. A state is the same bits.

use crate::isa::MbarrierOp;

const COUNT_BITS: u32 = 20;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
const BYTES_BITS: u32 = 21;

/// Arrivals still to come in the phase of a state (`mbarrier.pending_count`): its low bits.
pub const PENDING: u64 = COUNT;

/// A barrier taken apart.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    pending: u64,
    expected: u64,
    bytes: i64,
    phase: u64,
}

impl Barrier {
    fn of(word: u64) -> Self {
        let bytes = (word >> (2 * COUNT_BITS)) as i64;
        Barrier {
            pending: word & COUNT,
            expected: word >> COUNT_BITS & COUNT,
            bytes: bytes << (64 - BYTES_BITS) >> (64 - BYTES_BITS),
            phase: word >> (2 * COUNT_BITS + BYTES_BITS),
        }
    }

    fn word(self) -> u64 {
        let bytes = self.bytes as u64 & ((1 << BYTES_BITS) - 1);
        self.pending & COUNT
            | (self.expected & COUNT) << COUNT_BITS
            | bytes << (2 * COUNT_BITS)
            | self.phase << (2 * COUNT_BITS + BYTES_BITS)
    }

    /// Arrivals; more than are pending are undefined, and count as those.
    fn arrive(&mut self, count: u64, drop: bool) {
        self.pending = self.pending.saturating_sub(count);
        if drop {
            self.expected = self.expected.saturating_sub(count);
        }
    }

    /// The next phase begins when nothing is left to come in this one.
    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = (self.phase + 1) & 7;
            self.pending = self.expected;
        }
    }
}

/// The bits after an operation, and what it returns: the bits before, or 1 when a test holds. The operand is src1, a count
/// as 32 bits.
pub fn apply(op: MbarrierOp, word: u64, operand: u64) -> (u64, u64) {
    let mut barrier = Barrier::of(word);
    let count = operand & 0xffff_ffff;
    let bytes = i64::from(operand as u32 as i32);
    match op {
        MbarrierOp::Init => {
            let count = count & COUNT;
            return (Barrier { pending: count, expected: count, bytes: 0, phase: 0 }.word(), word);
        }
        MbarrierOp::Invalidate => return (0, word),
        MbarrierOp::TestState => {
            return (word, u64::from(barrier.phase != Barrier::of(operand).phase));
        }
        MbarrierOp::TestParity => return (word, u64::from(barrier.phase & 1 != operand & 1)),
        MbarrierOp::Arrive { drop, completes } => {
            barrier.arrive(count, drop);
            if completes {
                barrier.complete();
            }
        }
        MbarrierOp::ArriveExpect { drop } => {
            barrier.bytes += bytes;
            barrier.arrive(1, drop);
            barrier.complete();
        }
        MbarrierOp::Expect => barrier.bytes += bytes,
        MbarrierOp::Complete => {
            barrier.bytes -= bytes;
            barrier.complete();
        }
        MbarrierOp::Track => barrier.pending += 1,
    }
    (barrier.word(), word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRIVE: MbarrierOp = MbarrierOp::Arrive { drop: false, completes: true };

    /// Operations one after the other; the bits at the end.
    fn after(operations: &[(MbarrierOp, u64)]) -> u64 {
        operations.iter().fold(0, |word, (op, operand)| apply(*op, word, *operand).0)
    }

    fn parity_done(word: u64, parity: u64) -> bool {
        apply(MbarrierOp::TestParity, word, parity).1 == 1
    }

    #[test]
    fn a_phase_completes_with_its_last_arrival() {
        let two = after(&[(MbarrierOp::Init, 3), (ARRIVE, 2)]);
        assert!(
            !parity_done(two, 0) && parity_done(two, 1),
            "phase 0 runs; the one before it counts as done"
        );
        assert_eq!(two & PENDING, 1);
        let (three, state) = apply(ARRIVE, two, 1);
        assert_eq!(state, two);
        assert!(parity_done(three, 0) && !parity_done(three, 1));
        assert_eq!(three & PENDING, 3, "the next phase expects as many");
        assert_eq!(apply(MbarrierOp::TestState, three, state).1, 1);
        assert_eq!(apply(MbarrierOp::TestState, three, three).1, 0);
        assert_eq!(apply(MbarrierOp::Invalidate, three, 0).0, 0);
    }

    #[test]
    fn those_who_drop_are_not_expected_again() {
        let dropped =
            after(&[(MbarrierOp::Init, 2), (MbarrierOp::Arrive { drop: true, completes: true }, 1)]);
        let next = apply(ARRIVE, dropped, 1).0;
        assert!(parity_done(next, 0));
        assert_eq!(next & PENDING, 1);
    }

    #[test]
    fn bytes_hold_a_phase_up_in_either_order() {
        let expecting = after(&[(MbarrierOp::Init, 1), (MbarrierOp::ArriveExpect { drop: false }, 512)]);
        assert!(!parity_done(expecting, 0));
        let half = apply(MbarrierOp::Complete, expecting, 256).0;
        assert!(!parity_done(half, 0));
        assert!(parity_done(apply(MbarrierOp::Complete, half, 256).0, 0));
        // Bytes that come before they are expected count as negative.
        let early = after(&[(MbarrierOp::Init, 1), (MbarrierOp::Complete, 64), (ARRIVE, 1)]);
        assert!(!parity_done(early, 0));
        let settled = after(&[
            (MbarrierOp::Init, 1),
            (MbarrierOp::Complete, 64),
            (MbarrierOp::Expect, 64),
            (ARRIVE, 1),
        ]);
        assert!(parity_done(settled, 0));
    }

    #[test]
    fn a_copy_under_way_holds_a_phase_up() {
        let tracked = after(&[(MbarrierOp::Init, 1), (MbarrierOp::Track, 0), (ARRIVE, 1)]);
        assert!(!parity_done(tracked, 0));
        assert!(parity_done(apply(ARRIVE, tracked, 1).0, 0));
        let quiet =
            after(&[(MbarrierOp::Init, 2), (MbarrierOp::Arrive { drop: false, completes: false }, 1)]);
        assert_eq!((quiet & PENDING, parity_done(quiet, 0)), (1, false));
    }
}
