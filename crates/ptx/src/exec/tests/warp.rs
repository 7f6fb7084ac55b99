//! Operations across lanes.

use super::Slots;
use crate::exec::WarpContext;
use crate::isa::{AtomicOp, Op, Shuffle, Ty, Vote};
use crate::lanes::ALL_LANES;

fn context() -> WarpContext {
    WarpContext::default()
}

/// (source lane, in range) of every lane.
fn shuffled(mode: Shuffle, operand: u32, control: u32) -> Vec<(u32, bool)> {
    let slots = Slots::new(Op::Shfl(mode))
        .source_lanes(0, |lane| lane)
        .source_value(1, operand.into())
        .source_value(2, control.into())
        .source_value(3, u64::from(ALL_LANES))
        .with_predicate(1)
        .run();
    (0..32).map(|lane| (slots.words()[lane], slots.predicates[1] >> lane & 1 == 1)).collect()
}

#[test]
fn shuffles_of_a_whole_warp() {
    for delta in 0..32 {
        for lane in 0..32u32 {
            let at = lane as usize;
            let from = |source: Option<u32>| source.map_or((lane, false), |source| (source, true));
            let up = lane.checked_sub(delta);
            let down = Some(lane + delta).filter(|source| *source < 32);
            assert_eq!(shuffled(Shuffle::Up, delta, 0)[at], from(up));
            assert_eq!(shuffled(Shuffle::Down, delta, 0x1f)[at], from(down));
            assert_eq!(shuffled(Shuffle::Bfly, delta, 0x1f)[at], (lane ^ delta, true));
            assert_eq!(shuffled(Shuffle::Idx, delta, 0x1f)[at], (delta, true));
        }
    }
}

#[test]
fn shuffles_of_segments() {
    // Segments of eight lanes: the mask 0b11000 in bits 8 to 12.
    let control = 0b11000 << 8;
    for lane in 0..32u32 {
        let at = lane as usize;
        let (segment, place) = (lane & !7, lane & 7);
        let keep = (lane, false);
        let up = if place >= 3 { (lane - 3, true) } else { keep };
        assert_eq!(shuffled(Shuffle::Up, 3, control)[at], up);
        let down = if place + 3 < 8 { (lane + 3, true) } else { keep };
        assert_eq!(shuffled(Shuffle::Down, 3, control | 0x1f)[at], down);
        assert_eq!(shuffled(Shuffle::Idx, 13, control | 0x1f)[at], (segment + 5, true));
    }
}

#[test]
fn votes() {
    let vote = |vote, ayes, members: u32, active| {
        let slots = Slots::new(Op::Vote(vote)).source_predicate(0, ayes).source_value(1, members.into());
        let slots = if vote == Vote::Ballot { slots } else { slots.with_predicate(0) };
        let slots = slots.run_on(active, &context());
        if vote == Vote::Ballot {
            slots.words()[active.trailing_zeros() as usize]
        } else {
            slots.predicates[0]
        }
    };
    assert_eq!(vote(Vote::Ballot, 0xff00_ff0f, 0x0fff_ffff, 0xffff), 0xff0f);
    assert_eq!(vote(Vote::All, 0xff, 0xff, u32::MAX), u32::MAX);
    assert_eq!(vote(Vote::All, 0xfe, 0xff, u32::MAX), 0);
    assert_eq!(vote(Vote::Any, 0x80, 0xff, u32::MAX), u32::MAX);
    assert_eq!(vote(Vote::Any, 0x100, 0xff, u32::MAX), 0);
    assert_eq!(vote(Vote::Uni, 0, 0xff, u32::MAX), u32::MAX);
    assert_eq!(vote(Vote::Uni, 0xff, 0xff, u32::MAX), u32::MAX);
    assert_eq!(vote(Vote::Uni, 0x0f, 0xff, u32::MAX), 0);
}

#[test]
fn matches() {
    let run = |all: bool, f: fn(u32) -> u32| {
        Slots::new(Op::Match { ty: Ty::B32, all })
            .source_lanes(0, f)
            .source_value(1, 0x00ff_ffff)
            .with_predicate(1)
            .run_on(0x00ff_ffff, &context())
    };
    let any = run(false, |lane| lane % 3);
    for lane in 0..24 {
        let wanted = (0..24).filter(|other| other % 3 == lane % 3).fold(0, |mask, other| mask | 1 << other);
        assert_eq!(any.words()[lane as usize], wanted);
    }
    let equal = run(true, |_| 7);
    assert_eq!((equal.words()[0], equal.predicates[1]), (0x00ff_ffff, 0x00ff_ffff));
    let differing = run(true, |lane| lane / 23);
    assert_eq!((differing.words()[0], differing.predicates[1]), (0, 0));
}

#[test]
fn reductions() {
    let run = |op, ty| {
        Slots::new(Op::Redux { op, ty })
            .source_lanes(0, |lane| lane.wrapping_sub(8))
            .source_value(1, 0xffff)
            .run_on(0xffff, &context())
            .words()[3]
    };
    // The members hold -8 to 7.
    assert_eq!(run(AtomicOp::Add, Ty::S32), -8i32 as u32);
    assert_eq!(run(AtomicOp::Min, Ty::S32), -8i32 as u32);
    assert_eq!(run(AtomicOp::Max, Ty::S32), 7);
    assert_eq!(run(AtomicOp::Min, Ty::U32), 0);
    assert_eq!(run(AtomicOp::Max, Ty::U32), u32::MAX);
    assert_eq!(run(AtomicOp::And, Ty::B32), 0);
    assert_eq!(run(AtomicOp::Or, Ty::B32), u32::MAX);
    assert_eq!(run(AtomicOp::Xor, Ty::B32), 0);
}

