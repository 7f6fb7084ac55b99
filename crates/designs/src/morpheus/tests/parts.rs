//! The controller's parts alone: address separation, filters, prediction, atomics.

use std::collections::VecDeque;

use proptest::prelude::*;
use strata_memory::area::{AreaSize, total};
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::{Design, SetPlace};
use strata_memory::{Line, LineAddress};

use crate::morpheus::atomics::{self, Asked};
use crate::morpheus::separator::{Part, Separator};
use crate::morpheus::sets::{Sets, Ways};
use crate::morpheus::{Filter, MorpheusConfig, Predictor};

#[test]
fn lines_are_divided_in_proportion_and_numbered_without_gaps() {
    for (conventional, extended) in [(1024, 2048), (8, 6), (1024, 32 * 61), (7, 1), (1, 7)] {
        let separator = Separator::new(conventional, extended);
        let (mut seen, mut others) = (0, 0);
        for line in (0..3 * (conventional + extended)).map(LineAddress) {
            match separator.part(line) {
                Part::Conventional(number) => {
                    assert_eq!((number.0, separator.line(number)), (seen, line));
                    seen += 1;
                }
                Part::Extended(number) => {
                    assert_eq!(number, others);
                    others += 1;
                }
            }
        }
        assert_eq!((seen, others), (3 * conventional, 3 * extended));
    }
}

/// Sets get lines in proportion to their blocks, whatever they are kept in.
#[test]
fn sets_share_lines_by_capacity() {
    use SetPlace::{L1d, Registers, SharedMemory};
    let ways = Ways { registers: 28, shared: 50, l1: 64 };
    let of = |place| match place {
        Registers => 28_u64,
        SharedMemory => 50,
        L1d => 64,
    };
    let all = [
        [Registers, Registers, SharedMemory],
        [Registers, SharedMemory, L1d],
        [Registers, L1d, L1d],
        [SharedMemory, L1d, L1d],
    ];
    for places in all {
        let place = |row: u32| places[row as usize % 3];
        let sets = Sets::new(60, place, ways);
        let mut lines = [0_u64; 60];
        assert_eq!(sets.lines(), (0..60).map(|row| of(place(row))).sum::<u64>());
        (0..7 * sets.lines()).for_each(|line| lines[sets.row_of(line) as usize] += 1);
        assert!((0..60_u32).all(|row| lines[row as usize] == 7 * of(place(row))), "{places:?}");
        assert!((0..60).all(|row| sets.place(row) == place(row)));
    }
    assert_eq!(Sets::new(0, |_| Registers, ways).lines(), 0);
    for place in [Registers, SharedMemory, L1d] {
        let sets = Sets::new(2, |_| place, Ways { registers: 4, shared: 4, l1: 4 });
        assert_eq!((sets.lines(), sets.row_of(6), sets.row_of(7)), (8, 0, 1));
    }
}

#[test]
fn half_of_the_lines_alternate() {
    let separator = Separator::new(64, 64);
    let parts: Vec<Part> = (0..4).map(|line| separator.part(LineAddress(line))).collect();
    let conventional = |number| Part::Conventional(LineAddress(number));
    assert_eq!(parts, [conventional(0), Part::Extended(0), conventional(1), Part::Extended(1)]);
}

/// An LRU set, the oracle of predictors. Returns whether a predictor that swaps at `swap_at` ever denied a block that the set
/// of `ways` blocks had.
fn denies(blocks: &[u64], ways: u32, swap_at: u32) -> bool {
    let mut predictor = Predictor::new(Filter::new(32, 3));
    let mut set: VecDeque<u64> = VecDeque::new();
    blocks.iter().any(|block| {
        let held = set.iter().position(|other| other == block);
        let denied = held.is_some() && !predictor.may_hold(*block);
        match held {
            Some(place) => drop(set.remove(place)),
            None if set.len() == ways as usize => drop(set.pop_front()),
            None => {}
        }
        set.push_back(*block);
        predictor.used(*block, swap_at);
        denied
    })
}

proptest! {
    #[test]
    fn a_filter_has_what_was_put_in(blocks in prop::collection::vec(any::<u64>(), 0..100), bytes in 0_u32..8) {
        let mut filter = Filter::new(1 << bytes, 3);
        blocks.iter().for_each(|block| filter.insert(*block));
        prop_assert!(blocks.iter().all(|block| filter.has(*block)));
        filter.clear();
        prop_assert!(!blocks.iter().any(|block| filter.has(*block)));
    }

    #[test]
    fn a_block_that_is_there_is_never_denied(
        ways in 1_u32..33,
        blocks in prop::collection::vec(0_u64..80, 0..600),
    ) {
        prop_assert!(!denies(&blocks, ways, ways));
    }
}

#[test]
fn a_swap_one_access_early_denies_a_block() {
    // Four blocks in turn: after three others the fourth is still there.
    let blocks: Vec<u64> = (0..40).map(|access| access % 4 * 1001).collect();
    assert!(!denies(&blocks, 4, 4));
    assert!(denies(&blocks, 4, 3));
}

