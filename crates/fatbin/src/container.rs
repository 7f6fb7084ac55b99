//! Containers: a header and the entries behind it.
//!
//! A container starts with a magic number (4 bytes), version (2), size of this header (2) and total size of
//! the entries (8).

use crate::Text;
use crate::entry::{ELF, EXACT, Entry, FAMILY, PTX};
use crate::number::{u16_at, u32_at, u64_at};

/// First word of a container.
pub const CONTAINER: u32 = 0xba55_ed50;
/// Size of a container's header in bytes.
pub const HEADER: usize = 16;

/// What a container has for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The best of its texts.
    Text(Text),
    /// No text, but machine code for these targets.
    MachineCode(Vec<u32>),
}

/// Sizes in bytes of the header and of the entries of a container, read from its start.
///
/// # Errors
/// Something else than a container.
pub fn size(start: &[u8]) -> Result<(u64, u64), String> {
    let magic = u32_at(start, 0).ok_or("found less than a header")?;
    if magic != CONTAINER {
        return Err(format!("found {magic:#010x}, expected a container's {CONTAINER:#010x}"));
    }
    let header = u16_at(start, 6).map(u64::from).filter(|header| *header >= HEADER as u64);
    header.zip(u64_at(start, 8)).ok_or_else(|| "a container's header is too short".to_owned())
}

/// The entries of a container.
fn entries(container: &[u8]) -> Result<Vec<Entry<'_>>, String> {
    let (header, bytes) = size(container)?;
    let end = header.checked_add(bytes).filter(|end| *end <= container.len() as u64);
    let end = end.ok_or_else(|| format!("the entries take {bytes} bytes, more than there are"))? as usize;
    let mut rest = &container[header as usize..end];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (entry, after) = Entry::split(rest).ok_or_else(|| {
            format!("entry {} leaves its container, which has {} bytes left", found.len(), rest.len())
        })?;
        found.push(entry);
        rest = after;
    }
    Ok(found)
}

/// Chooses a container's PTX for a device of the given `capability` (80 for 8.0): of those texts that it runs
/// the one of the highest target, or else the text of the lowest target.
///
/// # Errors
/// A damaged container, or a damaged text where it is chosen.
pub fn choose(container: &[u8], capability: u32) -> Result<Choice, String> {
    let entries = entries(container)?;
    let texts = || entries.iter().filter(|entry| entry.kind == PTX);
    // Of two texts for one target the narrower one may use more of the device.
    let rank = |entry: &&Entry<'_>| {
        let width = match entry.flags & (EXACT | FAMILY) {
            0 => 0,
            FAMILY => 1,
            _ => 2,
        };
        (entry.target, width)
    };
    let within = texts().filter(|entry| entry.runs_on(capability)).max_by_key(rank);
    let Some(chosen) = within.or_else(|| texts().min_by_key(rank)) else {
        let mut targets: Vec<u32> =
            entries.iter().filter(|entry| entry.kind == ELF).map(|entry| entry.target).collect();
        targets.sort_unstable();
        targets.dedup();
        return Ok(Choice::MachineCode(targets));
    };
    Ok(Choice::Text(Text { text: chosen.text()?, runs: chosen.runs_on(capability) }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pack::{lz4, pack, raw, zstd};

    #[test]
    fn the_highest_target_within_reach_is_chosen() {
        let all = [
            (ELF, 80, 0, "ELF"),
            (PTX, 52, 0, "a"),
            (PTX, 80, 0, "b"),
            (PTX, 90, 0, "c"),
            (PTX, 90, EXACT, "d"),
        ];
        let container =
            pack(&all.map(|(kind, target, flags, text)| raw(kind, target, flags, text.as_bytes())));
        for (capability, text) in
            [(52, "a"), (75, "a"), (80, "b"), (89, "b"), (90, "d"), (120, "c"), (30, "a")]
        {
            let expected = Text { text: text.to_owned(), runs: capability >= 52 };
            assert_eq!(choose(&container, capability), Ok(Choice::Text(expected)), "{capability}");
        }
        let machine_code = pack(&[raw(ELF, 90, 0, b"ELF"), raw(ELF, 80, 0, b"ELF"), raw(ELF, 80, 0, b"ELF")]);
        assert_eq!(choose(&machine_code, 80), Ok(Choice::MachineCode(vec![80, 90])));
        assert_eq!(choose(&pack(&[]), 80), Ok(Choice::MachineCode(Vec::new())));
    }

    #[test]
    fn a_container_that_is_cut_is_an_error() {
        let good = pack(&[raw(ELF, 80, 0, b"\x7fELF"), lz4(70, "// a text"), raw(PTX, 70, 0, b"// the end")]);
        assert_eq!(entries(&good).map(|entries| entries.len()), Ok(3));
        for length in 0..good.len() {
            assert!(entries(&good[..length]).is_err(), "cut to {length}");
        }
    }

    proptest! {
        /// Whatever is changed, the result is a text or a sentence.
        #[test]
        fn damage_never_panics(changes in prop::collection::vec((0_usize..1 << 10, any::<u8>()), 1..8)) {
            let text = "// a text that is long enough to be compressed, compressed, compressed";
            let mut container = pack(&[raw(ELF, 80, 0, b"\x7fELF"), lz4(80, text), zstd(70, text)]);
            let length = container.len();
            for (at, value) in changes {
                container[at % length] = value;
            }
            for capability in [70, 80] {
                if let Err(why) = choose(&container, capability) {
                    prop_assert!(!why.is_empty());
                }
            }
        }

        /// Bytes that are no container at all are refused.
        #[test]
        fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assume!(noise.get(..4) != Some(&CONTAINER.to_le_bytes()));
            prop_assert!(choose(&noise, 80).is_err());
        }
    }
}
