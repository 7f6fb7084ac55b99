//! The reconvergence stack of a warp: which lanes run where, and where they meet again.
//!
//! Post-dominator reconvergence: at a divergent branch the lanes of one side wait while the others run to
//! the branch's reconvergence point. The path that runs is kept in fields, those that wait in a stack.
//!
//! The stack is bounded. Two kinds of entries wait: paths not yet run, whose lanes are disjoint (at most 31
//! beside the running one), and reconvergence points (at most 31: each joins two paths or more, or holds a
//! lane of its own that arrived or ended while others of the split go on). A loop whose lanes leave one by
//! one adds nothing: its reconvergence point waits already when the second lane leaves.
//!
//! Lanes meet in one activation of a function: a point is an instruction and how many calls deep it is run, so
//! that lanes that recurse do not meet those that wait for them further out. A call of all lanes of a path adds
//! nothing to the stack; one whose lanes go to several functions is a split that meets where the call returns.

#[cfg(test)]
mod random_tests;
mod turns;
#[cfg(test)]
mod turns_tests;

pub use turns::{Gathering, Meeting};

use crate::isa::{PC_NONE, Pc};
use crate::lanes::{LaneMask, WARP_LANES, lanes_of};
use crate::program::Kernel;
use turns::Turns;

/// Most entries that can wait.
pub const MAX_DEPTH: usize = 2 * (WARP_LANES - 1);

/// An instruction, and in how many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Point {
    pc: Pc,
    depth: u32,
}

/// The first instruction of a kernel.
const START: Point = Point { pc: 0, depth: 0 };
/// Where nobody meets.
const NOWHERE: Point = Point { pc: PC_NONE, depth: 0 };

/// A path: lanes, where they go on, and where they stop to meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Path {
    at: Point,
    reconverge: Point,
    lanes: LaneMask,
}

/// The control-flow state of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SimtStack {
    running: Path,
    /// At most [`MAX_DEPTH`]; takes memory when lanes first part ways, and keeps it.
    waiting: Vec<Path>,
    turns: Turns,
}

impl SimtStack {
    /// A warp whose lanes stand at instruction 0.
    pub fn new(lanes: LaneMask) -> Self {
        SimtStack {
            running: Path { at: START, reconverge: NOWHERE, lanes },
            waiting: Vec::new(),
            turns: Turns::default(),
        }
    }

    /// Starts anew with other lanes; keeps the memory.
    pub fn reset(&mut self, lanes: LaneMask) {
        self.waiting.clear();
        self.turns = Turns::default();
        self.running = Path { at: START, reconverge: NOWHERE, lanes };
    }

    /// The next instruction; meaningless once [`SimtStack::is_done`].
    #[inline]
    pub fn pc(&self) -> Pc {
        self.running.at.pc
    }

    /// Calls around the next instruction.
    pub fn call_depth(&self) -> u32 {
        self.running.at.depth
    }

    /// The lanes that run the next instruction.
    #[inline]
    pub fn active(&self) -> LaneMask {
        self.running.lanes
    }

