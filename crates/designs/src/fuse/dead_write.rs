//! By-NVM's dead-write predictor: which writes into STT-MRAM are not worth making (V, L1D configurations).
//!
//! This is the predictor of DASCA (Ahn, Yoo, Choi, HPCA 2014), which FUSE cites. A write into the array is
//! dead if omitting it causes no additional miss. There are three classes:
//!
//! * a *dead-on-arrival fill*: the line is evicted before anything touches it again;
//! * a *dead-value fill*: the whole line is overwritten before anything reads it;
//! * a *closing write*: a store after which the line is evicted before anything touches it again.
//!
//! A sampler follows the lines of a few sets, and records for each which instruction touched it last and how.
//! What happens next reveals whether that instruction's write was dead; tables of counters accumulate this.
//! As in the sampling dead-block predictor on which DASCA builds (Khan, Tian, Jimenez, MICRO 2010), several
//! tables, each with a hash of its own, are read in parallel and their counters added.

use super::seen::{Seen, Touch};

/// Odd multipliers of the tables' hash functions. ASSUMED: multiplicative hashing.
const MULTIPLIERS: [u32; MAX_TABLES] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f];

/// The largest number of tables.
pub(super) const MAX_TABLES: usize = 4;

/// What a sampled request revealed about the write before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// Nothing: there was no write that had not been judged.
    Nothing,
    /// The write was useful.
    Live,
    /// The write was a fill whose line was evicted untouched.
    DeadOnArrival,
    /// The write was a fill whose bytes were all overwritten unread.
    DeadValue,
    /// The write was a store that another store followed, with nothing between them that read the line.
    DeadStore,
    /// The write was a store after which the line was evicted untouched.
    Closing,
}

/// The parameters of the predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeadWriteShape {
    /// Number of sets in the cache.
    pub sets: usize,
    /// One set in this many is sampled.
    pub stride: usize,
    /// Entries per sampled set.
    pub ways: usize,
    /// Bits of a line number that the sampler keeps.
    pub tag_bits: u32,
    /// Bits of a program counter that the sampler keeps.
    pub signature_bits: u32,
    /// Number of tables of counters.
    pub tables: usize,
    /// Counters per table, a power of two.
    pub entries: usize,
    /// Largest value of a counter.
    pub limit: u8,
    /// Initial value of a counter.
    pub initial: u8,
    /// The sum of a signature's counters from which its writes are predicted dead.
    pub threshold: u8,
    /// Whether a store was dead that another one follows.
    pub stored_over_is_dead: bool,
}

/// The last touch of a sampled line, as far as it decides what the next one reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// A load missed: the line was filled.
    Fill,
    /// A load hit the line.
    Read,
    /// A store touched the line.
    Store,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u64,
    signature: u32,
    last: Last,
}

/// The dead-write predictor: its sampler and its tables of counters.
#[derive(Clone, Debug)]
pub(super) struct DeadWrite {
    shape: DeadWriteShape,
    /// Sampled sets, the line touched last first.
    sampler: Vec<Vec<Entry>>,
    /// Counter of entry e in table t: `t * entries + e`.
    counters: Vec<u8>,
}

impl DeadWrite {
    pub fn new(shape: DeadWriteShape) -> DeadWrite {
        let sampled = shape.sets.div_ceil(shape.stride);
        DeadWrite {
            shape,
            sampler: (0..sampled).map(|_| Vec::with_capacity(shape.ways)).collect(),
            counters: vec![shape.initial; shape.tables * shape.entries],
        }
    }

    /// Learns from an accepted request to a line of `set`. Returns `None` if the set is not sampled.
    pub fn observe(&mut self, seen: &Seen, set: usize) -> Option<Learned> {
        let Seen { line, pc, touch, .. } = *seen;
        if !set.is_multiple_of(self.shape.stride) {
            return None;
        }
        let tag = line.0 & ((1 << self.shape.tag_bits) - 1);
        let signature = self.signature(pc);
        let entries = &mut self.sampler[set / self.shape.stride];
        let last = if touch == Touch::Read { Last::Read } else { Last::Store };
        let (before, learned) = if let Some(at) = entries.iter().position(|entry| entry.tag == tag) {
            let before = std::mem::replace(&mut entries[at], Entry { tag, signature, last });
            entries[..=at].rotate_right(1);
            (Some(before), self.touched(before.last, touch))
        } else {
            let left = if entries.len() == self.shape.ways { entries.pop() } else { None };
            let last = if touch == Touch::Read { Last::Fill } else { Last::Store };
            entries.insert(0, Entry { tag, signature, last });
            (left, left.map_or(Learned::Nothing, |left| evicted(left.last)))
        };
        if let Some(before) = before {
            self.learn(before.signature, learned);
        }
        Some(learned)
    }

    /// Whether a write by this instruction, a fill or a store, is predicted to be dead.
    #[inline]
    pub fn is_dead(&self, pc: u32) -> bool {
        let signature = self.signature(pc);
        let sum: u32 =
            (0..self.shape.tables).map(|table| u32::from(self.counters[self.place(table, signature)])).sum();
        sum >= u32::from(self.shape.threshold)
    }

    /// What a touch reveals about the one before it.
    fn touched(&self, last: Last, touch: Touch) -> Learned {
        match (last, touch) {
            (Last::Fill, Touch::Overwrite) => Learned::DeadValue,
            (Last::Store, Touch::Write | Touch::Overwrite) if self.shape.stored_over_is_dead => {
                Learned::DeadStore
            }
            (Last::Fill, Touch::Read | Touch::Write) | (Last::Store, _) => Learned::Live,
            (Last::Read, _) => Learned::Nothing,
        }
    }

