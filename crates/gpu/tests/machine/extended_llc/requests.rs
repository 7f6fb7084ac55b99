//! Random requests to a set.

use strata_engine::seed::Stream;
use strata_memory::atomic::{AtomicOp, AtomicType};

use super::model::{Action, Bytes, Request};

/// Every atomic that the kernel has.
pub const ATOMICS: &[(AtomicOp, AtomicType)] = &[
    (AtomicOp::Add, AtomicType::U32),
    (AtomicOp::Min, AtomicType::U32),
    (AtomicOp::Max, AtomicType::U32),
    (AtomicOp::Min, AtomicType::S32),
    (AtomicOp::Max, AtomicType::S32),
    (AtomicOp::Inc, AtomicType::U32),
    (AtomicOp::Dec, AtomicType::U32),
    (AtomicOp::And, AtomicType::U32),
    (AtomicOp::Or, AtomicType::U64),
    (AtomicOp::Xor, AtomicType::S32),
    (AtomicOp::Exch, AtomicType::U64),
    (AtomicOp::Cas, AtomicType::U32),
    (AtomicOp::Add, AtomicType::F32),
    (AtomicOp::Add, AtomicType::F16x2),
    (AtomicOp::Add, AtomicType::Bf16x2),
    (AtomicOp::Add, AtomicType::U64),
    (AtomicOp::Min, AtomicType::U64),
    (AtomicOp::Max, AtomicType::U64),
    (AtomicOp::Min, AtomicType::S64),
    (AtomicOp::Max, AtomicType::S64),
    (AtomicOp::Cas, AtomicType::U64),
];

/// Words that are often alike, at the edges of their types, and sometimes anything.
fn word(stream: &mut Stream) -> u32 {
    const EDGES: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x3f80_0000, 0x3c00_bc00];
    if stream.below(4) == 0 { stream.below(1 << 32) as u32 } else { EDGES[stream.below(8) as usize] }
}

/// Random bytes of a block.
pub fn bytes(stream: &mut Stream) -> Bytes {
    let mut bytes = [0; 128];
    bytes.chunks_mut(4).for_each(|chunk| chunk.copy_from_slice(&word(stream).to_le_bytes()));
    bytes
}

fn mask(stream: &mut Stream) -> u32 {
    match stream.below(4) {
        0 => u32::MAX,
        1 => 1 << stream.below(32),
        _ => stream.below(1 << 32) as u32,
    }
}

/// `count` requests to the blocks `block_of(0)` to `block_of(pool - 1)`.
pub fn requests(
    stream: &mut Stream,
    count: usize,
    pool: usize,
    block_of: impl Fn(usize) -> usize,
) -> Vec<Request> {
    let mut one = || {
        let action = match stream.below(100) {
            0..35 => Action::Read,
            35..58 => {
                let enables = (0..4).fold(0, |all, _| all << 32 | u128::from(mask(stream)));
                Action::Write(enables)
            }
            58..76 => Action::Insert { dirty: stream.below(2) == 0 },
            76..98 => {
                let (op, ty) = ATOMICS[stream.below(ATOMICS.len() as u64) as usize];
                let words = mask(stream);
                let pairs = (words | words >> 1) & 0x5555_5555;
                Action::Atomic(op, ty, if ty.bytes() == 8 { pairs * 3 } else { words })
            }
            98 => Action::Atomic(AtomicOp::Add, AtomicType::F64, u32::MAX),
            _ => Action::Flush,
        };
        // Half of the requests go to a quarter of the blocks.
        let most = if stream.below(2) == 0 { pool.div_ceil(4) } else { pool };
        let block = block_of(stream.below(most as u64) as usize);
        Request { action, block, payload: bytes(stream), swap: bytes(stream) }
    };
    (0..count).map(|_| one()).collect()
}