/// A tile of sixteen threads each: the upper one's group is not the lower one's.
#[test]
fn threads_join_those_with_their_membermask() {
    let tiles = |lane: u32| if lane < 16 { 0xffff } else { 0xffff_0000 };
    let ballot =
        Slots::new(Op::Vote(Vote::Ballot)).source_predicate(0, 0x4924_9249).source_lanes(1, tiles).run();
    assert_eq!((ballot.words()[0], ballot.words()[16]), (0x9249, 0x4924_0000));
    let all = Slots::new(Op::Vote(Vote::All)).source_predicate(0, 0xffff_0000).source_lanes(1, tiles);
    assert_eq!(all.with_predicate(0).run().predicates[0], 0xffff_0000);
    let sum = Slots::new(Op::Redux { op: AtomicOp::Add, ty: Ty::U32 })
        .source_lanes(0, |lane| lane)
        .source_lanes(1, tiles)
        .run();
    assert_eq!((sum.words()[0], sum.words()[16]), (120, 376));
    let most = Slots::new(Op::ReduxFloat { largest: true, nan: false, abs: false })
        .source_lanes(0, |lane| (lane as f32).to_bits())
        .source_lanes(1, tiles)
        .run();
    assert_eq!((most.words()[0], most.words()[16]), (15f32.to_bits(), 31f32.to_bits()));
    let any = Slots::new(Op::Match { ty: Ty::B32, all: false })
        .source_lanes(0, |lane| lane % 8)
        .source_lanes(1, tiles)
        .run();
    assert_eq!((any.words()[1], any.words()[17]), (0x0202, 0x0202_0000));
    let agreed = Slots::new(Op::Match { ty: Ty::B32, all: true })
        .source_lanes(0, |lane| if lane < 16 { lane } else { 7 })
        .source_lanes(1, tiles)
        .with_predicate(1)
        .run();
    assert_eq!((agreed.words()[0], agreed.words()[16], agreed.predicates[1]), (0, 0xffff_0000, 0xffff_0000));
    let elected = Slots::new(Op::Elect).source_lanes(0, tiles).with_predicate(1).run();
    assert_eq!((elected.words()[0], elected.words()[16], elected.predicates[1]), (0, 16, 0x1_0001));
}

/// Undefined in PTX: such a thread gives nothing and gets what its group gets.
#[test]
fn a_thread_that_its_own_mask_leaves_out() {
    let ballot =
        Slots::new(Op::Vote(Vote::Ballot)).source_predicate(0, ALL_LANES).source_value(1, 0xf0).run();
    assert_eq!((ballot.words()[0], ballot.words()[4]), (0xf0, 0xf0));
    let any =
        Slots::new(Op::Match { ty: Ty::B32, all: false }).source_lanes(0, |_| 1).source_value(1, 0xf0).run();
    assert_eq!((any.words()[0], any.words()[4]), (0, 0xf0));
    let least = Op::Redux { op: AtomicOp::Min, ty: Ty::U32 };
    assert_eq!(Slots::new(least).source_lanes(0, |lane| lane + 5).source_value(1, 0).run().words()[3], 0);
}

#[test]
fn election_and_activity() {
    let elected = Slots::new(Op::Elect).source_value(0, 0xfff0).with_predicate(1).run_on(0xffc3, &context());
    assert_eq!((elected.words()[6], elected.predicates[1]), (6, 1 << 6));
    assert_eq!(Slots::new(Op::Activemask).run_on(0xa5, &context()).words()[0], 0xa5);
}

#[test]
fn reductions_of_singles() {
    let run = |largest, nan, abs, members: u32, f: &dyn Fn(u32) -> f32| {
        let op = Op::ReduxFloat { largest, nan, abs };
        let slots = Slots::new(op).source_lanes(0, |lane| f(lane).to_bits()).source_value(1, members.into());
        let words = slots.run_on(members, &WarpContext::default()).words();
        words[members.trailing_zeros() as usize]
    };
    let ramp = |lane: u32| lane as f32 - 20.0;
    assert_eq!(run(false, false, false, !0, &ramp), (-20f32).to_bits());
    assert_eq!(run(true, false, false, !0, &ramp), 11f32.to_bits());
    assert_eq!(run(true, false, true, !0, &ramp), 20f32.to_bits());
    assert_eq!(run(false, false, true, 0xf000_0000, &ramp), 8f32.to_bits());
    let holes = |lane: u32| if lane == 3 { 7.0 } else { f32::NAN };
    assert_eq!(run(false, false, false, !0, &holes), 7f32.to_bits());
    assert_eq!(run(false, true, false, !0, &holes), 0x7fff_ffff);
    assert_eq!(run(false, false, false, 0x10, &holes), 0x7fff_ffff);
    assert_eq!(run(true, false, false, 3, &|lane| if lane == 0 { -0.0 } else { 0.0 }), 0);
}
