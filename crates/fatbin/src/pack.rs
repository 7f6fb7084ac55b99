//! Containers for tests.

use crate::container::{CONTAINER, HEADER};
use crate::entry::{BYTES, LZ4, PTX, ZSTD};

/// An entry that is not compressed.
pub fn raw(kind: u16, target: u32, flags: u64, text: &[u8]) -> Vec<u8> {
    let mut payload = text.to_vec();
    payload.resize(text.len().next_multiple_of(8), 0);
    header(kind, target, flags, &payload, 0, 0)
}

/// A text as an LZ4 block.
pub fn lz4(target: u32, text: &str) -> Vec<u8> {
    let block = lz4_flex::block::compress(text.as_bytes());
    header(PTX, target, LZ4, &block, block.len(), text.len() as u64)
}

/// A text as a zstd frame.
pub fn zstd(target: u32, text: &str) -> Vec<u8> {
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    let frame = ruzstd::encoding::compress_to_vec(text.as_bytes(), fastest);
    header(PTX, target, ZSTD, &frame, frame.len(), text.len() as u64)
}

/// An entry of any header.
pub fn header(kind: u16, target: u32, flags: u64, payload: &[u8], compressed: usize, bytes: u64) -> Vec<u8> {
    let mut entry = vec![0; BYTES];
    entry[..2].copy_from_slice(&kind.to_le_bytes());
    entry[4..8].copy_from_slice(&(BYTES as u32).to_le_bytes());
    entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    entry[16..20].copy_from_slice(&(compressed as u32).to_le_bytes());
    entry[28..32].copy_from_slice(&target.to_le_bytes());
    // The lowest bits are set in everything that nvcc writes.
    entry[40..48].copy_from_slice(&(flags | 0x11).to_le_bytes());
    entry[56..64].copy_from_slice(&bytes.to_le_bytes());
    entry.extend(payload);
    entry
}

/// A container of entries.
pub fn pack(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut container = CONTAINER.to_le_bytes().to_vec();
    container.extend([1, 0, HEADER as u8, 0]);
    container.extend((body.len() as u64).to_le_bytes());
    container.extend(body);
    container
}
