//! Walks that tell levels apart: pages, who has a line, what an L1D is beside shared memory, memory without caches.

use super::Scale;
use super::benchmark::Benchmark;
use super::chase::{PAST, THROUGH, Walk, text};

const LINE: u64 = 128;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Bytes of dynamic shared memory that a CTA of compute capability 9.0 may have, and some below.
const BESIDE: [u64; 8] = [8, 32, 64, 100, 132, 164, 196, 227];

/// Bytes of the largest walk, on GPUs that have so much.
const MOST_BYTES: u64 = 60 * GIB;
/// KiB around an L1D of 256 KiB. As everywhere, no prime factor is larger than 7.
const AROUND: [u64; 14] = [196, 200, 210, 216, 225, 240, 243, 245, 250, 252, 270, 280, 288, 294];
/// KiB up to that.
const WITHIN: [u64; 16] = [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 180, 192, 210, 240];

pub(super) fn all(scale: Scale, capability: u32) -> Vec<Benchmark> {
    if scale == Scale::Small {
        return vec![];
    }
    let mut walks = vec![];
    // What an SM has read itself, by footprint: the levels of an L2 as one SM sees them.
    for power in 20..=27 {
        walks.extend([8, 10, 12, 14].map(|part| Walk::new(PAST, (1 << power) / 8 * part, LINE).own()));
    }
    // Around the L1D's size: how it replaces.
    walks.extend(AROUND.map(|kib| Walk::new(THROUGH, kib * KIB, LINE)));
    // Memory itself, in and out of order.
    for bytes in [256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 4 * GIB] {
        walks.push(Walk::new(PAST, bytes, LINE).swept());
    }
    for stride in [32, 64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10] {
        walks.push(Walk::new(PAST, stride * 2048, stride).ascending().swept());
    }
    walks.extend([8, 16, 32, 60].map(|gib| Walk::new(PAST, gib * GIB, LINE)));
    walks.extend(pages());
    if capability >= 90 {
        for kib in BESIDE {
            let shared = u32::try_from(kib * KIB).expect("a CTA's");
            walks.extend(WITHIN.map(|bytes| Walk::new(THROUGH, bytes * KIB, LINE).beside(shared)));
        }
    }
    let text = text();
    walks.into_iter().map(|walk| walk.benchmark(&text)).collect()
}

/// One line in each page, so that caches hold them all.
fn pages() -> impl Iterator<Item = Walk<'static>> {
    let counts = [
        1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2000, 3000, 4000,
        6000, 8000, 12_000, 16_000, 24_000, 30_000,
    ];
    [64 * KIB, 512 * KIB, 2 * MIB, 32 * MIB].into_iter().flat_map(move |page| {
        let most = match page {
            p if p >= 2 * MIB => MOST_BYTES / (p + LINE),
            _ => 2000,
        };
        counts
            .into_iter()
            .filter(move |count| *count <= most)
            .map(move |count| Walk::new(PAST, (page + LINE) * count, page + LINE).few(1 << 16))
    })
}
