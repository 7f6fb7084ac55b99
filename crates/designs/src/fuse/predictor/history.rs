//! The prediction history table: how the blocks that an instruction brings are used (IV-B, Fig. 11b).

/// The read-level of a block (III-A, IV-B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::fuse) enum ReadLevel {
    /// Write-multiple (WM), to be kept in SRAM.
    WriteMultiple,
    /// Write-once-read-multiple (WORM), to be kept in STT-MRAM.
    WriteOnceReadMultiple,
    /// Write-once-read-once (WORO), not worth keeping.
    WriteOnceReadOnce,
    /// No prediction; read-intensive blocks are among these.
    #[default]
    Neutral,
}

/// The parameters of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fuse) struct HistoryShape {
    /// Number of entries, a power of two: two to the number of bits in a signature.
    pub entries: usize,
    /// Largest value of a counter.
    pub limit: u8,
    /// Initial value of a counter.
    pub initial: u8,
    /// Counters above this value predict WORO.
    pub unused_threshold: u8,
    /// Counters below this value predict WORM or WM.
    pub used_threshold: u8,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    counter: u8,
    /// The status bit: 'W' once a sampled write has hit.
    written: bool,
}

/// A hash of a program counter that selects an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::fuse) struct Signature(pub u16);

/// The history table, one entry per signature.
#[derive(Clone, Debug)]
pub(in crate::fuse) struct History {
    shape: HistoryShape,
    entries: Vec<Entry>,
}

impl History {
    pub fn new(shape: HistoryShape) -> History {
        // IV-B: at the beginning counter and status are 8 and 'R'.
        History { shape, entries: vec![Entry { counter: shape.initial, written: false }; shape.entries] }
    }

    /// The signature of a program counter: its low bits, with the next ones folded in.
    #[inline]
    pub fn signature(&self, pc: u32) -> Signature {
        let bits = self.shape.entries.trailing_zeros();
        Signature(((pc ^ pc >> bits) as usize & (self.shape.entries - 1)) as u16)
    }

    /// Notes that the sampler saw a block used again.
    pub fn used(&mut self, signature: Signature, write: bool) {
        let entry = &mut self.entries[usize::from(signature.0)];
        entry.counter = entry.counter.saturating_sub(1);
        entry.written |= write;
    }

    /// Notes that the sampler evicted a block that was not used again.
    pub fn unused(&mut self, signature: Signature) {
        let entry = &mut self.entries[usize::from(signature.0)];
        entry.counter = (entry.counter + 1).min(self.shape.limit);
    }

    /// The read level predicted for blocks of the signature.
    #[inline]
    pub fn predict(&self, signature: Signature) -> ReadLevel {
        let entry = self.entries[usize::from(signature.0)];
        if entry.counter > self.shape.unused_threshold {
            ReadLevel::WriteOnceReadOnce
        } else if entry.counter >= self.shape.used_threshold {
            ReadLevel::Neutral
        } else if entry.written {
            ReadLevel::WriteMultiple
        } else {
            ReadLevel::WriteOnceReadMultiple
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> History {
        History::new(HistoryShape {
            entries: 512,
            limit: 15,
            initial: 8,
            unused_threshold: 14,
            used_threshold: 1,
        })
    }

    #[test]
    fn classes_by_counter_and_status() {
        let (mut table, block) = (table(), Signature(3));
        let mut seen = vec![table.predict(block)];
        for _ in 0..7 {
            table.unused(block);
            seen.push(table.predict(block));
        }
        use ReadLevel::*;
        assert_eq!(seen[..7], [Neutral; 7], "8 to 14");
        assert_eq!(seen[7], WriteOnceReadOnce, "above 14");
        table.unused(block);
        for _ in 0..14 {
            table.used(block, false);
            assert_eq!(table.predict(block), Neutral, "from 14 to 1; the counter has four bits");
        }
        table.used(block, false);
        assert_eq!(table.predict(block), WriteOnceReadMultiple, "below 1, status 'R'");
        table.used(block, true);
        assert_eq!(table.predict(block), WriteMultiple, "status 'W'");
        assert_eq!(table.predict(Signature(4)), Neutral, "each signature has its own");
    }

    #[test]
    fn a_signature_has_nine_bits_of_512_entries() {
        let table = table();
        assert_eq!(table.signature(5), Signature(5));
        assert_eq!(table.signature(5 | 3 << 9), Signature(5 ^ 3));
        assert!((0..100_000).all(|pc| table.signature(pc).0 < 512));
    }
}
