//! Fat binaries: containers of PTX and machine code for several targets, optionally compressed.
//!
//! The vendor does not document the layout; this description was found from the output of nvcc 11.8 to 13.5.
//! A container starts with a magic number (4 bytes), version (2), size of this header (2) and total size of
//! the entries (8). An entry starts with
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 2 | kind: 1 PTX, 2 ELF |
//! | 4 | 4 | size of this header |
//! | 8 | 8 | bytes of the payload behind it, with padding |
//! | 16 | 4 | bytes of the payload where it is compressed |
//! | 28 | 4 | target: 80 for sm_80 |
//! | 40 | 8 | flags: 0x2000 an LZ4 block, 0x8000 a zstd frame |
//! | 56 | 8 | bytes of the payload when it is not compressed any more |

use std::io::Read;

use crate::client::Bytes;
use crate::error::{Answer, Error};
use crate::log;

/// First word of what executables register.
const WRAPPER: u32 = 0x4662_43b1;
/// First word of a container.
const CONTAINER: u32 = 0xba55_ed50;
/// Version of a wrapper whose containers must be linked when they are loaded.
const LINKED: u32 = 2;
/// Maximum number of containers linked into one.
const MOST_LINKED: usize = 1 << 16;

/// Size of a container's header in bytes.
const HEADER: usize = 16;
/// Number of bytes read from an entry's header.
const ENTRY: usize = 64;
/// Kind of an entry that holds PTX.
const PTX: u16 = 1;
/// Flag: the payload is an LZ4 block.
const LZ4: u64 = 0x2000;
/// Flag: the payload is a zstd frame.
const ZSTD: u64 = 0x8000;
/// Maximum size of a text in bytes; a larger claim is refused as an attack.
const MOST_BYTES: u64 = 1 << 28;

/// One PTX text or machine-code binary of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry<'a> {
    kind: u16,
    target: u32,
    flags: u64,
    payload: &'a [u8],
    /// Size in bytes after decompression.
    bytes: u64,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// Sizes in bytes of the header and of the entries of a container, read from its start.
fn size(start: &[u8]) -> Result<(u64, u64), String> {
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
        let (entry, after) = entry(rest).ok_or_else(|| {
            format!("entry {} leaves its container, which has {} bytes left", found.len(), rest.len())
        })?;
        found.push(entry);
        rest = after;
    }
    Ok(found)
}

/// Splits off the first entry from the rest.
fn entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let header = u32_at(bytes, 4)? as usize;
    if header < ENTRY {
        return None;
    }
    let padded = usize::try_from(u64_at(bytes, 8)?).ok()?;
    let body = bytes.get(header..)?;
    let (payload, after) = body.split_at_checked(padded)?;
    let (kind, target, flags) = (u16_at(bytes, 0)?, u32_at(bytes, 28)?, u64_at(bytes, 40)?);
    let compressed = u32_at(bytes, 16)? as usize;
    let entry = if flags & (LZ4 | ZSTD) == 0 {
        Entry { kind, target, flags, payload, bytes: payload.len() as u64 }
    } else {
        Entry { kind, target, flags, payload: payload.get(..compressed)?, bytes: u64_at(bytes, 56)? }
    };
    Some((entry, after))
}

impl Entry<'_> {
    /// The decompressed text, without trailing NULs.
    fn text(&self) -> Result<String, String> {
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

/// Chooses a container's PTX for a device of the given `capability` (80 for sm_80): the highest target that
/// the device supports, or else the lowest target. The flag says whether the device supports the target.
/// `None` if there is no PTX.
fn choose(container: &[u8], capability: u32) -> Result<Option<(String, bool)>, String> {
    let entries = entries(container)?;
    let texts = || entries.iter().filter(|entry| entry.kind == PTX);
    let within = texts().filter(|entry| entry.target <= capability).max_by_key(|entry| entry.target);
    let chosen = within.or_else(|| texts().min_by_key(|entry| entry.target));
    chosen.map(|entry| Ok((entry.text()?, entry.target <= capability))).transpose()
}

/// The bytes of a container in the client's memory.
fn container(at: Bytes) -> Result<&'static [u8], String> {
    let gone = || format!("there is no memory at {:#x}", at.address());
    let (header, bytes) = size(at.kept(HEADER as u64).ok_or_else(gone)?)?;
    let all = header.checked_add(bytes).and_then(|all| at.kept(all));
    all.ok_or_else(|| {
        format!("the container at {:#x} claims {bytes} bytes, more than there are", at.address())
    })
}

