//! Entries of a container: a PTX text or machine code for one target.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 2 | kind: 1 PTX, 2 ELF |
//! | 4 | 4 | size of this header |
//! | 8 | 8 | bytes of the payload behind it, with padding |
//! | 16 | 4 | bytes of the payload where it is compressed |
//! | 28 | 4 | target: 80 for sm_80 |
//! | 40 | 8 | flags: 0x2000 an LZ4 block, 0x8000 a zstd frame, 0x100000 sm_90a and the like, 0x200000 sm_100f and the like |
//! | 56 | 8 | bytes of the payload when it is not compressed any more |

use std::io::Read;

use crate::number::{u16_at, u32_at, u64_at};
use crate::target::{Reach, Target};

/// Number of bytes read from an entry's header.
pub const BYTES: usize = 64;
/// Kind of an entry that holds PTX.
pub const PTX: u16 = 1;
/// Kind of an entry that holds machine code.
pub const ELF: u16 = 2;
/// Flag: the payload is an LZ4 block.
pub const LZ4: u64 = 0x2000;
/// Flag: the payload is a zstd frame.
pub const ZSTD: u64 = 0x8000;
/// Flag: the text runs on its target alone.
pub const EXACT: u64 = 0x10_0000;
/// Flag: the text runs on its target and on later ones of the same major version.
pub const FAMILY: u64 = 0x20_0000;
/// Maximum size of a text in bytes; a larger claim is refused as an attack.
const MOST_BYTES: u64 = 1 << 28;

/// One PTX text or machine-code binary of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What the payload is.
    pub kind: u16,
    /// What it was compiled for: 80 for sm_80.
    pub target: u32,
    /// Compression, and how far beyond its target it runs.
    pub flags: u64,
    payload: &'a [u8],
    /// Size in bytes after decompression.
    bytes: u64,
}

impl Entry<'_> {
    /// Splits off the first entry of `bytes`. `None` if it does not fit.
    pub fn split(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
        let header = u32_at(bytes, 4)? as usize;
        if header < BYTES {
            return None;
        }
        let padded = usize::try_from(u64_at(bytes, 8)?).ok()?;
        let (payload, after) = bytes.get(header..)?.split_at_checked(padded)?;
        let (kind, target, flags) = (u16_at(bytes, 0)?, u32_at(bytes, 28)?, u64_at(bytes, 40)?);
        let compressed = u32_at(bytes, 16)? as usize;
        let entry = if flags & (LZ4 | ZSTD) == 0 {
            Entry { kind, target, flags, payload, bytes: payload.len() as u64 }
        } else {
            Entry { kind, target, flags, payload: payload.get(..compressed)?, bytes: u64_at(bytes, 56)? }
        };
        Some((entry, after))
    }

    /// Whether a device of `capability` (80 for 8.0) runs the text by the vendor's rules.
    pub fn runs_on(&self, capability: u32) -> bool {
        let reach = match self.flags & (EXACT | FAMILY) {
            0 => Reach::Onward,
            FAMILY => Reach::Family,
            _ => Reach::Exact,
        };
        Target { number: self.target, reach }.runs_on(capability)
    }

    /// The decompressed text, without trailing NULs.
    ///
    /// # Errors
    /// A payload that is damaged, larger than claimed or not UTF-8.
    pub fn text(&self) -> Result<String, String> {
        let mut bytes = self.plain()?;
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(end);
        String::from_utf8(bytes).map_err(|_| "the text is not UTF-8".to_owned())
    }

    fn plain(&self) -> Result<Vec<u8>, String> {
        if self.bytes > MOST_BYTES {
            return Err(format!("the text claims {} bytes, more than {MOST_BYTES}", self.bytes));
        }
        let size = self.bytes as usize;
        let found = match (self.flags & LZ4 != 0, self.flags & ZSTD != 0) {
            (false, false) => return Ok(self.payload.to_vec()),
            (true, true) => return Err("the flags name two compressions".to_owned()),
            (true, false) => {
                // An LZ4 block expands to at most 255 times its size.
                if size / 256 > self.payload.len() {
                    return Err(format!("{} bytes of LZ4 claim {size}", self.payload.len()));
                }
                lz4_flex::block::decompress(self.payload, size).map_err(|error| format!("LZ4: {error}"))?
            }
            (false, true) => {
                let mut found = Vec::new();
                let decoder = ruzstd::decoding::StreamingDecoder::new(self.payload);
                let decoder = decoder.map_err(|error| format!("zstd: {error}"))?;
                // Reading one byte more than claimed reveals an understated size.
                decoder
                    .take(self.bytes + 1)
                    .read_to_end(&mut found)
                    .map_err(|error| format!("zstd: {error}"))?;
                found
            }
        };
        if found.len() != size {
            return Err(format!("the text claims {size} bytes, found {}", found.len()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{header, lz4, raw, zstd};

    const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n// and a little more of the same, the same, the same\n";

    fn text(entry: &[u8]) -> Result<String, String> {
        Entry::split(entry).unwrap().0.text()
    }

    #[test]
    fn compressed_texts_are_as_they_were() {
        for entry in [lz4(70, TEXT), zstd(70, TEXT), raw(PTX, 70, 0, TEXT.as_bytes())] {
            assert_eq!(text(&entry), Ok(TEXT.to_owned()));
        }
    }

    #[test]
    fn bombs_and_lies_are_refused() {
        let fastest = ruzstd::encoding::CompressionLevel::Fastest;
        let frame = ruzstd::encoding::compress_to_vec(&[b'x'; 1 << 16][..], fastest);
        let block = lz4_flex::block::compress(TEXT.as_bytes());
        let claims = [
            (ZSTD, &frame, 1 << 15),
            (ZSTD, &frame, (1 << 16) + 1),
            (ZSTD, &frame, u64::MAX),
            (ZSTD, &block, TEXT.len() as u64),
            (LZ4, &block, TEXT.len() as u64 - 1),
            (LZ4, &block, TEXT.len() as u64 + 1),
            (LZ4, &block, 1 << 27),
            (LZ4, &block, u64::MAX),
            (LZ4 | ZSTD, &block, TEXT.len() as u64),
        ];
        for (flags, payload, bytes) in claims {
            assert!(
                text(&header(PTX, 70, flags, payload, payload.len(), bytes)).is_err(),
                "{flags:#x} {bytes}"
            );
        }
    }

    #[test]
    fn flags_say_how_far_beyond_its_target_a_text_runs() {
        let runs = |flags, target, capability| {
            Entry { kind: PTX, target, flags, payload: &[], bytes: 0 }.runs_on(capability)
        };
        for (flags, target, on, not_on) in [
            (0, 80, &[80, 86, 90, 120][..], &[70, 75][..]),
            (EXACT, 90, &[90], &[80, 89, 91, 100, 120]),
            (FAMILY, 100, &[100, 103], &[90, 110, 120]),
        ] {
            for capability in on {
                assert!(runs(flags, target, *capability), "{target} {flags:#x} {capability}");
            }
            for capability in not_on {
                assert!(!runs(flags, target, *capability), "{target} {flags:#x} {capability}");
            }
        }
    }
}
