//! Address patterns: which bits of an address select row, bank and column.

use crate::address::LINE_BYTES;
use crate::parameters::ParameterError;

/// The location of an address within a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Bank of the channel.
    pub bank: u8,
    /// Row in the bank.
    pub row: u32,
    /// Column in the row, counted in bursts.
    pub column: u32,
}

/// A run of bits that are adjacent both in the address and in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    mask: u64,
    /// Number of positions by which the bits are shifted down.
    down: u32,
}

/// An address pattern, ready to be applied to channel-local byte addresses.
///
/// Bits above the pattern's highest row bit count as row bits, so every address has a location of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern {
    row: Vec<Run>,
    bank: Vec<Run>,
    column: Vec<Run>,
    bank_bits: u32,
    /// Bits of the bank that select its group, if the pattern says so.
    group_bits: u32,
}

impl AddressPattern {
    /// Parses a pattern of 32 letters, from bit 31 down; dots are ignored. Exactly the bits above the highest
    /// `R` are `0`, and a line must lie in one row of one bank. The bits `G` are the highest of the bank.
    ///
    /// # Errors
    /// Fails if the text is not such a pattern.
    pub fn parse(text: &str) -> Result<AddressPattern, ParameterError> {
        let refuse = |message: String| Err(ParameterError::new("address_pattern", message));
        let letters: Vec<char> = text.chars().filter(|letter| *letter != '.').rev().collect();
        if letters.len() != 32 {
            return refuse(format!("found {} bits, expected 32", letters.len()));
        }
        if let Some(letter) = letters.iter().find(|letter| !"0RBGCS".contains(**letter)) {
            return refuse(format!("found `{letter}`, expected 0, R, B, G, C or S"));
        }
        let Some(top) = letters.iter().rposition(|letter| *letter == 'R') else {
            return refuse("found no row bit".into());
        };
        if let Some(bit) =
            letters.iter().enumerate().position(|(bit, letter)| (*letter == '0') != (bit > top))
        {
            return refuse(format!(
                "found `{}` in bit {bit}, expected 0 exactly above the row bits",
                letters[bit]
            ));
        }
        let low = LINE_BYTES.trailing_zeros() as usize;
        if let Some(bit) = letters[..low].iter().position(|letter| "RBG".contains(*letter)) {
            return refuse(format!(
                "found `{}` in bit {bit}, expected a line to lie in one row",
                letters[bit]
            ));
        }
        let (mut row, _) = runs(&letters, 'R', 0);
        let (mut bank, bits_in_group) = runs(&letters, 'B', 0);
        let (group, bank_bits) = runs(&letters, 'G', bits_in_group);
        bank.extend(group);
        let (column, _) = runs(&letters, 'C', 0);
        let last = row.last_mut().expect("a pattern has a row bit");
        last.mask |= u64::MAX << top;
        Ok(AddressPattern { row, bank, column, bank_bits, group_bits: bank_bits - bits_in_group })
    }

    /// Number of banks that the pattern addresses.
    pub fn banks(&self) -> usize {
        1 << self.bank_bits
    }

    /// Number of bank groups that the pattern addresses by bits of their own.
    pub fn groups(&self) -> Option<usize> {
        (self.group_bits > 0).then(|| 1 << self.group_bits)
    }

    /// The location of a channel-local byte address.
    #[inline]
    pub fn place(&self, address: u64) -> Place {
        Place {
            bank: gather(&self.bank, address) as u8,
            row: gather(&self.row, address) as u32,
            column: gather(&self.column, address) as u32,
        }
    }
}

#[inline]
fn gather(runs: &[Run], address: u64) -> u64 {
    runs.iter().fold(0, |field, run| field | (address & run.mask) >> run.down)
}

/// The runs of a letter, lowest first, above the `bits` lowest bits of the field; how many bits it has with them.
fn runs(letters: &[char], letter: char, mut bits: u32) -> (Vec<Run>, u32) {
    let mut runs: Vec<Run> = Vec::new();
    for (bit, _) in letters.iter().enumerate().filter(|(_, found)| **found == letter) {
        let down = bit as u32 - bits;
        bits += 1;
        match runs.last_mut() {
            Some(run) if run.down == down => run.mask |= 1 << bit,
            _ => runs.push(Run { mask: 1 << bit, down }),
        }
    }
    (runs, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GTX480: &str = "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS";

    #[test]
    fn fields_of_the_published_pattern() {
        let pattern = AddressPattern::parse(GTX480).unwrap();
        assert_eq!(pattern.banks(), 16);
        for (address, bank, row, column) in [
            (0, 0, 0, 0),
            (1 << 6, 0, 0, 1),
            (1 << 8, 1, 0, 0),
            (1 << 9, 0, 0, 4),
            (1 << 13, 2, 0, 0),
            (7 << 13 | 1 << 8, 15, 0, 0),
            (1 << 16, 0, 1, 0),
            (0xfff << 16, 0, 0xfff, 0),
            (1 << 28, 0, 0x1000, 0),
        ] {
            assert_eq!(pattern.place(address), Place { bank, row, column }, "{address:#x}");
        }
    }

    #[test]
    fn every_burst_has_its_own_place() {
        for text in [GTX480, "0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS", "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"] {
            let pattern = AddressPattern::parse(text).unwrap();
            let atom = 1 << text.matches('S').count();
            let places: std::collections::HashSet<_> =
                (0..1 << 19).step_by(atom).map(|address| pattern.place(address)).collect();
            assert_eq!(places.len(), (1 << 19) / atom, "{text}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (text, message) in [
            ("RRRR", "found 4 bits, expected 32"),
            ("0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSX", "found `X`, expected 0, R, B, G, C or S"),
            ("0000RRRR.RRRRRRRR.BBBCCCCB.CBSSSSSS", "found `B` in bit 6, expected a line to lie in one row"),
            (
                "0000RRRR.R0RRRRRR.BBBCCCCB.CCSSSSSS",
                "found `0` in bit 22, expected 0 exactly above the row bits",
            ),
        ] {
            assert_eq!(AddressPattern::parse(text).unwrap_err().message, message);
        }
    }
}