/// Whether an image starts like a fat binary.
pub fn is_one(image: Bytes) -> bool {
    first_word(image).is_some_and(|word| matches!(word, WRAPPER | CONTAINER))
}

fn first_word(at: Bytes) -> Option<u32> {
    u32_at(at.kept(4)?, 0)
}

/// The containers of an image: a single one, one in a wrapper, or several to be linked.
fn containers(image: Bytes) -> Result<Vec<Bytes>, String> {
    if first_word(image) == Some(CONTAINER) {
        return Ok(vec![image]);
    }
    let wrapper = image.kept(24).ok_or("there is no memory for a wrapper")?;
    let word = |at| u64_at(wrapper, at).unwrap_or(0);
    match (u32_at(wrapper, 0), u32_at(wrapper, 4)) {
        (Some(WRAPPER), Some(LINKED)) if word(16) != 0 => list(Bytes::at(word(16))),
        (Some(WRAPPER), _) => Ok(vec![Bytes::at(word(8))]),
        (found, _) => {
            Err(format!("found {:#010x}, expected a wrapper's {WRAPPER:#010x}", found.unwrap_or(0)))
        }
    }
}

/// Reads addresses up to a null.
fn list(at: Bytes) -> Result<Vec<Bytes>, String> {
    let mut found = Vec::new();
    for index in 0..MOST_LINKED {
        let place = Bytes::at(at.address().wrapping_add(8 * index as u64));
        let address = place.kept(8).and_then(|bytes| u64_at(bytes, 0));
        match address.ok_or("the list of containers has no end")? {
            0 => return Ok(found),
            address => found.push(Bytes::at(address)),
        }
    }
    Err(format!("more than {MOST_LINKED} containers are to be linked"))
}

