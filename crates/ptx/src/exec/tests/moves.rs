//! Moves, packing, selection, special registers, addresses.

use super::{Slots, compute};
use crate::exec::{WarpContext, memory};
use crate::ir::window;
use crate::isa::{Axis, Op, Space, Special, Ty};
use crate::lanes::ALL_LANES;

#[test]
fn packing_and_its_inverse() {
    let table: [(Ty, u8, &[u64], u64); 4] = [
        (Ty::B64, 2, &[0x1111_2222, 0x3333_4444], 0x3333_4444_1111_2222),
        (Ty::B64, 4, &[0xffff_0001, 2, 3, 4], 0x0004_0003_0002_0001),
        (Ty::B32, 2, &[0xabcd, 0xffff_1234], 0x1234_abcd),
        (Ty::B32, 4, &[0x101, 2, 3, 4], 0x0403_0201),
    ];
    for (whole, pieces, parts, value) in table {
        let mask = if whole.rows() == 2 { u64::MAX } else { 0xffff_ffff };
        assert_eq!(compute(Op::Pack { whole, pieces }, parts) & mask, value);
        let slots = Slots::new(Op::Unpack { whole, pieces }).source_value(0, value).run();
        let piece_mask = (1u64 << (8 * whole.bytes() / usize::from(pieces))) - 1;
        for (slot, part) in parts.iter().enumerate() {
            assert_eq!(slots.result(slot) & 0xffff_ffff, part & piece_mask, "{whole:?} piece {slot}");
        }
    }
}

#[test]
fn wide_pieces() {
    let slots = Slots::new(Op::Pack { whole: Ty::B128, pieces: 2 })
        .source_value(0, 0x1111_2222_3333_4444)
        .source_value(1, 0x5555_6666_7777_8888)
        .run();
    let words: Vec<u32> = (0..4).map(|half| slots.results[0][half].0[9]).collect();
    assert_eq!(words, [0x3333_4444, 0x1111_2222, 0x7777_8888, 0x5555_6666]);
}

#[test]
fn selection() {
    let slots = Slots::new(Op::Select(Ty::B64))
        .source_value(0, 0x1_0000_0002)
        .source_value(1, 0x3_0000_0004)
        .source_predicate(2, 1)
        .run();
    assert_eq!(slots.result(0), 0x1_0000_0002);
    assert_eq!((slots.results[0][0].0[1], slots.results[0][1].0[1]), (4, 3));
    let sign =
        |test, ftz, c: u32| compute(Op::SelectSign { ty: Ty::B32, test, ftz }, &[10, 20, c.into()]) as u32;
    let f32 = |ftz, c: f32| sign(Ty::F32, ftz, c.to_bits());
    assert_eq!((sign(Ty::S32, false, 0), sign(Ty::S32, false, u32::MAX)), (10, 20));
    assert_eq!((f32(false, -0.0), f32(false, 1.0), f32(false, -1.0)), (10, 10, 20));
    assert_eq!((f32(false, f32::NAN), f32(false, f32::NEG_INFINITY)), (20, 20));
    assert_eq!((f32(false, -1e-40), f32(true, -1e-40)), (20, 10));
}

#[test]
fn thread_indices() {
    for ntid in [[64, 1, 1], [5, 3, 4], [1, 64, 1], [16, 2, 1]] {
        let context = WarpContext { ntid, warp: 1, ..WarpContext::default() };
        let tid = |axis| Slots::new(Op::ReadSpecial(Special::Tid(axis))).run_on(ALL_LANES, &context).words();
        let (x, y, z) = (tid(Axis::X), tid(Axis::Y), tid(Axis::Z));
        for lane in 0..32 {
            let threads = ntid[0] * ntid[1] * ntid[2];
            let number = x[lane] + ntid[0] * (y[lane] + ntid[1] * z[lane]);
            if 32 + (lane as u32) < threads {
                assert_eq!(number, 32 + lane as u32, "{ntid:?}");
                assert!(x[lane] < ntid[0] && y[lane] < ntid[1] && z[lane] < ntid[2]);
            }
        }
    }
}

#[test]
fn lane_masks() {
    let read = |special| Slots::new(Op::ReadSpecial(special)).run().words();
    for lane in 0..32 {
        let below: u32 = (0..lane).fold(0, |mask, other| mask | 1 << other);
        let own = 1u32 << lane;
        assert_eq!(read(Special::LanemaskEq)[lane], own);
        assert_eq!(read(Special::LanemaskLt)[lane], below);
        assert_eq!(read(Special::LanemaskLe)[lane], below | own);
        assert_eq!(read(Special::LanemaskGt)[lane], !(below | own));
        assert_eq!(read(Special::LanemaskGe)[lane], !below);
        assert_eq!(read(Special::LaneId)[lane], lane as u32);
    }
}

#[test]
fn generic_addresses() {
    let cvta = |space, to_generic, address| compute(Op::Cvta { space, to_generic }, &[address]);
    for (space, base) in
        [(Space::Shared, window::SHARED), (Space::Local, window::LOCAL), (Space::Param, window::PARAM)]
    {
        assert_eq!(cvta(space, true, 0x123), base + 0x123);
        assert_eq!(cvta(space, false, base + 0x123), 0x123);
    }
    assert_eq!(cvta(Space::Global, true, 0x7000_0010), 0x7000_0010);
    let is_of = |space, own, address| {
        let op = Op::IsSpace { space, own };
        Slots::new(op).source_value(0, address).with_predicate(0).run().predicates[0] != 0
    };
    let is = |space, address| is_of(space, false, address);
    // Of another CTA of the cluster, of one's own by its rank, and one's own.
    for (rank, own) in [(Some(1), false), (Some(0), true), (None, true)] {
        let address = window::SHARED + u64::from(memory::in_cluster(0x40, rank));
        assert!(is_of(Space::Shared, false, address));
        assert_eq!(is_of(Space::Shared, true, address), own, "{rank:?}");
    }
    assert!(is(Space::Shared, window::SHARED) && is(Space::Shared, window::SHARED + window::BYTES - 1));
    assert!(!is(Space::Shared, window::SHARED + window::BYTES));
    assert!(is(Space::Global, 0x1000) && !is(Space::Global, window::LOCAL + 8));
}
