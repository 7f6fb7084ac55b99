use super::*;
use crate::lanes::Row;

/// (pc, active) of the warp.
fn at(stack: &SimtStack) -> (Pc, LaneMask) {
    (stack.pc(), stack.active())
}

/// A loop at 1 to 4, which lanes leave for 5; those that turn back give way.
fn turn_back(stack: &mut SimtStack, lanes: LaneMask) {
    stack.jump(4);
    stack.branch(lanes, 1, 5, 5);
    stack.give_way(lanes);
}

/// The running lanes stand at an instruction that all of them execute with the `named` lanes.
fn gather(stack: &mut SimtStack, named: LaneMask) -> Gathering {
    stack.gather_named(stack.active(), &Row::splat(named), Meeting::Here)
}

/// The running lanes stand at a `bar.warp.sync` with each lane's mask.
fn sync(stack: &mut SimtStack, masks: &Row) -> Gathering {
    stack.gather_named(stack.active(), masks, Meeting::Anywhere)
}

#[test]
fn lanes_that_left_a_loop_go_on_alone_when_the_others_give_way() {
    let mut stack = SimtStack::new(0b111);
    turn_back(&mut stack, 0b110);
    assert_eq!((at(&stack), stack.depth()), ((5, 0b001), 1), "the meeting point is dropped");
    // The lane ends; the others go on, and one of them leaves.
    stack.exit(0b001);
    assert_eq!(at(&stack), (1, 0b110));
    turn_back(&mut stack, 0b100);
    assert_eq!(at(&stack), (5, 0b010));
    stack.exit(0b010);
    assert_eq!(at(&stack), (1, 0b100));
    stack.jump(4);
    stack.branch(0, 1, 5, 5);
    assert_eq!((at(&stack), stack.depth()), ((5, 0b100), 0));
}

#[test]
fn a_warp_that_is_together_has_nobody_to_give_way_to() {
    let mut stack = SimtStack::new(0b111);
    turn_back(&mut stack, 0b111);
    assert_eq!((at(&stack), stack.depth(), stack.is_split()), ((1, 0b111), 0, false));
}

#[test]
fn every_path_has_a_turn_before_lanes_leave_a_meeting_point_and_then_one_after_the_other() {
    let mut stack = SimtStack::new(0b1111);
    // Lane 0 waits at 40 already; lane 1 is to go to 20, lane 2 to 10, lane 3 goes on at 1.
    let mut targets = [1; WARP_LANES];
    (targets[0], targets[1], targets[2]) = (40, 20, 10);
    stack.branch_indexed(&targets, 40);
    let mut turns = vec![stack.active()];
    for _ in 0..11 {
        stack.give_way(stack.active());
        turns.push(stack.active());
    }
    // Waiting are, from below, 40 for all, lane 1 and lane 2. Lane 3 changes place with lane 1, which has waited longest, and that one
    // with lane 2. Then all have given way, and lane 0 is let go. From now on each goes to the back of the others.
    let round = [0b1000, 0b0010, 0b0100, 0b0001];
    assert_eq!(turns, [round; 3].concat());
    assert_eq!(stack.pc(), 40);
}

#[test]
fn only_lanes_that_turned_back_give_way() {
    let mut stack = SimtStack::new(0b1111);
    stack.branch(0b1000, 20, 1, 40);
    // Lanes 0 to 2 stand at 1. Lanes 1 and 2 turn back to 1 where they meet lane 0, which runs now.
    stack.branch(0b0110, 1, 2, 1);
    assert_eq!(at(&stack), (2, 0b0001));
    stack.give_way(0b0110);
    assert_eq!(at(&stack), (2, 0b0001));
    stack.give_way(0b0001);
    assert_eq!(at(&stack), (20, 0b1000));
}

#[test]
fn named_lanes_of_one_path_join_the_running_ones_and_stay() {
    let mut stack = SimtStack::new(0b1111);
    turn_back(&mut stack, 0b1110);
    assert_eq!(at(&stack), (5, 0b0001));
    // Lane 0 waits for all at 7, so the others run, leave the loop and come.
    stack.jump(7);
    assert_eq!(gather(&mut stack, 0b1111), Gathering::Later);
    assert_eq!(at(&stack), (1, 0b1110));
    stack.jump(5);
    stack.jump(7);
    assert_eq!(gather(&mut stack, 0b1111), Gathering::Later);
    assert_eq!((at(&stack), stack.depth()), ((7, 0b1111), 0));
    assert_eq!(gather(&mut stack, 0b1111), Gathering::Complete);
}

#[test]
fn lanes_that_meet_elsewhere_part_again_behind_the_instruction() {
    let mut stack = SimtStack::new(0b1111);
    // Both sides of a branch call the function at 50, which is one call deeper, and meet at 20.
    stack.branch(0b1100, 10, 1, 20);
    stack.call(&[50; WARP_LANES], 2);
    // Lanes 0 and 1 part inside, and meet at 53.
    stack.branch(0b0001, 51, 53, 53);
    assert_eq!(at(&stack), (51, 0b0001));
    assert_eq!(gather(&mut stack, 0b1101), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b1100));
    stack.call(&[51; WARP_LANES], 11);
    assert_eq!(gather(&mut stack, 0b1101), Gathering::Later);
    assert_eq!(at(&stack), (51, 0b1101));
    assert_eq!(gather(&mut stack, 0b1101), Gathering::Complete);
    stack.advance();
    assert_eq!(at(&stack), (52, 0b1100), "the side that came last goes on first");
    stack.ret(&[20; WARP_LANES]);
    assert_eq!(at(&stack), (52, 0b0001));
    stack.advance();
    assert_eq!(at(&stack), (53, 0b0011));
    stack.ret(&[20; WARP_LANES]);
    assert_eq!((at(&stack), stack.depth()), ((20, 0b1111), 0));
}