#[test]
fn few_blocks_that_are_not_there_are_expected() {
    // A set of 32 blocks through which blocks stream: none was ever there before.
    let mut predictor = Predictor::new(Filter::new(32, 3));
    let (mut wrong, asked) = (0, 10_000_u64);
    for block in 0..asked {
        wrong += u64::from(predictor.may_hold(block * 97));
        predictor.used(block * 97, 32);
    }
    // 32 to 64 blocks of 3 bits in 256: 1 - e^(-3 n / 256), cubed, is 0.03 to 0.15, and 0.08 on average.
    let rate = wrong as f64 / asked as f64;
    assert!((0.04..0.13).contains(&rate), "{rate}");
}

fn batch(op: AtomicOp, ty: AtomicType, entries: &[(u8, u64)]) -> AtomicBatch {
    let mut batch = AtomicBatch::empty(op, ty);
    batch.count = entries.len() as u8;
    for (at, (offset, operand)) in entries.iter().enumerate() {
        (batch.offset[at], batch.a[at]) = (*offset, *operand);
    }
    batch
}

#[test]
fn entries_of_one_word_become_one() {
    let batch = batch(AtomicOp::Add, AtomicType::U64, &[(8, 1 << 32 | 5), (8, 6), (120, 7)]);
    let mut asked = Asked::new(batch.op, batch.ty).unwrap();
    assert_eq!(asked.take(&batch, 0b111), 0b111);
    assert_eq!((asked.words, asked.kind), (0b1100 | 0b11 << 30, 15));
    assert_eq!((asked.operands.0[8], asked.operands.0[12], asked.operands.0[120]), (11, 1, 7));
    assert!(Asked::new(AtomicOp::Add, AtomicType::F64).is_none());
}

/// Sums of floating point depend on their order, and of a compare-and-swap the second one depends on the first.
#[test]
fn others_go_one_after_the_other() {
    for (op, ty) in
        [(AtomicOp::Add, AtomicType::F32), (AtomicOp::Cas, AtomicType::U32), (AtomicOp::Inc, AtomicType::U32)]
    {
        let batch = batch(op, ty, &[(8, 3), (8, 4), (12, 5)]);
        let mut asked = Asked::new(op, ty).unwrap();
        assert_eq!(asked.take(&batch, 0b111), 0b101, "{op:?}");
        let mut asked = Asked::new(op, ty).unwrap();
        assert_eq!((asked.take(&batch, 0b010), asked.words, asked.operands.0[8]), (0b010, 0b100, 4));
    }
}

proptest! {
    /// Whatever shares an operation: a warp that performs it leaves the words as all entries do, one after the other.
    #[test]
    fn shared_operations_have_the_effect_of_all(
        op in prop::sample::select(vec![AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor, AtomicOp::Exch]),
        ty in prop::sample::select(vec![AtomicType::U32, AtomicType::S32, AtomicType::U64, AtomicType::S64]),
        batches in prop::collection::vec(prop::collection::vec((0..4_u8, any::<u64>()), 1..32), 1..4),
        start in any::<[u64; 4]>(),
    ) {
        let bytes = ty.bytes();
        let low = u64::MAX >> (64 - 8 * bytes);
        let mut asked = Asked::new(op, ty).unwrap();
        let mut block = Line::ZERO;
        for (at, value) in start.iter().enumerate() {
            block.0[at * bytes..][..bytes].copy_from_slice(&(value & low).to_le_bytes()[..bytes]);
        }
        let mut by_warp = block.clone();
        for entries in &batches {
            let entries: Vec<(u8, u64)> =
                entries.iter().map(|(word, value)| (word * bytes as u8, value & low)).collect();
            let mut batch = batch(op, ty, &entries);
            let all = atomics::entries(&batch);
            prop_assert_eq!(asked.take(&batch, all), all);
            batch.perform(&mut block);
        }
        let words: Vec<(u8, u64)> = (0..4)
            .filter(|word| asked.words >> (word * bytes / 4) & 1 == 1)
            .map(|word| {
                let mut operand = [0; 8];
                operand[..bytes].copy_from_slice(&asked.operands.0[word * bytes..][..bytes]);
                ((word * bytes) as u8, u64::from_le_bytes(operand))
            })
            .collect();
        batch(op, ty, &words).perform(&mut by_warp);
        prop_assert_eq!(by_warp.0, block.0);
    }
}

#[test]
fn storage_of_a_partition() {
    let mut config = MorpheusConfig::example();
    let bits = |config: &MorpheusConfig, names: &[&str]| -> u64 {
        let components = config.area();
        let chosen = components.iter().filter(|component| names.contains(&component.name));
        chosen.map(|component| if let AreaSize::Bits(bits) = component.size { bits } else { 0 }).sum()
    };
    // 4.1.2: 32 B x 2 x 256 = 16 KiB.
    assert_eq!(bits(&config, &["Bloom filters"]), 16 * 1024 * 8);
    // 7.5: 21 KiB in all, which 12 entries of each data buffer make.
    (config.read_buffers.value, config.write_buffers.value) = (12, 12);
    assert_eq!(total(&config.area()).bits, Some(21 * 1024 * 8));
}
