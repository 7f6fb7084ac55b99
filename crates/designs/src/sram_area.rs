//! Area of SRAM caches in transistors, by the circuits that FUSE V-C counts: cells, sense amplifiers, write
//! drivers, comparators and decoders.

use strata_memory::LINE_BYTES;
use strata_memory::area::Component;

/// Bits of an address (FUSE V-C: 64 sets of 128-byte lines have tags of 19 bits).
pub const ADDRESS_BITS: u64 = 32;
/// Transistors of an SRAM cell, which holds one bit (FUSE V-C).
pub const SRAM_CELL: u64 = 6;
/// Transistors of an SRAM array's sense amplifier, for one bit: 8T to sense and 8T to latch (FUSE V-C).
pub const SRAM_SENSE_AMPLIFIER: u64 = 16;
/// Transistors of an SRAM array's write driver, for one bit (FUSE V-C).
pub const SRAM_WRITE_DRIVER: u64 = 14;
/// Transistors of a tag comparator. FUSE Table III has 976 for four comparators and 1458 for six: 244 and 243
/// each, whatever the width of the tag. The 4T per bit of V-C would give 76 for 19 bits; the paper does not
/// say what else it counts.
pub const COMPARATOR: u64 = 244;
/// Transistors of a decoder for each wordline: a NOR gate of 4T, and a tri-state inverter of 4T that drives
/// the line (FUSE V-C).
pub const WORDLINE: u64 = 8;
/// Transistors of a decoder's predecoder: the remainder of the 562 transistors that FUSE Table III has for 64
/// wordlines. V-C builds it from 2-to-4 and 3-to-8 decoders, and does not say how many.
pub const PREDECODER: u64 = 50;

/// The shape of a cache bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankGeometry {
    /// Number of sets, a power of two.
    pub sets: u64,
    /// Number of lines per set.
    pub ways: u64,
    /// Bytes per line, a power of two.
    pub line_bytes: u64,
    /// Bits of an address that the tags cover.
    pub address_bits: u64,
}

impl BankGeometry {
    /// Makes a bank of 128-byte lines with addresses of [`ADDRESS_BITS`].
    pub fn of_lines(sets: usize, ways: usize) -> BankGeometry {
        let [sets, ways, line_bytes] = [sets, ways, LINE_BYTES].map(|number| number as u64);
        BankGeometry { sets, ways, line_bytes, address_bits: ADDRESS_BITS }
    }

    /// Number of lines in the bank.
    pub const fn lines(&self) -> u64 {
        self.sets * self.ways
    }

    /// Data capacity in bits, without tags.
    pub const fn data_bits(&self) -> u64 {
        self.lines() * self.line_bits()
    }

    /// Bits of data in a line.
    pub const fn line_bits(&self) -> u64 {
        self.line_bytes * 8
    }

    /// Bits of a tag array entry: the tag, a valid bit and a dirty bit (FUSE V-C).
    pub const fn entry_bits(&self) -> u64 {
        let line_and_set = self.line_bytes.ilog2() + self.sets.ilog2();
        self.address_bits - line_and_set as u64 + 2
    }
}

/// Transistors of a decoder with `rows` wordlines.
pub const fn decoder(rows: u64) -> u64 {
    rows * WORDLINE + PREDECODER
}

/// The area table of a set-associative SRAM cache that reads tags and data of all ways at once.
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
    use strata_memory::area::{AreaSize, Total, total};

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
        assert_eq!(total(&table), Total { transistors: Some(1_732_620), ..Total::default() });
    }
}
