//! Files of checkpoints: what was written is read, and what is damaged is refused.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::{Answer, Checkpoint, Identity, Image};
use crate::position::{Executed, Position};

/// Bytes in front of those that the checksum is of, the checksum included.
const BEFORE: usize = 48;

fn small() -> Checkpoint {
    Checkpoint {
        of: Identity {
            program: "bfs".into(),
            size: Some("test".into()),
            ptx: "aa".into(),
            inputs: "bb".into(),
        },
        at: Position { launch: 3, cta: 7 },
        executed: Executed { warp_instructions: 10, thread_instructions: 320 },
        answers: vec![Answer { at: 0x1000, bytes: vec![1, 0, 0, 0] }, Answer { at: 0x1000, bytes: vec![] }],
        image: Image {
            buffers: vec![(0x1000, 64), (0x2000, 1000)],
            pieces: vec![(0x1000, vec![5; 64]), (0x2000, (0..1000).map(|byte| byte as u8).collect())],
        },
    }
}

/// The file with a checksum that fits what it now holds.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let hash = Sha256::digest(&file[BEFORE..]);
    file[BEFORE - 32..BEFORE].copy_from_slice(&hash);
    file
}

#[test]
fn what_was_written_is_read() {
    let checkpoint = small();
    assert_eq!(Checkpoint::from_bytes(&checkpoint.to_bytes()), Ok(checkpoint));
}

#[test]
fn every_truncation_is_refused() {
    let file = small().to_bytes();
    for length in 0..file.len() {
        let error = Checkpoint::from_bytes(&file[..length]).unwrap_err();
        assert!(error.contains("expected"), "{length}: {error}");
        // The checksum is no protection against who makes it.
        if length >= BEFORE {
            let error = Checkpoint::from_bytes(&sealed(file[..length].to_vec())).unwrap_err();
            assert!(!error.contains("checksum"), "{length}: {error}");
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let file = small().to_bytes();
    let mut errors = BTreeSet::new();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << bit;
            let error = Checkpoint::from_bytes(&flipped).unwrap_err();
            errors.insert(error.split(' ').nth(1).unwrap_or_default().to_owned());
            // This may be a checkpoint of something else. It must be read, or be refused.
            if at >= BEFORE {
                let _ = Checkpoint::from_bytes(&sealed(flipped));
            }
        }
    }
    assert!(errors.len() >= 3, "found at the beginning, version and checksum: {errors:?}");
}

#[test]
fn what_is_no_checkpoint_is_refused_by_what_it_is() {
    let of = |bytes: &[u8]| Checkpoint::from_bytes(bytes).unwrap_err();
    let expected = "at its beginning, expected \"strata.state\\n\\x00\": it is no checkpoint";
    assert_eq!(of(b""), format!("found nothing {expected}"));
    assert_eq!(of(b"PK\x03\x04"), format!("found \"PK\\x03\\x04\" {expected}"));
    let mut later = small().to_bytes();
    later[14] = 2;
    assert_eq!(of(&later), "found a checkpoint of version 2, expected 1");
    let longer = [small().to_bytes(), vec![0]].concat();
    assert!(of(&longer).ends_with("the file is truncated or damaged"), "{}", of(&longer));
    assert_eq!(of(&sealed(longer)), "found 1 bytes behind the last piece of memory");
}

#[test]
fn a_block_is_no_larger_than_it_says() {
    let mut checkpoint = small();
    checkpoint.answers.clear();
    checkpoint.image.pieces.clear();
    let file = checkpoint.to_bytes();
    // A head that announces an answer, and an answer that announces more than any host has.
    let text = String::from_utf8_lossy(&file[BEFORE + 8..]).replace("\"answers\":0", "\"answers\":1");
    let mut forged = file[..BEFORE].to_vec();
    forged.extend((text.len() as u64).to_le_bytes());
    forged.extend(text.as_bytes());
    forged.extend(0u64.to_le_bytes());
    forged.extend(u64::MAX.to_le_bytes());
    let error = Checkpoint::from_bytes(&sealed(forged)).unwrap_err();
    assert_eq!(error, "an answer: found 0 bytes at the end, expected 4");
}

#[test]
fn an_image_outside_its_buffers_is_no_memory() {
    let mut image = small().image;
    assert!(image.memory().is_some_and(|memory| Image::of(&memory) == image));
    image.pieces[0].0 += 1;
    assert!(image.memory().is_none(), "a piece that ends behind its buffer");
    let overlapping = Image { buffers: vec![(0x1000, 64), (0x1020, 64)], pieces: vec![] };
    assert!(overlapping.memory().is_none());
}

#[test]
fn a_file_is_replaced_as_a_whole_and_named_in_errors() {
    let folder = std::env::temp_dir().join(format!("strata-checkpoint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.strata");
    let size = small().write(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
    assert_eq!(Checkpoint::read(&path), Ok(small()));
    std::fs::write(&path, b"text").unwrap();
    let error = Checkpoint::read(&path).unwrap_err();
    assert!(error.starts_with(&format!("{}: found \"text\"", path.display())), "{error}");
    let nowhere = folder.join("no/such.strata");
    assert!(small().write(&nowhere).unwrap_err().starts_with(&nowhere.display().to_string()));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    std::fs::remove_dir_all(folder).unwrap();
}

proptest! {
    #[test]
    fn any_memory_and_answers_are_read_as_written(
        answers in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..300)), 0..5),
        fill in prop::collection::vec(any::<u8>(), 0..1000),
        zeros in 0usize..200_000,
    ) {
        let answers = answers.into_iter().map(|(at, bytes)| Answer { at, bytes }).collect();
        let mut memory = strata_ptx::reference::GlobalMemory::new();
        memory.allocate_with([vec![0; zeros], fill].concat());
        memory.allocate(zeros);
        let checkpoint = Checkpoint { answers, image: Image::of(&memory), ..small() };
        let read = Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap();
        prop_assert_eq!(read.image.memory(), Some(memory));
        prop_assert_eq!(read, checkpoint);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut file = small().to_bytes();
        let _ = Checkpoint::from_bytes(&bytes);
        file.truncate(BEFORE);
        file.extend(bytes);
        let _ = Checkpoint::from_bytes(&sealed(file));
    }
}
