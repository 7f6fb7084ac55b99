//! Images in a client's memory: a container, or a wrapper, which is what executables register.
//!
//! A wrapper starts with a magic number (4 bytes) and a version (4). The address of a container follows (8), and in
//! version 2 the address of a list of containers to be linked (8), which ends with null.

use strata_abi::Bytes;

use crate::container::{self, CONTAINER, Choice, HEADER};
use crate::number::{u32_at, u64_at};
use crate::{Refused, Text};

/// First word of what executables register.
const WRAPPER: u32 = 0x4662_43b1;
/// Version of a wrapper whose containers must be linked when they are loaded.
const LINKED: u32 = 2;
/// Maximum number of containers linked into one.
const MOST_LINKED: usize = 1 << 16;

/// The bytes of a container in the client's memory.
fn container<E>(at: Bytes<E>) -> Result<&'static [u8], String> {
    let gone = || format!("there is no memory at {:#x}", at.address());
    let (header, bytes) = container::size(at.kept(HEADER as u64).ok_or_else(gone)?)?;
    let all = header.checked_add(bytes).and_then(|all| at.kept(all));
    all.ok_or_else(|| {
        format!("the container at {:#x} claims {bytes} bytes, more than there are", at.address())
    })
}

/// Whether these four bytes start a fat binary.
pub fn is_start(start: [u8; 4]) -> bool {
    matches!(u32::from_le_bytes(start), WRAPPER | CONTAINER)
}

/// Whether the contents of a file start like a fat binary.
pub fn is_file(bytes: &[u8]) -> bool {
    bytes.first_chunk().copied().is_some_and(is_start)
}

/// The containers of an image: a single one, one in a wrapper, or several to be linked.
fn containers<E>(image: Bytes<E>) -> Result<Vec<Bytes<E>>, String> {
    if image.kept(4).and_then(|start| u32_at(start, 0)) == Some(CONTAINER) {
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
fn list<E>(at: Bytes<E>) -> Result<Vec<Bytes<E>>, String> {
    let mut found = Vec::new();
    for index in 0..MOST_LINKED {
        let place = Bytes::<E>::at(at.address().wrapping_add(8 * index as u64));
        let address = place.kept(8).and_then(|bytes| u64_at(bytes, 0));
        match address.ok_or("the list of containers has no end")? {
            0 => return Ok(found),
            address => found.push(Bytes::at(address)),
        }
    }
    Err(format!("more than {MOST_LINKED} containers are to be linked"))
}

/// The PTX texts of a fat binary, from its one container or from the containers to be linked, for a device of
/// the given `capability` (80 for 8.0). Of the latter, containers without PTX for the device are ignored if
/// another has such PTX: compilers add containers to every such program that hold the runtime for launches from
/// the device, as machine code with PTX for later devices only.
///
/// # Errors
/// A damaged binary, or one of machine code only.
pub fn texts<E>(image: Bytes<E>, capability: u32) -> Result<Vec<Text>, Refused> {
    let containers = containers(image).map_err(Refused::Damaged)?;
    chosen(containers.into_iter().map(container), capability)
}

/// Like [`texts`], of a container that is a file or otherwise of known length.
///
/// # Errors
/// As for [`texts`].
pub fn texts_in(container: &[u8], capability: u32) -> Result<Vec<Text>, Refused> {
    chosen(std::iter::once(Ok(container)), capability)
}

fn chosen<'a>(
    containers: impl Iterator<Item = Result<&'a [u8], String>>,
    capability: u32,
) -> Result<Vec<Text>, Refused> {
    let (mut texts, mut targets) = (Vec::new(), Vec::new());
    for container in containers {
        match container.and_then(|container| container::choose(container, capability)) {
            Ok(Choice::Text(text)) => texts.push(text),
            Ok(Choice::MachineCode(more)) => targets.extend(more),
            Err(why) => return Err(Refused::Damaged(why)),
        }
    }
    if texts.is_empty() {
        targets.sort_unstable();
        targets.dedup();
        return Err(Refused::OnlyMachineCode(targets));
    }
    if texts.iter().any(|text| text.runs) {
        texts.retain(|text| text.runs);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{ELF, PTX};
    use crate::pack::{pack, raw};

    const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

    type Memory = Bytes<()>;

    fn text() -> Text {
        Text { text: TEXT.to_owned(), runs: true }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn wrapper(version: u32, data: u64, list: u64) -> Vec<u8> {
        words(&[u64::from(WRAPPER) | u64::from(version) << 32, data, list])
    }

    fn read(bytes: &[u8]) -> Result<Vec<Text>, Refused> {
        texts(Memory::of(bytes), 80)
    }

    fn address(bytes: &[u8]) -> u64 {
        Memory::of(bytes).address()
    }

    #[test]
    fn a_container_is_found_alone_in_a_wrapper_and_in_a_list() {
        let container = pack(&[raw(PTX, 70, 0, TEXT.as_bytes())]);
        let at = address(&container);
        assert_eq!(read(&container), Ok(vec![text()]));
        assert_eq!(texts_in(&container, 80), Ok(vec![text()]));
        assert_eq!(read(&wrapper(1, at, 0)), Ok(vec![text()]));
        let several = words(&[at, at, 0]);
        assert_eq!(read(&wrapper(2, 0, address(&several))), Ok(vec![text(), text()]));
        assert!(is_file(&container) && is_file(&wrapper(1, at, 0)));
        assert!(!is_file(TEXT.as_bytes()) && !is_file(b"P"));
    }

    #[test]
    fn a_container_for_later_devices_counts_only_alone() {
        let now = pack(&[raw(PTX, 70, 0, TEXT.as_bytes())]);
        let later = pack(&[raw(ELF, 80, 0, b"ELF"), raw(PTX, 121, 0, b"for devices to come")]);
        let several = words(&[address(&later), address(&now), 0]);
        assert_eq!(read(&wrapper(2, 0, address(&several))), Ok(vec![text()]));
        let alone = Text { text: "for devices to come".to_owned(), runs: false };
        assert_eq!(read(&later), Ok(vec![alone]));
    }

    #[test]
    fn what_is_not_there_is_damage() {
        let container = pack(&[raw(PTX, 70, 0, TEXT.as_bytes())]);
        let damaged = |found: Result<Vec<Text>, Refused>| matches!(found, Err(Refused::Damaged(_)));
        for data in [0, 8, 0xffff_8000_0000_0000, u64::MAX] {
            assert!(damaged(read(&wrapper(1, data, 0))), "{data:#x}");
            assert!(damaged(read(&wrapper(2, address(&container), data.max(1)))), "{data:#x}");
        }
        let mut long = container.clone();
        long[8..16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        assert!(damaged(read(&long)) && damaged(texts_in(&long, 80)) && damaged(texts(Memory::NULL, 80)));
    }

    #[test]
    fn machine_code_is_refused_by_its_targets() {
        let refused = read(&pack(&[raw(ELF, 90, 0, b"ELF"), raw(ELF, 75, 0, b"ELF")])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a fat binary holds machine code for sm_75, sm_90 only, expected PTX, which compilers put in when asked \
             for `code=compute_80`"
        );
        assert_eq!(read(&pack(&[])), Err(Refused::OnlyMachineCode(Vec::new())));
    }
}
