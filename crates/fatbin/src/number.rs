//! Little-endian numbers at offsets.

fn bytes<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..)?.first_chunk().copied()
}

/// The 16-bit number at an offset.
pub fn u16_at(from: &[u8], at: usize) -> Option<u16> {
    bytes(from, at).map(u16::from_le_bytes)
}

/// The 32-bit number at an offset.
pub fn u32_at(from: &[u8], at: usize) -> Option<u32> {
    bytes(from, at).map(u32::from_le_bytes)
}

/// The 64-bit number at an offset.
pub fn u64_at(from: &[u8], at: usize) -> Option<u64> {
    bytes(from, at).map(u64::from_le_bytes)
}