/// The PTX texts of a fat binary, from its one container or from the containers to be linked. Of the latter,
/// containers without PTX for the device are ignored if another has such PTX: compilers add containers to
/// every such program that hold the runtime for launches from the device, as machine code with PTX for later
/// devices only.
///
/// # Errors
/// `InvalidKernelImage` if the binary is damaged, `NoKernelImageForDevice` if it holds only machine code.
pub fn texts(image: Bytes, capability: u32) -> Answer<Vec<String>> {
    let damaged = |error: String| {
        log::once(&format!("a fat binary is damaged: {error}"));
        Error::InvalidKernelImage
    };
    let mut texts = Vec::new();
    for at in containers(image).map_err(damaged)? {
        texts.extend(container(at).and_then(|container| choose(container, capability)).map_err(damaged)?);
    }
    if texts.is_empty() {
        log::once("a fat binary holds no PTX; compilers put it in when asked for code=compute_80");
        return Err(Error::NoKernelImageForDevice);
    }
    let any_within = texts.iter().any(|(_, within)| *within);
    Ok(texts.into_iter().filter(|(_, within)| *within || !any_within).map(|(text, _)| text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n// and a little more of the same, the same, the same\n";

    fn raw(kind: u16, target: u32, text: &[u8]) -> Vec<u8> {
        let mut payload = text.to_vec();
        payload.resize(text.len().next_multiple_of(8), 0);
        header(kind, target, 0x11, &payload, 0, 0)
    }

    fn lz4(text: &str) -> Vec<u8> {
        let block = lz4_flex::block::compress(text.as_bytes());
        header(1, 70, 0x11 | LZ4, &block, block.len(), text.len() as u64)
    }

    fn header(kind: u16, target: u32, flags: u64, payload: &[u8], compressed: usize, bytes: u64) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&(ENTRY as u32).to_le_bytes());
        entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        entry[16..20].copy_from_slice(&(compressed as u32).to_le_bytes());
        entry[28..32].copy_from_slice(&target.to_le_bytes());
        entry[40..48].copy_from_slice(&flags.to_le_bytes());
        entry[56..64].copy_from_slice(&bytes.to_le_bytes());
        entry.extend(payload);
        entry
    }

    fn pack(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut container = CONTAINER.to_le_bytes().to_vec();
        container.extend([1, 0, HEADER as u8, 0]);
        container.extend((body.len() as u64).to_le_bytes());
        container.extend(body);
        container
    }

    #[test]
    fn the_highest_target_within_reach_is_chosen() {
        let all = [(2, 80, "ELF"), (1, 52, "a"), (1, 80, "b"), (1, 90, "c")];
        let container = pack(&all.map(|(kind, target, text)| raw(kind, target, text.as_bytes())));
        for (capability, text) in [(52, "a"), (75, "a"), (80, "b"), (89, "b"), (120, "c"), (30, "a")] {
            let expected = Some((text.to_owned(), capability >= 52));
            assert_eq!(choose(&container, capability), Ok(expected), "{capability}");
        }
        assert_eq!(choose(&pack(&[raw(2, 80, b"ELF")]), 80), Ok(None));
        assert_eq!(choose(&pack(&[]), 80), Ok(None));
    }

    #[test]
    fn compressed_texts_are_as_they_were() {
        let frame =
            ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        let zstd = header(1, 70, 0x11 | ZSTD, &frame, frame.len(), TEXT.len() as u64);
        for entry in [lz4(TEXT), zstd, raw(1, 70, TEXT.as_bytes())] {
            assert_eq!(choose(&pack(&[entry]), 80), Ok(Some((TEXT.to_owned(), true))));
        }
    }

    #[test]
    fn bombs_and_lies_are_refused() {
        let frame = ruzstd::encoding::compress_to_vec(
            &[b'x'; 1 << 16][..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
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
            let container = pack(&[header(1, 70, flags, payload, payload.len(), bytes)]);
            assert!(choose(&container, 80).is_err(), "{flags:#x} {bytes}");
        }
    }

    #[test]
    fn a_damaged_container_is_an_error() {
        let good = pack(&[raw(2, 80, b"\x7fELF"), lz4(TEXT), raw(1, 70, b"// the end")]);
        for length in 0..good.len() {
            assert!(entries(&good[..length]).is_err(), "cut to {length}");
        }
        // Whatever a byte is changed to, the result is a text or an error.
        let mut damaged = good.clone();
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, good[at] ^ 4] {
                damaged[at] = value;
                let _ = choose(&damaged, 80);
            }
            damaged[at] = good[at];
        }
    }

    #[test]
    fn what_a_client_gives_is_read_where_there_is_memory() {
        let container = pack(&[raw(1, 70, TEXT.as_bytes())]);
        let wrapper = |version: u32, data: u64, list: u64| {
            let words = [u64::from(WRAPPER) | u64::from(version) << 32, data, list];
            words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        let at = Bytes::of(&container).address();
        let read = |bytes: &[u8]| texts(Bytes::of(bytes), 80);
        let text = || TEXT.to_owned();
        assert_eq!(read(&container), Ok(vec![text()]));
        assert_eq!(read(&wrapper(1, at, 0)), Ok(vec![text()]));
        let several: Vec<u8> = [at, at, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(read(&wrapper(2, 0, Bytes::of(&several).address())), Ok(vec![text(), text()]));
        let later = pack(&[raw(2, 80, b"ELF"), raw(1, 121, b"for devices to come")]);
        let several: Vec<u8> =
            [Bytes::of(&later).address(), at, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(read(&wrapper(2, 0, Bytes::of(&several).address())), Ok(vec![text()]));
        assert_eq!(read(&later), Ok(vec!["for devices to come".to_owned()]));
        for data in [0, 8, 0xffff_8000_0000_0000, u64::MAX] {
            assert_eq!(read(&wrapper(1, data, 0)), Err(Error::InvalidKernelImage), "{data:#x}");
            assert_eq!(read(&wrapper(2, at, data.max(1))), Err(Error::InvalidKernelImage), "{data:#x}");
        }
        let mut long = container.clone();
        long[8..16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        assert_eq!(read(&long), Err(Error::InvalidKernelImage));
        assert_eq!(read(&wrapper(1, Bytes::of(&pack(&[])).address(), 0)), Err(Error::NoKernelImageForDevice));
        assert_eq!(texts(Bytes::NULL, 80), Err(Error::InvalidKernelImage));
    }
}