#[test]
fn who_waits_for_lanes_that_end_goes_on() {
    let mut stack = SimtStack::new(0b11);
    stack.branch(0b10, 10, 1, PC_NONE);
    assert_eq!(gather(&mut stack, 0b11), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b10));
    stack.exit(0b10);
    assert_eq!(at(&stack), (1, 0b01));
    assert_eq!(gather(&mut stack, 0b11), Gathering::Complete);
}

#[test]
fn lanes_that_wait_for_each_other_in_two_places_never_go_on() {
    let mut stack = SimtStack::new(0b11);
    stack.branch(0b10, 10, 1, PC_NONE);
    assert_eq!(gather(&mut stack, 0b11), Gathering::Later);
    assert_eq!(gather(&mut stack, 0b11), Gathering::Never);
}

#[test]
fn lanes_that_come_to_two_synchronizations_wait_for_each_other() {
    let mut stack = SimtStack::new(0b11);
    stack.branch(0b10, 10, 1, 20);
    // One side comes to 3, the other to 12; then both may go on, the one that came last first.
    stack.jump(3);
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b10));
    stack.jump(12);
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Complete);
    stack.advance();
    assert_eq!(at(&stack), (13, 0b10));
    // It comes to a second one, at which the other has not been.
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Later);
    assert_eq!(at(&stack), (3, 0b01));
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Complete);
    stack.advance();
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Complete);
    stack.jump(20);
    assert_eq!(at(&stack), (13, 0b10));
    assert_eq!(sync(&mut stack, &Row::splat(0b11)), Gathering::Complete);
    stack.jump(20);
    assert_eq!((at(&stack), stack.depth()), ((20, 0b11), 0));
}

#[test]
fn lanes_wait_only_for_those_that_their_own_mask_names() {
    let mut stack = SimtStack::new(0b1111);
    stack.branch(0b1000, 10, 1, 20);
    // At 1, lanes 0 and 1 name each other, and lane 2 names lane 3.
    let mut masks = Row::splat(0b0011);
    masks.0[2] = 0b1100;
    masks.0[3] = 0b1100;
    for meeting in [Meeting::Here, Meeting::Anywhere] {
        let mut stack = stack.clone();
        assert_eq!(stack.gather_named(0b0111, &masks, meeting), Gathering::Later);
        assert_eq!(at(&stack), (1, 0b0011), "lane 2 stays behind");
        assert_eq!(stack.gather_named(0b0011, &masks, meeting), Gathering::Complete);
        stack.jump(20);
        assert_eq!(at(&stack), (1, 0b0100));
        assert_eq!(stack.gather_named(0b0100, &masks, meeting), Gathering::Later);
        assert_eq!(at(&stack), (10, 0b1000));
        stack.jump(1);
        assert_eq!(stack.gather_named(0b1000, &masks, meeting), Gathering::Later);
        assert_eq!(at(&stack), (1, 0b1100));
        assert_eq!(stack.gather_named(0b1100, &masks, meeting), Gathering::Complete);
        stack.jump(20);
        assert_eq!((at(&stack), stack.depth()), ((20, 0b1111), 0));
    }
}

#[test]
fn lanes_whose_guard_is_false_do_not_wait() {
    let mut stack = SimtStack::new(0b111);
    stack.branch(0b100, 10, 1, 20);
    let masks = Row::splat(0b101);
    assert_eq!(stack.gather_named(0b001, &masks, Meeting::Here), Gathering::Later);
    assert_eq!(at(&stack), (1, 0b010), "lane 0 waits for lane 2");
    stack.jump(20);
    // Lane 0 is tried again, and waits until lane 2 comes.
    assert_eq!(at(&stack), (1, 0b001));
    assert_eq!(gather(&mut stack, 0b101), Gathering::Later);
    stack.jump(1);
    assert_eq!(gather(&mut stack, 0b101), Gathering::Later);
    assert_eq!((at(&stack), gather(&mut stack, 0b101)), ((1, 0b101), Gathering::Complete));
}

#[test]
fn masks_that_contradict_each_other_are_found() {
    let mut stack = SimtStack::new(0b111);
    stack.branch(0b100, 10, 1, PC_NONE);
    // Lane 0 names lane 1, which names lane 2, which names lane 0 somewhere else.
    let mut masks = Row::splat(0b011);
    (masks.0[1], masks.0[2]) = (0b111, 0b101);
    assert_eq!(stack.gather_named(0b011, &masks, Meeting::Here), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b100));
    assert_eq!(stack.gather_named(0b100, &masks, Meeting::Here), Gathering::Never);
}

#[test]
fn lanes_that_join_in_each_activation_do_not_grow_the_stack() {
    let mut stack = SimtStack::new(0b11);
    for level in 1..=3 * MAX_DEPTH as u32 {
        // Both sides of a branch call the function at 10, and come to 12 there.
        stack.branch(0b10, 5, 1, 8);
        for _ in 0..2 {
            stack.call(&[10; WARP_LANES], 2);
            stack.jump(12);
            assert_eq!(gather(&mut stack, 0b11), Gathering::Later);
        }
        assert_eq!((at(&stack), stack.call_depth()), ((12, 0b11), level));
        assert!(stack.depth() <= 1, "{} entries", stack.depth());
    }
}
