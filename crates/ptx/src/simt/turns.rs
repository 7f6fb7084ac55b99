//! Independent thread scheduling: paths of a warp take turns where one waits for what another has yet to do.
//!
//! A machine with it (NVIDIA's since Volta) runs the lanes of a warp as if each had a program counter of its own. Here a warp keeps
//! its reconvergence stack, and paths run in its order as long as none has to wait: only at two kinds of instructions, which the
//! back end marks, does another path get its turn. A branch that turns back in a loop whose end other threads may bring about
//! (`yields`) *gives way*. An instruction that named lanes execute together (`gathers`) *waits* until they have come.
//!
//! The next turn is that of the path that has waited longest, of those that have not given way yet. When all have, lanes that wait
//! for them at a reconvergence point go on alone, innermost point first: what the others wait for may lie behind it (a lane that
//! has taken a lock leaves the loop of those that want it). When nobody waits at such a point, a new round begins. So every path gets its
//! turn between two turns of another, and lanes at a reconvergence point are let go before any are a second time.

use super::{NOWHERE, Path, Point, SimtStack};
use crate::isa::Op;
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};

/// What is remembered of turns. A lane is in the last three only while its path stands at such an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Turns {
    /// Lanes that have given way since the round began.
    gave_way: LaneMask,
    /// Lanes that were let go from a reconvergence point while there were others to let go.
    let_go: LaneMask,
    /// Lanes that stand at an instruction that is for lanes elsewhere, too.
    pub(super) wait: LaneMask,
    /// Those of them that have come to a [`Meeting::Anywhere`].
    arrived: LaneMask,
    /// Lanes that have come to one as all that they wait for have, and need not wait any more.
    free: LaneMask,
}

impl Turns {
    /// These lanes do not stand where they stood.
    pub(super) fn move_on(&mut self, lanes: LaneMask) {
        self.wait &= !lanes;
        self.arrived &= !lanes;
        self.free &= !lanes;
    }
}

/// Where lanes that execute an instruction together come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// All to the same instruction.
    Here,
    /// Each to any instruction of its kind (PTX ISA, `bar.warp.sync`: "until all threads corresponding to membermask have executed
    /// a `bar.warp.sync`"), whose masks are taken to be the same.
    Anywhere,
}

/// What becomes of an instruction that several lanes execute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathering {
    /// The lanes that it names have come, or ended.
    Complete,
    /// Others run first, or have joined the running lanes: it is to be tried again.
    Later,
    /// The others can never come.
    Never,
}

impl Meeting {
    /// That of an operation with [`Members`](crate::isa::Members).
    pub fn of(op: Op) -> Meeting {
        if op == Op::WarpSync { Meeting::Anywhere } else { Meeting::Here }
    }
}

