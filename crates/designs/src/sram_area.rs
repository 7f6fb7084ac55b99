//! Area of SRAM caches by the circuits that FUSE V-C counts: cells, sense amplifiers, write drivers, comparators,
//! decoders.

use strata_memory::LINE_BYTES;
use strata_memory::area::Component;

/// Bits of an address in the tags (FUSE V-C: 19 bits of tag for 64 sets of 128-byte lines).
pub const ADDRESS_BITS: u64 = 32;
/// A 6T SRAM cell holds a bit (FUSE V-C).
pub const SRAM_CELL: u64 = 6;
/// A bit's sense amplifier at an SRAM array: 8T to sense and 8T to latch (FUSE V-C).
pub const SRAM_SENSE_AMPLIFIER: u64 = 16;
/// A bit's write driver at an SRAM array (FUSE V-C).
pub const SRAM_WRITE_DRIVER: u64 = 14;
/// A tag comparator. FUSE Table III has 976 for four and 1458 for six: 244 and 243 each, whatever the width of the tag.
/// V-C's 4T a bit would be 76 for its 19 bits; it does not say what else is counted.
pub const COMPARATOR: u64 = 244;
/// A wordline of a decoder: a NOR gate of 4T, and a tri-state inverter of 4T that drives the line (FUSE V-C).
pub const WORDLINE: u64 = 8;
/// The predecoder of a decoder: what FUSE Table III leaves of 562 transistors for 64 wordlines. V-C builds it from 2-to-4
/// and 3-to-8 decoders and does not say how many.
pub const PREDECODER: u64 = 50;

/// A bank of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankGeometry {
    /// Sets, a power of two.
    pub sets: u64,
    /// Lines of a set.
    pub ways: u64,
    /// Bytes of a line, a power of two.
    pub line_bytes: u64,
    /// Bits of an address.
    pub address_bits: u64,
}

impl BankGeometry {
    /// A bank of 128-byte lines.
    pub fn of_lines(sets: usize, ways: usize) -> BankGeometry {
        let [sets, ways, line_bytes] = [sets, ways, LINE_BYTES].map(|number| number as u64);
        BankGeometry { sets, ways, line_bytes, address_bits: ADDRESS_BITS }
    }

    /// Lines.
    pub const fn lines(&self) -> u64 {
        self.sets * self.ways
    }

    /// Bits of data.
    pub const fn data_bits(&self) -> u64 {
        self.lines() * self.line_bits()
    }

    /// Bits of a line.
    pub const fn line_bits(&self) -> u64 {
        self.line_bytes * 8
    }

    /// Bits of a tag's entry: the tag, a valid bit and a dirty bit (FUSE V-C).
    pub const fn entry_bits(&self) -> u64 {
        let line_and_set = self.line_bytes.ilog2() + self.sets.ilog2();
        self.address_bits - line_and_set as u64 + 2
    }
}

/// A decoder of `rows` wordlines.
pub const fn decoder(rows: u64) -> u64 {
    rows * WORDLINE + PREDECODER
}

/// A set-associative SRAM cache that reads tags and data of all ways at once.
pub fn sram_cache(bank: &BankGeometry) -> Vec<Component> {
    let BankGeometry { sets, ways, .. } = *bank;
    let (line, entry) = (bank.line_bits(), bank.entry_bits());
    let columns = ways * (line + entry);
    vec![
        Component::transistors(
            "data array",
            bank.data_bits() * SRAM_CELL,
            format!("{} lines x {line} bits x 6T", bank.lines()),
        ),
        Component::transistors(
            "tag array",
            bank.lines() * entry * SRAM_CELL,
            format!("{} lines x {entry} bits x 6T", bank.lines()),
        ),
        Component::transistors(
            "sense amplifier",
            columns * SRAM_SENSE_AMPLIFIER,
            format!("{ways} ways x ({line} + {entry}) bits x 16T"),
        ),
        Component::transistors(
            "write driver",
            columns * SRAM_WRITE_DRIVER,
            format!("{ways} ways x ({line} + {entry}) bits x 14T"),
        ),
        Component::transistors("comparator", ways * COMPARATOR, format!("{ways} x 244T")),
        Component::transistors(
            "decoder",
            2 * decoder(sets),
            format!("data and tags x ({sets} wordlines x 8T + 50T)"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use strata_memory::area::{AreaSize, total};

    use super::*;

    /// FUSE Table III, the column of L1-SRAM: exact.
    const L1_SRAM: &[(&str, u64)] = &[
        ("data array", 1_572_864),
        ("tag array", 32_256),
        ("sense amplifier", 66_880),
        ("write driver", 58_520),
        ("comparator", 976),
        ("decoder", 1_124),
    ];

    #[test]
    fn the_32_kb_sram_cache_of_fuse_has_its_transistors() {
        let bank = BankGeometry { sets: 64, ways: 4, line_bytes: 128, address_bits: 32 };
        assert_eq!(bank.entry_bits(), 21, "FUSE V-C: a 19-bit tag, a valid bit, a dirty bit");
        let table = sram_cache(&bank);
        let ours: Vec<(&str, AreaSize)> = table.iter().map(|row| (row.name, row.size)).collect();
        let paper: Vec<(&str, AreaSize)> =
            L1_SRAM.iter().map(|(name, count)| (*name, AreaSize::Transistors(*count))).collect();
        assert_eq!(ours, paper);
        assert_eq!(total(&table), (1_732_620, 0));
    }
}
