use super::*;

/// (pc, active) of the warp.
fn at(stack: &SimtStack) -> (Pc, LaneMask) {
    (stack.pc(), stack.active())
}

/// A loop at 1 to 4, which lanes leave for 5; those that turn back give way.
fn turn_back(stack: &mut SimtStack, lanes: LaneMask) {
    stack.jump(4);
    stack.branch(lanes, 1, 5, 5);
    stack.give_way();
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
fn every_path_has_a_turn_before_lanes_leave_a_meeting_point() {
    let mut stack = SimtStack::new(0b1111);
    // Lane 0 waits at 40 already; lane 1 is to go to 20, lane 2 to 10, lane 3 goes on at 1.
    let mut targets = [1; WARP_LANES];
    (targets[0], targets[1], targets[2]) = (40, 20, 10);
    stack.branch_indexed(&targets, 40);
    let mut turns = vec![stack.active()];
    for _ in 0..3 {
        stack.give_way();
        turns.push(stack.active());
    }
    // The nearest first; then, with none left that has not given way, lane 0 is let go.
    assert_eq!(turns, [0b1000, 0b0100, 0b0010, 0b0001]);
    assert_eq!(stack.pc(), 40);
    // A new round: all others have their turns before anyone has a second.
    let mut round: Vec<_> = (0..3).map(|_| (stack.give_way(), stack.active()).1).collect();
    round.sort_unstable();
    assert_eq!(round, [0b0010, 0b0100, 0b1000]);
}

#[test]
fn named_lanes_of_one_path_join_the_running_ones_and_stay() {
    let mut stack = SimtStack::new(0b1111);
    turn_back(&mut stack, 0b1110);
    assert_eq!(at(&stack), (5, 0b0001));
    // Lane 0 waits for all at 7, so the others run, leave the loop and come.
    stack.jump(7);
    assert_eq!(stack.gather_named(0b1111), Gathering::Later);
    assert_eq!(at(&stack), (1, 0b1110));
    stack.jump(5);
    stack.jump(7);
    assert_eq!(stack.gather_named(0b1111), Gathering::Later);
    assert_eq!((at(&stack), stack.depth()), ((7, 0b1111), 0));
    assert_eq!(stack.gather_named(0b1111), Gathering::Complete);
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
    assert_eq!(stack.gather_named(0b1101), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b1100));
    stack.call(&[51; WARP_LANES], 11);
    assert_eq!(stack.gather_named(0b1101), Gathering::Later);
    assert_eq!(at(&stack), (51, 0b1101));
    assert_eq!(stack.gather_named(0b1101), Gathering::Complete);
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
    assert_eq!(stack.gather_named(0b11), Gathering::Later);
    assert_eq!(at(&stack), (10, 0b10));
    stack.exit(0b10);
    assert_eq!(at(&stack), (1, 0b01));
    assert_eq!(stack.gather_named(0b11), Gathering::Complete);
}

#[test]
fn lanes_that_wait_for_each_other_in_two_places_never_go_on() {
    let mut stack = SimtStack::new(0b11);
    stack.branch(0b10, 10, 1, PC_NONE);
    assert_eq!(stack.gather_named(0b11), Gathering::Later);
    assert_eq!(stack.gather_named(0b11), Gathering::Never);
}