impl SimtStack {
    /// Whether lanes that have not ended may stand elsewhere.
    #[inline]
    pub fn is_split(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// These lanes have turned back in a loop that others may have to end: if they run, another path does instead, if there
    /// is one.
    #[inline]
    pub fn give_way(&mut self, lanes: LaneMask) {
        if self.is_split() && self.running.lanes & lanes != 0 {
            self.turns.gave_way |= self.running.lanes;
            self.next_turn();
        }
    }

    /// The running path stands at an instruction that `lanes` of it execute, each together with those that its mask names.
    pub fn gather_named(&mut self, lanes: LaneMask, masks: &Row, meeting: Meeting) -> Gathering {
        let whole = self.running.lanes;
        let (waits, needed) = self.missing(lanes, masks, meeting);
        if waits != 0 {
            self.stand_aside(waits);
            if meeting == Meeting::Anywhere {
                self.turns.arrived |= waits;
            }
            if waits == whole {
                return if self.next_turn() { Gathering::Later } else { Gathering::Never };
            }
            // Those with another mask, and those whose guard is false, go on without them.
            self.waiting.push(Path { lanes: waits, ..self.running });
            self.running.lanes = whole & !waits;
            return Gathering::Later;
        }
        if meeting == Meeting::Anywhere && needed != 0 {
            self.turns.free |= lanes | needed;
            self.turns.wait &= !needed;
            self.turns.gave_way &= !needed;
        }
        if needed & self.standing_here() != 0 {
            self.join(needed);
            return Gathering::Later;
        }
        self.turns.move_on(whole);
        Gathering::Complete
    }

    /// Of `lanes`, those that have to wait; and who is to execute the instruction with the others, besides them.
    fn missing(&self, lanes: LaneMask, masks: &Row, meeting: Meeting) -> (LaneMask, LaneMask) {
        let (whole, live) = (self.running.lanes, self.live());
        let come = match meeting {
            Meeting::Here => self.standing_here(),
            Meeting::Anywhere => self.turns.arrived & !self.turns.free,
        };
        let bound = lanes & !self.turns.free;
        let named = |lane: usize| masks.0[lane] & live;
        let mut waits = lanes_of(bound)
            .filter(|lane| named(*lane) & !(whole | come) != 0)
            .fold(0, |waits, lane| waits | 1 << lane);
        // Who names a lane that waits does too.
        loop {
            let more = lanes_of(bound & !waits)
                .filter(|lane| named(*lane) & waits != 0)
                .fold(0, |more, lane| more | 1 << lane);
            if more == 0 {
                break;
            }
            waits |= more;
        }
        let needed = lanes_of(bound & !waits).fold(0, |needed, lane| needed | named(lane));
        (waits, needed & !whole)
    }

    /// The lanes of other paths that stand at the running one's instruction.
    fn standing_here(&self) -> LaneMask {
        let here = self.leaves().filter(|(_, path)| path.at == self.running.at);
        here.fold(0, |all, (_, path)| all | path.lanes)
    }

    /// Lanes of the running path wait for others.
    pub(super) fn stand_aside(&mut self, lanes: LaneMask) {
        self.turns.wait |= lanes;
        self.turns.gave_way |= lanes;
    }

    /// Another path runs. False when there is none that could.
    fn next_turn(&mut self) -> bool {
        let Turns { gave_way, wait, .. } = self.turns;
        if self.turn_to(|path| path.lanes & !(wait | gave_way) != 0) || self.let_go() {
            return true;
        }
        self.turns.gave_way = wait | self.running.lanes;
        self.turn_to(|path| path.lanes & !wait != 0)
    }

    /// Of the paths that could run and `may`, the one that has waited longest changes place with the running one.
    fn turn_to(&mut self, may: impl Fn(&Path) -> bool) -> bool {
        // Whoever changes place goes on top.
        let Some(place) = self.leaves().filter(|(_, path)| may(path)).last().map(|(place, _)| place) else {
            return false;
        };
        let path = self.waiting.remove(place);
        self.waiting.push(std::mem::replace(&mut self.running, path));
        true
    }

    /// Lanes at a reconvergence point go on without those that they wait for.
    fn let_go(&mut self) -> bool {
        let before = self.turns.let_go;
        if !self.release(|_, lanes| lanes & !before != 0) {
            self.turns.let_go = 0;
            if !self.release(|_, _| true) {
                return false;
            }
        }
        self.turns.let_go |= self.running.lanes;
        self.turns.gave_way = self.turns.wait;
        true
    }

    /// The paths at the running one's instruction that have any of these lanes run it with that one. Those that meet in the same place
    /// afterwards stay together; the others part again behind the instruction.
    fn join(&mut self, lanes: LaneMask) {
        let Path { at, reconverge, lanes: own } = self.running;
        let joining = self.leaves().filter(|(_, path)| path.at == at && path.lanes & lanes != 0);
        let joined = joining.map(|(_, path)| path.lanes).fold(own, |all, lanes| all | lanes);
        self.turns.wait &= !joined;
        // A reconvergence point is the same when an entry has all of them.
        let is_shared = |lanes| {
            reconverge == NOWHERE
                || self.waiting.iter().any(|path| path.at == reconverge && lanes & !path.lanes == 0)
        };
        let stays = |path: &Path| path.reconverge == reconverge && is_shared(own | path.lanes);
        let comes = |path: &Path| path.at == at && path.lanes != 0 && path.lanes & !(joined & !own) == 0;
        let behind = Point { pc: at.pc + 1, ..at };
        let mut parting = [self.running; WARP_LANES];
        let (mut count, mut together) = (0, joined);
        for path in self.waiting.iter().filter(|path| comes(path) && !stays(path)) {
            parting[count] = *path;
            count += 1;
            together &= !path.lanes;
        }
        self.waiting.retain(|path| !comes(path));
        self.running.lanes = joined;
        if count > 0 {
            // The running ones go on first.
            parting[count] = Path { at, reconverge, lanes: together };
            for path in parting[..=count].iter().filter(|path| path.reconverge != behind) {
                self.waiting.push(Path { at: behind, ..*path });
            }
            self.running.reconverge = behind;
        } else if let Some(place) = self.waiting.iter().rposition(|path| path.at == reconverge) {
            self.drop_lone_meeting(place);
        }
    }

    /// The paths that wait for nothing but their turn, nearest first, with their places.
    fn leaves(&self) -> impl Iterator<Item = (usize, &Path)> {
        let mut above = self.running.lanes;
        self.waiting.iter().enumerate().rev().filter(move |(_, path)| {
            // A reconvergence point shares lanes with the paths above it that are to meet there.
            let is_leaf = path.lanes != 0 && path.lanes & above == 0;
            above |= path.lanes;
            is_leaf
        })
    }
}