    fn learn(&mut self, signature: u32, learned: Learned) {
        for table in 0..self.shape.tables {
            let place = self.place(table, signature);
            let counter = &mut self.counters[place];
            *counter = match learned {
                Learned::Nothing => return,
                Learned::Live => counter.saturating_sub(1),
                _ => (*counter + 1).min(self.shape.limit),
            };
        }
    }

    /// The signature of a program counter: its low bits, with the next ones folded in.
    #[inline]
    fn signature(&self, pc: u32) -> u32 {
        let bits = self.shape.signature_bits;
        (pc ^ pc.checked_shr(bits).unwrap_or(0)) & (u32::MAX >> (32 - bits))
    }

    /// The signature's counter in a table.
    #[inline]
    fn place(&self, table: usize, signature: u32) -> usize {
        let mixed = signature.wrapping_mul(MULTIPLIERS[table]);
        // The upper half depends on all bits of the signature.
        table * self.shape.entries + ((mixed >> 16) as usize & (self.shape.entries - 1))
    }
}

/// What an eviction reveals about the touch before it.
fn evicted(last: Last) -> Learned {
    match last {
        Last::Fill => Learned::DeadOnArrival,
        Last::Store => Learned::Closing,
        Last::Read => Learned::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use strata_memory::LineAddress;

    use super::*;

    fn seen(line: u64, pc: u32, touch: Touch) -> Seen {
        Seen { line: LineAddress(line), pc, warp: 0, leads: true, touch }
    }

    fn predictor() -> DeadWrite {
        with(false)
    }

    /// One set of two ways; three tables of counters to 3, which together say dead from 8 on.
    fn with(stored_over_is_dead: bool) -> DeadWrite {
        DeadWrite::new(DeadWriteShape {
            sets: 8,
            stride: 8,
            ways: 2,
            tag_bits: 15,
            signature_bits: 15,
            tables: 3,
            entries: 4096,
            limit: 3,
            initial: 0,
            threshold: 8,
            stored_over_is_dead,
        })
    }

    /// What touches of lines of set 0 by one instruction each show: line, instruction, touch.
    fn shown(predictor: &mut DeadWrite, touches: &[(u64, u32, Touch)]) -> Vec<Learned> {
        let see = |&(line, pc, touch): &(u64, u32, Touch)| {
            predictor.observe(&seen(line, pc, touch), 0).expect("set 0 is sampled")
        };
        touches.iter().map(see).collect()
    }

    #[test]
    fn the_three_classes_of_dead_writes_and_what_is_none() {
        use Learned::*;
        use Touch::*;
        let two_more = [(8, 99, Read), (9, 99, Read)];
        for (touches, expected) in [
            (&[(1_u64, 1_u32, Read)][..], DeadOnArrival),
            (&[(1, 1, Overwrite)][..], Closing),
            (&[(1, 1, Write)][..], Closing),
            (&[(1, 1, Read), (1, 2, Write)][..], Closing),
            // Read after its write: the write was of use, and the eviction says nothing more.
            (&[(1, 1, Read), (1, 2, Read)][..], Nothing),
            (&[(1, 1, Overwrite), (1, 2, Read)][..], Nothing),
        ] {
            let mut predictor = predictor();
            shown(&mut predictor, touches);
            assert_eq!(shown(&mut predictor, &two_more)[1], expected, "evicted after {touches:?}");
        }
        for (first, second, expected) in [
            (Read, Overwrite, DeadValue),
            (Read, Write, Live),
            (Read, Read, Live),
            (Overwrite, Read, Live),
            // The second store would have missed had the first not been made.
            (Overwrite, Overwrite, Live),
        ] {
            let touches = [(1, 1, first), (1, 2, second)];
            assert_eq!(shown(&mut predictor(), &touches)[1], expected, "{second:?} after {first:?}");
        }
    }

    #[test]
    fn a_store_before_a_store_can_be_dead() {
        use Touch::*;
        for (first, second, expected) in [
            (Write, Write, Learned::DeadStore),
            (Overwrite, Write, Learned::DeadStore),
            (Write, Overwrite, Learned::DeadStore),
            (Write, Read, Learned::Live),
            (Read, Write, Learned::Live),
        ] {
            let touches = [(1, 1, first), (1, 2, second)];
            let mut predictor = with(true);
            assert_eq!(shown(&mut predictor, &touches)[1], expected, "{second:?} after {first:?}");
        }
        // Stores of one word after the other into a line: all but the last were dead, and soon that is believed.
        let mut predictor = with(true);
        shown(&mut predictor, &[(1, 5, Write); 4]);
        assert!(predictor.is_dead(5));
    }

    #[test]
    fn three_dead_writes_in_a_row_are_believed_and_one_live_one_is_enough_to_doubt() {
        let mut predictor = predictor();
        for (n, line) in (10..15).enumerate() {
            assert!(!predictor.is_dead(7), "after {n} fills, two of which are still in the sampler");
            shown(&mut predictor, &[(line, 7, Touch::Read)]);
        }
        assert!(predictor.is_dead(7), "3 + 3 + 3 reach 8");
        assert!(!predictor.is_dead(8), "another instruction");
        // The last line brought is read: by whom does not matter, it is the fill's instruction that learns.
        shown(&mut predictor, &[(14, 8, Touch::Read)]);
        assert!(!predictor.is_dead(7), "2 + 2 + 2");
    }

    #[test]
    fn only_sampled_sets_teach() {
        let mut predictor = predictor();
        assert_eq!(predictor.observe(&seen(1, 7, Touch::Read), 1), None);
        assert_eq!(predictor.observe(&seen(8, 7, Touch::Read), 0), Some(Learned::Nothing));
    }
}