    /// Whether every lane has ended.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.running.lanes == 0
    }

    /// All lanes that have not ended.
    pub fn live(&self) -> LaneMask {
        self.waiting.iter().fold(self.running.lanes, |live, path| live | path.lanes)
    }

    /// The instruction at which the active lanes meet others; `None` when they go on to their ends.
    pub fn meeting(&self) -> Option<Pc> {
        let pc = self.running.reconverge.pc;
        (pc != PC_NONE).then_some(pc)
    }

    /// Whether some live lanes wait for the active ones.
    pub fn is_diverged(&self) -> bool {
        self.live() != self.running.lanes
    }

    /// Number of waiting entries.
    pub fn depth(&self) -> usize {
        self.waiting.len()
    }

    /// Goes to the next instruction.
    #[inline]
    pub fn advance(&mut self) {
        self.jump(self.running.at.pc + 1);
    }

    /// Instructions before the one at which the active lanes meet others, if each goes on to the next; more than a kernel
    /// has if they do not meet there.
    #[inline]
    pub fn until_meeting(&self) -> u32 {
        self.running.reconverge.pc.wrapping_sub(self.running.at.pc)
    }

    /// Goes past so many instructions, at most [`SimtStack::until_meeting`].
    #[inline]
    pub fn pass(&mut self, instructions: u32) {
        self.jump(self.running.at.pc + instructions);
    }

    /// All active lanes go to `target`.
    #[inline]
    pub fn jump(&mut self, target: Pc) {
        self.running.at.pc = target;
        if self.running.at == self.running.reconverge {
            self.resume();
        }
    }

    /// Every active lane goes to its own function, one call deeper; those that part ways meet at `reconverge`
    /// out here, where the call returns.
    pub fn call(&mut self, functions: &[Pc; WARP_LANES], reconverge: Pc) {
        let depth = self.running.at.depth;
        self.scatter(functions, depth.wrapping_add(1), Point { pc: reconverge, depth });
    }

    /// Every active lane goes back to where it was called, all to one place unless they came together from
    /// several at a barrier.
    pub fn ret(&mut self, sites: &[Pc; WARP_LANES]) {
        self.scatter(sites, self.running.at.depth.wrapping_sub(1), NOWHERE);
    }

    /// The active lanes in `taken` go to `target`, the others to `fallthrough`; they meet at `reconverge`.
    #[inline]
    pub fn branch(&mut self, taken: LaneMask, target: Pc, fallthrough: Pc, reconverge: Pc) {
        let active = self.running.lanes;
        if taken == active || target == fallthrough {
            return self.jump(target);
        }
        if taken == 0 {
            return self.jump(fallthrough);
        }
        let depth = self.running.at.depth;
        let point = |pc| Point { pc, depth };
        // The earlier instruction runs first: a loop goes on before those who left it.
        let (first, second) = if target < fallthrough {
            ((point(target), taken), (point(fallthrough), active & !taken))
        } else {
            ((point(fallthrough), active & !taken), (point(target), taken))
        };
        self.split(&[second, first], point(reconverge));
    }

    /// Every active lane goes to its own target (`brx.idx`); they meet at `reconverge`.
    pub fn branch_indexed(&mut self, targets: &[Pc; WARP_LANES], reconverge: Pc) {
        let depth = self.running.at.depth;
        self.scatter(targets, depth, Point { pc: reconverge, depth });
    }

    /// Every active lane goes to its own target at a call depth; those that part ways meet at `reconverge`.
    fn scatter(&mut self, targets: &[Pc; WARP_LANES], depth: u32, reconverge: Point) {
        let mut sides = [(START, 0); WARP_LANES];
        let mut count = 0;
        let mut left = self.running.lanes;
        while left != 0 {
            // Latest first, so that the earliest ends on top.
            let pc = lanes_of(left).map(|lane| targets[lane]).max().unwrap_or(PC_NONE);
            let lanes =
                lanes_of(left).filter(|lane| targets[*lane] == pc).fold(0, |mask, lane| mask | 1 << lane);
            sides[count] = (Point { pc, depth }, lanes);
            count += 1;
            left &= !lanes;
        }
        match count {
            0 => {}
            1 => {
                self.running.at.depth = depth;
                self.jump(sides[0].0.pc);
            }
            _ => self.split(&sides[..count], reconverge),
        }
    }

    /// Ends active lanes; those of them that remain go to the next instruction.
    pub fn exit(&mut self, lanes: LaneMask) {
        for path in &mut self.waiting {
            path.lanes &= !lanes;
        }
        self.running.lanes &= !lanes;
        // Whoever waits may have waited for these.
        self.turns.wait = 0;
        if self.running.lanes == 0 {
            self.resume();
        } else {
            self.advance();
        }
    }

    /// Lets other lanes run first: the running path changes place with the nearest waiting one that nothing
    /// holds back and whose next instruction is not `blocked`. False when there is none.
    ///
    /// Used where the running lanes cannot go on alone (a barrier that the whole warp must reach, while other
    /// lanes are still to exit or to arrive) and to be fair to lanes that others spin for. The order in which
    /// paths run changes no result of a race-free program.
    pub fn defer(&mut self, blocked: impl Fn(Pc) -> bool) -> bool {
        let mut above = self.running.lanes;
        for place in (0..self.waiting.len()).rev() {
            let path = self.waiting[place];
            // A reconvergence point shares lanes with the paths above it that are to meet there.
            let waits = path.lanes & !self.turns.wait == 0 || blocked(path.at.pc);
            if path.lanes != 0 && path.lanes & above == 0 && !waits {
                self.waiting.remove(place);
                self.waiting.push(std::mem::replace(&mut self.running, path));
                return true;
            }
            above |= path.lanes;
        }
        false
    }

    /// The running lanes stand at a barrier and other live lanes do not: makes ready what comes first. False
    /// when the others can only come by passing the barrier themselves: it is divergent.
    ///
    /// Other paths run until they end or stand at a barrier too. Then lanes that wait for the running ones at
    /// a meeting point run on alone where they can only end: the barrier is not for them. Then, when all that
    /// live stand at this same barrier, they run together again. Last, lanes at a meeting point run on even where
    /// they may come to a barrier: they may end before it. The barrier is to be tried again after each.
    pub fn gather(&mut self, kernel: &Kernel) -> bool {
        self.stand_aside(self.running.lanes);
        self.defer(|pc| kernel.is_barrier(pc))
            || self.release(|pc, _| !kernel.reaches_barrier(pc))
            || self.converge()
            || self.release(|_, _| true)
    }

    /// Lanes that arrived at a meeting point, `may` pass it and go on without the others run, and the running path after
    /// them: those of the innermost such point. False when there are none.
    fn release(&mut self, may: impl Fn(Pc, LaneMask) -> bool) -> bool {
        let mut above = self.running.lanes;
        for place in (0..self.waiting.len()).rev() {
            let path = self.waiting[place];
            let arrived = path.lanes & !above;
            if arrived != 0 && arrived != path.lanes && may(path.at.pc, arrived) {
                self.waiting[place].lanes &= above;
                self.drop_lone_meeting(place);
                self.waiting.push(std::mem::replace(&mut self.running, Path { lanes: arrived, ..path }));
                return true;
            }
            above |= path.lanes;
        }
        false
    }

    /// Removes the meeting point at `place` when a single path is left to come: that one goes on to the next
    /// meeting point. So entries stay within their bound, however many lanes are released.
    fn drop_lone_meeting(&mut self, place: usize) {
        let meeting = self.waiting[place];
        let above = self.waiting[place + 1..].iter_mut().chain(std::iter::once(&mut self.running));
        let mut coming = above.filter(|path| path.reconverge == meeting.at);
        if let Some(path) = coming.find(|path| path.lanes == meeting.lanes && path.at != meeting.reconverge) {
            path.reconverge = meeting.reconverge;
            self.waiting.remove(place);
        }
    }

    /// When all live lanes stand at the running path's instruction, they run it together: nobody is left to
    /// meet. False when others stand elsewhere.
    fn converge(&mut self) -> bool {
        let mut above = self.running.lanes;
        for path in self.waiting.iter().rev() {
            if path.lanes & !above != 0 && path.at != self.running.at {
                return false;
            }
            above |= path.lanes;
        }
        self.waiting.clear();
        self.turns = Turns::default();
        self.running = Path { reconverge: NOWHERE, lanes: above, ..self.running };
        true
    }

    /// Replaces the running path by several, the last of which runs first.
    fn split(&mut self, sides: &[(Point, LaneMask)], reconverge: Point) {
        let whole = self.running;
        self.turns.move_on(whole.lanes);
        // Without a meeting point of its own, the split meets where its path does.
        let reconverge = if reconverge.pc == PC_NONE { whole.reconverge } else { reconverge };
        if reconverge != whole.reconverge {
            self.waiting.push(Path { at: reconverge, ..whole });
        }
        for &(at, lanes) in sides {
            // A side that is at the meeting point already waits in the entry below.
            if at != reconverge {
                self.waiting.push(Path { at, reconverge, lanes });
            }
        }
        assert!(self.waiting.len() <= MAX_DEPTH + 1, "the reconvergence stack outgrew its bound");
        self.running.lanes = 0;
        self.resume();
    }

    /// The running path has ended or reached its meeting point: the next one runs.
    fn resume(&mut self) {
        while let Some(path) = self.waiting.pop() {
            if path.lanes != 0 && path.at != path.reconverge {
                self.running = path;
                return;
            }
        }
        self.running.lanes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (pc, active) of the warp.
    fn at(stack: &SimtStack) -> (Pc, LaneMask) {
        (stack.pc(), stack.active())
    }

    #[test]
    fn both_sides_of_a_branch_meet() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 10, 1, 20);
        assert_eq!(at(&stack), (1, 0x0f));
        stack.jump(20);
        assert_eq!(at(&stack), (10, 0xf0));
        stack.jump(20);
        assert_eq!(at(&stack), (20, 0xff));
        assert_eq!(stack.depth(), 0);
    }

    #[test]
    fn a_side_that_starts_at_the_meeting_point_waits_there() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 20, 1, 20);
        assert_eq!((at(&stack), stack.depth()), ((1, 0x0f), 1));
        stack.jump(20);
        assert_eq!(at(&stack), (20, 0xff));
    }

    #[test]
    fn uniform_branches_push_nothing() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xff, 10, 1, 20);
        assert_eq!((at(&stack), stack.depth()), ((10, 0xff), 0));
        stack.branch(0, 3, 11, 20);
        assert_eq!((at(&stack), stack.depth()), ((11, 0xff), 0));
    }

    #[test]
    fn a_loop_that_lanes_leave_one_by_one_does_not_grow_the_stack() {
        let mut stack = SimtStack::new(u32::MAX);
        for lane in 0..31 {
            // Instruction 4 jumps back to 1; the loop's exit is 5.
            stack.jump(4);
            stack.branch(stack.active() & !(1 << lane), 1, 5, 5);
            assert_eq!(at(&stack), (1, u32::MAX << lane << 1));
            assert_eq!(stack.depth(), 1);
        }
        stack.jump(4);
        stack.branch(0, 1, 5, 5);
        assert_eq!((at(&stack), stack.depth()), ((5, u32::MAX), 0));
    }

    #[test]
    fn lanes_that_exit_inside_a_branch_do_not_come_back() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 10, 1, 20);
        stack.exit(0x03);
        assert_eq!(at(&stack), (2, 0x0c));
        stack.exit(0x0c);
        assert_eq!(at(&stack), (10, 0xf0));
        stack.jump(20);
        assert_eq!(at(&stack), (20, 0xf0));
        stack.exit(0xf0);
        assert!(stack.is_done());
    }

    #[test]
    fn sides_without_a_meeting_point_run_to_their_ends() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 10, 1, PC_NONE);
        assert_eq!((at(&stack), stack.depth()), ((1, 0x0f), 1));
        stack.branch(0x01, 5, 2, PC_NONE);
        assert_eq!((at(&stack), stack.depth()), ((2, 0x0e), 2));
        stack.exit(0x0e);
        assert_eq!(at(&stack), (5, 0x01));
        stack.exit(0x01);
        assert_eq!(at(&stack), (10, 0xf0));
        stack.exit(0xf0);
        assert!(stack.is_done());
    }

    #[test]
    fn an_indexed_branch_runs_its_targets_in_order() {
        let mut stack = SimtStack::new(0b1111);
        let mut targets = [0; WARP_LANES];
        targets[..4].copy_from_slice(&[30, 10, 20, 10]);
        stack.branch_indexed(&targets, 40);
        let mut seen = Vec::new();
        while stack.pc() != 40 {
            seen.push(at(&stack));
            stack.jump(40);
        }
        assert_eq!(seen, [(10, 0b1010), (20, 0b0100), (30, 0b0001)]);
        assert_eq!((at(&stack), stack.depth()), ((40, 0b1111), 0));
    }

    #[test]
    fn deferred_lanes_run_after_the_others() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0x0f, 10, 1, 40);
        stack.branch(0xc0, 5, 2, 8);
        // Lanes 4 and 5 stand at 2, 6 and 7 wait at 5 (to meet at 8), 0 to 3 at 10 (to meet at 40).
        assert_eq!(at(&stack), (2, 0x30));
        assert!(stack.defer(|pc| pc == 5));
        assert_eq!(at(&stack), (10, 0x0f));
        assert!(!stack.defer(|pc| pc == 2 || pc == 5), "the meeting point at 8 must not run early");
        stack.jump(40);
        assert_eq!(at(&stack), (2, 0x30));
        stack.jump(8);
        assert_eq!(at(&stack), (5, 0xc0));
        stack.jump(8);
        assert_eq!(at(&stack), (8, 0xf0));
        stack.jump(40);
        assert_eq!((at(&stack), stack.depth()), ((40, 0xff), 0));
    }

    #[test]
    fn released_lanes_run_before_those_that_they_waited_for() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 20, 1, 20);
        assert_eq!(at(&stack), (1, 0x0f));
        assert!(!stack.release(|pc, _| pc != 20));
        assert!(stack.release(|pc, _| pc == 20));
        assert_eq!((at(&stack), stack.depth()), ((20, 0xf0), 1));
        assert!(!stack.release(|_, _| true), "nobody waits at a meeting point any more");
        stack.exit(0xf0);
        assert_eq!((at(&stack), stack.depth()), ((1, 0x0f), 0));
        stack.jump(20);
        assert_eq!(at(&stack), (20, 0x0f));
    }

    #[test]
    fn released_lanes_meet_the_others_further_out() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0x80, 40, 1, 40);
        stack.branch(0x30, 20, 2, 20);
        // 7 waits at 40, 4 and 5 wait at 20.
        assert!(stack.release(|pc, _| pc == 20));
        assert_eq!(at(&stack), (20, 0x30));
        stack.jump(40);
        assert_eq!(at(&stack), (2, 0x4f));
        stack.jump(40);
        assert_eq!((at(&stack), stack.depth()), ((40, 0xff), 0));
    }

    #[test]
    fn lanes_that_stand_together_run_together() {
        let mut stack = SimtStack::new(0xff);
        stack.branch(0xf0, 10, 1, PC_NONE);
        stack.jump(12);
        assert!(!stack.converge());
        assert!(stack.defer(|pc| pc == 12));
        stack.jump(12);
        assert!(stack.converge());
        assert_eq!((at(&stack), stack.depth()), ((12, 0xff), 0));
    }

    #[test]
    fn releases_do_not_grow_the_stack() {
        let mut stack = SimtStack::new(u32::MAX);
        for lane in 0..31 {
            // Two meeting points in turn: each lane waits at one, is released, and goes on to the other.
            let meet = 100 + lane % 2;
            stack.branch(1 << lane, meet, 1, meet);
            assert!(stack.release(|pc, _| pc == meet));
            assert_eq!(at(&stack), (meet, 1 << lane));
            assert!(stack.defer(|pc| pc >= 100));
            stack.jump(2);
            assert_eq!(stack.active(), u32::MAX << lane << 1);
            assert!(stack.depth() <= lane as usize + 1, "{} entries", stack.depth());
        }
    }

    #[test]
    fn nested_splits_stay_within_the_bound() {
        let mut stack = SimtStack::new(u32::MAX);
        for level in 0..31 {
            // One lane stays behind at each level, each with a meeting point of its own.
            stack.branch(stack.active() & !(1 << level), level * 2 + 1, level * 2 + 2, 1000 - level);
        }
        assert!(stack.depth() <= MAX_DEPTH);
        assert_eq!(stack.active().count_ones(), 1);
        assert_eq!(stack.live(), u32::MAX);
    }

    /// The same target for every lane.
    fn all(pc: Pc) -> [Pc; WARP_LANES] {
        [pc; WARP_LANES]
    }

    #[test]
    fn a_call_of_all_lanes_adds_nothing() {
        let mut stack = SimtStack::new(0xff);
        stack.call(&all(50), 1);
        assert_eq!((at(&stack), stack.call_depth(), stack.depth()), ((50, 0xff), 1, 0));
        stack.ret(&all(1));
        assert_eq!((at(&stack), stack.call_depth(), stack.depth()), ((1, 0xff), 0, 0));
    }

    #[test]
    fn lanes_in_several_functions_meet_where_the_call_returns() {
        let mut stack = SimtStack::new(0b1111);
        let mut functions = all(0);
        functions[..4].copy_from_slice(&[60, 50, 60, 50]);
        stack.call(&functions, 1);
        assert_eq!((at(&stack), stack.call_depth()), ((50, 0b1010), 1));
        // One lane of the first function returns early.
        stack.branch(0b1000, 55, 51, 55);
        assert_eq!(at(&stack), (51, 0b0010));
        stack.jump(55);
        assert_eq!(at(&stack), (55, 0b1010));
        stack.ret(&all(1));
        assert_eq!((at(&stack), stack.call_depth()), ((60, 0b0101), 1));
        stack.ret(&all(1));
        assert_eq!((at(&stack), stack.call_depth(), stack.depth()), ((1, 0b1111), 0, 0));
    }

    #[test]
    fn lanes_that_recurse_do_not_meet_those_that_wait_further_out() {
        // 10: half of the lanes go on to 15; the others call 10 again from 12, to return to 13.
        let mut stack = SimtStack::new(0b1111);
        stack.call(&all(10), 1);
        stack.branch(0b0011, 15, 11, 15);
        assert_eq!(at(&stack), (11, 0b1100));
        stack.call(&all(10), 13);
        stack.branch(0b1100, 15, 11, 15);
        assert_eq!((at(&stack), stack.call_depth()), ((15, 0b1100), 2), "deeper lanes pass the point");
        stack.ret(&all(13));
        assert_eq!((at(&stack), stack.call_depth()), ((13, 0b1100), 1));
        stack.jump(15);
        assert_eq!((at(&stack), stack.call_depth()), ((15, 0b1111), 1));
        stack.ret(&all(1));
        assert_eq!((at(&stack), stack.depth()), ((1, 0b1111), 0));
    }

    #[test]
    fn lanes_that_met_at_a_barrier_return_to_where_each_was_called() {
        let mut stack = SimtStack::new(0b11);
        stack.branch(0b10, 5, 1, PC_NONE);
        stack.call(&all(50), 2);
        assert!(stack.defer(|pc| pc == 50));
        stack.call(&all(50), 6);
        assert!(stack.converge());
        let mut sites = all(2);
        sites[1] = 6;
        stack.ret(&sites);
        assert_eq!((at(&stack), stack.call_depth(), stack.depth()), ((2, 0b01), 0, 1));
        stack.exit(0b01);
        assert_eq!((at(&stack), stack.call_depth()), ((6, 0b10), 0));
    }
}
