//! Independent thread scheduling: paths of a warp take turns where one waits for what another has yet to do.
//!
//! A machine with it (NVIDIA's since Volta) runs the lanes of a warp as if each had a program counter of its own. Here a warp keeps
//! its reconvergence stack, and paths run in its order as long as none has to wait: only at two kinds of instructions, which the
//! back end marks, does another path get its turn. A branch that turns back in a loop whose end other threads may bring about
//! (`yields`) *gives way*. An instruction that named lanes execute together (`gathers`) *waits* until they have come.
//!
//! The next turn is that of the nearest path that has not given way yet. When all have, lanes that wait for them at a reconvergence
//! point go on alone, innermost point first: what the others wait for may lie behind it (a lane that has taken a lock leaves
//! the loop of those that want it). When nobody waits at such a point, a new round begins. So every path gets its turn between two
//! rounds, and lanes at a reconvergence point are let go before any are a second time.

use super::{NOWHERE, Path, Point, SimtStack};
use crate::lanes::{LaneMask, WARP_LANES};

/// What is remembered of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Turns {
    /// Lanes that have given way since the round began.
    gave_way: LaneMask,
    /// Lanes that were let go from a reconvergence point while there were others to let go.
    let_go: LaneMask,
    /// Lanes that stand at an instruction that is for lanes elsewhere, too.
    pub(super) wait: LaneMask,
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

impl SimtStack {
    /// Whether lanes that have not ended may stand elsewhere.
    #[inline]
    pub fn is_split(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The running lanes turn back in a loop that others may have to end: another path runs, if there is one.
    #[inline]
    pub fn give_way(&mut self) {
        if self.is_split() {
            self.turns.gave_way |= self.running.lanes;
            self.next_turn();
        }
    }

    /// The running lanes stand at an instruction that `named` lanes execute together.
    pub fn gather_named(&mut self, named: LaneMask) -> Gathering {
        let missing = named & self.live() & !self.running.lanes;
        if missing == 0 {
            self.turns.wait &= !self.running.lanes;
            return Gathering::Complete;
        }
        let here = |path: &Path| path.at == self.running.at;
        if missing & !self.leaves().filter(|(_, path)| here(path)).fold(0, |all, (_, path)| all | path.lanes) == 0
        {
            self.join(missing);
            return Gathering::Later;
        }
        self.stand_aside();
        if self.next_turn() { Gathering::Later } else { Gathering::Never }
    }

    /// The running lanes wait for others.
    pub(super) fn stand_aside(&mut self) {
        self.turns.wait |= self.running.lanes;
        self.turns.gave_way |= self.running.lanes;
    }

    /// Another path runs. False when there is none that could.
    fn next_turn(&mut self) -> bool {
        let Turns { gave_way, wait, .. } = self.turns;
        if self.turn_to(|path| path.lanes & wait == 0 && path.lanes & !gave_way != 0) || self.let_go() {
            return true;
        }
        self.turns.gave_way = wait | self.running.lanes;
        self.turn_to(|path| path.lanes & wait == 0)
    }

    /// The nearest path that could run and `may` changes place with the running one.
    fn turn_to(&mut self, may: impl Fn(&Path) -> bool) -> bool {
        let Some(place) = self.leaves().find(|(_, path)| may(path)).map(|(place, _)| place) else {
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
