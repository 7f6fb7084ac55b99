//! The file of a checkpoint.
//!
//! | bytes | what |
//! |---|---|
//! | 16 | `strata.state\n`, a zero, and the version as a `u16` |
//! | 32 | the SHA-256 of everything behind it |
//! | 8 | the length of the head |
//! | the head | JSON: the program, the place, the instructions, the buffers, and how many answers and pieces follow |
//! | the rest | answers, then pieces: address, length, and the bytes as LZ4 blocks |
//!
//! Numbers are little-endian, of 8 bytes unless said otherwise. A block holds up to 64 KiB: 4 bytes of compressed length, then
//! as many bytes.

use lz4_flex::block::{compress, decompress};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::image::{Image, PIECE_BYTES};
use super::{Answer, Checkpoint, Identity};
use crate::position::{Executed, Position};

const MAGIC: &[u8; 14] = b"strata.state\n\0";
const VERSION: u16 = 1;
const HASH_BYTES: usize = 32;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    program: Identity,
    launch: u64,
    cta: u64,
    warp_instructions: u64,
    thread_instructions: u64,
    buffers: Vec<(u64, u64)>,
    answers: u64,
    pieces: u64,
}

impl Checkpoint {
    /// The file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = Head {
            program: self.of.clone(),
            launch: self.at.launch,
            cta: self.at.cta,
            warp_instructions: self.executed.warp_instructions,
            thread_instructions: self.executed.thread_instructions,
            buffers: self.image.buffers.clone(),
            answers: self.answers.len() as u64,
            pieces: self.image.pieces.len() as u64,
        };
        let head = serde_json::to_vec(&head).expect("a head is JSON");
        let mut body = (head.len() as u64).to_le_bytes().to_vec();
        body.extend(head);
        let answers = self.answers.iter().map(|Answer { at, bytes }| (at, bytes));
        for (at, bytes) in answers.chain(self.image.pieces.iter().map(|(at, bytes)| (at, bytes))) {
            body.extend(at.to_le_bytes());
            body.extend((bytes.len() as u64).to_le_bytes());
            for block in bytes.chunks(PIECE_BYTES) {
                let packed = compress(block);
                body.extend((packed.len() as u32).to_le_bytes());
                body.extend(packed);
            }
        }
        let mut file = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
        file.extend(Sha256::digest(&body));
        file.extend(body);
        file
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// What was found, and what was expected.
    pub fn from_bytes(file: &[u8]) -> Result<Checkpoint, String> {
        let mut reader = Reader { rest: file };
        let magic = reader.take(MAGIC.len()).map_err(|_| foreign(file))?;
        if magic != MAGIC {
            return Err(foreign(file));
        }
        let version = u16::from_le_bytes(reader.array("the version")?);
        if version != VERSION {
            return Err(format!("found a checkpoint of version {version}, expected {VERSION}"));
        }
        let hash: [u8; HASH_BYTES] = reader.array("the checksum")?;
        let found = Sha256::digest(reader.rest);
        if hash != found[..] {
            return Err(format!(
                "found bytes with checksum {}, expected {}: the file is truncated or damaged",
                hex(&found),
                hex(&hash)
            ));
        }
        let length = reader.length("the head's length")?;
        let head = reader.take(length)?;
        let head: Head = serde_json::from_slice(head).map_err(|error| format!("the head: {error}"))?;
        let mut answers = Vec::new();
        for _ in 0..head.answers {
            let (at, bytes) = reader.blocks("an answer")?;
            answers.push(Answer { at, bytes });
        }
        let mut pieces = Vec::new();
        for _ in 0..head.pieces {
            pieces.push(reader.blocks("a piece of memory")?);
        }
        if !reader.rest.is_empty() {
            return Err(format!("found {} bytes behind the last piece of memory", reader.rest.len()));
        }
        Ok(Checkpoint {
            of: head.program,
            at: Position { launch: head.launch, cta: head.cta },
            executed: Executed {
                warp_instructions: head.warp_instructions,
                thread_instructions: head.thread_instructions,
            },
            answers,
            image: Image { buffers: head.buffers, pieces },
        })
    }
}

/// What is no checkpoint.
fn foreign(file: &[u8]) -> String {
    let found = match file.len() {
        0 => "nothing".to_owned(),
        _ => format!("\"{}\"", file[..file.len().min(MAGIC.len())].escape_ascii()),
    };
    format!("found {found} at its beginning, expected \"{}\": it is no checkpoint", MAGIC.escape_ascii())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Reads fields one after another.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], String> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(format!("found {} bytes at the end, expected {bytes}", self.rest.len()));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let taken = self.take(N).map_err(|reason| format!("{what}: {reason}"))?;
        Ok(taken.try_into().expect("as many as were asked for"))
    }

    fn length(&mut self, what: &str) -> Result<usize, String> {
        let length = u64::from_le_bytes(self.array(what)?);
        usize::try_from(length).map_err(|_| format!("{what}: found {length}, which this host cannot hold"))
    }

    /// An address, and the bytes there.
    fn blocks(&mut self, what: &str) -> Result<(u64, Vec<u8>), String> {
        let at = u64::from_le_bytes(self.array(what)?);
        let length = self.length(what)?;
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let packed = u32::from_le_bytes(self.array(what)?);
            let packed = self.take(packed as usize).map_err(|reason| format!("{what}: {reason}"))?;
            let expected = PIECE_BYTES.min(length - bytes.len());
            let block = decompress(packed, expected).map_err(|error| format!("{what}: {error}"))?;
            if block.len() != expected {
                return Err(format!("{what}: found a block of {} bytes, expected {expected}", block.len()));
            }
            bytes.extend(block);
        }
        Ok((at, bytes))
    }
}
