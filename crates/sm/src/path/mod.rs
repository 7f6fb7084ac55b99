//! What an SM remembers for the critical path of a launch: of each instruction, what released it last.
//!
//! An instruction issues when everything that it waits for has come. What came last is the step that led to it: the instruction whose result it
//! reads, the warp that arrived at a barrier as the last, or the instruction before it of its warp. From any step the chain of those leads back
//! to the launch's beginning, and the cycles between two of them have a cause each. Everything that leads to a step happens in its own SM, so
//! SMs keep their steps apart.
//!
//! Steps that no chain can reach any more are forgotten from time to time ([`compact`](PathRecorder)).

mod compact;
mod memory;
mod step;
mod warps;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_engine::Cycle;
use strata_memory::LineAddress;
use strata_memory::doors::Refusal;

pub use step::{How, NONE, PathAccess, PathPacket, Step, Wait, What};

use crate::record::SmLog;
use crate::slots::Slots;
use crate::unanswered::Unanswered;
use memory::Open;
pub(crate) use warps::FollowedWaits;
use warps::Warp;

/// What an SM remembers of a launch.
#[derive(Debug)]
pub struct SmPath {
    /// The launch's beginning, from which cycles count.
    pub base: Cycle,
    /// The steps.
    pub steps: Vec<Step>,
    waits: Vec<(Wait, u32)>,
    /// Accesses of steps.
    pub accesses: Vec<PathAccess>,
    /// Packets of the L1D.
    pub packets: Vec<PathPacket>,
    /// The end of the CTA that ended last; [`NONE`] if none did.
    pub last_end: u32,
    /// When the command to flush the L1D came, and when the flush was done; 0: never.
    pub flush: (u32, u32),
    /// Whether nothing was left out because there was no room.
    pub is_whole: bool,
}

impl SmPath {
    fn new(base: Cycle) -> SmPath {
        SmPath {
            base,
            steps: Vec::new(),
            waits: Vec::new(),
            accesses: Vec::new(),
            packets: Vec::new(),
            last_end: NONE,
            flush: (0, 0),
            is_whole: true,
        }
    }

    /// What a step waited for after the one that led to it.
    #[must_use]
    pub fn waits(&self, step: &Step) -> &[(Wait, u32)] {
        let first = step.first_wait as usize;
        &self.waits[first..first + usize::from(step.waits)]
    }
}

/// Remembers the steps of an SM.
#[derive(Debug)]
pub(crate) struct PathRecorder {
    /// Where the L1D records its packets.
    log: Arc<SmLog>,
    /// Most steps that are kept.
    most: usize,
    /// How many steps there may be before those are forgotten that no chain can reach.
    room: usize,
    of: SmPath,
    warps: Box<Slots<Warp>>,
    /// By wait, the warps that are known to wait for it; the last is for those that wait for a result.
    known: [u64; Wait::COUNT + 1],
    /// Warps whose line the instruction cache has had to fetch.
    missed: u64,
    /// The step whose effects are carried out now.
    current: u32,
    /// CTAs that the SM holds at once, and those of a cluster.
    places: (usize, usize),
    begun: usize,
    /// Ends of CTAs whose places no other has, the first of which has this number.
    ends: VecDeque<u32>,
    ended: usize,
    /// Accesses under way, by token.
    open: BTreeMap<u32, Open>,
    /// Since when the L1D refuses the access that is offered to it, and why.
    refused: Option<(u32, Refusal)>,
    /// Packets under way.
    under_way: BTreeMap<LineAddress, Unanswered<u32, u32>>,
    /// By line, the packet that brought it last.
    answers: FxHashMap<LineAddress, u32>,
    /// Whether a launch is recorded.
    is_open: bool,
}

impl PathRecorder {
    /// A recorder of at most so many steps at a time, and the log of the L1D's packets.
    pub fn new(log: Arc<SmLog>, most: usize) -> PathRecorder {
        PathRecorder {
            log,
            most,
            room: most.min(compact::FIRST),
            of: SmPath::new(Cycle::ZERO),
            warps: Box::new(Slots::new(Warp::new)),
            known: [0; Wait::COUNT + 1],
            missed: 0,
            current: NONE,
            places: (1, 1),
            begun: 0,
            ends: VecDeque::new(),
            ended: 0,
            open: BTreeMap::new(),
            refused: None,
            under_way: BTreeMap::new(),
            answers: FxHashMap::default(),
            is_open: false,
        }
    }

    /// A launch begins, of which the SM holds so many CTAs at once, in clusters of so many.
    pub fn begin(&mut self, now: Cycle, places: (usize, usize)) {
        let fresh = PathRecorder::new(self.log.clone(), self.most);
        *self = PathRecorder { of: SmPath::new(now), places, is_open: true, ..fresh };
        self.log.take();
        self.log.open(now, Cycle::NEVER);
    }

    /// Takes what is remembered of the launch; `None` if none was recorded.
    pub fn take(&mut self) -> Option<SmPath> {
        if !std::mem::replace(&mut self.is_open, false) {
            return None;
        }
        self.close();
        Some(std::mem::replace(&mut self.of, SmPath::new(Cycle::ZERO)))
    }

    /// Whether steps are recorded: there is a launch, and room for it.
    #[inline]
    pub fn records(&self) -> bool {
        self.is_open && self.of.is_whole
    }

    /// A cycle, counted from the launch's beginning.
    fn at(&mut self, now: Cycle) -> u32 {
        u32::try_from(now.since(self.of.base)).ok().filter(|at| *at < NONE).unwrap_or_else(|| {
            self.give_up();
            NONE - 1
        })
    }

    /// There is no room for the launch.
    fn give_up(&mut self) {
        self.of.is_whole = false;
        self.close();
    }

    fn close(&mut self) {
        self.log.open(Cycle::ZERO, Cycle::ZERO);
        self.log.take();
    }

    /// The command to flush the L1D has come.
    pub fn flush_begins(&mut self, now: Cycle) {
        self.of.flush.0 = self.at(now);
    }

    /// The L1D is flushed.
    pub fn flush_ends(&mut self, now: Cycle) {
        self.of.flush.1 = self.at(now);
    }
}
